//! Bookings of every kind: the whole document and columns to search by.

use crate::statement::{Row, Value, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::booking::{Booking, BookingKind};
use host_domain::id::BookingId;
use host_domain::owner::{Mode, Owner};
use host_domain::supplier::SupplierId;
use std::borrow::Cow;

/// A kind of booking with its table.
pub trait BookingTable: BookingKind {
    const TABLE: &'static str;

    /// Adds the statement of [`UnitOfWork::insert_booking`].
    fn insert(booking: &Booking<Self>, write: &mut UnitOfWork);
    /// Returns the columns to search by that may change.
    fn search_columns(booking: &Booking<Self>) -> SearchColumns;
}

/// Names and values of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchColumns(pub(crate) Vec<(&'static str, Value)>);

/// What an update compares a booking with: its version and its columns to search by when it was
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadBooking {
    pub(crate) version: i64,
    pub(crate) columns: SearchColumns,
}

impl ReadBooking {
    pub fn of<K: BookingTable>(booking: &Booking<K>) -> Self {
        Self {
            version: booking.version,
            columns: K::search_columns(booking),
        }
    }
}

impl UnitOfWork {
    /// Stores a new booking. Fails with [`Conflict::OfferInUse`] if
    /// the supplier allows one unfinished booking per offer and there is one, and with
    /// [`Conflict::BookingExists`] if its id exists.
    pub fn insert_booking<K: BookingTable>(&mut self, booking: &Booking<K>) -> &mut Self {
        K::insert(booking, self);
        self
    }

    /// Stores a change of a booking. Fails with [`Conflict::BookingVersion`] if the stored version is
    /// another one than the one that was read.
    ///
    /// Columns to search by that have not changed are not written: SQLite writes each index of a
    /// column that an update names, even if its value stays, and a flight booking has 16 indexes.
    pub fn update_booking<K: BookingTable>(
        &mut self,
        booking: &Booking<K>,
        read: &ReadBooking,
    ) -> &mut Self {
        let document = self.encode_json(booking);
        let mut update = statement!(
            "",
            &booking.owner.tenant,
            booking.id.as_str(),
            read.version,
            booking.updated_at,
            booking.version,
            document,
        );
        let mut assignments = "updated_at = $5, version = $6, document = $7".to_owned();
        let columns = K::search_columns(booking).0.into_iter();
        for column in columns.filter(|column| !read.columns.0.contains(column)) {
            let (name, value) = column;
            update = update.bind(value);
            assignments.push_str(&format!(", {name} = ${}", update.args.len()));
        }
        update.sql = Cow::Owned(format!(
            "UPDATE {} SET {assignments} \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $4",
            K::TABLE
        ));
        self.add_expecting_one(update, Conflict::BookingVersion)
    }

    /// Deletes a booking; its history and its attempts remain. Fails with
    /// [`Conflict::BookingVersion`] if the stored version is
    /// another one.
    pub fn delete_booking<K: BookingTable>(&mut self, booking: &Booking<K>) -> &mut Self {
        let delete = statement!(
            format!(
                "DELETE FROM {} WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $4",
                K::TABLE
            ),
            &booking.owner.tenant,
            booking.id.as_str(),
            booking.version,
        );
        self.add_expecting_one(delete, Conflict::BookingVersion);
        self
    }
}

impl Store {
    pub async fn booking<K: BookingTable>(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<Option<Booking<K>>, DatabaseError> {
        // `user_id || ''` keeps the databases from using the index of the owner's list instead of
        // the primary key.
        let select = statement!(
            format!(
                "SELECT document FROM {} \
                 WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id || '' = $4",
                K::TABLE
            ),
            &owner.tenant,
            id.as_str(),
            owner.user.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns a booking of any owner. Only for background work, never for a caller's request.
    pub async fn booking_unscoped<K: BookingTable>(
        &self,
        id: &BookingId,
    ) -> Result<Option<Booking<K>>, DatabaseError> {
        let select = statement!(
            format!("SELECT document FROM {} WHERE id = $1", K::TABLE),
            id.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns the newest booking with this id at the supplier, of any owner. Only for background
    /// work, never for a caller's request.
    pub async fn booking_by_supplier_reference_unscoped<K: BookingTable>(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_reference: &str,
    ) -> Result<Option<Booking<K>>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT document FROM {} \
                 WHERE supplier_reference = $1 AND supplier = $2 AND mode = $3 \
                 ORDER BY created_at DESC, id DESC LIMIT 1",
                K::TABLE
            ),
            supplier_reference,
            supplier.as_str(),
            mode,
        );
        self.read_optional(select, read).await
    }
}

pub(crate) fn read<K: BookingTable>(row: &Row) -> Result<Booking<K>, DatabaseError> {
    row.json("document")
}
