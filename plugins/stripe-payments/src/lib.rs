//! Card payments through Stripe: PaymentIntents that are held first and captured
//! later, and cards that are kept as PaymentMethods of Customers.
//!
//! `payment` holds the calls that move money, `find` those that read back,
//! `instrument` keeps cards, `webhook` reads what Stripe reports by itself. What
//! Stripe writes is in `wire`, what it means in `map`, `amount` and `refusal`.
//! Cards come as tokens only, and the key is the gateway's.

mod amount;
mod find;
mod form;
mod instrument;
mod map;
mod payment;
mod refusal;
mod stripe;
mod webhook;
mod wire;

use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindAnswer, FindRefundAnswer, FindRequest, Instrument,
    Intent, IntentRequest, PaymentError, PaymentState, RefundRequest, RefundState, VoidRequest,
};
use stopover_sdk::supplier_events::{Delivery, Event, VerifyError};
use stopover_sdk::{Description, PaymentProcessor, Plugin, ReadError, SupplierEvents};

use crate::stripe::Settings;

/// The adapter.
pub struct StripePayments;

stopover_sdk::export!(StripePayments: plugin, payment_processor, supplier_events);

impl Plugin for StripePayments {
    /// Reads the settings: the host hangs on them. Settings that cannot be read
    /// describe the default; every call says what is wrong with them.
    fn describe() -> Description {
        let settings = Settings::read().unwrap_or_default();
        Description {
            // Stripe's lists know at once what was done, but nothing says how long
            // after a broken connection a request may still be carried out.
            reads_consistent_after_ms: None,
            // `Idempotency-Key`, kept for at least a day.
            repeats_are_safe: true,
            hosts: vec![settings.host().to_owned()],
            secrets: vec![webhook::SECRET.to_owned()],
            settings_schema: stripe::SETTINGS_SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}

impl PaymentProcessor for StripePayments {
    fn create_intent(request: IntentRequest) -> Result<Intent, PaymentError> {
        payment::create_intent(&request)
    }

    fn authorize(request: AuthorizeRequest) -> Result<PaymentState, PaymentError> {
        payment::authorize(&request)
    }

    fn capture(request: CaptureRequest) -> Result<PaymentState, PaymentError> {
        payment::capture(&request)
    }

    fn void(request: VoidRequest) -> Result<PaymentState, PaymentError> {
        payment::void(&request)
    }

    fn refund(request: RefundRequest) -> Result<RefundState, PaymentError> {
        payment::refund(&request)
    }

    fn find(request: FindRequest) -> Result<FindAnswer, ReadError> {
        find::payment(&request)
    }

    fn find_refund(
        processor_reference: String,
        client_reference: String,
    ) -> Result<FindRefundAnswer, ReadError> {
        find::refund(&processor_reference, &client_reference)
    }

    fn describe_instrument(token: String) -> Result<Instrument, ReadError> {
        instrument::describe(&token)
    }
}

impl SupplierEvents for StripePayments {
    fn verify(delivery: Delivery) -> Result<Vec<Event>, VerifyError> {
        webhook::verify(&delivery)
    }
}
