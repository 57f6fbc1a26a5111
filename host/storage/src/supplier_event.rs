//! Events that suppliers send. Each is stored before it is processed, and only once however often
//! it arrives.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::BookingId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::{SupplierEvent, SupplierEventKind};
use host_domain::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupplierEventState {
    Received,
    Applied,
    /// The event needs no action, or no booking matches it.
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSupplierEvent {
    /// The event as the supplier's plugin decoded it.
    pub event: SupplierEvent,
    /// The SHA-256 digest of the request body that contained the event.
    pub body_sha256: Vec<u8>,
    pub state: SupplierEventState,
    /// The booking that the event is about, once known.
    pub booking_id: Option<BookingId>,
    pub received_at: Timestamp,
    /// Time at which the event was applied or ignored.
    pub processed_at: Option<Timestamp>,
}

impl SupplierEventState {
    /// Returns `received`, `applied` or `ignored`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Applied => "applied",
            Self::Ignored => "ignored",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Received, Self::Applied, Self::Ignored]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

impl UnitOfWork {
    /// Stores an event that arrived at the time of this unit of work. Fails with
    /// [`Conflict::SupplierEventExists`] if it is stored already.
    pub fn insert_supplier_event(
        &mut self,
        mode: Mode,
        supplier: &SupplierId,
        event: &SupplierEvent,
        body_sha256: &[u8; 32],
    ) -> &mut Self {
        let kind = self.encode_json(&event.kind);
        let insert = statement!(
            "INSERT INTO supplier_event (mode, supplier, id, kind, supplier_reference, \
             client_reference, supplier_offer, occurred_at, body_sha256, state, received_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
            mode,
            supplier.as_str(),
            event.id.as_str(),
            kind,
            event.supplier_reference.as_deref(),
            event.client_reference.as_deref(),
            event.supplier_offer.as_deref(),
            event.occurred_at,
            body_sha256.as_slice(),
            SupplierEventState::Received.as_str(),
            self.now,
        );
        self.add_expecting_one(insert, Conflict::SupplierEventExists)
    }

    /// Records that an event was applied to `booking_id`, or that it needs no action if that is
    /// `None`. Fails with [`Conflict::SupplierEventProcessed`] if the event was processed already.
    pub fn mark_supplier_event_processed(
        &mut self,
        mode: Mode,
        supplier: &SupplierId,
        id: &str,
        booking_id: Option<&BookingId>,
    ) -> &mut Self {
        let state = match booking_id {
            Some(_) => SupplierEventState::Applied,
            None => SupplierEventState::Ignored,
        };
        let update = statement!(
            "UPDATE supplier_event SET state = $4, booking_id = $5, processed_at = $6 \
             WHERE mode = $1 AND supplier = $2 AND id = $3 AND state = $7",
            mode,
            supplier.as_str(),
            id,
            state.as_str(),
            booking_id.map(BookingId::as_str),
            self.now,
            SupplierEventState::Received.as_str(),
        );
        self.add_expecting_one(update, Conflict::SupplierEventProcessed)
    }
}

impl Store {
    pub async fn supplier_event(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        id: &str,
    ) -> Result<Option<StoredSupplierEvent>, DatabaseError> {
        let select = statement!(
            "SELECT id, kind, supplier_reference, client_reference, supplier_offer, \
             occurred_at, body_sha256, state, booking_id, received_at, processed_at \
             FROM supplier_event WHERE mode = $1 AND supplier = $2 AND id = $3",
            mode,
            supplier.as_str(),
            id,
        );
        self.read_optional(select, read).await
    }

    /// Deletes the oldest processed events that arrived before `received_before`, at most `limit`
    /// so that other writes do not wait long. Returns the number of deleted events. An event that
    /// arrives again afterwards counts as new.
    pub async fn purge_supplier_events(
        &self,
        received_before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let delete = statement!(
            "DELETE FROM supplier_event WHERE (mode, supplier, id) IN \
             (SELECT mode, supplier, id FROM supplier_event \
              WHERE received_at < $1 AND state <> $2 ORDER BY received_at LIMIT $3)",
            received_before,
            SupplierEventState::Received.as_str(),
            limit,
        );
        self.execute_statement(delete).await
    }
}

fn read(row: &Row) -> Result<StoredSupplierEvent, DatabaseError> {
    Ok(StoredSupplierEvent {
        event: SupplierEvent {
            id: row.get("id")?,
            kind: row.json::<SupplierEventKind>("kind")?,
            supplier_reference: row.get("supplier_reference")?,
            client_reference: row.get("client_reference")?,
            supplier_offer: row.get("supplier_offer")?,
            occurred_at: row.timestamp_opt("occurred_at")?,
        },
        body_sha256: row.get("body_sha256")?,
        state: row.enum_value("state", SupplierEventState::parse)?,
        booking_id: row.parsed_opt("booking_id", BookingId::parse)?,
        received_at: row.timestamp("received_at")?,
        processed_at: row.timestamp_opt("processed_at")?,
    })
}
