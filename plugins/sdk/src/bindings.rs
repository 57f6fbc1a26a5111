//! Code generated from the folders of `wit`: one module for the imports of a plugin and the shared
//! types, one for the imports that version 1.1 adds, and one for each interface that a plugin may
//! export. Only this file depends on how the code is generated.

/// Imports and shared types.
pub mod shared {
    wit_bindgen::generate!({
        path: "../../wit/v1.0",
        inline: "
            package stopover:sdk;
            world shared {
                include stopover:worlds/imports@1.0.0;
                import stopover:supplier/types@1.0.0;
                import stopover:supplier/hotel-types@1.0.0;
                import stopover:supplier/flight-types@1.0.0;
            }
        ",
        generate_all,
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

/// Imports that version 1.1 adds.
pub mod v1_1 {
    wit_bindgen::generate!({
        path: "../../wit/v1.1",
        world: "imports",
        generate_all,
        additional_derives: [PartialEq, Eq, PartialOrd, Ord],
    });
}

/// Generates a module for an exported interface, with its macro `export`. Types shared with other
/// interfaces are those of `shared`.
macro_rules! generate_capability {
    ($module:ident, $world:literal, plain) => {
        generate_capability!(@generate $module, $world, {});
    };
    ($module:ident, $world:literal, types) => {
        generate_capability!(@generate $module, $world, {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
        });
    };
    ($module:ident, $world:literal, hotel_types) => {
        generate_capability!(@generate $module, $world, {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/hotel-types@1.0.0": crate::bindings::shared::stopover::supplier::hotel_types,
        });
    };
    ($module:ident, $world:literal, flight_types) => {
        generate_capability!(@generate $module, $world, {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/flight-types@1.0.0": crate::bindings::shared::stopover::supplier::flight_types,
        });
    };
    (@generate $module:ident, $world:literal, {$($interface:literal: $path:path,)*}) => {
        pub mod $module {
            wit_bindgen::generate!({
                path: "../../wit/v1.0",
                world: $world,
                with: { $($interface: $path),* },
                generate_unused_types: true,
                additional_derives: [PartialEq],
                pub_export_macro: true,
                export_macro_name: "export",
            });
        }
    };
}

generate_capability!(plugin, "plugin-description", plain);
generate_capability!(supplier_events, "supplier-events-capability", types);
generate_capability!(hotel_places, "hotel-places-capability", types);
generate_capability!(hotel_search, "hotel-search-capability", hotel_types);
generate_capability!(hotel_pricing, "hotel-pricing-capability", hotel_types);
generate_capability!(hotel_booking, "hotel-booking-capability", hotel_types);
generate_capability!(
    hotel_cancellation,
    "hotel-cancellation-capability",
    hotel_types
);
generate_capability!(hotel_content, "hotel-content-capability", types);
generate_capability!(hotel_weather, "hotel-weather-capability", types);
generate_capability!(
    hotel_price_calendar,
    "hotel-price-calendar-capability",
    types
);
generate_capability!(flight_pricing, "flight-pricing-capability", flight_types);
generate_capability!(flight_booking, "flight-booking-capability", flight_types);
generate_capability!(
    flight_cancellation,
    "flight-cancellation-capability",
    flight_types
);
generate_capability!(flight_services, "flight-services-capability", flight_types);
generate_capability!(flight_reference, "flight-reference-capability", types);
generate_capability!(payment_processor, "payment-processor-capability", types);
