//! Bookings as the dashboard lists them, and what happened to one.

use crate::audit::AuditAction;
use crate::booking::BookingStatus;
use crate::id::{DeliveryId, EventId};
use crate::named_enum::named_enum;
use crate::remote_call::AttemptOutcome;
use crate::supplier::SupplierId;
use crate::time::Timestamp;
use crate::webhook::DeliveryStatus;

named_enum! {
    /// The kind of an [`AnyBooking`](crate::console::AnyBooking).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum AnyBookingKind {
        Hotel = "hotel",
        Flight = "flight",
    }
}

/// A filter for the bookings of a scope. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookingScopeFilter {
    pub kind: Option<AnyBookingKind>,
    pub status: Option<BookingStatus>,
    pub supplier: Option<SupplierId>,
    /// The organization's end user.
    pub user: Option<String>,
    /// The whole id, the supplier's id, or the client's reference of the booking.
    pub reference: Option<String>,
    /// Earliest creation time, inclusive.
    pub created_from: Option<Timestamp>,
    /// Latest creation time, inclusive.
    pub created_to: Option<Timestamp>,
}

/// Something that happened to a booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEntry {
    pub at: Timestamp,
    pub content: TimelineContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimelineContent {
    Request(TimelineRequest),
    Transition(TimelineTransition),
    Call(TimelineCall),
    /// An event for subscribers.
    Event {
        id: EventId,
        event_type: String,
    },
    Delivery(TimelineDelivery),
    /// A person did something with the booking.
    Action {
        action: AuditAction,
        /// Name of the actor, or its id.
        actor: String,
    },
}

/// A call of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineRequest {
    pub request_id: String,
    pub method: String,
    pub route: String,
    pub status: u16,
    pub duration_us: i64,
    /// The error code of the response.
    pub code: Option<String>,
}

/// A change of the booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineTransition {
    pub event: String,
    /// `None` if the booking was created.
    pub from_status: Option<BookingStatus>,
    pub to_status: BookingStatus,
    /// The reason, without personal data.
    pub reason: Option<String>,
}

/// A call that may have changed something at a supplier or a payment processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineCall {
    /// Name of the workflow step.
    pub step: String,
    pub target: SupplierId,
    /// The gateway's reference, by which the other side identifies the call.
    pub client_reference: String,
    pub outcome: AttemptOutcome,
    /// A short explanation of the outcome, without personal data.
    pub evidence: Option<String>,
    pub finished_at: Option<Timestamp>,
    /// Whether the list of unknown outcomes and undecided refunds has the call.
    pub is_open: bool,
}

/// An event on its way to a subscription, at the time of the latest attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineDelivery {
    pub id: DeliveryId,
    pub event_type: String,
    pub url: String,
    pub status: DeliveryStatus,
    /// Status code of the response to the latest attempt.
    pub response_status: Option<u16>,
    pub duration_ms: Option<i64>,
    /// The reason that the latest attempt has no response, or that there are no more attempts.
    pub error: Option<String>,
}
