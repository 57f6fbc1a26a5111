//! Hotel bookings: the whole document and columns to search by.

use crate::booking::{BookingTable, SearchColumns, read};
use crate::condition::ConditionBuilder;
use crate::statement::statement;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::booking::BookingStatus;
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails};
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::owner::Owner;
use host_domain::page::{Page, PageRequest};

impl BookingTable for HotelBookingDetails {
    const TABLE: &'static str = "hotel_booking";

    fn insert(booking: &HotelBooking, write: &mut UnitOfWork) {
        let document = write.encode_json(booking);
        let insert = statement!(
            "INSERT INTO hotel_booking (organization, mode, id, user_id, status, supplier, \
             supplier_reference, reference_id, hotel_id, total_minor, currency, created_at, \
             updated_at, version, document) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
             ON CONFLICT DO NOTHING",
            &booking.owner.tenant,
            booking.id.as_str(),
            booking.owner.user.as_str(),
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

    fn search_columns(booking: &HotelBooking) -> SearchColumns {
        let (details, total) = (&booking.details, &booking.details.total);
        let reference = booking.supplier_reference.as_deref();
        SearchColumns(vec![
            ("status", booking.status().as_str().into()),
            ("supplier_reference", reference.into()),
            ("hotel_id", details.hotel_id.as_str().into()),
            ("total_minor", total.minor.into()),
            ("currency", total.currency.code().into()),
        ])
    }
}

impl Store {
    /// Returns a page of an owner's bookings, newest first.
    pub async fn hotel_bookings(
        &self,
        owner: &Owner,
        filter: &HotelBookingFilter,
        page: PageRequest,
    ) -> Result<Page<HotelBooking>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_owner("", owner);
        conditions.add_some("status =", filter.status.map(BookingStatus::as_str));
        conditions.add_some("reference_id =", filter.reference_id.as_deref());
        let (condition, limit) = (conditions.text(), conditions.limit(page));
        let select = conditions.statement(format!(
            "SELECT document FROM hotel_booking WHERE {condition} \
             ORDER BY created_at DESC, id DESC {limit}"
        ));
        self.read_page(select, page, read).await
    }
}
