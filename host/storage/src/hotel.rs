//! Hotel bookings: the whole document and columns to search by.

use crate::booking::{BookingTable, page_from_rows, read};
use crate::statement::{Statement, Value, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails};
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::owner::Owner;
use host_domain::page::{Page, PageRequest};

impl BookingTable for HotelBookingDetails {
    const TABLE: &'static str = "hotel_booking";

    /// Stores a new booking. Fails with [`Conflict::BookingExists`] if its id exists.
    fn insert(booking: &HotelBooking, write: &mut UnitOfWork) {
        let document = write.encode_json(booking);
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
            booking.details.hotel_id.as_str(),
            booking.details.total.minor,
            booking.details.total.currency.code(),
            booking.created_at,
            booking.updated_at,
            booking.version,
            document,
        );
        write.add_expecting_one(insert, Conflict::BookingExists);
    }

    /// Stores a booking that was read at version `read_version`. Fails with
    /// [`Conflict::BookingVersion`] if the stored version is another one.
    fn update(booking: &HotelBooking, read_version: i64, write: &mut UnitOfWork) {
        let document = write.encode_json(booking);
        let update = statement!(
            "UPDATE hotel_booking SET status = $4, supplier_reference = $5, hotel_id = $6, \
             total_minor = $7, currency = $8, updated_at = $9, version = $10, document = $11 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $12",
            booking.owner.tenant.organization.as_str(),
            booking.owner.tenant.mode,
            booking.id.as_str(),
            booking.status().as_str(),
            booking.supplier_reference.as_deref(),
            booking.details.hotel_id.as_str(),
            booking.details.total.minor,
            booking.details.total.currency.code(),
            booking.updated_at,
            booking.version,
            document,
            read_version,
        );
        write.add_expecting_one(update, Conflict::BookingVersion);
    }
}

impl Store {
    /// Returns a page of an owner's bookings, newest first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn hotel_bookings(
        &self,
        owner: &Owner,
        filter: &HotelBookingFilter,
        page: PageRequest,
    ) -> Result<Page<HotelBooking>, DatabaseError> {
        let rows = self.fetch_all(list(owner, filter, page)).await?;
        page_from_rows(&rows, page, read)
    }
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
