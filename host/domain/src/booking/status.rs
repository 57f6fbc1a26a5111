//! The booking statuses of the API.

use serde::{Deserialize, Serialize};

/// A booking status. Flight bookings have all of them except [`Self::PartiallyCanceled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the variants are the statuses of the API")]
pub enum BookingStatus {
    Created,
    PrebookInProgress,
    ReadyForComplete,
    CompleteInProgress,
    Confirmed,
    CancelInProgress,
    PartiallyCanceled,
    Canceled,
    Failed,
    Expired,
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

    /// Returns the name in the API, e.g. `READY_FOR_COMPLETE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::PrebookInProgress => "PREBOOK_IN_PROGRESS",
            Self::ReadyForComplete => "READY_FOR_COMPLETE",
            Self::CompleteInProgress => "COMPLETE_IN_PROGRESS",
            Self::Confirmed => "CONFIRMED",
            Self::CancelInProgress => "CANCEL_IN_PROGRESS",
            Self::PartiallyCanceled => "PARTIALLY_CANCELED",
            Self::Canceled => "CANCELED",
            Self::Failed => "FAILED",
            Self::Expired => "EXPIRED",
        }
    }

    /// Returns whether the booking blocks other bookings of the same offer, at suppliers that
    /// accept only one booking per offer.
    #[must_use]
    pub const fn has_offer_lock(self) -> bool {
        match self {
            Self::Created
            | Self::PrebookInProgress
            | Self::ReadyForComplete
            | Self::CompleteInProgress => true,
            Self::Confirmed
            | Self::CancelInProgress
            | Self::PartiallyCanceled
            | Self::Canceled
            | Self::Failed
            | Self::Expired => false,
        }
    }
}
