//! The log of what watches told: what became of each event.

use super::delivery::DeliveryStatus;

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WatchEventStatus {
    /// Nobody has it yet: it is being sent, or there is nobody to send it to.
    Pending,
    /// A receiver has it.
    Delivered,
    /// Given up.
    Failed,
}

impl WatchEventStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    /// The name in the API, e.g. `pending`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// The status of this name.
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
