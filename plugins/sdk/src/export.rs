//! The macro that turns a type's traits into the exports of a component.

/// Exports a type as a plugin: `export!(MySupplier: plugin, hotel_pricing);`.
///
/// The capabilities after the colon are named by their modules, each once, and always include
/// `plugin`. The type must implement the trait of each. A native build exports nothing, so that
/// several plugins can be linked into one test; it only checks the traits.
#[macro_export]
macro_rules! export {
    ($plugin:ident: $($capability:ident),+ $(,)?) => {
        $($crate::export_capability!($capability, $plugin);)+
    };
}

/// Exports one capability of [`export!`].
#[doc(hidden)]
#[macro_export]
macro_rules! export_capability {
    (plugin, $plugin:ident) => {
        $crate::export_interface!(plugin, export_plugin, Plugin, $plugin);
    };
    (supplier_events, $plugin:ident) => {
        $crate::export_interface!(
            supplier_events,
            export_supplier_events,
            SupplierEvents,
            $plugin
        );
    };
    (hotel_places, $plugin:ident) => {
        $crate::export_interface!(hotel_places, export_hotel_places, HotelPlaces, $plugin);
    };
    (hotel_search, $plugin:ident) => {
        $crate::export_interface!(hotel_search, export_hotel_search, HotelSearch, $plugin);
    };
    (hotel_pricing, $plugin:ident) => {
        $crate::export_interface!(hotel_pricing, export_hotel_pricing, HotelPricing, $plugin);
    };
    (hotel_booking, $plugin:ident) => {
        $crate::export_interface!(hotel_booking, export_hotel_booking, HotelBooking, $plugin);
    };
    (hotel_cancellation, $plugin:ident) => {
        $crate::export_interface!(
            hotel_cancellation,
            export_hotel_cancellation,
            HotelCancellation,
            $plugin
        );
    };
    (hotel_content, $plugin:ident) => {
        $crate::export_interface!(hotel_content, export_hotel_content, HotelContent, $plugin);
    };
    (hotel_weather, $plugin:ident) => {
        $crate::export_interface!(hotel_weather, export_hotel_weather, HotelWeather, $plugin);
    };
    (hotel_price_calendar, $plugin:ident) => {
        $crate::export_interface!(
            hotel_price_calendar,
            export_hotel_price_calendar,
            HotelPriceCalendar,
            $plugin
        );
    };
    (flight_pricing, $plugin:ident) => {
        $crate::export_interface!(
            flight_pricing,
            export_flight_pricing,
            FlightPricing,
            $plugin
        );
    };
    (flight_booking, $plugin:ident) => {
        $crate::export_interface!(
            flight_booking,
            export_flight_booking,
            FlightBooking,
            $plugin
        );
    };
    (flight_cancellation, $plugin:ident) => {
        $crate::export_interface!(
            flight_cancellation,
            export_flight_cancellation,
            FlightCancellation,
            $plugin
        );
    };
    (flight_services, $plugin:ident) => {
        $crate::export_interface!(
            flight_services,
            export_flight_services,
            FlightServices,
            $plugin
        );
    };
    (flight_reference, $plugin:ident) => {
        $crate::export_interface!(
            flight_reference,
            export_flight_reference,
            FlightReference,
            $plugin
        );
    };
    (payment_processor, $plugin:ident) => {
        $crate::export_interface!(
            payment_processor,
            export_payment_processor,
            PaymentProcessor,
            $plugin
        );
    };
    ($other:ident, $plugin:ident) => {
        compile_error!(concat!(
            "`",
            stringify!($other),
            "` is not the module name of a capability; see `stopover_sdk::capability`"
        ));
    };
}

/// Exports one interface of [`export!`] with its generated macro.
#[doc(hidden)]
#[macro_export]
macro_rules! export_interface {
    ($module:ident, $export:ident, $capability:ident, $plugin:ident) => {
        const _: () = {
            const fn implements<T: $crate::$capability>() {}
            implements::<$plugin>();
        };
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::$module::$export!($plugin with_types_in $crate::bindings::$module);
    };
}
