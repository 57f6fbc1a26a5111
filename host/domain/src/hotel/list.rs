//! The criteria of a list of hotel bookings.

use crate::booking::BookingStatus;

/// A filter for an owner's bookings. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HotelBookingFilter {
    /// The status.
    pub status: Option<BookingStatus>,
    /// The caller's reference.
    pub reference_id: Option<String>,
}
