//! Adapter for flights of Nuitee (LiteAPI), version 3.0 of its API.
//!
//! Each capability has a file with its calls. `wire` holds the form of Nuitee's responses. `map` holds
//! its meaning in pure functions that are tested without a gateway. The gateway adds the API key to
//! requests; the adapter has no access to it.

mod booking;
mod cancellation;
mod events;
mod fault;
mod map;
mod pricing;
mod reference;
mod settings;
mod upstream;
mod wire;

use stopover_sdk::{Description, Plugin};

use crate::settings::Settings;

pub struct NuiteeFlights;

// `flight_services` is not exported: Nuitee sells bags and seats only before it confirms a booking.
stopover_sdk::export!(
    NuiteeFlights: plugin,
    detailed_flight_pricing,
    detailed_flight_booking,
    flight_cancellation,
    flight_reference,
    supplier_events,
);

impl Plugin for NuiteeFlights {
    /// Describes the adapter. Host and payment method depend on the settings. If the settings are
    /// invalid, the description uses the defaults, and every call returns the error.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            collects_payment: settings.uses_payment_sdk(),
            // Nuitee documents no delay after which a read must find a booking.
            reads_consistent_after_ms: None,
            // A prebook is booked at most once, and a booking is cancelled at most once.
            supports_idempotent_resend: true,
            hosts: vec![settings.base_url.host()],
            settings_schema: settings::SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
