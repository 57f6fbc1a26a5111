//! SDK for supplier plugins.
//!
//! Implement a trait for each capability of the supplier ([`HotelPricing`], [`HotelBooking`], …)
//! and [`Plugin`] to describe the plugin. [`export!`] makes them the component's exports. The
//! gateway's interfaces are the modules [`http`], [`settings`], [`clock`], [`cache`], [`secret`]
//! and [`log`]. [`money`] and [`time`] parse the formats of suppliers.
//!
//! The same code compiles natively, where [`testing`] takes the place of the gateway. The crate
//! contains nothing specific to a supplier or to how the gateway runs a plugin.

#[doc(hidden)]
pub mod bindings;
pub mod cache;
pub mod capability;
pub mod clock;
pub mod dropped;
mod error;
mod export;
pub mod fault;
pub mod flight;
mod host;
mod hotel;
pub mod html;
pub mod http;
pub mod json;
pub mod lenient;
pub mod log;
pub mod money;
#[cfg(any(target_arch = "wasm32", test))]
#[doc(hidden)]
pub mod panic_hook;
pub mod secret;
pub mod settings;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod time;
pub mod types;

pub use capability::detailed_flight_booking::DetailedFlightBooking;
pub use capability::detailed_flight_pricing::DetailedFlightPricing;
pub use capability::detailed_hotel_booking::DetailedHotelBooking;
pub use capability::detailed_hotel_pricing::DetailedHotelPricing;
pub use capability::flight_booking::FlightBooking;
pub use capability::flight_cancellation::FlightCancellation;
pub use capability::flight_pricing::FlightPricing;
pub use capability::flight_reference::FlightReference;
pub use capability::flight_services::FlightServices;
pub use capability::hotel_booking::HotelBooking;
pub use capability::hotel_cancellation::HotelCancellation;
pub use capability::hotel_content::HotelContent;
pub use capability::hotel_places::HotelPlaces;
pub use capability::hotel_price_calendar::HotelPriceCalendar;
pub use capability::hotel_pricing::HotelPricing;
pub use capability::hotel_search::HotelSearch;
pub use capability::hotel_weather::HotelWeather;
pub use capability::payment_processor::PaymentProcessor;
pub use capability::plugin::{Description, Plugin};
pub use capability::supplier_events::SupplierEvents;

pub use types::{ChangeError, ReadError, Refusal, RefusalReason};

pub use capability::{
    detailed_flight_booking, detailed_flight_pricing, detailed_hotel_booking,
    detailed_hotel_pricing, flight_booking, flight_cancellation, flight_pricing, flight_reference,
    flight_services, hotel_booking, hotel_cancellation, hotel_content, hotel_places,
    hotel_price_calendar, hotel_pricing, hotel_search, hotel_weather, payment_processor, plugin,
    supplier_events,
};

/// An allocator that is smaller and faster than the target's own. It need not be thread-safe,
/// because a plugin has one thread.
#[cfg(all(target_arch = "wasm32", feature = "allocator"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
