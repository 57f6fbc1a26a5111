//! The criteria of a list of deliveries.

use super::delivery::DeliveryStatus;

/// A filter for a subscription's deliveries. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryFilter {
    pub status: Option<DeliveryStatus>,
}
