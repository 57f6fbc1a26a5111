//! The event log of watches, with the status of each event.

use super::delivery::DeliveryStatus;

/// The status of an event in the watch event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WatchEventStatus {
    /// The event has not been received: it is being sent, or there is no endpoint.
    Pending,
    /// A receiver accepted the event.
    Delivered,
    /// The delivery was abandoned.
    Failed,
}

impl WatchEventStatus {
    /// All statuses.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    /// Returns the name in the API, e.g. `pending`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// Returns the status with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.as_str() == text)
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
