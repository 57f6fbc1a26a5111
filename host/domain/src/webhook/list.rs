//! The criteria of lists of subscriptions and deliveries.

use super::delivery::DeliveryStatus;
use super::subscription::SubscriptionStatus;
use crate::event::EventType;
use crate::id::SubscriptionId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A filter for a subscription's deliveries. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryFilter {
    pub status: Option<DeliveryStatus>,
}

/// A filter for the deliveries of a scope. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeliveryScopeFilter {
    pub status: Option<DeliveryStatus>,
    /// Only deliveries without a final result: `PENDING` or `PUBLISHED`. Filters that were stored
    /// before this field was introduced have none.
    #[serde(default)]
    pub is_waiting: bool,
    pub subscription: Option<SubscriptionId>,
    pub event_type: Option<EventType>,
    /// Earliest time of creation.
    pub from: Option<Timestamp>,
    /// Latest time of creation.
    pub to: Option<Timestamp>,
}

/// A filter for the subscriptions of a scope. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubscriptionScopeFilter {
    pub status: Option<SubscriptionStatus>,
    /// A part of the URL or of the description, in upper or lower case.
    pub text: Option<String>,
}
