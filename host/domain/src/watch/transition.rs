//! How a watch moves: the whole table.

use super::{PurchaseFailureReason, State, Watch};
use crate::booking::InvalidTransition;
use crate::event::EventType;
use crate::id::{BookingId, MandateId};
use crate::money::Money;
use crate::time::Timestamp;

/// What happens to a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The cheapest costs this now.
    PriceObserved {
        /// For the whole stay.
        total: Money,
    },
    /// Nothing is to be had now.
    PriceUnavailable,
    /// Its owner consented that it buys.
    Armed {
        /// The sealed consent.
        mandate: MandateId,
    },
    /// There is a booking to buy with.
    PurchaseStarted {
        /// Which.
        booking: BookingId,
    },
    /// It was sold out or dearer than the cap when it was to be bought: nothing was
    /// promised.
    PurchaseAborted,
    /// It was bought.
    Purchased,
    /// It could not be bought.
    PurchaseFailed {
        /// Why.
        reason: PurchaseFailureReason,
    },
    /// Check-in has passed.
    Expired,
    /// The caller does not want it any more.
    Canceled,
}

impl Event {
    /// Its name in logs and in the table of the machine.
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

/// A watch that has moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The watch afterwards, its version counted up.
    pub watch: Watch,
    /// What the organization is told.
    pub notification: Option<EventType>,
    /// Whether it is to be bought now.
    pub is_purchase_due: bool,
    /// Whether its question is to be asked now.
    pub is_check_due: bool,
}

impl Watch {
    /// Moves it. None: nothing about it changes, so that telling it twice is as good
    /// as telling it once.
    ///
    /// # Errors
    /// What cannot happen to a watch that is where this one is.
    pub fn apply(self, event: Event, now: Timestamp) -> Result<Option<Transition>, InvalidTransition> {
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
            (State::Triggered, Event::PriceObserved { total }) if watch.trigger.is_met_by(total) => {
                return Ok(None);
            }
            // What is not to be had costs more than anything.
            (State::Triggered, Event::PriceObserved { .. } | Event::PriceUnavailable) => State::Active,
            (State::Active | State::Purchasing { .. }, Event::PriceObserved { .. } | Event::PriceUnavailable) => {
                return Ok(None);
            }
            (State::Active | State::Triggered | State::Purchasing { .. }, Event::Armed { .. })
                if watch.is_armed() =>
            {
                return Ok(None);
            }
            // Who was told of the price and then consents, wants it at that price: the
            // next check buys.
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
            // What the interface does not allow where the watch is.
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
