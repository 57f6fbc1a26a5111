//! The cost of cancelling now, and its source.

use crate::hotel::booking::{HotelBooking, Room};
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
    /// Fee and refund. `None` if the policy or its penalty cannot be read.
    pub amounts: Option<(Money, Money)>,
    pub free_until: Option<Timestamp>,
    /// Restrictions of the freshly read policy, or of the stored one if there is no fresh policy.
    pub restrictions: Vec<Restriction>,
    /// The freshly read policy that the amounts follow, if the stored one has other terms. It is to be
    /// stored, because a cancellation costs the fee of the stored policy.
    pub changed_policy: Option<CancellationPolicy>,
}

/// Error for a preview whose amounts disagree with what was paid for the rooms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the preview's fee and refund do not add up to {price}, the price of the rooms")]
pub struct UnusablePreview {
    /// The price of the rooms that are still booked.
    pub price: Money,
}

impl HotelCancellationQuote {
    /// Creates a quote for the rooms that are still booked from the supplier's response. The fee is
    /// the one that a cancellation requested at `now` would have.
    ///
    /// # Errors
    /// [`UnusablePreview`].
    pub fn new(
        booking: &HotelBooking,
        answer: HotelSupplierQuote,
        now: Timestamp,
    ) -> Result<Self, UnusablePreview> {
        let price = booking.active_total();
        let stored = booking.details.policy.as_ref();
        let stored_restrictions = || stored.map(|p| p.restrictions.clone()).unwrap_or_default();
        Ok(match answer {
            HotelSupplierQuote::Preview {
                fee,
                refund,
                free_until,
            } => {
                let is_affordable = fee.currency == price.currency && fee.minor <= price.minor;
                let rest = price.less(fee);
                if !is_affordable || refund.is_some_and(|refund| refund != rest) {
                    return Err(UnusablePreview { price });
                }
                Self {
                    source: HotelQuoteSource::SupplierQuote,
                    checked_at: now,
                    amounts: Some((fee, rest)),
                    free_until,
                    restrictions: stored_restrictions(),
                    changed_policy: None,
                }
            }
            HotelSupplierQuote::Policy(policy) => {
                let is_booked = |room: &Room| room.canceled_at.is_none();
                let policy = policy.map(|policy| match stored {
                    Some(stored) => policy.with_details_of(stored),
                    None => policy,
                });
                let fee = policy.as_ref();
                let fee = fee.and_then(|policy| booking.fee_of(is_booked, Some(policy), now));
                let is_changed = |policy: &&CancellationPolicy| {
                    stored.is_none_or(|stored| !policy.has_terms_of(stored))
                };
                let changed_policy = policy.as_ref().filter(is_changed);
                let changed_policy = changed_policy.filter(|_| fee.is_some());
                Self {
                    changed_policy: changed_policy.cloned(),
                    source: HotelQuoteSource::PolicyEstimate,
                    checked_at: now,
                    amounts: fee.map(|fee| (fee, price.less(fee))),
                    free_until: policy.as_ref().and_then(|p| p.free_until),
                    restrictions: policy.map_or_else(stored_restrictions, |p| p.restrictions),
                }
            }
        })
    }
}
