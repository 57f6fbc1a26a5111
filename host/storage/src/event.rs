//! The history of bookings and the events for subscribers. Shared by all products.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, UnitOfWork};
use host_domain::event::Product;
use host_domain::id::{BookingId, EventId};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingHistoryEntry {
    pub booking_id: BookingId,
    /// The booking's version after the transition.
    pub sequence: i64,
    pub event: String,
    /// The status before the transition; `None` if the booking was created.
    pub from_status: Option<String>,
    pub to_status: String,
    /// The reason, without secrets or personal data.
    pub reason: Option<String>,
    /// The request that caused the transition; `None` for background work.
    pub request_id: Option<String>,
    pub occurred_at: Timestamp,
}

/// An event in the form in which subscribers receive it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEvent {
    pub id: EventId,
    /// The event's name in the API.
    pub event_type: String,
    /// The product whose subscriptions receive the event.
    pub product: Product,
    pub booking_id: Option<BookingId>,
    /// The body, byte for byte as it is signed.
    pub payload: String,
    pub created_at: Timestamp,
}

impl UnitOfWork {
    /// Appends an entry to a booking's history. Fails with [`Conflict::BookingHistorySequence`] if
    /// the sequence number exists.
    pub fn append_booking_history(
        &mut self,
        tenant: &Tenant,
        event: &BookingHistoryEntry,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO booking_history (organization, mode, booking_id, sequence, event, \
             from_status, to_status, reason, request_id, occurred_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
            tenant,
            event.booking_id.as_str(),
            event.sequence,
            event.event.as_str(),
            event.from_status.as_deref(),
            event.to_status.as_str(),
            event.reason.as_deref(),
            event.request_id.as_deref(),
            event.occurred_at,
        );
        self.add_expecting_one(insert, Conflict::BookingHistorySequence)
    }

    /// Stores an event and a delivery for every matching subscription. Fails with
    /// [`Conflict::EventExists`] if the event exists. Events of watches are also appended to the
    /// watch event log.
    pub fn publish(&mut self, tenant: &Tenant, event: &OutboxEvent) -> &mut Self {
        self.insert_outbox_event(tenant, event);
        if event.product == Product::Watch {
            // The log entry comes before the deliveries, because the endpoint may be replaced
            // concurrently.
            self.append_watch_event(tenant, event);
        }
        self.insert_deliveries_for_event(tenant, event)
    }

    pub(crate) fn insert_outbox_event(
        &mut self,
        tenant: &Tenant,
        event: &OutboxEvent,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO outbox (organization, mode, id, event_type, product, booking_id, \
             payload, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
            tenant,
            event.id.as_str(),
            event.event_type.as_str(),
            event.product.as_str(),
            event.booking_id.as_ref().map(BookingId::as_str),
            event.payload.as_str(),
            event.created_at,
        );
        self.add_expecting_one(insert, Conflict::EventExists)
    }
}

pub(crate) fn read_outbox(row: &Row) -> Result<OutboxEvent, DatabaseError> {
    Ok(OutboxEvent {
        id: row.parsed("id", EventId::parse)?,
        event_type: row.get("event_type")?,
        product: row.enum_value("product", Product::parse)?,
        booking_id: row.parsed_opt("booking_id", BookingId::parse)?,
        payload: row.get("payload")?,
        created_at: row.timestamp("created_at")?,
    })
}
