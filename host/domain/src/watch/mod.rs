//! Waiting for a price: what is asked, when, and what becomes of whoever waits.

pub mod ask;
mod transition;

#[cfg(test)]
mod tests;

pub use ask::{Area, PriceQuery, WatchTarget, TripFilters};
pub use transition::{Event, Transition};

use crate::event::EventType;
use crate::hotel::{Contact, Guest};
use crate::id::{BookingId, InstrumentId, MandateId, WatchId};
use crate::mandate::MandateScope;
use crate::money::Money;
use crate::owner::Owner;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The statuses of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Waits for the price.
    Active,
    /// Has told that the price is there, and waits for it to go up again.
    Triggered,
    /// Is being bought.
    Purchasing,
    /// Was bought.
    Purchased,
    /// Was to be bought, and could not.
    PurchaseFailed,
    /// Check-in has passed.
    Expired,
    /// The caller does not want it any more.
    Canceled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::Triggered,
        Self::Purchasing,
        Self::Purchased,
        Self::PurchaseFailed,
        Self::Expired,
        Self::Canceled,
    ];

    /// The name in the API, e.g. `purchase_failed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Triggered => "triggered",
            Self::Purchasing => "purchasing",
            Self::Purchased => "purchased",
            Self::PurchaseFailed => "purchase_failed",
            Self::Expired => "expired",
            Self::Canceled => "canceled",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether something can still happen to a watch: its price is asked for.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Active | Self::Triggered | Self::Purchasing => true,
            Self::Purchased | Self::PurchaseFailed | Self::Expired | Self::Canceled => false,
        }
    }
}

/// Why a watch could not buy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PurchaseFailureReason {
    /// The card was declined, or needs its holder.
    PaymentFailed,
    /// The instrument is deleted or cannot be charged.
    PaymentInstrumentInvalid,
    /// The supplier refused, for another reason than that it is sold out or dearer.
    SupplierRejected,
    /// The mandate was revoked.
    MandateRevoked,
    /// The mandate has expired.
    MandateExpired,
    /// The mandate does not cover this, or is not what was signed.
    MandateInvalid,
}

impl PurchaseFailureReason {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::PaymentFailed,
        Self::PaymentInstrumentInvalid,
        Self::SupplierRejected,
        Self::MandateRevoked,
        Self::MandateExpired,
        Self::MandateInvalid,
    ];

    /// The name in events, e.g. `mandate_revoked`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentFailed => "payment_failed",
            Self::PaymentInstrumentInvalid => "payment_instrument_invalid",
            Self::SupplierRejected => "supplier_rejected",
            Self::MandateRevoked => "mandate_revoked",
            Self::MandateExpired => "mandate_expired",
            Self::MandateInvalid => "mandate_invalid",
        }
    }
}

/// Where a watch is, with what only holds there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// Waits for the price.
    Active,
    /// Has told that the price is there.
    Triggered,
    /// Is being bought.
    Purchasing {
        /// With this booking, once there is one.
        booking: Option<BookingId>,
    },
    /// Was bought.
    Purchased {
        /// With this booking.
        booking: BookingId,
    },
    /// Could not be bought.
    PurchaseFailed {
        /// Why.
        reason: PurchaseFailureReason,
        /// The booking that came to nothing, if it came so far.
        booking: Option<BookingId>,
    },
    /// Check-in has passed.
    Expired,
    /// The caller does not want it any more.
    Canceled,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Trigger {
    /// The whole stay costs this or less.
    BelowTotal {
        /// The most, in the stay's currency.
        amount: Money,
    },
}

impl Trigger {
    /// The most that may be paid.
    #[must_use]
    pub const fn amount(&self) -> Money {
        match self {
            Self::BelowTotal { amount } => *amount,
        }
    }

    /// Whether a price is what is waited for.
    #[must_use]
    pub fn is_met_by(&self, total: Money) -> bool {
        let most = self.amount();
        total.currency == most.currency && total.minor <= most.minor
    }
}

/// How a watch is to buy, once its owner has consented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoBook {
    /// What pays.
    pub payment_instrument_id: InstrumentId,
    /// Whom to write to.
    pub contact: Contact,
    /// One list a room, in the order of the stay.
    pub rooms: Vec<Vec<Guest>>,
}

/// Somebody who waits for a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// Its id.
    pub id: WatchId,
    /// Whose it is.
    pub owner: Owner,
    /// Counts changes; every update is conditional on it.
    pub version: i64,
    /// What is asked for it, again and again.
    pub query: PriceQuery,
    /// What is waited for.
    pub trigger: Trigger,
    /// How to buy; none: it only tells.
    pub auto_book: Option<AutoBook>,
    /// The consent to buy, once given.
    pub mandate_id: Option<MandateId>,
    /// Where it is.
    pub state: State,
    /// From then on check-in has passed everywhere.
    pub expires_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
}

impl Watch {
    /// A new watch, active.
    #[must_use]
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
            state: State::Active,
            created_at: now,
            updated_at: now,
        }
    }

    /// Its status in the API.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self.state {
            State::Active => Status::Active,
            State::Triggered => Status::Triggered,
            State::Purchasing { .. } => Status::Purchasing,
            State::Purchased { .. } => Status::Purchased,
            State::PurchaseFailed { .. } => Status::PurchaseFailed,
            State::Expired => Status::Expired,
            State::Canceled => Status::Canceled,
        }
    }

    /// Whether its owner consented that it buys.
    #[must_use]
    pub const fn is_armed(&self) -> bool {
        self.mandate_id.is_some()
    }

    /// The booking that it is being, was, or was to be bought with.
    #[must_use]
    pub const fn booking_id(&self) -> Option<&BookingId> {
        match &self.state {
            State::Purchasing { booking } | State::PurchaseFailed { booking, .. } => {
                booking.as_ref()
            }
            State::Purchased { booking } => Some(booking),
            State::Active | State::Triggered | State::Expired | State::Canceled => None,
        }
    }

    /// What its mandate is for; none: a trip is not bought.
    #[must_use]
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

    /// What is told when the price is there.
    #[must_use]
    pub const fn triggered_event(&self) -> EventType {
        match self.query.target {
            WatchTarget::Hotel { .. } => EventType::HotelWatchTriggered,
            WatchTarget::Trip { .. } => EventType::TripWatchTriggered,
        }
    }
}
