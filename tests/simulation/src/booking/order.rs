//! Orders of the supplier and its pending decisions.

use host_domain::money::Money;
use host_domain::supplier::SupplierBookingStatus;

/// A booking as stored by the supplier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    pub(super) status: SupplierBookingStatus,
    /// Whether each room is cancelled.
    pub(super) released: Vec<bool>,
    /// Ids of the booked services.
    pub(super) extras: Vec<String>,
    /// Fee and refund of all cancellations so far, if the supplier reports them.
    pub(super) amounts: Option<(Money, Money)>,
    /// Amount of the sold items that is not refunded.
    pub(super) retained: Money,
}

/// A pending decision of the supplier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    Confirm,
    Fail,
    Release { rooms: Vec<usize> },
    Keep,
}
