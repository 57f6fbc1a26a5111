//! Finds and lists bookings as they are stored. Calls no supplier.

use crate::base::Base;
use host_domain::flight::booking::FlightBooking;
use host_domain::flight::list::FlightBookingFilter;
use host_domain::hotel::booking::HotelBooking;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::BookingId;
use host_domain::owner::Owner;
use host_domain::page::{Page, PageRequest};
use host_storage::{CommitError, DatabaseError};
use std::time::Duration;

/// Interval of updating the counts of flight bookings. Lists add the changes since then.
pub(crate) const FLIGHT_COUNT_INTERVAL: Duration = Duration::from_secs(2);

pub struct BookingReader {
    pub(crate) base: Base,
}

impl BookingReader {
    pub async fn find_hotel(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<Option<HotelBooking>, DatabaseError> {
        self.base.store.booking(owner, id).await
    }

    pub async fn list_hotels(
        &self,
        owner: &Owner,
        filter: &HotelBookingFilter,
        page: PageRequest,
    ) -> Result<Page<HotelBooking>, DatabaseError> {
        self.base.store.hotel_bookings(owner, filter, page).await
    }

    pub async fn find_flight(
        &self,
        owner: &Owner,
        id: &BookingId,
    ) -> Result<Option<FlightBooking>, DatabaseError> {
        self.base.store.booking(owner, id).await
    }

    /// Lists an owner's flight bookings, with the number of all bookings that match the filter.
    pub async fn list_flights(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: PageRequest,
    ) -> Result<(Page<FlightBooking>, u64), DatabaseError> {
        self.base.store.flight_bookings(owner, filter, page).await
    }

    pub(crate) async fn settle_flight_counts(&self) -> Result<(), CommitError> {
        let now = self.base.now();
        self.base.store.compact_flight_booking_counts(now).await
    }
}
