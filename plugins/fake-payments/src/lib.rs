//! Adapter of Tillway, the sandbox's card processor. It is an ordinary adapter without special
//! privileges.

mod map;
mod refusal;
mod tillway;
mod wire;

use stopover_sdk::http::percent_encode;
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindRequest, Instrument, Intent, IntentRequest, PaymentError,
    PaymentLookup, ProcessorPayment, ProcessorRefund, RefundLookup, RefundRequest, VoidRequest,
};
use stopover_sdk::{Description, PaymentProcessor, Plugin, ReadError};

use crate::refusal::{Change, Code};
use crate::tillway::Tillway;

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
            settings_schema: tillway::SETTINGS_SCHEMA.to_owned(),
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}

impl PaymentProcessor for FakePayments {
    fn create_intent(request: IntentRequest) -> Result<Intent, PaymentError> {
        let body = wire::NewIntent {
            reference: &request.client_reference,
            amount: request.amount.amount,
            currency: request.amount.currency.to_ascii_lowercase(),
            description: &request.description,
        };
        let response = tillway::change("/intents", &body)?;
        let intent: wire::Intent = refusal::done(&response, Change::Intent)?;
        map::check(
            intent.payment.reference == request.client_reference,
            map::WHOSE,
        )
        .map_err(refusal::unreadable)?;
        Ok(Intent {
            processor_reference: intent.payment.id,
            token: intent.token,
        })
    }

    fn authorize(request: AuthorizeRequest) -> Result<ProcessorPayment, PaymentError> {
        let body = wire::NewPayment {
            reference: &request.client_reference,
            amount: request.amount.amount,
            currency: request.amount.currency.to_ascii_lowercase(),
            source: &request.instrument,
            description: &request.description,
            off_session: request.off_session,
        };
        let response = tillway::change("/payments", &body)?;
        let payment: wire::Payment = refusal::done(&response, Change::Authorize)?;
        map::check(payment.reference == request.client_reference, map::WHOSE)
            .and_then(|()| map::payment_in(payment, &request.amount.currency))
            .map_err(refusal::unreadable)
    }

    fn capture(request: CaptureRequest) -> Result<ProcessorPayment, PaymentError> {
        let path = format!("{}/capture", payment_path(&request.processor_reference));
        let body = wire::Amount {
            reference: &request.client_reference,
            amount: request.amount.amount,
        };
        let payment: wire::Payment =
            refusal::done(&tillway::change(&path, &body)?, Change::Capture)?;
        map::check(payment.id == request.processor_reference, map::WHICH)
            .and_then(|()| map::payment_in(payment, &request.amount.currency))
            .map_err(refusal::unreadable)
    }

    fn void(request: VoidRequest) -> Result<ProcessorPayment, PaymentError> {
        let path = format!("{}/void", payment_path(&request.processor_reference));
        let body = wire::Void {
            reference: &request.client_reference,
        };
        let payment: wire::Payment = refusal::done(&tillway::change(&path, &body)?, Change::Void)?;
        map::check(payment.id == request.processor_reference, map::WHICH)
            .and_then(|()| map::payment(payment))
            .map_err(refusal::unreadable)
    }

    fn refund(request: RefundRequest) -> Result<ProcessorRefund, PaymentError> {
        let path = format!("{}/refunds", payment_path(&request.processor_reference));
        let body = wire::Amount {
            reference: &request.client_reference,
            amount: request.amount.amount,
        };
        let refund: wire::Refund = refusal::done(&tillway::change(&path, &body)?, Change::Refund)?;
        map::check(refund.reference == request.client_reference, map::WHOSE)
            .and_then(|()| map::check(refund.payment == request.processor_reference, map::WHICH))
            .and_then(|()| map::check_currency(&refund.currency, &request.amount.currency))
            .map_err(refusal::unreadable)?;
        Ok(map::refund(refund))
    }

    fn find(request: FindRequest) -> Result<PaymentLookup, ReadError> {
        let tillway = Tillway::open()?;
        if let Some(id) = &request.processor_reference {
            let response = tillway.get(&payment_path(id)).send()?;
            if Code::of(&response) != Some(Code::NoSuchPayment) {
                let payment: wire::Payment = refusal::read(response)?.json()?;
                return Ok(PaymentLookup::Found(map::payment(payment)?));
            }
        }
        // Tillway guarantees completeness for this response only, so no other response may show
        // that there is no such payment.
        let response = tillway
            .get("/payments")
            .query("reference", &request.client_reference)
            .send()?;
        let found: wire::List<wire::Payment> = refusal::read(response)?.json()?;
        match map::the_only(found)? {
            None => Ok(PaymentLookup::NotFound),
            Some(payment) => {
                map::check(payment.reference == request.client_reference, map::WHOSE)?;
                Ok(PaymentLookup::Found(map::payment(payment)?))
            }
        }
    }

    fn find_refund(
        processor_reference: String,
        client_reference: String,
    ) -> Result<RefundLookup, ReadError> {
        let path = format!("{}/refunds", payment_path(&processor_reference));
        let response = Tillway::open()?
            .get(&path)
            .query("reference", &client_reference)
            .send()?;
        let found: wire::List<wire::Refund> = refusal::read(response)?.json()?;
        match map::the_only(found)? {
            None => Ok(RefundLookup::NotFound),
            Some(refund) => {
                map::check(refund.reference == client_reference, map::WHOSE)?;
                Ok(RefundLookup::Found(map::refund(refund)))
            }
        }
    }

    fn describe_instrument(token: String) -> Result<Instrument, ReadError> {
        let path = format!("/tokens/{}", percent_encode(&token));
        let response = Tillway::open()?.get(&path).send()?;
        let found: wire::Token = refusal::read(response)?.json()?;
        Ok(Instrument {
            token: found.token,
            card: found.card.map(map::card),
        })
    }
}

fn payment_path(id: &str) -> String {
    format!("/payments/{}", percent_encode(id))
}
