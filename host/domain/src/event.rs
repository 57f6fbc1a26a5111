//! What is told to subscribers.

use serde::{Deserialize, Serialize};

/// A type of event that subscriptions can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventType {
    /// A booking was made at the gateway and bound at the supplier.
    HotelBookingCreated,
    /// The supplier confirmed.
    HotelBookingConfirmed,
    /// The booking came to nothing.
    HotelBookingFailed,
    /// It was not completed in time.
    HotelBookingExpired,
    /// A cancellation began.
    HotelBookingCancellationStarted,
    /// All rooms are released.
    HotelBookingCanceled,
    /// Some rooms are released.
    HotelBookingPartiallyCanceled,
    /// The supplier refused a cancellation.
    HotelBookingCancellationRefused,
    /// Something else about it changed.
    HotelBookingChanged,
    /// Money was taken.
    PaymentCaptured,
    /// Money was given back.
    PaymentRefunded,
    /// A payment failed.
    PaymentFailed,
}

impl EventType {
    /// The name in the API, e.g. `hotel.booking.confirmed`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HotelBookingCreated => "hotel.booking.created",
            Self::HotelBookingConfirmed => "hotel.booking.confirmed",
            Self::HotelBookingFailed => "hotel.booking.failed",
            Self::HotelBookingExpired => "hotel.booking.expired",
            Self::HotelBookingCancellationStarted => "hotel.booking.cancellation_started",
            Self::HotelBookingCanceled => "hotel.booking.canceled",
            Self::HotelBookingPartiallyCanceled => "hotel.booking.partially_canceled",
            Self::HotelBookingCancellationRefused => "hotel.booking.cancellation_refused",
            Self::HotelBookingChanged => "hotel.booking.changed",
            Self::PaymentCaptured => "payment.captured",
            Self::PaymentRefunded => "payment.refunded",
            Self::PaymentFailed => "payment.failed",
        }
    }
}
