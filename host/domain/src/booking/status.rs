//! The booking statuses of the API.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// A booking status. Flight bookings have all of them except [`Self::PartiallyCanceled`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum BookingStatus {
        Created = "CREATED",
        PrebookInProgress = "PREBOOK_IN_PROGRESS",
        ReadyForComplete = "READY_FOR_COMPLETE",
        CompleteInProgress = "COMPLETE_IN_PROGRESS",
        Confirmed = "CONFIRMED",
        CancelInProgress = "CANCEL_IN_PROGRESS",
        PartiallyCanceled = "PARTIALLY_CANCELED",
        Canceled = "CANCELED",
        Failed = "FAILED",
        Expired = "EXPIRED",
    }
}

impl BookingStatus {
    /// All statuses of flight bookings, in the order of the API.
    pub const FLIGHT: [Self; 9] = [
        Self::Created,
        Self::PrebookInProgress,
        Self::ReadyForComplete,
        Self::CompleteInProgress,
        Self::Confirmed,
        Self::CancelInProgress,
        Self::Canceled,
        Self::Failed,
        Self::Expired,
    ];

    /// Returns whether the booking blocks other bookings of the same offer, at suppliers that
    /// accept only one booking per offer.
    pub const fn has_offer_lock(self) -> bool {
        matches!(
            self,
            Self::Created
                | Self::PrebookInProgress
                | Self::ReadyForComplete
                | Self::CompleteInProgress
        )
    }
}
