//! Payment steps: their requests to the processor and the interpretation of the responses.

use super::BIRTH;
use super::remote_call::{Reply, Request};
use super::scenario::cards;
use super::simulated_booking::{Around, Subject};
use crate::seeded_random::Random;
use anyhow::{Result, bail};
use host_application::booking::interpret::{self, Interpretation};
use host_application::booking::steps::payment::client_reference;
use host_domain::id::{InstrumentId, PaymentId};
use host_domain::money::Money;
use host_domain::payment::{Payment, PaymentEvent, PaymentStep};
use host_domain::time::Timestamp;

/// Returns the processor request of a payment step with the gateway's own references.
pub(super) fn payment_request<B: Subject>(booking: &B, step: &PaymentStep) -> Request {
    let payment = booking.payment(step.payment()).unwrap();
    let reference = client_reference(booking, payment, step);
    let charge = payment.processor_reference.clone().unwrap_or_default();
    match step {
        PaymentStep::Authorize(_) => Request::Authorize {
            reference,
            amount: payment.amount,
        },
        PaymentStep::Capture(_) => Request::Capture { reference, charge },
        PaymentStep::Void(_) => Request::Void { reference, charge },
        PaymentStep::Reconcile(_) => Request::FindPayment { reference },
        PaymentStep::Refund(_, id) => {
            let mut refunds = payment.refunds.iter();
            let amount = refunds.find(|refund| refund.id == *id).unwrap().amount;
            Request::Refund {
                reference,
                charge,
                amount,
            }
        }
        PaymentStep::ReconcileRefund(..) => Request::FindRefund { reference },
    }
}

pub(super) fn judge_payment<B: Subject>(
    booking: &B,
    step: &PaymentStep,
    reply: Reply,
    around: &Around<'_>,
) -> Result<Interpretation<B::Event>> {
    let payment = booking.payment(step.payment())?;
    let (promises, times) = (around.processor, around.times);
    let judgement: Interpretation<PaymentEvent> = match (step, reply) {
        (PaymentStep::Authorize(_), Reply::Paid(answer)) => {
            interpret::authorize_response(payment, answer, times)
        }
        (PaymentStep::Capture(_), Reply::Paid(answer)) => {
            interpret::capture_response(payment, answer, times)
        }
        (PaymentStep::Void(_), Reply::Paid(answer)) => {
            interpret::void_response(payment, answer, times)
        }
        (PaymentStep::Reconcile(_), Reply::FoundPayment(answer)) => {
            interpret::payment_lookup(payment, answer, promises, times)
        }
        (PaymentStep::Refund(_, id), Reply::Refunded(answer)) => {
            interpret::refund_response(payment, id, answer, times)
        }
        (PaymentStep::ReconcileRefund(_, id), Reply::FoundRefund(answer)) => {
            interpret::refund_lookup(payment, id, answer, promises, times)
        }
        (step, reply) => bail!("{reply:?} is not a response to {step:?}"),
    };
    let id = payment.id.clone();
    Ok(judgement.map(|event| B::payment_event(id, event)))
}

pub(super) fn new_payment(random: &Random, amount: Money, now: Timestamp) -> Payment {
    let instrument = host_domain::payment::Instrument {
        id: InstrumentId::from_bits(1),
        processor: cards(),
        token: "tok".to_owned(),
        card: None,
        created_at: BIRTH,
    };
    let id = PaymentId::from_bits(host_application::id_generator::IdGenerator::generate(
        random,
    ));
    Payment::new_authorization(id, amount, cards(), &instrument, now)
}
