//! Payment steps: their requests to the processor and the interpretation of the responses.

use super::START;
use super::remote_call::{Call, Reply, Request};
use super::scenario::cards;
use super::simulated_booking::SimulatedBooking;
use crate::seeded_random::Random;
use anyhow::{Context, Result, bail};
use host_application::booking::interpret::{
    self, Interpretation, ScheduleContext, SupplierGuarantees,
};
use host_application::booking::steps::payment::PaymentRequest;
use host_application::id_generator::IdGenerator;
use host_domain::booking::{Booking, BookingEvent};
use host_domain::id::{InstrumentId, PaymentId};
use host_domain::money::Money;
use host_domain::payment::{Instrument, Payment, PaymentEvent, PaymentStep};
use host_domain::time::Timestamp;

/// Returns the simulated request of a production request.
pub(super) fn payment_request(request: PaymentRequest) -> Request {
    let (reference, call) = match request {
        PaymentRequest::Authorize(_, request) => {
            (request.client_reference, Call::Authorize(request.amount))
        }
        PaymentRequest::Capture(_, request) => (
            request.client_reference,
            Call::Capture(request.processor_reference),
        ),
        PaymentRequest::Void(_, request) => (
            request.client_reference,
            Call::Void(request.processor_reference),
        ),
        PaymentRequest::FindPayment {
            client_reference, ..
        } => (client_reference, Call::FindPayment),
        PaymentRequest::Refund(_, _, request) => (
            request.client_reference,
            Call::Refund(request.processor_reference, request.amount),
        ),
        PaymentRequest::FindRefund {
            client_reference, ..
        } => (client_reference, Call::FindRefund),
    };
    Request { reference, call }
}

/// Interprets the processor's response to a payment step.
pub(super) fn interpret_payment<K: SimulatedBooking>(
    booking: &Booking<K>,
    step: &PaymentStep,
    reply: Reply,
    guarantees: SupplierGuarantees,
    schedules: ScheduleContext<'_>,
) -> Result<BookingEvent<K>> {
    let payment = booking.payment(step.payment());
    let payment = payment.context("the payment does not exist")?;
    let interpretation: Interpretation<PaymentEvent> = match (step, reply) {
        (PaymentStep::Authorize(_), Reply::PaymentChanged(response)) => {
            interpret::authorize_response(payment, response, schedules)
        }
        (PaymentStep::Capture(_), Reply::PaymentChanged(response)) => {
            interpret::capture_response(payment, response, schedules)
        }
        (PaymentStep::Void(_), Reply::PaymentChanged(response)) => {
            interpret::void_response(payment, response, schedules)
        }
        (PaymentStep::FindPayment(_), Reply::FoundPayment(response)) => {
            interpret::payment_lookup(payment, response, guarantees, schedules)
        }
        (PaymentStep::Refund(_, id), Reply::Refunded(response)) => {
            interpret::refund_response(payment, id, response, schedules)
        }
        (PaymentStep::FindRefund(_, id), Reply::FoundRefund(response)) => {
            interpret::refund_lookup(payment, id, response, guarantees, schedules)
        }
        (step, reply) => bail!("{reply:?} is not a response to {step:?}"),
    };
    Ok(BookingEvent::Payment {
        id: payment.id.clone(),
        event: interpretation.event,
    })
}

pub(super) fn new_payment(random: &Random, amount: Money, now: Timestamp) -> Payment {
    let instrument = Instrument {
        id: InstrumentId::from_bits(1),
        processor: cards(),
        token: "tok".to_owned(),
        card: None,
        created_at: START,
    };
    let id = PaymentId::from_bits(random.generate());
    Payment::new_authorization(id, amount, cards(), &instrument, now)
}
