//! What suppliers tell on their own account, stored before anything is done about
//! it, and each once however often it comes.

use crate::statement::{Row, statement};
use crate::{CommitError, Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::BookingId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::{SupplierEvent, SupplierEventKind};
use host_domain::time::Timestamp;

/// What came of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupplierEventState {
    /// Nothing yet.
    Received,
    /// Its booking was told.
    Applied,
    /// There is nothing to do about it, or no booking that it is about.
    Ignored,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSupplierEvent {
    /// As the supplier's adapter read it.
    pub event: SupplierEvent,
    /// SHA-256 of the delivery that it came in.
    pub body_sha256: Vec<u8>,
    /// What came of it.
    pub state: SupplierEventState,
    /// The booking that it is about, once known.
    pub booking_id: Option<BookingId>,
    /// When it came first.
    pub received_at: Timestamp,
    /// When it was applied or ignored.
    pub processed_at: Option<Timestamp>,
}

impl SupplierEventState {
    /// `received`, `applied` or `ignored`.
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
    /// Stores an event that came at the write's instant, else
    /// [`Conflict::SupplierEventSeen`].
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
        self.one(insert, Conflict::SupplierEventExists)
    }

    /// Notes that an event's booking was told of it at the write's instant, else
    /// [`Conflict::SupplierEventSettled`].
    pub fn mark_supplier_event_applied(
        &mut self,
        mode: Mode,
        supplier: &SupplierId,
        id: &str,
        booking_id: &BookingId,
    ) -> &mut Self {
        let applied = SupplierEventState::Applied;
        self.settle_supplier_event(mode, supplier, id, applied, Some(booking_id))
    }

    /// Notes at the write's instant that nothing is to be done about an event, else
    /// [`Conflict::SupplierEventSettled`].
    pub fn mark_supplier_event_ignored(
        &mut self,
        mode: Mode,
        supplier: &SupplierId,
        id: &str,
    ) -> &mut Self {
        let ignored = SupplierEventState::Ignored;
        self.settle_supplier_event(mode, supplier, id, ignored, None)
    }

    fn settle_supplier_event(
        &mut self,
        mode: Mode,
        supplier: &SupplierId,
        id: &str,
        state: SupplierEventState,
        booking_id: Option<&BookingId>,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE supplier_event SET state = $4, booking_id = $5, settled_at = $6 \
             WHERE mode = $1 AND supplier = $2 AND id = $3 AND state = $7",
            mode,
            supplier.as_str(),
            id,
            state.as_str(),
            booking_id.map(BookingId::as_str),
            self.now,
            SupplierEventState::Received.as_str(),
        );
        self.one(update, Conflict::SupplierEventProcessed)
    }
}

impl Store {
    /// A stored event.
    ///
    /// # Errors
    /// The database's.
    pub async fn supplier_event(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        id: &str,
    ) -> Result<Option<StoredSupplierEvent>, DatabaseError> {
        let select = statement!(
            "SELECT id, kind, supplier_reference, client_reference, supplier_offer, \
             occurred_at, body_sha256, state, booking_id, received_at, settled_at \
             FROM supplier_event WHERE mode = $1 AND supplier = $2 AND id = $3",
            mode,
            supplier.as_str(),
            id,
        );
        self.fetch_optional(select).await?.as_ref().map(read).transpose()
    }

    /// Forgets events that came before an instant and came to an end, the oldest, at
    /// most `limit` so that nobody waits long. Returns how many it were. One that
    /// comes again afterwards counts as new.
    ///
    /// # Errors
    /// The database's.
    pub async fn purge_supplier_events(
        &self,
        received_before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let mut write = UnitOfWork::new(received_before);
        write.add(statement!(
            "DELETE FROM supplier_event WHERE (mode, supplier, id) IN \
             (SELECT mode, supplier, id FROM supplier_event \
              WHERE received_at < $1 AND state <> $2 ORDER BY received_at LIMIT $3)",
            received_before,
            SupplierEventState::Received.as_str(),
            limit,
        ));
        let outcome = self.execute(write).await.map_err(CommitError::into_database)?;
        Ok(outcome.rows_affected)
    }
}

fn read(row: &Row) -> Result<StoredSupplierEvent, DatabaseError> {
    let booking_id = row.text_opt("booking_id")?;
    Ok(StoredSupplierEvent {
        event: SupplierEvent {
            id: row.text("id")?,
            kind: row.json::<SupplierEventKind>("kind")?,
            supplier_reference: row.text_opt("supplier_reference")?,
            client_reference: row.text_opt("client_reference")?,
            supplier_offer: row.text_opt("supplier_offer")?,
            occurred_at: row.timestamp_opt("occurred_at")?,
        },
        body_sha256: row.blob("body_sha256")?,
        state: row.enum_value("state", SupplierEventState::parse)?,
        booking_id: booking_id
            .map(|text| BookingId::parse(&text))
            .transpose()
            .map_err(|error| DatabaseError::unreadable("booking_id", error))?,
        received_at: row.timestamp("received_at")?,
        processed_at: row.timestamp_opt("settled_at")?,
    })
}
