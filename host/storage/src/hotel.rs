//! Hotel bookings: the whole document and columns to search by.

use crate::statement::{Row, Statement, Value, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::hotel::booking::Booking;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::BookingId;
use host_domain::owner::{Mode, Owner};
use host_domain::page::{Page, PageRequest};
use host_domain::supplier::SupplierId;

impl UnitOfWork {
    /// Stores a new booking. Fails with [`Conflict::BookingExists`] if its id exists.
    pub fn insert_hotel_booking(&mut self, booking: &Booking) -> &mut Self {
        let document = self.encode_json(booking);
        let owner = &booking.owner;
        let insert = statement!(
            "INSERT INTO hotel_booking (organization, mode, id, user_id, status, supplier, \
             supplier_reference, reference_id, hotel_id, total_minor, currency, created_at, \
             updated_at, version, document) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
             ON CONFLICT DO NOTHING",
            owner.tenant.organization.as_str(),
            owner.tenant.mode,
            booking.id.as_str(),
            owner.user.as_str(),
            booking.status().as_str(),
            booking.supplier.as_str(),
            booking.supplier_reference.as_deref(),
            booking.reference_id.as_deref(),
            booking.hotel_id.as_str(),
            booking.total.minor,
            booking.total.currency.code(),
            booking.created_at,
            booking.updated_at,
            booking.version,
            document,
        );
        self.add_expecting_one(insert, Conflict::BookingExists)
    }

    /// Stores a booking that was read at version `read_version`. Fails with
    /// [`Conflict::BookingVersion`] if the stored version is another one.
    pub fn update_hotel_booking(&mut self, booking: &Booking, read_version: i64) -> &mut Self {
        let document = self.encode_json(booking);
        let update = statement!(
            "UPDATE hotel_booking SET status = $4, supplier_reference = $5, hotel_id = $6, \
             total_minor = $7, currency = $8, updated_at = $9, version = $10, document = $11 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $12",
            booking.owner.tenant.organization.as_str(),
            booking.owner.tenant.mode,
            booking.id.as_str(),
            booking.status().as_str(),
            booking.supplier_reference.as_deref(),
            booking.hotel_id.as_str(),
            booking.total.minor,
            booking.total.currency.code(),
            booking.updated_at,
            booking.version,
            document,
            read_version,
        );
        self.add_expecting_one(update, Conflict::BookingVersion)
    }
}

impl Store {
    /// Returns a booking of this owner.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn hotel_booking(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<Option<Booking>, DatabaseError> {
        let row = self.fetch_optional(select_by_id(owner, id)).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Returns a booking of any owner. Only for background work, never for a caller's request.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn hotel_booking_unscoped(
        &self,
        id: &BookingId,
    ) -> Result<Option<Booking>, DatabaseError> {
        let row = self.fetch_optional(select_by_id_unscoped(id)).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Returns the newest booking with this id at the supplier, of any owner. Only for background
    /// work, never for a caller's request.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn hotel_booking_by_supplier_reference_unscoped(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_reference: &str,
    ) -> Result<Option<Booking>, DatabaseError> {
        let select = by_supplier_reference(mode, supplier, supplier_reference);
        let row = self.fetch_optional(select).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Returns a page of an owner's bookings, newest first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn hotel_bookings(
        &self,
        owner: &Owner,
        filter: &HotelBookingFilter,
        page: PageRequest,
    ) -> Result<Page<Booking>, DatabaseError> {
        let rows = self.fetch_all(list(owner, filter, page)).await?;
        page_from_rows(&rows, page, read)
    }

    /// Returns the number of matching bookings on all pages.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn count_hotel_bookings(
        &self,
        owner: &Owner,
        filter: &HotelBookingFilter,
    ) -> Result<u64, DatabaseError> {
        let row = self.fetch_optional(count(owner, filter)).await?;
        let number = row.map_or(Ok(0), |row| row.int("number"))?;
        Ok(number.unsigned_abs())
    }
}

/// Builds a page from rows of a query that requested one row more than the page has.
pub(crate) fn page_from_rows<T>(
    rows: &[Row],
    page: PageRequest,
    read: impl Fn(&Row) -> Result<T, DatabaseError>,
) -> Result<Page<T>, DatabaseError> {
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    Ok(Page {
        items: rows
            .iter()
            .take(limit)
            .map(read)
            .collect::<Result<_, _>>()?,
        has_more: rows.len() > limit,
    })
}

fn read(row: &Row) -> Result<Booking, DatabaseError> {
    row.json("document")
}

/// Selects by primary key: `user_id || ''` keeps the databases from using the index of the owner's
/// list.
pub(crate) fn select_by_id(owner: &Owner, id: &BookingId) -> Statement {
    statement!(
        "SELECT document FROM hotel_booking \
         WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id || '' = $4",
        owner.tenant.organization.as_str(),
        owner.tenant.mode,
        id.as_str(),
        owner.user.as_str(),
    )
}

pub(crate) fn select_by_id_unscoped(id: &BookingId) -> Statement {
    statement!(
        "SELECT document FROM hotel_booking WHERE id = $1",
        id.as_str()
    )
}

pub(crate) fn by_supplier_reference(
    mode: Mode,
    supplier: &SupplierId,
    supplier_reference: &str,
) -> Statement {
    statement!(
        "SELECT document FROM hotel_booking \
         WHERE supplier_reference = $1 AND supplier = $2 AND mode = $3 \
         ORDER BY created_at DESC, id DESC LIMIT 1",
        supplier_reference,
        supplier.as_str(),
        mode,
    )
}

pub(crate) fn list(owner: &Owner, filter: &HotelBookingFilter, page: PageRequest) -> Statement {
    let mut args = vec![
        Value::from(page.limit.saturating_add(1)),
        Value::from(page.offset),
    ];
    let condition = condition(owner, filter, &mut args);
    Statement {
        sql: format!(
            "SELECT document FROM hotel_booking WHERE {condition} \
             ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2"
        )
        .into(),
        args,
    }
}

pub(crate) fn count(owner: &Owner, filter: &HotelBookingFilter) -> Statement {
    let mut args = Vec::new();
    let condition = condition(owner, filter, &mut args);
    Statement {
        sql: format!("SELECT COUNT(*) AS number FROM hotel_booking WHERE {condition}").into(),
        args,
    }
}

/// Only requested filters become conditions: an optional condition in the SQL text would keep the
/// database from using the index of another one.
fn condition(owner: &Owner, filter: &HotelBookingFilter, args: &mut Vec<Value>) -> String {
    let tenant = &owner.tenant;
    let mut columns = vec![
        ("organization", Value::from(tenant.organization.as_str())),
        ("mode", Value::from(tenant.mode)),
        ("user_id", Value::from(owner.user.as_str())),
    ];
    if let Some(status) = filter.status {
        columns.push(("status", Value::from(status.as_str())));
    }
    if let Some(reference) = &filter.reference_id {
        columns.push(("reference_id", Value::from(reference.as_str())));
    }
    let mut conditions = Vec::with_capacity(columns.len());
    for (column, value) in columns {
        args.push(value);
        conditions.push(format!("{column} = ${}", args.len()));
    }
    conditions.join(" AND ")
}
