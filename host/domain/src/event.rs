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
    /// A fare was bound.
    FlightBookingCreated,
    /// The ticket is issued.
    FlightBookingConfirmed,
    /// The booking came to nothing.
    FlightBookingFailed,
    /// It was not completed in time.
    FlightBookingExpired,
    /// A cancellation began.
    FlightBookingCancellationStarted,
    /// The ticket is released.
    FlightBookingCanceled,
    /// The supplier refused a cancellation.
    FlightBookingCancellationRefused,
    /// Bags were bought.
    FlightBookingServicesAdded,
    /// The airline changed what was booked.
    FlightBookingAirlineChange,
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
            Self::FlightBookingCreated => "flight.booking.created",
            Self::FlightBookingConfirmed => "flight.booking.confirmed",
            Self::FlightBookingFailed => "flight.booking.failed",
            Self::FlightBookingExpired => "flight.booking.expired",
            Self::FlightBookingCancellationStarted => "flight.booking.cancellation_started",
            Self::FlightBookingCanceled => "flight.booking.canceled",
            Self::FlightBookingCancellationRefused => "flight.booking.cancellation_refused",
            Self::FlightBookingServicesAdded => "flight.booking.services_added",
            Self::FlightBookingAirlineChange => "flight.booking.airline_change",
            Self::PaymentCaptured => "payment.captured",
            Self::PaymentRefunded => "payment.refunded",
            Self::PaymentFailed => "payment.failed",
        }
    }
}
