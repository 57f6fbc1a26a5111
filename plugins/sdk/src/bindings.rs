//! Code generated from `wit/`: one module for the imports of a plugin and the shared types, and one
//! for each interface that a plugin may export. Only this file depends on how the code is
//! generated.

/// Imports and shared types.
pub mod shared {
    wit_bindgen::generate!({
        path: "../../wit",
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

/// Generates a module for an exported interface, with the macro that exports it. Types shared with
/// other interfaces are those of `shared`.
macro_rules! provides {
    ($module:ident, $world:literal, $export:literal, plain) => {
        provides!(@generate $module, $world, $export, {});
    };
    ($module:ident, $world:literal, $export:literal, types) => {
        provides!(@generate $module, $world, $export, {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
        });
    };
    ($module:ident, $world:literal, $export:literal, hotel_types) => {
        provides!(@generate $module, $world, $export, {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/hotel-types@1.0.0": crate::bindings::shared::stopover::supplier::hotel_types,
        });
    };
    ($module:ident, $world:literal, $export:literal, flight_types) => {
        provides!(@generate $module, $world, $export, {
            "stopover:supplier/types@1.0.0": crate::bindings::shared::stopover::supplier::types,
            "stopover:supplier/flight-types@1.0.0": crate::bindings::shared::stopover::supplier::flight_types,
        });
    };
    (@generate $module:ident, $world:literal, $export:literal, {$($interface:literal: $path:path,)*}) => {
        pub mod $module {
            wit_bindgen::generate!({
                path: "../../wit",
                world: $world,
                with: { $($interface: $path),* },
                generate_unused_types: true,
                additional_derives: [PartialEq],
                pub_export_macro: true,
                export_macro_name: $export,
            });
        }
    };
}

provides!(plugin, "provides-plugin", "export_plugin", plain);
provides!(
    supplier_events,
    "provides-supplier-events",
    "export_supplier_events",
    types
);
provides!(
    hotel_places,
    "provides-hotel-places",
    "export_hotel_places",
    types
);
provides!(
    hotel_search,
    "provides-hotel-search",
    "export_hotel_search",
    hotel_types
);
provides!(
    hotel_pricing,
    "provides-hotel-pricing",
    "export_hotel_pricing",
    hotel_types
);
provides!(
    hotel_booking,
    "provides-hotel-booking",
    "export_hotel_booking",
    hotel_types
);
provides!(
    hotel_cancellation,
    "provides-hotel-cancellation",
    "export_hotel_cancellation",
    hotel_types
);
provides!(
    hotel_content,
    "provides-hotel-content",
    "export_hotel_content",
    types
);
provides!(
    hotel_weather,
    "provides-hotel-weather",
    "export_hotel_weather",
    types
);
provides!(
    hotel_price_calendar,
    "provides-hotel-price-calendar",
    "export_hotel_price_calendar",
    types
);
provides!(
    flight_pricing,
    "provides-flight-pricing",
    "export_flight_pricing",
    flight_types
);
provides!(
    flight_booking,
    "provides-flight-booking",
    "export_flight_booking",
    flight_types
);
provides!(
    flight_cancellation,
    "provides-flight-cancellation",
    "export_flight_cancellation",
    flight_types
);
provides!(
    flight_services,
    "provides-flight-services",
    "export_flight_services",
    flight_types
);
provides!(
    flight_reference,
    "provides-flight-reference",
    "export_flight_reference",
    types
);
provides!(
    payment_processor,
    "provides-payment-processor",
    "export_payment_processor",
    types
);
