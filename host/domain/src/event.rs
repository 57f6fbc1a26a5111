//! Events that are published to subscribers.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Product {
        Hotel = "hotel",
        Flight = "flight",
        /// Price watches. Each organization has one endpoint for their events.
        Watch = "watch",
    }
}

named_enum! {
    /// A type of event that subscriptions can select.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum EventType {
        /// A hotel booking was created at the gateway and prebooked at the supplier.
        HotelBookingCreated = "hotel.booking.created",
        HotelBookingConfirmed = "hotel.booking.confirmed",
        HotelBookingFailed = "hotel.booking.failed",
        HotelBookingExpired = "hotel.booking.expired",
        HotelBookingCancellationStarted = "hotel.booking.cancellation_started",
        /// All rooms of the hotel booking are cancelled.
        HotelBookingCanceled = "hotel.booking.canceled",
        /// Some rooms of the hotel booking are cancelled.
        HotelBookingPartiallyCanceled = "hotel.booking.partially_canceled",
        HotelBookingCancellationRefused = "hotel.booking.cancellation_refused",
        /// Something else about the hotel booking changed.
        HotelBookingChanged = "hotel.booking.changed",
        /// A flight booking was created and its fare prebooked.
        FlightBookingCreated = "flight.booking.created",
        /// The ticket of the flight booking is issued.
        FlightBookingConfirmed = "flight.booking.confirmed",
        FlightBookingFailed = "flight.booking.failed",
        FlightBookingExpired = "flight.booking.expired",
        FlightBookingCancellationStarted = "flight.booking.cancellation_started",
        FlightBookingCanceled = "flight.booking.canceled",
        FlightBookingCancellationRefused = "flight.booking.cancellation_refused",
        /// Bags were bought for the flight booking.
        FlightBookingServicesAdded = "flight.booking.services_added",
        /// The airline changed the booked flights.
        FlightBookingAirlineChange = "flight.booking.airline_change",
        PaymentCaptured = "payment.captured",
        PaymentRefunded = "payment.refunded",
        PaymentFailed = "payment.failed",
        /// The price of a watched hotel is at or below the watch's limit.
        HotelWatchTriggered = "travel.hotel.watch.triggered",
        /// Prices of hotels of a watched trip are at or below the watch's limit.
        TripWatchTriggered = "travel.hotel.trip_watch.triggered",
        HotelWatchPurchased = "travel.hotel.watch.purchased",
        HotelWatchPurchaseFailed = "travel.hotel.watch.purchase_failed",
        /// A subscriber requested a test event.
        Ping = "ping",
    }
}

impl EventType {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_selects_its_own_and_shared_event_types() {
        use EventType as E;
        let (hotel, flight) = (E::HotelBookingChanged, E::FlightBookingAirlineChange);
        for (product, own, of_another) in [
            (Product::Hotel, hotel, flight),
            (Product::Flight, flight, hotel),
        ] {
            let selected: Vec<_> = E::for_product(product).collect();
            for expected in [own, E::PaymentCaptured, E::Ping] {
                assert!(selected.contains(&expected), "{expected:?}");
            }
            assert!(!selected.contains(&of_another));
        }
        assert_eq!(E::for_product(Product::Watch).count(), 0);
    }
}
