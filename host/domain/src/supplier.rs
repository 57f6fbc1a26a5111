//! Suppliers in general: who they are, what they can do, and what a call to one
//! can end in.

use crate::money::Money;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The id that the operator gave an adapter: `[A-Z][A-Z0-9_]{0,63}`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SupplierId(String);

/// Text that is not a supplier id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a supplier id has the form [A-Z][A-Z0-9_]{{0,63}}")]
pub struct InvalidSupplierId;

impl SupplierId {
    /// Reads a supplier id.
    ///
    /// # Errors
    /// [`InvalidSupplierId`].
    pub fn parse(text: &str) -> Result<Self, InvalidSupplierId> {
        let mut bytes = text.bytes();
        let head = bytes.next().is_some_and(|b| b.is_ascii_uppercase());
        let tail = bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if head && tail && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSupplierId)
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SupplierId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SupplierId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SupplierId {
    type Error = InvalidSupplierId;
    fn try_from(text: String) -> Result<Self, InvalidSupplierId> {
        Self::parse(&text)
    }
}

impl From<SupplierId> for String {
    fn from(id: SupplierId) -> String {
        id.0
    }
}

/// What an adapter is an adapter for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupplierKind {
    /// Hotels.
    Hotel,
    /// Flights.
    Flight,
    /// Card payments.
    Payment,
}

/// An operation that an adapter has when it exports the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Places by name.
    HotelPlaces,
    /// Hotels of an area.
    HotelSearch,
    /// Offers of hotels.
    HotelPricing,
    /// Prebook, book, find.
    HotelBooking,
    /// Quote and cancel.
    HotelCancellation,
    /// Details and reviews.
    HotelContent,
    /// Weather at coordinates.
    HotelWeather,
    /// Average nightly prices.
    HotelPriceCalendar,
    /// Fares.
    FlightPricing,
    /// Prebook, book, find.
    FlightBooking,
    /// Quote and cancel.
    FlightCancellation,
    /// Bags on a ticket.
    FlightServices,
    /// Airports and airlines.
    FlightReference,
    /// The supplier's own webhooks.
    SupplierEvents,
    /// Card payments.
    PaymentProcessor,
}

impl Capability {
    /// Every operation, in the order of the interface.
    pub const ALL: [Self; 15] = [
        Self::HotelPlaces,
        Self::HotelSearch,
        Self::HotelPricing,
        Self::HotelBooking,
        Self::HotelCancellation,
        Self::HotelContent,
        Self::HotelWeather,
        Self::HotelPriceCalendar,
        Self::FlightPricing,
        Self::FlightBooking,
        Self::FlightCancellation,
        Self::FlightServices,
        Self::FlightReference,
        Self::SupplierEvents,
        Self::PaymentProcessor,
    ];

    /// Its name in snake case, e.g. `hotel_pricing`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HotelPlaces => "hotel_places",
            Self::HotelSearch => "hotel_search",
            Self::HotelPricing => "hotel_pricing",
            Self::HotelBooking => "hotel_booking",
            Self::HotelCancellation => "hotel_cancellation",
            Self::HotelContent => "hotel_content",
            Self::HotelWeather => "hotel_weather",
            Self::HotelPriceCalendar => "hotel_price_calendar",
            Self::FlightPricing => "flight_pricing",
            Self::FlightBooking => "flight_booking",
            Self::FlightCancellation => "flight_cancellation",
            Self::FlightServices => "flight_services",
            Self::FlightReference => "flight_reference",
            Self::SupplierEvents => "supplier_events",
            Self::PaymentProcessor => "payment_processor",
        }
    }

    /// What kind of adapter has it; none: any.
    #[must_use]
    pub const fn supplier_kind(self) -> Option<SupplierKind> {
        match self {
            Self::HotelPlaces
            | Self::HotelSearch
            | Self::HotelPricing
            | Self::HotelBooking
            | Self::HotelCancellation
            | Self::HotelContent
            | Self::HotelWeather
            | Self::HotelPriceCalendar => Some(SupplierKind::Hotel),
            Self::FlightPricing
            | Self::FlightBooking
            | Self::FlightCancellation
            | Self::FlightServices
            | Self::FlightReference => Some(SupplierKind::Flight),
            Self::PaymentProcessor => Some(SupplierKind::Payment),
            Self::SupplierEvents => None,
        }
    }
}

