//! Types shared by all suppliers: ids, capabilities, and the outcomes of a call.

use crate::id::text_newtype;
use crate::money::Money;
use crate::named_enum::named_enum;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The id that the operator gave an adapter: `[A-Z][A-Z0-9_]{0,63}`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SupplierId(String);

/// Error for text that is not a supplier id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a supplier id has the form [A-Z][A-Z0-9_]{{0,63}}")]
pub struct InvalidSupplierId;

impl SupplierId {
    /// Parses a supplier id.
    ///
    /// # Errors
    /// Returns [`InvalidSupplierId`] if the text has another form.
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

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_newtype!(SupplierId, InvalidSupplierId);

/// The kind of supplier that an adapter connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupplierKind {
    Hotel,
    Flight,
    Payment,
}

named_enum! {
    /// A capability that an adapter has if it exports the interface.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Capability {
        HotelPlaces = "hotel_places",
        HotelSearch = "hotel_search",
        HotelPricing = "hotel_pricing",
        /// Prebooks, books and finds hotel bookings.
        HotelBooking = "hotel_booking",
        /// Quotes and makes cancellations of hotel bookings.
        HotelCancellation = "hotel_cancellation",
        /// Returns details and reviews of hotels.
        HotelContent = "hotel_content",
        HotelWeather = "hotel_weather",
        /// Returns average nightly prices.
        HotelPriceCalendar = "hotel_price_calendar",
        FlightPricing = "flight_pricing",
        /// Prebooks, books and finds flight bookings.
        FlightBooking = "flight_booking",
        /// Quotes and makes cancellations of flight bookings.
        FlightCancellation = "flight_cancellation",
        /// Sells bags for a ticket.
        FlightServices = "flight_services",
        /// Returns airports and airlines.
        FlightReference = "flight_reference",
        /// Reads the supplier's own webhooks.
        SupplierEvents = "supplier_events",
        PaymentProcessor = "payment_processor",
    }
}

impl Capability {
    /// Returns the kind of supplier that has the capability. Returns `None` if any kind may have
    /// it.
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

/// A plugin's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginDescription {
    pub name: String,
    pub version: String,
    /// Whether the supplier collects the card payment at its own checkout.
    pub collects_payment: bool,
    /// Whether an offer can have only one unfinished booking at a time.
    pub one_booking_per_offer: bool,
    /// Whether single rooms can be cancelled.
    pub supports_partial_cancellation: bool,
    /// Time in milliseconds after which reads show the effect of a call, at the supplier's slowest.
    /// `None` if a reference that is not found never proves that nothing was booked.
    pub reads_consistent_after_ms: Option<u32>,
    /// Whether a change that is resent with the same reference returns the first response.
    pub supports_idempotent_resend: bool,
    /// Hosts that the plugin requests access to.
    pub hosts: Vec<String>,
    /// Names of the secrets that the plugin requests.
    pub secrets: Vec<String>,
    /// JSON Schema of the plugin's settings.
    pub settings_schema: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Up,
    /// The supplier responds, but a considerable share of the calls fails.
    Degraded,
    /// The supplier is not called, except for occasional probes.
    Down,
}

/// The state of a circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CircuitStatus {
    /// Calls are made.
    Closed,
    /// Calls are refused until a probe is made.
    Open {
        /// Time until the next call may be a probe, in milliseconds.
        probe_in_ms: u64,
    },
    /// A probe is under way. Other calls are refused.
    Probing,
}

/// Changes of a supplier by operators, which override its configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SupplierOverride {
    /// The supplier gets no new requests. What exists there is followed to its end.
    pub is_drained: bool,
    /// Priority and weight for all organizations. `None` for those of the configuration.
    pub rank: Option<Rank>,
}

/// The place of a supplier among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Lower values are called first.
    pub priority: i32,
    /// Share of calls among suppliers of equal priority. With 0 the supplier is called only if a
    /// request names it.
    pub weight: u32,
}

/// A definite refusal by a supplier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason, in the gateway's terms.
    pub reason: RefusalReason,
    pub supplier_code: Option<String>,
    /// One sentence for operators. It is never shown to API clients.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// The offer is sold out.
    Unavailable,
    /// The offer, quote or prebook is too old.
    Expired,
    /// The price has changed to this amount.
    PriceChanged(Money),
    TermsChanged,
    /// The payment at the supplier's checkout is not completed.
    PaymentRequired,
    /// The supplier could not collect the payment.
    PaymentDeclined,
    /// The supplier does not accept the values.
    Invalid,
    /// The booking already exists.
    Duplicate,
    NotCancellable,
    /// The gateway's account at the supplier lacks funds or rights.
    Account,
    Other(String),
}

