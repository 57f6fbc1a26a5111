//! Card payments through Stripe: PaymentIntents that are authorized first and captured later, and
//! cards that are stored as PaymentMethods of Customers.
//!
//! `payment` holds the calls that move money, `find` the calls that read back, `instrument` the
//! storing of cards, and `webhook` the reading of Stripe's events. `wire` holds the form of
//! Stripe's JSON; `map`, `amount` and `refusal` hold its meaning. The adapter receives cards as
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

use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindRequest, Instrument, Intent, IntentRequest, PaymentError,
    PaymentLookup, ProcessorPayment, ProcessorRefund, RefundLookup, RefundRequest, VoidRequest,
};
use stopover_sdk::supplier_events::{Event, VerifyError, WebhookRequest};
use stopover_sdk::{Description, PaymentProcessor, Plugin, ReadError, SupplierEvents};

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

impl PaymentProcessor for StripePayments {
    fn create_intent(request: IntentRequest) -> Result<Intent, PaymentError> {
        payment::create_intent(&request)
    }

    fn authorize(request: AuthorizeRequest) -> Result<ProcessorPayment, PaymentError> {
        payment::authorize(&request)
    }

    fn capture(request: CaptureRequest) -> Result<ProcessorPayment, PaymentError> {
        payment::capture(&request)
    }

    fn void(request: VoidRequest) -> Result<ProcessorPayment, PaymentError> {
        payment::void(&request)
    }

    fn refund(request: RefundRequest) -> Result<ProcessorRefund, PaymentError> {
        payment::refund(&request)
    }

    fn find(request: FindRequest) -> Result<PaymentLookup, ReadError> {
        find::payment(&request)
    }

    fn find_refund(
        processor_reference: String,
        client_reference: String,
    ) -> Result<RefundLookup, ReadError> {
        find::refund(&processor_reference, &client_reference)
    }

    fn describe_instrument(token: String) -> Result<Instrument, ReadError> {
        instrument::describe(&token)
    }
}

impl SupplierEvents for StripePayments {
    fn verify(delivery: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        webhook::verify(&delivery)
    }
}
