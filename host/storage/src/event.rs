//! The history of bookings and the events for subscribers. Shared by all products.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::event::Product;
use host_domain::id::{BookingId, EventId};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookingHistoryEntry {
    pub booking_id: BookingId,
    /// The booking's version after the transition.
    pub sequence: i64,
    /// The name of the domain event.
    pub event: String,
    /// The status before the transition; `None` if the booking was created.
    pub from_status: Option<String>,
    /// The status after the transition.
    pub to_status: String,
    /// The reason, without secrets or personal data.
    pub reason: Option<String>,
    /// The request that caused the transition; `None` for background work.
    pub request_id: Option<String>,
    /// Time of the transition.
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
    /// The booking that the event is about, if any.
    pub booking_id: Option<BookingId>,
    /// The body, byte for byte as it is signed.
    pub payload: String,
    /// Time at which the event was created.
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

impl Store {
    /// Returns a booking's history, oldest first.
    pub async fn booking_history(
        &self,
        tenant: &Tenant,
        booking_id: &BookingId,
    ) -> Result<Vec<BookingHistoryEntry>, DatabaseError> {
        let select = statement!(
            "SELECT booking_id, sequence, event, from_status, to_status, reason, request_id, \
             occurred_at \
             FROM booking_history WHERE organization = $1 AND mode = $2 AND booking_id = $3 \
             ORDER BY sequence",
            tenant,
            booking_id.as_str(),
        );
        self.read_all(select, read_event).await
    }

    /// Returns the subscriber events of a booking, oldest first. Only tests read them: subscribers
    /// get deliveries.
    #[cfg(test)]
    pub(crate) async fn outbox_events(
        &self,
        tenant: &Tenant,
        booking_id: &BookingId,
    ) -> Result<Vec<OutboxEvent>, DatabaseError> {
        let select = statement!(
            "SELECT id, event_type, product, booking_id, payload, created_at \
             FROM outbox WHERE organization = $1 AND mode = $2 AND booking_id = $3 \
             ORDER BY created_at, id",
            tenant,
            booking_id.as_str(),
        );
        self.read_all(select, read_outbox).await
    }
}

fn read_event(row: &Row) -> Result<BookingHistoryEntry, DatabaseError> {
    Ok(BookingHistoryEntry {
        booking_id: row.parsed("booking_id", BookingId::parse)?,
        sequence: row.int("sequence")?,
        event: row.text("event")?,
        from_status: row.text_opt("from_status")?,
        to_status: row.text("to_status")?,
        reason: row.text_opt("reason")?,
        request_id: row.text_opt("request_id")?,
        occurred_at: row.timestamp("occurred_at")?,
    })
}

pub(crate) fn read_outbox(row: &Row) -> Result<OutboxEvent, DatabaseError> {
    Ok(OutboxEvent {
        id: row.parsed("id", EventId::parse)?,
        event_type: row.text("event_type")?,
        product: row.enum_value("product", Product::parse)?,
        booking_id: row.parsed_opt("booking_id", BookingId::parse)?,
        payload: row.text("payload")?,
        created_at: row.timestamp("created_at")?,
    })
}
