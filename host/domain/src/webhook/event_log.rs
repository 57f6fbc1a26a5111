//! The event log of watches, with the status of each event.

use super::delivery::DeliveryStatus;
use crate::named_enum::named_enum;

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum WatchEventStatus {
        /// The event has not been received: it is being sent, or there is no endpoint.
        Pending = "pending",
        Delivered = "delivered",
        Failed = "failed",
    }
}

impl From<DeliveryStatus> for WatchEventStatus {
    fn from(status: DeliveryStatus) -> Self {
        match status {
            DeliveryStatus::Pending | DeliveryStatus::Published => Self::Pending,
            DeliveryStatus::Delivered => Self::Delivered,
            DeliveryStatus::Failed => Self::Failed,
        }
    }
}
