//! How a watch moves: the whole table.

use super::{PurchaseFailure, State, Watch};
use crate::booking::Conflict;
use crate::event::EventType;
use crate::id::{BookingId, MandateId};
use crate::money::Money;
use crate::time::Timestamp;

/// What happens to a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The cheapest costs this now.
    Priced {
        /// For the whole stay.
        total: Money,
    },
    /// Nothing is to be had now.
    Unpriced,
    /// Its owner consented that it buys.
    Armed {
        /// The sealed consent.
        mandate: MandateId,
    },
    /// There is a booking to buy with.
    PurchaseBegan {
        /// Which.
        booking: BookingId,
    },
    /// It was sold out or dearer than the cap when it was to be bought: nothing was
    /// promised.
    PurchaseReleased,
    /// It was bought.
    Purchased,
    /// It could not be bought.
    PurchaseFailed {
        /// Why.
        reason: PurchaseFailure,
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
            Self::Priced { .. } => "priced",
            Self::Unpriced => "unpriced",
            Self::Armed { .. } => "armed",
            Self::PurchaseBegan { .. } => "purchase_began",
            Self::PurchaseReleased => "purchase_released",
            Self::Purchased => "purchased",
            Self::PurchaseFailed { .. } => "purchase_failed",
            Self::Expired => "expired",
            Self::Canceled => "canceled",
        }
    }
}

/// A watch that has moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// The watch afterwards, its version counted up.
    pub watch: Watch,
    /// What the organization is told.
    pub tells: Option<EventType>,
    /// Whether it is to be bought now.
    pub buys: bool,
    /// Whether its question is to be asked now.
    pub asks: bool,
}

impl Watch {
    /// Moves it. None: nothing about it changes, so that telling it twice is as good
    /// as telling it once.
    ///
    /// # Errors
    /// What cannot happen to a watch that is where this one is.
    pub fn apply(self, event: Event, now: Timestamp) -> Result<Option<Moved>, Conflict> {
        let name = event.name();
        let conflict = Conflict {
            status: self.status().as_str(),
            event: name,
        };
        let (mut watch, mut tells, mut buys, mut asks) = (self, None, false, false);
        let state = match (watch.state.clone(), event) {
            (State::Active, Event::Priced { total }) if watch.trigger.is_met_by(total) => {
                buys = watch.is_armed();
                tells = (!buys).then(|| watch.triggered_event());
                if buys {
                    State::Purchasing { booking: None }
                } else {
                    State::Triggered
                }
            }
            (State::Triggered, Event::Priced { total }) if watch.trigger.is_met_by(total) => {
                return Ok(None);
            }
            // What is not to be had costs more than anything.
            (State::Triggered, Event::Priced { .. } | Event::Unpriced) => State::Active,
            (State::Active | State::Purchasing { .. }, Event::Priced { .. } | Event::Unpriced) => {
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
            (State::Purchasing { booking: None }, Event::PurchaseBegan { booking }) => {
                State::Purchasing {
                    booking: Some(booking),
                }
            }
            (State::Purchasing { .. }, Event::PurchaseReleased) => State::Active,
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
        Ok(Some(Moved {
            watch,
            tells,
            buys,
            asks,
        }))
    }
}
