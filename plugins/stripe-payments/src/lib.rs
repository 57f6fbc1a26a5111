//! Card payments through Stripe: PaymentIntents that are authorized first and captured later, and
//! cards that are stored as PaymentMethods of Customers.
//!
//! `payment` holds the calls that move money, `find` the calls that read back, `instrument` the
//! storing of cards, and `webhook` the reading of Stripe's events. `wire` holds the form of
//! Stripe's JSON; `map`, `amount` and `fault` hold its meaning. The adapter receives cards as
//! tokens only. The gateway adds the API key.

mod amount;
mod fault;
mod find;
mod form;
mod instrument;
mod map;
mod payment;
mod upstream;
mod webhook;
mod wire;

use stopover_sdk::{Description, Plugin};

use crate::upstream::Settings;

pub struct StripePayments;

stopover_sdk::export!(StripePayments: plugin, payment_processor, supplier_events);

impl Plugin for StripePayments {
    /// Describes the adapter. The host depends on the settings. If the settings are invalid, the
    /// description uses the default, and every call returns the error.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            // Stripe's lists are consistent immediately. But Stripe documents no time after a
            // broken connection within which a request may still be executed.
            reads_consistent_after_ms: None,
            // Stripe keeps an `Idempotency-Key` for at least a day.
            supports_idempotent_resend: true,
            hosts: vec![settings.host()],
            secrets: vec![webhook::SECRET.to_owned()],
            settings_schema: upstream::SETTINGS_SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}
