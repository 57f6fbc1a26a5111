//! Data that the dashboard reads across the users of an organization, or across organizations.

pub mod booking;
pub mod go_live;
pub mod watch;
pub mod webhook;

use crate::booking::{BookingKind, BookingStatus};
use crate::flight::FlightBooking;
use crate::hotel::HotelBooking;
use crate::id::{BookingId, KeyId, SubscriptionId};
use crate::money::Money;
use crate::named_enum::named_enum;
use crate::owner::{Mode, Owner};
use crate::payment::Payment;
use crate::supplier::SupplierId;
use crate::time::Timestamp;

/// The organizations and the mode of the rows that a person may read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TenantScope {
    /// `None` for all organizations. An empty list has no rows.
    pub organizations: Option<Vec<String>>,
    pub mode: Mode,
}

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ApiKeyStatus {
        Active = "active",
        Expired = "expired",
        Revoked = "revoked",
    }
}

/// Filter of a list of API keys. `None` means any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiKeyFilter {
    /// A part of the name or of the masked key, in upper or lower case.
    pub text: Option<String>,
    pub status: Option<ApiKeyStatus>,
}

/// The number of bookings with a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookingCount {
    pub status: BookingStatus,
    pub hotels: u64,
    pub flights: u64,
}

/// Numbers of the overview.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverviewCounts {
    /// Deliveries of webhooks that are not delivered yet, at most the limit of the read.
    pub waiting_deliveries: u64,
    /// Creation time of the oldest of them.
    pub oldest_delivery_at: Option<Timestamp>,
    /// Calls whose outcome is unknown, and undecided refunds.
    pub open_outcomes: u64,
    /// Time at which the oldest of them was sent.
    pub oldest_outcome_at: Option<Timestamp>,
    /// Jobs of all organizations that are no longer retried.
    pub parked_jobs: u64,
    pub active_keys: u64,
    pub has_key: bool,
    /// Whether a program has used one of the keys.
    pub has_used_key: bool,
}

/// A piece of work that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenItem {
    /// A call of a supplier or a payment processor whose outcome is unknown.
    Outcome {
        booking: BookingId,
        step: String,
        target: SupplierId,
        sent_at: Timestamp,
    },
    /// A job that failed too often and is no longer retried.
    Job {
        kind: String,
        subject: String,
        attempts: i64,
        parked_at: Timestamp,
    },
    /// An API key that expires soon.
    Key {
        id: KeyId,
        name: String,
        masked_key: String,
        expires_at: Timestamp,
    },
    /// A webhook whose receiver accepts nothing.
    Webhook {
        id: SubscriptionId,
        url: String,
        /// Whether deliveries wait until a person resumes the webhook. Otherwise they are retried.
        is_disabled: bool,
        /// Time of the first failure since the last success, or of the last change.
        since: Timestamp,
    },
}

/// A booking of either kind.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyBooking {
    Hotel(Box<HotelBooking>),
    Flight(Box<FlightBooking>),
}

impl AnyBooking {
    pub fn id(&self) -> &BookingId {
        match self {
            Self::Hotel(hotel) => &hotel.id,
            Self::Flight(flight) => &flight.id,
        }
    }

    pub fn status(&self) -> BookingStatus {
        match self {
            Self::Hotel(hotel) => hotel.status(),
            Self::Flight(flight) => flight.status(),
        }
    }

    /// Returns the prebooked price without services, or the offered one before the prebook.
    pub fn price(&self) -> Money {
        match self {
            Self::Hotel(hotel) => hotel.details.booked_price(),
            Self::Flight(flight) => flight.details.booked_price(),
        }
    }

    /// Returns all payments that were started, oldest first.
    pub fn payments(&self) -> &[Payment] {
        match self {
            Self::Hotel(hotel) => &hotel.payments,
            Self::Flight(flight) => &flight.payments,
        }
    }

    pub fn owner(&self) -> &Owner {
        match self {
            Self::Hotel(booking) => &booking.owner,
            Self::Flight(booking) => &booking.owner,
        }
    }
}

/// Filter of the calls with an unknown outcome. `None` means any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnresolvedFilter {
    pub booking: Option<BookingId>,
    /// The supplier or processor that was called.
    pub target: Option<SupplierId>,
}
