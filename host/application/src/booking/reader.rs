//! Finds and lists bookings as they are stored. Calls no supplier.

use crate::base::Base;
use crate::reporting::overview::IN_PROGRESS_MS_MAX;
use host_domain::console::booking::{BookingScopeFilter, TimelineEntry};
use host_domain::console::{AnyBooking, TenantScope};
use host_domain::flight::booking::FlightBooking;
use host_domain::flight::list::FlightBookingFilter;
use host_domain::hotel::booking::HotelBooking;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::BookingId;
use host_domain::owner::{Owner, Tenant};
use host_domain::page::{CursorPage, CursorRequest, Page, PageRequest};
use host_storage::{CommitError, DatabaseError};
use std::time::Duration;

/// Interval of updating the counts of flight bookings. Lists add the changes since then.
pub(crate) const FLIGHT_COUNT_INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of entries of a timeline. The latest are shown.
pub const TIMELINE_MAX: u32 = 500;

/// A booking with all that happened to it.
#[derive(Debug, Clone)]
pub struct BookingHistory {
    pub booking: AnyBooking,
    /// Oldest first, at most [`TIMELINE_MAX`].
    pub timeline: Vec<TimelineEntry>,
}

/// Returns the timeline of a booking, oldest first, at most [`TIMELINE_MAX`].
///
/// # Errors
/// The database failed.
pub(crate) async fn read_timeline(
    base: &Base,
    tenant: &Tenant,
    id: &BookingId,
) -> Result<Vec<TimelineEntry>, DatabaseError> {
    let sent_before = base.now().plus_ms(-IN_PROGRESS_MS_MAX);
    let store = &base.store;
    let timeline = store.booking_timeline(tenant, id, sent_before, TIMELINE_MAX);
    timeline.await
}

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

    /// Returns a page of the bookings of a scope, latest first. A page may have fewer bookings than
    /// requested and be followed by another one, if the filter is rare.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_unscoped(
        &self,
        scope: &TenantScope,
        filter: &BookingScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<AnyBooking>, DatabaseError> {
        self.base.store.booking_page(scope, filter, page).await
    }

    /// Returns a booking of any owner with its timeline, if there is one with this id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_unscoped(
        &self,
        id: &BookingId,
    ) -> Result<Option<BookingHistory>, DatabaseError> {
        let store = &self.base.store;
        let Some(booking) = store.booking_of_either_kind_unscoped(id).await? else {
            return Ok(None);
        };
        let tenant = &booking.owner().tenant;
        let timeline = read_timeline(&self.base, tenant, id).await?;
        Ok(Some(BookingHistory { booking, timeline }))
    }

    pub(crate) async fn compact_flight_booking_counts(&self) -> Result<(), CommitError> {
        let now = self.base.now();
        self.base.store.compact_flight_booking_counts(now).await
    }
}
