//! Adapter for flights of Duffel, version 2 of its API.
//!
//! Each capability has a file with its calls. `wire` holds the form of Duffel's responses. `map` holds
//! its meaning in pure functions that are tested without a gateway. The gateway adds the access
//! token to requests; the adapter has no access to it.

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

pub struct DuffelFlights;

stopover_sdk::export!(
    DuffelFlights: plugin,
    detailed_flight_pricing,
    detailed_flight_booking,
    flight_cancellation,
    flight_services,
    flight_reference,
    supplier_events,
);

impl Plugin for DuffelFlights {
    /// Describes the adapter. The host depends on the settings. If the settings are invalid, the
    /// description uses the defaults, and every call returns the error.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            // An offer request can be booked only once.
            one_booking_per_offer: true,
            // Duffel has no idempotency keys, and documents no delay after which a list must show
            // an order.
            reads_consistent_after_ms: None,
            supports_idempotent_resend: false,
            hosts: vec![settings.base_url.host()],
            secrets: vec![events::SECRET.to_owned()],
            settings_schema: settings::SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
