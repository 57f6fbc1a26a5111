//! Flights of Duffel, version 2 of its API.
//!
//! One file a capability holds the calls, `wire` what Duffel's JSON looks like,
//! `map` what it means: pure functions, tested without a gateway. The access
//! token is the gateway's; nothing here knows it.

mod booking;
mod cancellation;
mod events;
mod fault;
mod map;
mod pricing;
mod reference;
mod services;
mod settings;
mod upstream;
mod wire;

use stopover_sdk::{Description, Plugin};

use crate::settings::Settings;

/// The adapter.
pub struct DuffelFlights;

stopover_sdk::export!(
    DuffelFlights: plugin,
    flight_pricing,
    flight_booking,
    flight_cancellation,
    flight_services,
    flight_reference,
    supplier_events,
);

impl Plugin for DuffelFlights {
    /// Reads the settings: which host it wants hangs on them. Settings that
    /// cannot be read describe the defaults; every call says what is wrong.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            // An offer request can be booked once.
            one_booking_per_offer: true,
            // Duffel knows no idempotency key, and documents no delay after which
            // a list must show an order.
            reads_consistent_after_ms: None,
            repeats_are_safe: false,
            hosts: vec![settings.host()],
            secrets: vec![events::SECRET.to_owned()],
            settings_schema: settings::SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