/// Why a call that may change something has no usable result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureReason {
    /// One sentence for operators, without personal data.
    pub message: String,
    /// Whether the same call cannot succeed before somebody has corrected something: the
    /// configuration, the account at the supplier, or the adapter.
    pub requires_correction: bool,
}

impl FailureReason {
    /// Creates the reason of a failure after which the same call cannot succeed before somebody has
    /// corrected something.
    pub fn requiring_correction(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            requires_correction: true,
        }
    }
}

/// Creates the reason of a failure after which the same call may succeed later.
impl From<String> for FailureReason {
    fn from(message: String) -> Self {
        Self {
            message,
            requires_correction: false,
        }
    }
}

/// Creates the reason of a failure after which the same call may succeed later.
impl From<&str> for FailureReason {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<FailureReason> for String {
    fn from(reason: FailureReason) -> Self {
        reason.message
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Errors of a call that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("the supplier does not offer this operation")]
    Unsupported,
    #[error("not found at the supplier: {0}")]
    NotFound(String),
    #[error("the supplier rejected the request: {}", .0.message)]
    Rejected(Refusal),
    /// The supplier's rate limit, or the gateway's limit for it, is reached.
    #[error("the supplier's limit is reached")]
    RateLimited { retry_after_s: Option<u32> },
    #[error("the supplier did not respond in time: {0}")]
    TimedOut(String),
    /// The connection failed, the supplier is down, or the circuit breaker is open.
    #[error("the supplier cannot be reached: {0}")]
    Unavailable(String),
    #[error("the supplier failed: {0}")]
    Failed(String),
    /// The adapter panicked or exceeded a limit.
    #[error("the adapter failed: {0}")]
    AdapterFailed(String),
    #[error("the supplier's response cannot be used: {0}")]
    InvalidResponse(String),
    /// Credentials, settings or grants are wrong.
    #[error("the adapter is not configured correctly: {0}")]
    Misconfigured(String),
    /// The gateway has no capacity for another call.
    #[error("too many calls at once")]
    Overloaded,
}

impl ReadError {
    /// Returns whether the same call may succeed later without anybody's help. A response that
    /// cannot be used is one of an adapter or a configuration that does not fit the supplier, for
    /// example because it is in a currency that was not requested.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::TimedOut(_)
            | Self::Unavailable(_)
            | Self::Failed(_)
            | Self::Overloaded => true,
            Self::Unsupported
            | Self::NotFound(_)
            | Self::Rejected(_)
            | Self::AdapterFailed(_)
            | Self::InvalidResponse(_)
            | Self::Misconfigured(_) => false,
        }
    }
}

/// Errors of a call that may have changed something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The adapter does not export the operation. Nothing was sent.
    #[error("the supplier does not offer this operation")]
    Unsupported,
    #[error("the supplier refused: {}", .0.message)]
    Refused(Refusal),
    /// The adapter refused without asking the supplier. Nothing was sent. This says nothing about an
    /// earlier sending of the same call.
    #[error("the adapter refused without asking the supplier: {}", .0.message)]
    RefusedByAdapter(Refusal),
    /// No data left the gateway. The call may be sent again.
    #[error("nothing was sent: {0}")]
    NotSent(FailureReason),
    /// The supplier's rate limit was reported before it did anything. The call may be sent again.
    #[error("the supplier's limit is reached")]
    RateLimited { retry_after_s: Option<u32> },
    /// The gateway has no capacity for another call. Nothing was sent.
    #[error("too many calls at once")]
    Overloaded,
    /// The change may have taken effect.
    #[error("the outcome is unknown: {0}")]
    Unknown(FailureReason),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupplierBookingStatus {
    /// The booking is accepted, but not final.
    Pending,
    Confirmed,
    /// Some rooms are cancelled.
    PartiallyCanceled,
    /// A cancellation is not decided yet.
    CancelPending,
    Canceled,
    /// The supplier did not book, and will not.
    Failed(Refusal),
}

/// Data that the browser needs at the supplier's own checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The URL of the payment page.
    pub url: Option<String>,
    /// The checkout token. It is shown once.
    pub token: String,
}

/// A request to look a booking up at its supplier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindRequest {
    pub client_reference: String,
    pub supplier_reference: Option<String>,
    pub supplier_prebook: Option<String>,
    /// Time before which the booking cannot have been made.
    pub since: Timestamp,
}

/// The result of looking a booking up at its supplier. `B` is the booking as the supplier reports
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookingLookup<B> {
    Found(Box<B>),
    /// The supplier responded and has no such booking.
    NotFound,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supplier_id_must_be_upper_case() {
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
