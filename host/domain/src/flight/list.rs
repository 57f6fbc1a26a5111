//! The criteria and the order of a list of flight bookings.

use crate::booking::BookingStatus;
use crate::supplier::SupplierId;
use crate::time::Timestamp;

/// A filter and an order of an owner's bookings. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlightBookingFilter {
    pub status: Option<BookingStatus>,
    pub supplier: Option<SupplierId>,
    /// The id at the supplier. At most one booking matches, the newest.
    pub supplier_reference: Option<String>,
    /// Earliest creation time, inclusive.
    pub created_from: Option<Timestamp>,
    /// Latest creation time, inclusive.
    pub created_to: Option<Timestamp>,
    /// The sort key. Ids order bookings with equal keys.
    pub sort: FlightBookingSort,
    /// Whether the latest or most expensive bookings come first. Bookings without a price are last
    /// in both directions.
    pub descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlightBookingSort {
    #[default]
    CreatedAt,
    /// The price of ticket and extras, by number alone, whatever the currency.
    TotalAmount,
}

impl FlightBookingFilter {
    pub const fn has_time_range(&self) -> bool {
        self.created_from.is_some() || self.created_to.is_some()
    }
}
