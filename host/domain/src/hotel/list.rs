//! The criteria of a list of hotel bookings.

use super::booking::Status;

/// A filter for an owner's bookings. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HotelBookingFilter {
    /// The status.
    pub status: Option<Status>,
    /// The caller's reference.
    pub reference_id: Option<String>,
}
