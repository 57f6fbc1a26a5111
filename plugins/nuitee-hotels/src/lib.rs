//! Adapter for hotels of Nuitee (LiteAPI), version 3.0 of its API.
//!
//! Each capability has a file with its calls. `wire` holds the form of Nuitee's responses. `map` holds
//! its meaning in pure functions that are tested without a gateway. The gateway adds the API key to
//! requests; the adapter has no access to it.

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

pub struct NuiteeHotels;

stopover_sdk::export!(
    NuiteeHotels: plugin,
    hotel_places,
    hotel_search,
    detailed_hotel_pricing,
    detailed_hotel_booking,
    hotel_cancellation,
    hotel_content,
    hotel_weather,
    hotel_price_calendar,
    supplier_events,
);

impl Plugin for NuiteeHotels {
    /// Describes the adapter. Hosts and payment method depend on the settings. If the settings are
    /// invalid, the description uses the defaults, and every call returns the error.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            collects_payment: settings.uses_payment_sdk(),
            // Nuitee documents no delay after which a read must find a booking. It responds to a
            // repeated client reference with an error instead of the booking.
            reads_consistent_after_ms: None,
            supports_idempotent_resend: false,
            hosts: settings.hosts(),
            settings_schema: settings::SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
