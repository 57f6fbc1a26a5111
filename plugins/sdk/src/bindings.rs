//! Code generated from the folders of `wit`: one module for the imports of a plugin and the shared
//! types, one for the imports that version 1.1 adds, one for its shared types, and one for each
//! interface that a plugin may export. Only this file depends on how the code is generated.

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
pub mod imports_v1_1 {
    wit_bindgen::generate!({
        path: ["../../wit/v1.0", "../../wit/v1.1"],
        world: "stopover:worlds/imports@1.1.0",
        with: {
            "stopover:host/http@1.0.0": crate::bindings::shared::stopover::host::http,
        },
        generate_all,
    });
}

/// Shared types that version 1.1 adds.
pub mod shared_v1_1 {
    wit_bindgen::generate!({
        path: ["../../wit/v1.0", "../../wit/v1.1"],
        inline: "
            package stopover:sdk;
            world shared-details {
                import stopover:supplier/hotel-details@1.1.0;
                import stopover:supplier/flight-details@1.1.0;
            }
        ",
        with: {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/flight-types@1.0.0": crate::bindings::shared::stopover::supplier::flight_types,
        },
        generate_all,
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

/// Generates a module for an exported interface, with its macro `export`. Types shared with other
/// interfaces are those of `shared`. An interface of version 1.1 takes the records that it contains
/// from the module of the interface of version 1.0.
macro_rules! generate_capability {
    ($module:ident, $world:literal, plain) => {
        generate_capability!(@generate $module, $world, ["../../wit/v1.0"], {});
    };
    ($module:ident, $world:literal, types) => {
        generate_capability!(@generate $module, $world, ["../../wit/v1.0"], {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
        });
    };
    ($module:ident, $world:literal, hotel_types) => {
        generate_capability!(@generate $module, $world, ["../../wit/v1.0"], {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/hotel-types@1.0.0": crate::bindings::shared::stopover::supplier::hotel_types,
        });
    };
    ($module:ident, $world:literal, flight_types) => {
        generate_capability!(@generate $module, $world, ["../../wit/v1.0"], {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/flight-types@1.0.0": crate::bindings::shared::stopover::supplier::flight_types,
        });
    };
    ($module:ident, $world:literal, hotel_details, $interface:literal: $path:path) => {
        generate_capability!(@generate $module, $world, ["../../wit/v1.0", "../../wit/v1.1"], {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/hotel-types@1.0.0": crate::bindings::shared::stopover::supplier::hotel_types,
            "stopover:supplier/hotel-details@1.1.0": crate::bindings::shared_v1_1::stopover::supplier1_1_0::hotel_details,
            $interface: $path,
        });
    };
    ($module:ident, $world:literal, flight_details, $interface:literal: $path:path) => {
        generate_capability!(@generate $module, $world, ["../../wit/v1.0", "../../wit/v1.1"], {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/flight-types@1.0.0": crate::bindings::shared::stopover::supplier::flight_types,
            "stopover:supplier/flight-details@1.1.0": crate::bindings::shared_v1_1::stopover::supplier1_1_0::flight_details,
            $interface: $path,
        });
    };
    (@generate $module:ident, $world:literal, [$($folder:literal),+], {$($interface:literal: $path:path,)*}) => {
        pub mod $module {
            wit_bindgen::generate!({
                path: [$($folder),+],
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

generate_capability!(
    detailed_hotel_pricing,
    "stopover:worlds/detailed-hotel-pricing-capability@1.1.0",
    hotel_details,
    "stopover:supplier/hotel-pricing@1.0.0": crate::bindings::hotel_pricing::exports::stopover::supplier::hotel_pricing
);
generate_capability!(
    detailed_hotel_booking,
    "stopover:worlds/detailed-hotel-booking-capability@1.1.0",
    hotel_details,
    "stopover:supplier/hotel-booking@1.0.0": crate::bindings::hotel_booking::exports::stopover::supplier::hotel_booking
);
generate_capability!(
    detailed_flight_pricing,
    "stopover:worlds/detailed-flight-pricing-capability@1.1.0",
    flight_details,
    "stopover:supplier/flight-pricing@1.0.0": crate::bindings::flight_pricing::exports::stopover::supplier::flight_pricing
);
generate_capability!(
    detailed_flight_booking,
    "stopover:worlds/detailed-flight-booking-capability@1.1.0",
    flight_details,
    "stopover:supplier/flight-booking@1.0.0": crate::bindings::flight_booking::exports::stopover::supplier::flight_booking
);
