//! Subscriptions and deliveries in lists across organizations.

use crate::owner::Tenant;
use crate::time::Timestamp;
use crate::webhook::{Delivery, Subscription};

/// Maximum number of deliveries of a subscription that its health counts.
pub const HEALTH_COUNT_MAX: u32 = 100;

/// A subscription with the state of its receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSubscription {
    pub subscription: Subscription,
    /// Deliveries that are not sent or not accepted yet, at most [`HEALTH_COUNT_MAX`].
    pub waiting: u64,
    /// Deliveries of a recent time that failed for good, at most [`HEALTH_COUNT_MAX`].
    pub failed: u64,
    /// Time at which the latest of the accepted events was accepted.
    pub last_success_at: Option<Timestamp>,
}

/// A delivery without its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDelivery {
    pub tenant: Tenant,
    pub delivery: Delivery,
    /// Name of the event's type.
    pub event_type: String,
}
