//! One module for each capability, with its trait, its requests and responses, and the types that
//! they use.

macro_rules! capability_modules {
    ($($(#[$doc:meta])* $module:ident: $package:ident::$interface:ident as $name:ident;)+) => {$(
        $(#[$doc])*
        pub mod $module {
            pub use crate::bindings::$module::exports::stopover::$package::$interface::{Guest as $name, *};
            #[doc(hidden)]
            pub use $name as Capability;
        }
    )+};
}

capability_modules! {
    /// Description of the plugin.
    plugin: supplier::plugin as Plugin;
    /// Verification and decoding of the supplier's own webhooks.
    supplier_events: supplier::supplier_events as SupplierEvents;
    /// Search for places by name.
    hotel_places: supplier::hotel_places as HotelPlaces;
    /// Search for hotels in an area, with their lowest prices.
    hotel_search: supplier::hotel_search as HotelSearch;
    /// Bookable offers of given hotels.
    hotel_pricing: supplier::hotel_pricing as HotelPricing;
    /// Prebook and booking of a hotel offer.
    hotel_booking: supplier::hotel_booking as HotelBooking;
    /// Cancellation of a hotel booking.
    hotel_cancellation: supplier::hotel_cancellation as HotelCancellation;
    /// Descriptions of hotels and guest reviews.
    hotel_content: supplier::hotel_content as HotelContent;
    /// Weather forecasts for a place.
    hotel_weather: supplier::hotel_weather as HotelWeather;
    /// Indicative prices per night.
    hotel_price_calendar: supplier::hotel_price_calendar as HotelPriceCalendar;
    /// Search for fares between airports.
    flight_pricing: supplier::flight_pricing as FlightPricing;
    /// Prebook and booking of a fare.
    flight_booking: supplier::flight_booking as FlightBooking;
    /// Cancellation of a ticket.
    flight_cancellation: supplier::flight_cancellation as FlightCancellation;
    /// Bags and other services on an existing ticket.
    flight_services: supplier::flight_services as FlightServices;
    /// Reference data of airports and airlines.
    flight_reference: supplier::flight_reference as FlightReference;
    /// Bookable offers of given hotels, with the details of version 1.1. It replaces `hotel_pricing`.
    detailed_hotel_pricing: supplier1_1_0::detailed_hotel_pricing as DetailedHotelPricing;
    /// Prebook and booking of a hotel offer, with the details of version 1.1. It replaces
    /// `hotel_booking`.
    detailed_hotel_booking: supplier1_1_0::detailed_hotel_booking as DetailedHotelBooking;
    /// Search for fares, with the details of version 1.1. It replaces `flight_pricing`.
    detailed_flight_pricing: supplier1_1_0::detailed_flight_pricing as DetailedFlightPricing;
    /// Prebook and booking of a fare, with the details of version 1.1. It replaces `flight_booking`.
    detailed_flight_booking: supplier1_1_0::detailed_flight_booking as DetailedFlightBooking;
    /// A payment processor.
    payment_processor: payment::processor as PaymentProcessor;
}

impl plugin::Description {
    /// Describes a plugin without guarantees beyond its interfaces and without requirements: no
    /// hosts, no secrets, no settings.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            collects_payment: false,
            one_booking_per_offer: false,
            supports_partial_cancellation: false,
            reads_consistent_after_ms: None,
            supports_idempotent_resend: false,
            hosts: Vec::new(),
            secrets: Vec::new(),
            settings_schema: r#"{"type": "object", "additionalProperties": false}"#.to_owned(),
        }
    }
}
