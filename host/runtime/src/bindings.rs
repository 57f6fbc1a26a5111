//! Rust types generated from the WIT for every interface of each version. This module contains no
//! handwritten code; conversions to the domain are in `convert`.

/// The interfaces that version 1.1 adds.
pub(crate) mod v1_1 {
    wasmtime::component::bindgen!({
        path: "../../wit/v1.1",
        world: "imports",
        imports: { default: trappable },
    });
}

wasmtime::component::bindgen!({
    path: "../../wit/v1.0",
    inline: "
        package stopover:runtime;

        world everything {
            import stopover:host/http@1.0.0;
            import stopover:host/log@1.0.0;
            import stopover:host/clock@1.0.0;
            import stopover:host/cache@1.0.0;
            import stopover:host/secret@1.0.0;
            import stopover:host/settings@1.0.0;

            export stopover:supplier/plugin@1.0.0;
            export stopover:supplier/supplier-events@1.0.0;
            export stopover:supplier/hotel-places@1.0.0;
            export stopover:supplier/hotel-search@1.0.0;
            export stopover:supplier/hotel-pricing@1.0.0;
            export stopover:supplier/hotel-booking@1.0.0;
            export stopover:supplier/hotel-cancellation@1.0.0;
            export stopover:supplier/hotel-content@1.0.0;
            export stopover:supplier/hotel-weather@1.0.0;
            export stopover:supplier/hotel-price-calendar@1.0.0;
            export stopover:supplier/flight-pricing@1.0.0;
            export stopover:supplier/flight-booking@1.0.0;
            export stopover:supplier/flight-cancellation@1.0.0;
            export stopover:supplier/flight-services@1.0.0;
            export stopover:supplier/flight-reference@1.0.0;
            export stopover:payment/processor@1.0.0;
        }
    ",
    world: "everything",
    imports: {
        "stopover:host/http@1.0.0": async | trappable,
        default: trappable,
    },
    exports: { default: async },
});
