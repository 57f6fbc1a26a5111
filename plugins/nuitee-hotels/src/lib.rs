//! Hotels of Nuitee (LiteAPI), version 3.0 of its API.
//!
//! One file a capability holds the calls, `wire` what Nuitee's JSON looks like,
//! `map` what it means: pure functions, tested without a gateway. The API key is
//! the gateway's; nothing here knows it.

mod booking;
mod calendar;
mod cancellation;
mod content;
mod events;
mod fault;
mod map;
mod places;
mod pricing;
mod search;
mod settings;
mod upstream;
mod weather;
mod wire;

use stopover_sdk::{Description, Plugin};

use crate::settings::Settings;

/// The adapter.
pub struct NuiteeHotels;

stopover_sdk::export!(
    NuiteeHotels: plugin,
    hotel_places,
    hotel_search,
    hotel_pricing,
    hotel_booking,
    hotel_cancellation,
    hotel_content,
    hotel_weather,
    hotel_price_calendar,
    supplier_events,
);

impl Plugin for NuiteeHotels {
    /// Reads the settings: which hosts it wants and who takes the card hang on
    /// them. Settings that cannot be read describe the defaults; every call says
    /// what is wrong with them.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            collects_payment: settings.uses_payment_sdk(),
            // Nuitee documents no delay after which a read must know a booking,
            // and answers a repeated reference with an error, not the booking.
            reads_consistent_after_ms: None,
            repeats_are_safe: false,
            hosts: settings.hosts(),
            settings_schema: settings::SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
