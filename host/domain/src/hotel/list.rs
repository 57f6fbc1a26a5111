//! The criteria of a list of hotel bookings.

use crate::booking::BookingStatus;

/// A filter for an owner's bookings. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HotelBookingFilter {
    pub status: Option<BookingStatus>,
    pub reference_id: Option<String>,
}
