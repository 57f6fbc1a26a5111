//! The transitions of a watch, in one table.

use super::{PurchaseFailureReason, Watch, WatchState};
use crate::booking::InvalidTransition;
use crate::event::EventType;
use crate::id::{BookingId, MandateId};
use crate::money::Money;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchTransitionEvent {
    /// The lowest current price is known.
    PriceObserved { total: Money },
    /// No offer is available now.
    PriceUnavailable,
    /// The owner consented to a purchase.
    Armed { mandate: MandateId },
    /// A booking was created for the purchase.
    PurchaseStarted { booking: BookingId },
    /// At the purchase, the stay was sold out or cost more than the limit. No commitment was made.
    PurchaseAborted,
    /// The stay was bought.
    Purchased,
    /// The purchase failed.
    PurchaseFailed { reason: PurchaseFailureReason },
    /// Check-in has passed.
    Expired,
    /// The client cancels the watch.
    Canceled,
}

impl WatchTransitionEvent {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PriceObserved { .. } => "price_observed",
            Self::PriceUnavailable => "price_unavailable",
            Self::Armed { .. } => "armed",
            Self::PurchaseStarted { .. } => "purchase_started",
            Self::PurchaseAborted => "purchase_aborted",
            Self::Purchased => "purchased",
            Self::PurchaseFailed { .. } => "purchase_failed",
            Self::Expired => "expired",
            Self::Canceled => "canceled",
        }
    }
}

/// A watch after a transition.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchTransition {
    /// The watch after the transition, with its version incremented.
    pub watch: Watch,
    /// The event to publish to the organization.
    pub notification: Option<EventType>,
    pub is_purchase_due: bool,
    pub is_check_due: bool,
}

impl Watch {
    /// Applies an event. Returns `None` if nothing changes; this is not an error, so repeated
    /// events have no effect.
    ///
    /// # Errors
    /// Returns [`InvalidTransition`] if the event does not fit the watch's state.
    pub fn apply(
        self,
        event: WatchTransitionEvent,
        now: Timestamp,
    ) -> Result<Option<WatchTransition>, InvalidTransition> {
        use {WatchState as S, WatchTransitionEvent as E};
        let conflict = InvalidTransition {
            status: self.status().as_str(),
            event: event.name(),
        };
        let (mut watch, mut notification, mut is_purchase_due, mut is_check_due) =
            (self, None, false, false);
        let state = match (watch.state.clone(), event) {
            (S::Active, E::PriceObserved { total }) if watch.trigger.is_met_by(total) => {
                is_purchase_due = watch.is_armed();
                notification = (!is_purchase_due).then(|| watch.triggered_event());
                if is_purchase_due {
                    S::Purchasing { booking: None }
                } else {
                    S::Triggered
                }
            }
            (S::Triggered, E::PriceObserved { total }) if watch.trigger.is_met_by(total) => {
                return Ok(None);
            }
            // A stay that is not available is treated like one above the limit.
            (S::Triggered, E::PriceObserved { .. } | E::PriceUnavailable) => S::Active,
            (S::Active | S::Purchasing { .. }, E::PriceObserved { .. } | E::PriceUnavailable) => {
                return Ok(None);
            }
            (S::Active | S::Triggered | S::Purchasing { .. }, E::Armed { .. })
                if watch.is_armed() =>
            {
                return Ok(None);
            }
            // If the owner consents after the price was reported, the consent applies to that
            // price: the next check buys.
            (S::Active | S::Triggered, E::Armed { mandate }) if watch.auto_book.is_some() => {
                watch.mandate_id = Some(mandate);
                is_check_due = true;
                S::Active
            }
            (S::Purchasing { booking: None }, E::PurchaseStarted { booking }) => S::Purchasing {
                booking: Some(booking),
            },
            (S::Purchasing { .. }, E::PurchaseAborted) => S::Active,
            (
                S::Purchasing {
                    booking: Some(booking),
                },
                E::Purchased,
            ) => {
                notification = Some(EventType::HotelWatchPurchased);
                S::Purchased { booking }
            }
            (S::Purchasing { booking }, E::PurchaseFailed { reason }) => {
                notification = Some(EventType::HotelWatchPurchaseFailed);
                S::PurchaseFailed { reason, booking }
            }
            (S::Active | S::Triggered, E::Expired) => S::Expired,
            (S::Active | S::Triggered, E::Canceled) => S::Canceled,
            // The API does not permit the event in this state.
            _ => return Err(conflict),
        };
        watch.state = state;
        watch.version += 1;
        watch.updated_at = now;
        Ok(Some(WatchTransition {
            watch,
            notification,
            is_purchase_due,
            is_check_due,
        }))
    }
}
