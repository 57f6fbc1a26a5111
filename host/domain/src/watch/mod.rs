//! Price watches: what is checked, when, and how a watch changes.

pub mod list;
pub mod price_query;
mod transition;

#[cfg(test)]
mod tests;

pub use price_query::{Area, ObservedPrice, PriceQuery, TripFilters, WatchTarget};
pub use transition::{WatchTransition, WatchTransitionEvent};

use crate::event::EventType;
use crate::hotel::{Contact, Guest};
use crate::id::{BookingId, InstrumentId, MandateId, WatchId};
use crate::mandate::MandateScope;
use crate::money::Money;
use crate::named_enum::named_enum;
use crate::owner::Owner;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The watch statuses of the API.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum WatchStatus {
        /// The watch waits for its price.
        Active = "active",
        /// The watch reported that its price was reached. It becomes active again when the price
        /// rises above the limit.
        Triggered = "triggered",
        Purchasing = "purchasing",
        Purchased = "purchased",
        PurchaseFailed = "purchase_failed",
        /// Check-in has passed.
        Expired = "expired",
        Canceled = "canceled",
    }
}

impl WatchStatus {
    /// Returns whether the watch can still change. The price is checked only for such watches.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Active | Self::Triggered | Self::Purchasing)
    }

    /// Returns whether the watch can be cancelled. A purchase in progress cannot.
    pub const fn is_cancelable(self) -> bool {
        matches!(self, Self::Active | Self::Triggered)
    }
}

named_enum! {
    /// The reason why a watch could not buy.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PurchaseFailureReason {
        /// The card was declined, or its holder must act.
        PaymentFailed = "payment_failed",
        /// The instrument is deleted or cannot be charged.
        PaymentInstrumentInvalid = "payment_instrument_invalid",
        /// The supplier refused for a reason other than sold out or a higher price.
        SupplierRejected = "supplier_rejected",
        MandateRevoked = "mandate_revoked",
        MandateExpired = "mandate_expired",
        /// The mandate does not cover this purchase, or differs from what was signed.
        MandateInvalid = "mandate_invalid",
    }
}

/// The state of a watch, with the data that only this state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum WatchState {
    Active,
    Triggered,
    Purchasing {
        /// The booking of the purchase, once it exists.
        booking: Option<BookingId>,
    },
    Purchased {
        booking: BookingId,
    },
    PurchaseFailed {
        reason: PurchaseFailureReason,
        /// The failed booking, if one was created.
        booking: Option<BookingId>,
    },
    Expired,
    Canceled,
}

/// The price condition of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Trigger {
    /// The price of the whole stay is at most this amount.
    BelowTotal {
        /// Maximum price, in the stay's currency.
        amount: Money,
    },
}

impl Trigger {
    pub const fn amount(&self) -> Money {
        match self {
            Self::BelowTotal { amount } => *amount,
        }
    }

    pub fn is_met_by(&self, total: Money) -> bool {
        let most = self.amount();
        total.currency == most.currency && total.minor <= most.minor
    }
}

/// The data for an automatic purchase, which also requires the owner's consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoBook {
    pub payment_instrument_id: InstrumentId,
    pub contact: Contact,
    /// The guests, one list per room, in the order of the stay.
    pub rooms: Vec<Vec<Guest>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    pub id: WatchId,
    pub owner: Owner,
    /// The version, incremented by each change. Every update is conditional on it.
    pub version: i64,
    /// The query that is checked repeatedly for this watch.
    pub query: PriceQuery,
    pub trigger: Trigger,
    /// The data for an automatic purchase. `None` if the watch only publishes events.
    pub auto_book: Option<AutoBook>,
    /// The mandate that permits the purchase, once the owner has consented.
    pub mandate_id: Option<MandateId>,
    pub state: WatchState,
    /// Time at which check-in has passed in every time zone.
    pub expires_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Watch {
    pub fn new(
        id: WatchId,
        owner: Owner,
        query: PriceQuery,
        trigger: Trigger,
        auto_book: Option<AutoBook>,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            owner,
            version: 1,
            expires_at: query.expires_at(),
            query,
            trigger,
            auto_book,
            mandate_id: None,
            state: WatchState::Active,
            created_at: now,
            updated_at: now,
        }
    }

    pub const fn status(&self) -> WatchStatus {
        match self.state {
            WatchState::Active => WatchStatus::Active,
            WatchState::Triggered => WatchStatus::Triggered,
            WatchState::Purchasing { .. } => WatchStatus::Purchasing,
            WatchState::Purchased { .. } => WatchStatus::Purchased,
            WatchState::PurchaseFailed { .. } => WatchStatus::PurchaseFailed,
            WatchState::Expired => WatchStatus::Expired,
            WatchState::Canceled => WatchStatus::Canceled,
        }
    }

    /// Returns whether the owner has consented to a purchase.
    pub const fn is_armed(&self) -> bool {
        self.mandate_id.is_some()
    }

    /// Returns the booking of the current, completed or failed purchase.
    pub const fn booking_id(&self) -> Option<&BookingId> {
        match &self.state {
            WatchState::Purchasing { booking } | WatchState::PurchaseFailed { booking, .. } => {
                booking.as_ref()
            }
            WatchState::Purchased { booking } => Some(booking),
            _ => None,
        }
    }

    /// Returns the scope of a mandate for this watch. Returns `None` for a trip, which cannot be
    /// bought.
    pub fn mandate_scope(&self) -> Option<MandateScope> {
        let WatchTarget::Hotel { hotel_id } = &self.query.target else {
            return None;
        };
        let stay = &self.query.stay;
        Some(MandateScope::HotelWatch {
            watch_id: self.id.clone(),
            hotel_id: hotel_id.clone(),
            check_in: stay.check_in,
            check_out: stay.check_out,
        })
    }

    /// Returns the type of the event that reports that the price was reached.
    pub const fn triggered_event(&self) -> EventType {
        match self.query.target {
            WatchTarget::Hotel { .. } => EventType::HotelWatchTriggered,
            WatchTarget::Trip { .. } => EventType::TripWatchTriggered,
        }
    }
}
