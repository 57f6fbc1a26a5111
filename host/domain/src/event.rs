//! What is told to subscribers.

use serde::{Deserialize, Serialize};

/// Whose subscriptions an event goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Product {
    /// Bookings of hotels.
    Hotel,
    /// Bookings of flights.
    Flight,
    /// What watches tell: each organization has one endpoint for them.
    Watch,
}

impl Product {
    /// Every product.
    pub const ALL: [Self; 3] = [Self::Hotel, Self::Flight, Self::Watch];

    /// `hotel`, `flight` or `watch`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hotel => "hotel",
            Self::Flight => "flight",
            Self::Watch => "watch",
        }
    }

    /// The product of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|product| product.as_str() == text)
    }
}

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
    /// A watched hotel costs what was waited for.
    HotelWatchTriggered,
    /// Hotels of a watched trip do.
    TripWatchTriggered,
    /// A watch bought.
    HotelWatchPurchased,
    /// A watch was to buy, and could not.
    HotelWatchPurchaseFailed,
    /// A subscriber asked whether anything arrives.
    Ping,
}

impl EventType {
    /// Every type.
    pub const ALL: [Self; 26] = [
        Self::HotelBookingCreated,
        Self::HotelBookingConfirmed,
        Self::HotelBookingFailed,
        Self::HotelBookingExpired,
        Self::HotelBookingCancellationStarted,
        Self::HotelBookingCanceled,
        Self::HotelBookingPartiallyCanceled,
        Self::HotelBookingCancellationRefused,
        Self::HotelBookingChanged,
        Self::FlightBookingCreated,
        Self::FlightBookingConfirmed,
        Self::FlightBookingFailed,
        Self::FlightBookingExpired,
        Self::FlightBookingCancellationStarted,
        Self::FlightBookingCanceled,
        Self::FlightBookingCancellationRefused,
        Self::FlightBookingServicesAdded,
        Self::FlightBookingAirlineChange,
        Self::PaymentCaptured,
        Self::PaymentRefunded,
        Self::PaymentFailed,
        Self::HotelWatchTriggered,
        Self::TripWatchTriggered,
        Self::HotelWatchPurchased,
        Self::HotelWatchPurchaseFailed,
        Self::Ping,
    ];

    /// The type of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|event_type| event_type.as_str() == text)
    }

    /// What the subscriptions of a product can ask for: its bookings' events, its
    /// payments', and a ping. Nobody subscribes to watches: their endpoint gets all.
    pub fn for_product(product: Product) -> impl Iterator<Item = Self> {
        let all = Self::ALL.into_iter();
        all.filter(move |event_type| event_type.is_of(product))
    }

    fn is_of(self, product: Product) -> bool {
        let bookings = match product {
            Product::Hotel => "hotel.booking.",
            Product::Flight => "flight.booking.",
            Product::Watch => return false,
        };
        let name = self.as_str();
        name.starts_with(bookings) || name.starts_with("payment.") || self == Self::Ping
    }

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
            Self::HotelWatchTriggered => "travel.hotel.watch.triggered",
            Self::TripWatchTriggered => "travel.hotel.trip_watch.triggered",
            Self::HotelWatchPurchased => "travel.hotel.watch.purchased",
            Self::HotelWatchPurchaseFailed => "travel.hotel.watch.purchase_failed",
            Self::Ping => "ping",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_type_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = EventType::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(names.len(), EventType::ALL.len());
        for one in EventType::ALL {
            assert_eq!(EventType::parse(one.as_str()), Some(one));
        }
        assert_eq!(EventType::parse("hotel.booking"), None);
    }

    #[test]
    fn a_product_has_its_own_types_and_the_shared_ones() {
        for (product, own, of_another) in [
            (
                Product::Hotel,
                "hotel.booking.confirmed",
                "flight.booking.confirmed",
            ),
            (
                Product::Flight,
                "flight.booking.airline_change",
                "hotel.booking.changed",
            ),
        ] {
            let names: Vec<&str> = EventType::for_product(product)
                .map(EventType::as_str)
                .collect();
            for shared in [own, "payment.captured", "ping"] {
                assert!(names.contains(&shared), "{shared}");
            }
            assert!(!names.contains(&of_another));
        }
        assert_eq!(EventType::for_product(Product::Watch).count(), 0);
    }
}
