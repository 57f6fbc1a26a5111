//! What cancelling would cost now, and where that is known from.

use crate::hotel::offer::{CancellationPolicy, Restriction};
use crate::hotel::supply::SupplierQuote;
use crate::money::Money;
use crate::time::Timestamp;

/// Where a quote comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteSource {
    /// The supplier's preview.
    SupplierQuote,
    /// The freshly read policy.
    PolicyEstimate,
}

/// What cancelling would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancellationQuote {
    /// Where it comes from.
    pub source: QuoteSource,
    /// When the supplier's reads completed.
    pub checked_at: Timestamp,
    /// Fee and refund; none when the policy cannot be read.
    pub amounts: Option<(Money, Money)>,
    /// Free until.
    pub free_until: Option<Timestamp>,
    /// Of the freshly read policy, else of the stored one.
    pub restrictions: Vec<Restriction>,
}

impl CancellationQuote {
    /// Reads the supplier's answer against the price that would be released.
    #[must_use]
    pub fn from_supplier(
        answer: SupplierQuote,
        released: Money,
        stored: Option<&CancellationPolicy>,
        now: Timestamp,
    ) -> Self {
        let stored_restrictions = || stored.map(|p| p.restrictions.clone()).unwrap_or_default();
        match answer {
            SupplierQuote::Preview {
                fee,
                refund,
                free_until,
            } => Self {
                source: QuoteSource::SupplierQuote,
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
            SupplierQuote::Policy(policy) => Self {
                source: QuoteSource::PolicyEstimate,
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
