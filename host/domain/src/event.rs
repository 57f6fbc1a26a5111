//! Events that are published to subscribers.

use serde::{Deserialize, Serialize};

/// The product that an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Product {
    /// Hotel bookings.
    Hotel,
    /// Flight bookings.
    Flight,
    /// Price watches. Each organization has one endpoint for their events.
    Watch,
}

impl Product {
    /// All products.
    pub const ALL: [Self; 3] = [Self::Hotel, Self::Flight, Self::Watch];

    /// Returns `hotel`, `flight` or `watch`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hotel => "hotel",
            Self::Flight => "flight",
            Self::Watch => "watch",
        }
    }

    /// Returns the product with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|product| product.as_str() == text)
    }
}

/// A type of event that subscriptions can select.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventType {
    /// A hotel booking was created at the gateway and prebooked at the supplier.
    HotelBookingCreated,
    /// The supplier confirmed the hotel booking.
    HotelBookingConfirmed,
    /// The hotel booking failed.
    HotelBookingFailed,
    /// The hotel booking was not completed in time.
    HotelBookingExpired,
    /// A cancellation of the hotel booking started.
    HotelBookingCancellationStarted,
    /// All rooms of the hotel booking are cancelled.
    HotelBookingCanceled,
    /// Some rooms of the hotel booking are cancelled.
    HotelBookingPartiallyCanceled,
    /// The supplier refused a cancellation of the hotel booking.
    HotelBookingCancellationRefused,
    /// Something else about the hotel booking changed.
    HotelBookingChanged,
    /// A flight booking was created and its fare prebooked.
    FlightBookingCreated,
    /// The ticket of the flight booking is issued.
    FlightBookingConfirmed,
    /// The flight booking failed.
    FlightBookingFailed,
    /// The flight booking was not completed in time.
    FlightBookingExpired,
    /// A cancellation of the flight booking started.
    FlightBookingCancellationStarted,
    /// The ticket of the flight booking is cancelled.
    FlightBookingCanceled,
    /// The supplier refused a cancellation of the flight booking.
    FlightBookingCancellationRefused,
    /// Bags were bought for the flight booking.
    FlightBookingServicesAdded,
    /// The airline changed the booked flights.
    FlightBookingAirlineChange,
    /// A payment was captured.
    PaymentCaptured,
    /// Money was refunded.
    PaymentRefunded,
    /// A payment failed.
    PaymentFailed,
    /// The price of a watched hotel is at or below the watch's limit.
    HotelWatchTriggered,
    /// Prices of hotels of a watched trip are at or below the watch's limit.
    TripWatchTriggered,
    /// A watch bought a stay.
    HotelWatchPurchased,
    /// A purchase by a watch failed.
    HotelWatchPurchaseFailed,
    /// A subscriber requested a test event.
    Ping,
}

impl EventType {
    /// All event types.
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

    /// Returns the event type with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|event_type| event_type.as_str() == text)
    }

    /// Returns the types that subscriptions of a product can select: events of its bookings, of
    /// payments, and pings. Watches have no subscriptions: their endpoint receives all events of
    /// watches.
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

    /// Returns the name in the API, e.g. `hotel.booking.confirmed`.
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
    fn event_type_names_are_unique_and_parse() {
        let names: BTreeSet<&str> = EventType::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(names.len(), EventType::ALL.len());
        for one in EventType::ALL {
            assert_eq!(EventType::parse(one.as_str()), Some(one));
        }
        assert_eq!(EventType::parse("hotel.booking"), None);
    }

    #[test]
    fn product_selects_its_own_and_shared_event_types() {
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
