//! Rust types generated from the WIT for every interface of each version. This module contains no
//! handwritten code; conversions to the domain are in `convert`.
//!
//! One world has the interfaces of all versions, so that the records of version 1.1 contain the Rust
//! types of version 1.0. The generator puts the version into the names of modules, which the modules
//! here replace.

/// The imports and the shared types of version 1.0.
pub(crate) mod stopover {
    pub(crate) use super::generated::stopover::{host1_0_0 as host, supplier1_0_0 as supplier};
}

/// The exports of version 1.0.
pub(crate) mod exports {
    pub(crate) mod stopover {
        pub(crate) use super::super::generated::exports::stopover::{
            payment, supplier1_0_0 as supplier,
        };
    }
}

/// The interfaces that version 1.1 adds.
pub(crate) mod v1_1 {
    pub(crate) mod stopover {
        pub(crate) use super::super::generated::stopover::{
            host1_1_0 as host, supplier1_1_0 as supplier,
        };
    }

    pub(crate) mod exports {
        pub(crate) mod stopover {
            pub(crate) use super::super::super::generated::exports::stopover::supplier1_1_0 as supplier;
        }
    }
}

mod generated {
    wasmtime::component::bindgen!({
        path: ["../../wit/v1.0", "../../wit/v1.1"],
        inline: "
            package stopover:runtime;

            world everything {
                import stopover:host/http@1.0.0;
                import stopover:host/log@1.0.0;
                import stopover:host/clock@1.0.0;
                import stopover:host/cache@1.0.0;
                import stopover:host/secret@1.0.0;
                import stopover:host/settings@1.0.0;
                import stopover:host/report@1.1.0;
                import stopover:host/reads@1.1.0;

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

                export stopover:supplier/detailed-hotel-pricing@1.1.0;
                export stopover:supplier/detailed-hotel-booking@1.1.0;
                export stopover:supplier/detailed-flight-pricing@1.1.0;
                export stopover:supplier/detailed-flight-booking@1.1.0;
            }
        ",
        world: "everything",
        imports: {
            "stopover:host/http@1.0.0": async | trappable,
            "stopover:host/reads@1.1.0": async | trappable,
            default: trappable,
        },
        exports: { default: async },
    });
}
