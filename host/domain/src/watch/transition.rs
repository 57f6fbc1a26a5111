//! The transitions of a watch, in one table.

use super::{PurchaseFailureReason, State, Watch};
use crate::booking::InvalidTransition;
use crate::event::EventType;
use crate::id::{BookingId, MandateId};
use crate::money::Money;
use crate::time::Timestamp;

/// An event that changes a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The lowest current price is known.
    PriceObserved {
        /// The price of the whole stay.
        total: Money,
    },
    /// No offer is available now.
    PriceUnavailable,
    /// The owner consented to a purchase.
    Armed {
        /// The mandate that records the consent.
        mandate: MandateId,
    },
    /// A booking was created for the purchase.
    PurchaseStarted {
        /// The booking.
        booking: BookingId,
    },
    /// At the purchase, the stay was sold out or cost more than the limit. No commitment was made.
    PurchaseAborted,
    /// The stay was bought.
    Purchased,
    /// The purchase failed.
    PurchaseFailed {
        /// The reason for the failure.
        reason: PurchaseFailureReason,
    },
    /// Check-in has passed.
    Expired,
    /// The client cancels the watch.
    Canceled,
}

impl Event {
    /// Returns the name used in logs and in the transition table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PriceObserved { .. } => "priced",
            Self::PriceUnavailable => "unpriced",
            Self::Armed { .. } => "armed",
            Self::PurchaseStarted { .. } => "purchase_began",
            Self::PurchaseAborted => "purchase_released",
            Self::Purchased => "purchased",
            Self::PurchaseFailed { .. } => "purchase_failed",
            Self::Expired => "expired",
            Self::Canceled => "canceled",
        }
    }
}

/// A watch after a transition.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The watch after the transition, with its version incremented.
    pub watch: Watch,
    /// The event to publish to the organization.
    pub notification: Option<EventType>,
    /// Whether the purchase is due now.
    pub is_purchase_due: bool,
    /// Whether the price query must be checked now.
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
        event: Event,
        now: Timestamp,
    ) -> Result<Option<Transition>, InvalidTransition> {
        let name = event.name();
        let conflict = InvalidTransition {
            status: self.status().as_str(),
            event: name,
        };
        let (mut watch, mut tells, mut buys, mut asks) = (self, None, false, false);
        let state = match (watch.state.clone(), event) {
            (State::Active, Event::PriceObserved { total }) if watch.trigger.is_met_by(total) => {
                buys = watch.is_armed();
                tells = (!buys).then(|| watch.triggered_event());
                if buys {
                    State::Purchasing { booking: None }
                } else {
                    State::Triggered
                }
            }
            (State::Triggered, Event::PriceObserved { total })
                if watch.trigger.is_met_by(total) =>
            {
                return Ok(None);
            }
            // A stay that is not available is treated like one above the limit.
            (State::Triggered, Event::PriceObserved { .. } | Event::PriceUnavailable) => {
                State::Active
            }
            (
                State::Active | State::Purchasing { .. },
                Event::PriceObserved { .. } | Event::PriceUnavailable,
            ) => {
                return Ok(None);
            }
            (State::Active | State::Triggered | State::Purchasing { .. }, Event::Armed { .. })
                if watch.is_armed() =>
            {
                return Ok(None);
            }
            // If the owner consents after the price was reported, the consent applies to that
            // price: the next check buys.
            (State::Active | State::Triggered, Event::Armed { mandate })
                if watch.auto_book.is_some() =>
            {
                watch.mandate_id = Some(mandate);
                asks = true;
                State::Active
            }
            (State::Purchasing { booking: None }, Event::PurchaseStarted { booking }) => {
                State::Purchasing {
                    booking: Some(booking),
                }
            }
            (State::Purchasing { .. }, Event::PurchaseAborted) => State::Active,
            (
                State::Purchasing {
                    booking: Some(booking),
                },
                Event::Purchased,
            ) => {
                tells = Some(EventType::HotelWatchPurchased);
                State::Purchased { booking }
            }
            (State::Purchasing { booking }, Event::PurchaseFailed { reason }) => {
                tells = Some(EventType::HotelWatchPurchaseFailed);
                State::PurchaseFailed { reason, booking }
            }
            (State::Active | State::Triggered, Event::Expired) => State::Expired,
            (State::Active | State::Triggered, Event::Canceled) => State::Canceled,
            // The API does not permit the event in this state.
            _ => return Err(conflict),
        };
        watch.state = state;
        watch.version += 1;
        watch.updated_at = now;
        Ok(Some(Transition {
            watch,
            notification: tells,
            is_purchase_due: buys,
            is_check_due: asks,
        }))
    }
}
