//! Adapter of Tillway, the sandbox's card processor. It is an ordinary adapter without special
//! privileges.

mod fault;
mod map;
mod upstream;
mod wire;

use serde_json::json;
use stopover_sdk::http::percent_encode;
use stopover_sdk::json::single;
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindRequest, Instrument, Intent, IntentRequest, PaymentError,
    PaymentLookup, ProcessorPayment, ProcessorRefund, RefundLookup, RefundRequest, VoidRequest,
};
use stopover_sdk::{Description, PaymentProcessor, Plugin, ReadError};

use crate::fault::{Change, ERRORS};
use crate::map::{check_payment, check_reference};
use crate::upstream::{change, get, read};

pub struct FakePayments;

stopover_sdk::export!(FakePayments: plugin, payment_processor);

/// Delay after which Tillway guarantees that a read by reference finds a payment, in milliseconds.
const READS_CONSISTENT_AFTER_MS: u32 = 1_000;

impl Plugin for FakePayments {
    fn describe() -> Description {
        Description {
            reads_consistent_after_ms: Some(READS_CONSISTENT_AFTER_MS),
            // `reference` is the idempotency key of every operation.
            supports_idempotent_resend: true,
            hosts: vec!["*".to_owned()],
            settings_schema: upstream::SETTINGS_SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}

impl PaymentProcessor for FakePayments {
    fn create_intent(request: IntentRequest) -> Result<Intent, PaymentError> {
        let body = json!({
            "reference": request.client_reference,
            "amount": request.amount.amount,
            "currency": request.amount.currency.to_ascii_lowercase(),
            "description": request.description,
        });
        let intent: wire::Intent = change("/intents", &body, Change::Intent)?;
        check_reference(&intent.payment.reference, &request.client_reference)?;
        Ok(Intent {
            processor_reference: intent.payment.id,
            token: intent.token,
        })
    }

    fn authorize(request: AuthorizeRequest) -> Result<ProcessorPayment, PaymentError> {
        let body = json!({
            "reference": request.client_reference,
            "amount": request.amount.amount,
            "currency": request.amount.currency.to_ascii_lowercase(),
            "source": request.instrument,
            "description": request.description,
            "off_session": request.off_session,
        });
        let payment: wire::Payment = change("/payments", &body, Change::Authorize)?;
        check_reference(&payment.reference, &request.client_reference)?;
        Ok(map::payment_in(payment, &request.amount.currency)?)
    }

    fn capture(request: CaptureRequest) -> Result<ProcessorPayment, PaymentError> {
        let path = format!("{}/capture", payment_path(&request.processor_reference));
        let amount = request.amount.amount;
        let body = json!({"reference": request.client_reference, "amount": amount});
        let payment: wire::Payment = change(&path, &body, Change::Capture)?;
        check_payment(&payment.id, &request.processor_reference)?;
        Ok(map::payment_in(payment, &request.amount.currency)?)
    }

    fn void(request: VoidRequest) -> Result<ProcessorPayment, PaymentError> {
        let path = format!("{}/void", payment_path(&request.processor_reference));
        let body = json!({"reference": request.client_reference});
        let payment: wire::Payment = change(&path, &body, Change::Void)?;
        check_payment(&payment.id, &request.processor_reference)?;
        Ok(map::payment(payment)?)
    }

    fn refund(request: RefundRequest) -> Result<ProcessorRefund, PaymentError> {
        let path = format!("{}/refunds", payment_path(&request.processor_reference));
        let amount = request.amount.amount;
        let body = json!({"reference": request.client_reference, "amount": amount});
        let refund: wire::Refund = change(&path, &body, Change::Refund)?;
        check_reference(&refund.reference, &request.client_reference)?;
        check_payment(&refund.payment, &request.processor_reference)?;
        map::check_currency(&refund.currency, &request.amount.currency)?;
        Ok(map::refund(refund))
    }

    fn find(request: FindRequest) -> Result<PaymentLookup, ReadError> {
        if let Some(id) = &request.processor_reference {
            let response = get(&payment_path(id))?.send()?;
            if !ERRORS.has_code(&response, fault::NO_SUCH_PAYMENT) {
                let payment: wire::Payment = ERRORS.check_read(response)?.json()?;
                return Ok(PaymentLookup::Found(map::payment(payment)?));
            }
        }
        // Tillway guarantees completeness for this response only, so no other response may show
        // that there is no such payment.
        let listing = get("/payments")?.query("reference", &request.client_reference);
        let found: wire::List<wire::Payment> = read(&listing)?;
        match single(found.data)? {
            None => Ok(PaymentLookup::NotFound),
            Some(payment) => {
                check_reference(&payment.reference, &request.client_reference)?;
                Ok(PaymentLookup::Found(map::payment(payment)?))
            }
        }
    }

    fn find_refund(
        processor_reference: String,
        client_reference: String,
    ) -> Result<RefundLookup, ReadError> {
        let path = format!("{}/refunds", payment_path(&processor_reference));
        let listing = get(&path)?.query("reference", &client_reference);
        let found: wire::List<wire::Refund> = read(&listing)?;
        match single(found.data)? {
            None => Ok(RefundLookup::NotFound),
            Some(refund) => {
                check_reference(&refund.reference, &client_reference)?;
                Ok(RefundLookup::Found(map::refund(refund)))
            }
        }
    }

    fn describe_instrument(token: String) -> Result<Instrument, ReadError> {
        let path = format!("/tokens/{}", percent_encode(&token));
        let found: wire::Token = read(&get(&path)?)?;
        Ok(Instrument {
            token: found.token,
            card: found.card.map(map::card),
        })
    }
}

fn payment_path(id: &str) -> String {
    format!("/payments/{}", percent_encode(id))
}
