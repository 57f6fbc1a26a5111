//! Flights of Nuitee (LiteAPI), version 3.0 of its API.
//!
//! One file a capability holds the calls, `wire` what Nuitee's JSON looks like,
//! `map` what it means: pure functions, tested without a gateway. The API key is
//! the gateway's; nothing here knows it.

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

/// The adapter.
pub struct NuiteeFlights;

// No `flight_services`: Nuitee sells bags and seats only before it has confirmed
// a booking.
stopover_sdk::export!(
    NuiteeFlights: plugin,
    flight_pricing,
    flight_booking,
    flight_cancellation,
    flight_reference,
    supplier_events,
);

impl Plugin for NuiteeFlights {
    /// Reads the settings: which host it wants and who takes the card hang on
    /// them. Settings that cannot be read describe the defaults; every call says
    /// what is wrong with them.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            collects_payment: settings.uses_payment_sdk(),
            // Nuitee documents no delay after which a read must know a booking.
            reads_consistent_after_ms: None,
            // A booking is made once a prebook, a cancellation once a booking.
            repeats_are_safe: true,
            hosts: vec![settings.host()],
            settings_schema: settings::SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
