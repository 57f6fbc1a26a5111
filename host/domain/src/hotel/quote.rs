//! The cost of cancelling now, and its source.

use crate::hotel::supplier_api::HotelSupplierQuote;
use crate::hotel::types::{CancellationPolicy, Restriction};
use crate::money::Money;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HotelQuoteSource {
    /// The supplier's preview.
    SupplierQuote,
    /// The freshly read policy.
    PolicyEstimate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelCancellationQuote {
    pub source: HotelQuoteSource,
    /// Time at which the reads from the supplier completed.
    pub checked_at: Timestamp,
    /// Fee and refund. `None` if the policy cannot be read.
    pub amounts: Option<(Money, Money)>,
    pub free_until: Option<Timestamp>,
    /// Restrictions of the freshly read policy, or of the stored one if there is no fresh policy.
    pub restrictions: Vec<Restriction>,
}

impl HotelCancellationQuote {
    /// Creates a quote from the supplier's response and the price of the rooms to cancel.
    pub fn from_supplier(
        answer: HotelSupplierQuote,
        released: Money,
        stored: Option<&CancellationPolicy>,
        now: Timestamp,
    ) -> Self {
        let stored_restrictions = || stored.map(|p| p.restrictions.clone()).unwrap_or_default();
        match answer {
            HotelSupplierQuote::Preview {
                fee,
                refund,
                free_until,
            } => Self {
                source: HotelQuoteSource::SupplierQuote,
                checked_at: now,
                amounts: Some((
                    fee,
                    refund
                        .unwrap_or_else(|| released.less(fee))
                        .at_most(released),
                )),
                free_until,
                restrictions: stored_restrictions(),
            },
            HotelSupplierQuote::Policy(policy) => Self {
                source: HotelQuoteSource::PolicyEstimate,
                checked_at: now,
                amounts: policy.as_ref().map(|p| {
                    let fee = p.fee_at(now, released);
                    (fee, released.less(fee))
                }),
                free_until: policy.as_ref().and_then(|p| p.free_until),
                restrictions: policy.map_or_else(stored_restrictions, |p| p.restrictions),
            },
        }
    }
}
