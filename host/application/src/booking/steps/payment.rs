//! Steps that move money at the payment processor, for every product.

use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{
    CallKey, ExecutionContext, NotSentCause, OutboundCall, StepRecord, WorkflowError,
    request_digest,
};
use crate::booking::interpret::{self, Interpretation};
use crate::booking::step_dependencies::{StepDependencies, declared_guarantees};
use host_domain::booking::{
    Booking, BookingEvent, payment_client_reference, refund_client_reference,
};
use host_domain::id::{PaymentId, RefundId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{
    Payment, PaymentError, PaymentEvent, PaymentMethod, PaymentOperation, PaymentStep,
    ProcessorPayment,
};
use host_domain::supplier::{FailureReason, ReadError};
use host_domain::time::Timestamp;
use host_runtime::{
    AuthorizeRequest, CallContext, CaptureRequest, PaymentLookup, RefundLookup, RefundRequest,
    Supplier, VoidRequest,
};

pub const STATEMENT_DESCRIPTOR: &str = "Travel booking";

#[derive(Debug, Clone)]
pub enum PaymentRequest {
    /// Authorizes the amount. The token of the instrument is added when it is sent.
    Authorize(PaymentId, AuthorizeRequest),
    Capture(PaymentId, CaptureRequest),
    Void(PaymentId, VoidRequest),
    Refund(PaymentId, RefundId, RefundRequest),
    FindPayment {
        payment: PaymentId,
        client_reference: String,
        processor_reference: Option<String>,
    },
    FindRefund {
        payment: PaymentId,
        refund: RefundId,
        client_reference: String,
        processor_reference: String,
        amount: Money,
    },
}

impl PaymentRequest {
    const fn payment(&self) -> &PaymentId {
        match self {
            Self::Authorize(payment, _)
            | Self::Capture(payment, _)
            | Self::Void(payment, _)
            | Self::Refund(payment, _, _)
            | Self::FindPayment { payment, .. }
            | Self::FindRefund { payment, .. } => payment,
        }
    }
}

/// Prepares a payment step. Returns `None` if the payment no longer exists.
pub fn prepare_payment_step<K: BookingAggregate>(
    booking: &Booking<K>,
    step: &PaymentStep,
    next_at: Timestamp,
) -> Option<(PaymentRequest, StepRecord<BookingEvent<K>>)> {
    let payment = booking.payment(step.payment())?;
    let client_reference = client_reference(booking, payment, step);
    let at_processor = payment.processor_reference.clone().unwrap_or_default();
    let (id, amount) = (payment.id.clone(), payment.amount);
    let sent = PaymentEvent::Sent {
        reconcile_at: next_at,
    };
    let reference = client_reference.clone();
    let (request, event, amount) = match step {
        PaymentStep::Authorize(_) => {
            let request = AuthorizeRequest {
                client_reference: reference,
                amount,
                instrument: String::new(),
                description: STATEMENT_DESCRIPTOR.to_owned(),
                off_session: false,
            };
            (PaymentRequest::Authorize(id, request), sent, amount)
        }
        PaymentStep::Capture(_) => {
            let request = CaptureRequest {
                client_reference: reference,
                processor_reference: at_processor,
                amount,
            };
            (PaymentRequest::Capture(id, request), sent, amount)
        }
        PaymentStep::Void(_) => {
            let request = VoidRequest {
                client_reference: reference,
                processor_reference: at_processor,
                amount,
            };
            (PaymentRequest::Void(id, request), sent, amount)
        }
        PaymentStep::Refund(_, refund) => {
            let amount = refund_amount(payment, refund)?;
            let request = RefundRequest {
                client_reference: reference,
                processor_reference: at_processor,
                amount,
            };
            let sent = PaymentEvent::RefundSent {
                refund: refund.clone(),
                next_at,
            };
            let request = PaymentRequest::Refund(id, refund.clone(), request);
            (request, sent, amount)
        }
        PaymentStep::FindPayment(_) | PaymentStep::FindRefund(..) => {
            return prepare_payment_lookup(booking, payment, step, client_reference);
        }
    };
    let record = OutboundCall {
        target: payment.processor.clone(),
        request_digest: request_digest(&(step.name(), &client_reference, amount)),
        client_reference,
    };
    let intent = BookingEvent::Payment {
        id: payment.id.clone(),
        event,
    };
    Some((request, StepRecord::Intent(intent, record)))
}

fn prepare_payment_lookup<K: BookingAggregate>(
    booking: &Booking<K>,
    payment: &Payment,
    step: &PaymentStep,
    client_reference: String,
) -> Option<(PaymentRequest, StepRecord<BookingEvent<K>>)> {
    let processor_reference = payment.processor_reference.clone();
    let (operation, request) = match step {
        PaymentStep::FindRefund(_, refund) => (
            PaymentOperation::Refund(refund.clone()),
            PaymentRequest::FindRefund {
                payment: payment.id.clone(),
                refund: refund.clone(),
                client_reference,
                processor_reference: processor_reference.unwrap_or_default(),
                amount: refund_amount(payment, refund)?,
            },
        ),
        _ => (
            payment.unresolved_operations().into_iter().next()?,
            PaymentRequest::FindPayment {
                payment: payment.id.clone(),
                client_reference,
                processor_reference,
            },
        ),
    };
    let key = call_key(booking, payment, &operation);
    Some((request, StepRecord::Reconcile(key)))
}

/// Makes the call of a payment step and interprets the response.
///
/// # Errors
/// [`WorkflowError::BookingMissing`] if the payment no longer exists.
pub async fn execute_payment_request<K: BookingAggregate>(
    dependencies: &StepDependencies,
    booking: &Booking<K>,
    request: PaymentRequest,
    execution: &ExecutionContext,
) -> Result<Interpretation<BookingEvent<K>>, WorkflowError> {
    let payment = booking.payment(request.payment());
    let payment = payment.ok_or_else(|| WorkflowError::BookingMissing(booking.id.clone()))?;
    let context = execution.call_context(booking);
    let loaded = dependencies.suppliers.loaded(&payment.processor);
    let processor = loaded.as_ref();
    let configured = || processor.ok_or_else(processor_not_configured);
    let guarantees = declared_guarantees(processor);
    let requested_at = dependencies.base.now();
    let schedules = || dependencies.schedule_context(requested_at);
    let interpretation = match request {
        PaymentRequest::Authorize(_, request) => {
            let token = instrument_token(dependencies, &booking.owner, payment, execution).await;
            let response = async {
                let instrument = token.map_err(|error| PaymentError::NotSent(error.into()))?;
                let mut request = request;
                request.instrument = instrument;
                configured()?.authorize(&context, request).await
            };
            let response = response.await;
            if let Err(PaymentError::NotSent(reason)) = &response {
                let cause = NotSentCause::of_reason(reason);
                execution.findings.record_not_sent(cause);
            }
            interpret::authorize_response(payment, response, schedules())
        }
        PaymentRequest::Capture(_, request) => {
            let response = async { configured()?.capture(&context, request).await };
            interpret::capture_response(payment, response.await, schedules())
        }
        PaymentRequest::Void(_, request) => {
            let response = async { configured()?.void(&context, request).await };
            interpret::void_response(payment, response.await, schedules())
        }
        PaymentRequest::Refund(_, refund, request) => {
            let response = async {
                let refunded = configured()?.refund(&context, request).await?;
                Ok(refunded.processor_reference)
            };
            interpret::refund_response(payment, &refund, response.await, schedules())
        }
        PaymentRequest::FindPayment {
            client_reference,
            processor_reference,
            ..
        } => {
            let references = (client_reference, processor_reference);
            let lookup = find_payment(processor, &context, references, payment.amount);
            interpret::payment_lookup(payment, lookup.await, guarantees, schedules())
        }
        PaymentRequest::FindRefund {
            refund,
            client_reference,
            processor_reference,
            amount,
            ..
        } => {
            let references = (client_reference, processor_reference);
            let lookup = find_refund(processor, &context, references, amount);
            interpret::refund_lookup(payment, &refund, lookup.await, guarantees, schedules())
        }
    };
    let id = payment.id.clone();
    Ok(interpretation.map(|event| BookingEvent::Payment { id, event }))
}

/// Returns the amount of a refund, or `None` if the payment does not have it.
fn refund_amount(payment: &Payment, refund: &RefundId) -> Option<Money> {
    let mut refunds = payment.refunds.iter();
    refunds
        .find(|known| known.id == *refund)
        .map(|known| known.amount)
}

/// Returns the payment as the processor has it, or `None` if it has none. `references` are the
/// gateway's and the processor's.
async fn find_payment(
    processor: Option<&Supplier>,
    context: &CallContext,
    references: (String, Option<String>),
    amount: Money,
) -> Result<Option<ProcessorPayment>, ReadError> {
    let processor = processor.ok_or_else(processor_not_configured_for_read)?;
    let (client_reference, processor_reference) = references;
    let lookup = processor.find_payment(context, client_reference, processor_reference, amount);
    Ok(match lookup.await? {
        PaymentLookup::Found(found) => Some(*found),
        PaymentLookup::NotFound => None,
    })
}

/// Returns whether the processor has the refund. `references` are the refund's at the gateway and
/// the payment's at the processor.
async fn find_refund(
    processor: Option<&Supplier>,
    context: &CallContext,
    references: (String, String),
    amount: Money,
) -> Result<bool, ReadError> {
    let processor = processor.ok_or_else(processor_not_configured_for_read)?;
    let (client_reference, processor_reference) = references;
    let lookup = processor.find_refund(context, processor_reference, client_reference, amount);
    Ok(matches!(lookup.await?, RefundLookup::Found(_)))
}

/// Returns the processor's token of the payer's instrument.
///
/// # Errors
/// Fails with the reason why the instrument cannot be charged.
async fn instrument_token(
    dependencies: &StepDependencies,
    owner: &Owner,
    payment: &Payment,
    execution: &ExecutionContext,
) -> Result<String, String> {
    let PaymentMethod::Instrument { id } = &payment.method else {
        return Err("the payment does not use a stored instrument".to_owned());
    };
    if let Some(instrument) = execution.instrument.as_ref().filter(|one| one.id == *id) {
        return Ok(instrument.token.clone());
    }
    match dependencies.instruments.open(owner, id).await {
        Ok(Some(instrument)) => Ok(instrument.token),
        Ok(None) => Err("the instrument was deleted".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the gateway's client reference of a step's call. For a reconciliation it is the
/// reference of the call that started the payment.
pub fn client_reference<K: BookingAggregate>(
    booking: &Booking<K>,
    payment: &Payment,
    step: &PaymentStep,
) -> String {
    let (id, payments) = (&booking.id, &booking.payments);
    let of = |call, failures| payment_client_reference(id, payments, &payment.id, call, failures);
    match step {
        PaymentStep::Authorize(_) | PaymentStep::Capture(_) | PaymentStep::Void(_) => {
            of(step.name(), payment.failed_attempts())
        }
        PaymentStep::FindPayment(_) if payment.is_browser_payment() => of("intent", 0),
        PaymentStep::FindPayment(_) => of("authorize", 0),
        PaymentStep::Refund(_, refund) | PaymentStep::FindRefund(_, refund) => {
            refund_client_reference(id, payments, payment, refund)
        }
    }
}

/// Returns what identifies a call among all calls of its booking.
pub fn call_key<K: BookingAggregate>(
    booking: &Booking<K>,
    payment: &Payment,
    call: &PaymentOperation,
) -> CallKey {
    let step = call.step(payment.id.clone());
    CallKey {
        step: step.name(),
        client_reference: Some(client_reference(booking, payment, &step)),
    }
}

/// Returns the client reference of the intent that a payer's browser completes.
pub fn intent_reference<K: BookingAggregate>(booking: &Booking<K>, payment: &PaymentId) -> String {
    payment_client_reference(&booking.id, &booking.payments, payment, "intent", 0)
}

/// Returns the error of a call to a processor that the host has not loaded.
pub fn processor_not_configured() -> PaymentError {
    PaymentError::NotSent(FailureReason::requiring_correction(
        "the processor is not configured",
    ))
}

fn processor_not_configured_for_read() -> ReadError {
    ReadError::Misconfigured("the processor is not configured".to_owned())
}
