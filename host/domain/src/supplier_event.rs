//! Events that a supplier sends through its webhooks, as parsed by its adapter. An event only
//! triggers a new read of a booking; its content is never taken as a fact.

use crate::supplier::FailureReason;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Maximum body size of a webhook request. An event names what changed, or repeats a whole order;
/// requests from strangers must not fill the memory of an adapter.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum number of headers of a webhook request, as many as web servers accept.
pub const HEADERS_MAX: usize = 100;
/// Maximum total size of header names and values, as much as web servers accept.
pub const HEADER_BYTES_MAX: usize = 64 << 10;

/// A request to a supplier's webhook path, unparsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierWebhookRequest {
    /// Header names and values, in the order received.
    pub headers: Vec<(String, String)>,
    /// The body, in the exact bytes that were signed.
    pub body: Vec<u8>,
    pub received_at: Timestamp,
}

/// The subject of a supplier's event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupplierEventKind {
    BookingChanged,
    /// The airline or hotel changed the booked itinerary or stay.
    ItineraryChanged,
    CancellationChanged,
    PaymentChanged,
    /// A test, or an event without a booking. The text describes it.
    Irrelevant(String),
}

impl SupplierEventKind {
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupplierEvent {
    /// The supplier's id of the event. The same event may arrive more than once.
    pub id: String,
    pub kind: SupplierEventKind,
    /// The supplier's id of the booking.
    pub supplier_reference: Option<String>,
    /// The gateway's reference, as the supplier repeats it.
    pub client_reference: Option<String>,
    /// The offer that the booking came from, if only that is known.
    pub supplier_offer: Option<String>,
    /// Time of the event by the supplier's clock.
    pub occurred_at: Option<Timestamp>,
}

/// Errors of verifying a webhook request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    #[error("the adapter does not read webhooks")]
    Unsupported,
    /// The signature is missing, wrong or too old.
    #[error("the signature of the webhook request is invalid: {0}")]
    InvalidSignature(String),
    /// The request is too large, or does not have the form that the supplier is known to send.
    #[error("the webhook request cannot be parsed: {0}")]
    Malformed(String),
    /// The adapter failed or returned an invalid result. Nothing is stored.
    #[error("the adapter failed: {0}")]
    Failed(FailureReason),
    /// The gateway has no capacity for another call. The same request may be sent again.
    #[error("too many calls at once")]
    Overloaded,
}
