//! Bookings of every kind: the whole document and columns to search by.

use crate::statement::{Row, Statement, statement};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::booking::{Booking, BookingKind};
use host_domain::id::BookingId;
use host_domain::owner::{Mode, Owner};
use host_domain::page::{Page, PageRequest};
use host_domain::supplier::SupplierId;

/// A kind of booking with its table.
pub trait BookingTable: BookingKind {
    /// Name of the table.
    const TABLE: &'static str;

    /// Stores a new booking. Fails with a conflict if its id exists or, if the supplier allows one
    /// unfinished booking per offer, if there is one.
    fn insert(booking: &Booking<Self>, write: &mut UnitOfWork);
    /// Stores a booking that was read at version `read_version`. Fails with
    /// [`Conflict::BookingVersion`](crate::Conflict::BookingVersion) if the stored version is
    /// another one.
    fn update(booking: &Booking<Self>, read_version: i64, write: &mut UnitOfWork);
}

impl UnitOfWork {
    /// Stores a new booking. Fails with a conflict if its id exists or, if the supplier allows one
    /// unfinished booking per offer, if there is one.
    pub fn insert_booking<K: BookingTable>(&mut self, booking: &Booking<K>) -> &mut Self {
        K::insert(booking, self);
        self
    }

    /// Stores a booking that was read at version `read_version`. Fails with
    /// [`Conflict::BookingVersion`](crate::Conflict::BookingVersion) if the stored version is
    /// another one.
    pub fn update_booking<K: BookingTable>(
        &mut self,
        booking: &Booking<K>,
        read_version: i64,
    ) -> &mut Self {
        K::update(booking, read_version, self);
        self
    }
}

impl Store {
    /// Returns a booking of this owner.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn booking<K: BookingTable>(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<Option<Booking<K>>, DatabaseError> {
        let row = self
            .fetch_optional(select_by_id(K::TABLE, owner, id))
            .await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Returns a booking of any owner. Only for background work, never for a caller's request.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn booking_unscoped<K: BookingTable>(
        &self,
        id: &BookingId,
    ) -> Result<Option<Booking<K>>, DatabaseError> {
        let row = self
            .fetch_optional(select_by_id_unscoped(K::TABLE, id))
            .await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Returns the newest booking with this id at the supplier, of any owner. Only for background
    /// work, never for a caller's request.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn booking_by_supplier_reference_unscoped<K: BookingTable>(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_reference: &str,
    ) -> Result<Option<Booking<K>>, DatabaseError> {
        let select = by_supplier_reference(K::TABLE, mode, supplier, supplier_reference);
        let row = self.fetch_optional(select).await?;
        row.map(|row| read(&row)).transpose()
    }
}

/// Builds a page from rows of a query that requested one row more than the page has.
pub(crate) fn page_from_rows<T>(
    rows: &[Row],
    page: PageRequest,
    read: impl Fn(&Row) -> Result<T, DatabaseError>,
) -> Result<Page<T>, DatabaseError> {
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let items = rows.iter().take(limit).map(read);
    Ok(Page {
        items: items.collect::<Result<_, _>>()?,
        has_more: rows.len() > limit,
    })
}

pub(crate) fn read<K: BookingTable>(row: &Row) -> Result<Booking<K>, DatabaseError> {
    row.json("document")
}

/// Selects by primary key: `user_id || ''` keeps the databases from using the index of the owner's
/// list.
pub(crate) fn select_by_id(table: &str, owner: &Owner, id: &BookingId) -> Statement {
    statement!(
        format!(
            "SELECT document FROM {table} \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id || '' = $4"
        ),
        owner.tenant.organization.as_str(),
        owner.tenant.mode,
        id.as_str(),
        owner.user.as_str(),
    )
}

pub(crate) fn select_by_id_unscoped(table: &str, id: &BookingId) -> Statement {
    statement!(
        format!("SELECT document FROM {table} WHERE id = $1"),
        id.as_str()
    )
}

pub(crate) fn by_supplier_reference(
    table: &str,
    mode: Mode,
    supplier: &SupplierId,
    supplier_reference: &str,
) -> Statement {
    statement!(
        format!(
            "SELECT document FROM {table} \
             WHERE supplier_reference = $1 AND supplier = $2 AND mode = $3 \
             ORDER BY created_at DESC, id DESC LIMIT 1"
        ),
        supplier_reference,
        supplier.as_str(),
        mode,
    )
}