/// What a plugin says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginDescription {
    /// Technical name.
    pub name: String,
    /// Semantic version.
    pub version: String,
    /// The supplier takes the card at a checkout of its own.
    pub collects_payment: bool,
    /// An offer carries one unfinished booking at a time.
    pub one_booking_per_offer: bool,
    /// Single rooms can be cancelled.
    pub supports_partial_cancellation: bool,
    /// Not finding a reference is proof after this many milliseconds; none: never.
    pub reads_consistent_after_ms: Option<u32>,
    /// Repeating a change with the same reference gives the first answer.
    pub supports_idempotent_resend: bool,
    /// Hosts it asks for.
    pub hosts: Vec<String>,
    /// Names of secrets it asks for.
    pub secrets: Vec<String>,
    /// JSON Schema of its settings.
    pub settings_schema: String,
}

/// How well a supplier does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Answers.
    Up,
    /// Answers, but a good part of the calls fails.
    Degraded,
    /// Not called, but for a probe now and then.
    Down,
}

/// A supplier's definite no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why, in the gateway's words.
    pub reason: RefusalReason,
    /// The supplier's own code.
    pub supplier_code: Option<String>,
    /// One sentence for operators; never shown to callers.
    pub message: String,
}

/// Why a supplier says no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// Sold out.
    Unavailable,
    /// Offer, quote or prebook is too old.
    Expired,
    /// Another price now.
    PriceChanged(Money),
    /// Other terms now.
    TermsChanged,
    /// The payment at the supplier's checkout is not completed.
    PaymentRequired,
    /// The supplier could not take the payment.
    PaymentDeclined,
    /// Values that the supplier does not accept.
    Invalid,
    /// Already booked.
    Duplicate,
    /// Cannot be cancelled.
    NotCancellable,
    /// Our account lacks funds or rights.
    Account,
    /// Another definite no.
    Other(String),
}

/// Why a call that changes nothing gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The adapter does not export the operation.
    #[error("the supplier does not offer this operation")]
    Unsupported,
    /// The supplier has no such thing.
    #[error("not found at the supplier: {0}")]
    NotFound(String),
    /// The supplier says no.
    #[error("the supplier rejected the request: {}", .0.message)]
    Rejected(Refusal),
    /// The supplier's limit, or ours for it.
    #[error("the supplier's limit is reached")]
    RateLimited {
        /// Seconds to wait, where known.
        retry_after_s: Option<u32>,
    },
    /// No whole answer in time.
    #[error("the supplier did not answer in time: {0}")]
    TimedOut(String),
    /// Connection failed, down for now, circuit open.
    #[error("the supplier cannot be reached: {0}")]
    Unavailable(String),
    /// The supplier, or its adapter, broke.
    #[error("the supplier failed: {0}")]
    Failed(String),
    /// An answer that cannot be used.
    #[error("the supplier's answer cannot be used: {0}")]
    InvalidResponse(String),
    /// Credentials, settings or grants are wrong.
    #[error("the adapter is not configured correctly: {0}")]
    Misconfigured(String),
    /// The gateway has no room for another call.
    #[error("too many calls at once")]
    Overloaded,
}

/// How a call that may have changed something ends when it is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The adapter does not export the operation; nothing was sent.
    #[error("the supplier does not offer this operation")]
    Unsupported,
    /// A definite no.
    #[error("the supplier refused: {}", .0.message)]
    Refused(Refusal),
    /// Nothing left the gateway; the call may be repeated.
    #[error("nothing was sent: {0}")]
    NotSent(String),
    /// The supplier's limit, said before it did anything; the call may be repeated.
    #[error("the supplier's limit is reached")]
    RateLimited {
        /// Seconds to wait, where known.
        retry_after_s: Option<u32>,
    },
    /// The gateway has no room for another call; nothing was sent.
    #[error("too many calls at once")]
    Overloaded,
    /// It may have happened.
    #[error("the outcome is unknown: {0}")]
    Unknown(String),
}

/// The state of a booking, as the supplier tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupplierBookingStatus {
    /// Accepted, not final.
    Pending,
    /// Booked.
    Confirmed,
    /// Some rooms released.
    PartiallyCanceled,
    /// A cancellation is not decided.
    CancelPending,
    /// Released.
    Canceled,
    /// The supplier did not, and will not, book.
    Failed(Refusal),
}

/// What the browser needs at the supplier's own checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Where to pay.
    pub url: Option<String>,
    /// Shown once.
    pub token: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supplier_ids_are_upper_case() {
        for (text, good) in [
            ("SUPPLIER_A", true),
            ("A", true),
            ("", false),
            ("a", false),
            ("1A", false),
            ("A-B", false),
        ] {
            assert_eq!(SupplierId::parse(text).is_ok(), good, "{text}");
        }
        assert!(SupplierId::parse(&"A".repeat(65)).is_err());
    }
}
