//! One module a capability: its trait under a name of its own, its requests and
//! its answers, and the words that it uses.

macro_rules! capabilities {
    ($($(#[$doc:meta])* $module:ident: $package:ident::$interface:ident as $name:ident;)+) => {$(
        $(#[$doc])*
        pub mod $module {
            pub use crate::bindings::$module::exports::stopover::$package::$interface::{Guest as $name, *};
        }
    )+};
}

capabilities! {
    /// What the plugin is.
    plugin: supplier::plugin as Plugin;
    /// The supplier's own webhooks.
    supplier_events: supplier::supplier_events as SupplierEvents;
    /// Names of places to coordinates.
    hotel_places: supplier::hotel_places as HotelPlaces;
    /// Hotels of an area with their lowest price.
    hotel_search: supplier::hotel_search as HotelSearch;
    /// Bookable offers of named hotels.
    hotel_pricing: supplier::hotel_pricing as HotelPricing;
    /// From offer to booking.
    hotel_booking: supplier::hotel_booking as HotelBooking;
    /// Ending a hotel booking.
    hotel_cancellation: supplier::hotel_cancellation as HotelCancellation;
    /// What hotels look like and what guests say.
    hotel_content: supplier::hotel_content as HotelContent;
    /// Weather at a place.
    hotel_weather: supplier::hotel_weather as HotelWeather;
    /// Indicative prices a night.
    hotel_price_calendar: supplier::hotel_price_calendar as HotelPriceCalendar;
    /// Fares between airports.
    flight_pricing: supplier::flight_pricing as FlightPricing;
    /// From fare to ticket.
    flight_booking: supplier::flight_booking as FlightBooking;
    /// Ending a ticket.
    flight_cancellation: supplier::flight_cancellation as FlightCancellation;
    /// Bags and the like on a ticket that exists.
    flight_services: supplier::flight_services as FlightServices;
    /// Airports and airlines.
    flight_reference: supplier::flight_reference as FlightReference;
    /// A payment processor.
    payment_processor: payment::processor as PaymentProcessor;
}

impl plugin::Description {
    /// A plugin that promises nothing beyond its interfaces and asks for nothing:
    /// no hosts, no secrets, no settings.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            collects_payment: false,
            one_booking_per_offer: false,
            cancels_single_rooms: false,
            reads_consistent_after_ms: None,
            repeats_are_safe: false,
            hosts: Vec::new(),
            secrets: Vec::new(),
            settings_schema: r#"{"type": "object", "additionalProperties": false}"#.to_owned(),
        }
    }
}
