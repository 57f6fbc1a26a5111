//! What a supplier tells on its own account: its webhooks, as its adapter reads
//! them. An event is a hint to read a booking again, never a fact by itself.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Largest body of a delivery: an event names what changed, or repeats a whole
/// order, and strangers must not fill the memory of an adapter.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Most headers of a delivery: as many as web servers let through.
pub const HEADERS_MAX: usize = 100;
/// Their names and values in all, likewise.
pub const HEADER_BYTES_MAX: usize = 64 << 10;

/// What came to a supplier's webhook path, unparsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierWebhookRequest {
    /// Names and values, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The bytes that a signature is over.
    pub body: Vec<u8>,
    /// When it came.
    pub received_at: Timestamp,
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupplierEventKind {
    /// Something about the booking: read it again.
    BookingChanged,
    /// The airline or hotel changed what was booked.
    ItineraryChanged,
    /// Something about a cancellation.
    CancellationChanged,
    /// Something about a payment.
    PaymentChanged,
    /// A test, or something without a booking; what it is.
    Irrelevant(String),
}

impl SupplierEventKind {
    /// E.g. `booking_changed`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::BookingChanged => "booking_changed",
            Self::ItineraryChanged => "itinerary_changed",
            Self::CancellationChanged => "cancellation_changed",
            Self::PaymentChanged => "payment_changed",
            Self::Irrelevant(_) => "irrelevant",
        }
    }
}

/// One thing that a supplier tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupplierEvent {
    /// The supplier's id of it; the same event may come more than once.
    pub id: String,
    /// What it is about.
    pub kind: SupplierEventKind,
    /// The supplier's id of the booking.
    pub supplier_reference: Option<String>,
    /// Ours, as the supplier repeats it.
    pub client_reference: Option<String>,
    /// The offer that the booking came from, where only that is known.
    pub supplier_offer: Option<String>,
    /// When it happened, by the supplier's clock.
    pub occurred_at: Option<Timestamp>,
}

/// Why a delivery gave no events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The adapter reads no webhooks.
    #[error("the adapter reads no webhooks")]
    Unsupported,
    /// The signature is missing, wrong or too old.
    #[error("the delivery is not the supplier's: {0}")]
    InvalidSignature(String),
    /// It is too large, or not what the supplier is known to send.
    #[error("the delivery cannot be read: {0}")]
    Malformed(String),
    /// The adapter broke, or answered nonsense; the same delivery may come again.
    #[error("the adapter failed: {0}")]
    Failed(String),
    /// The gateway has no room for another call; the same delivery may come again.
    #[error("too many calls at once")]
    Overloaded,
}
