//! Steps that move money at the payment processor, for every product.

use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{
    CallKey, ExecutionContext, OutboundCall, StepPreparation, WorkflowError, request_digest,
};
use crate::booking::interpret::{self, Interpretation};
use crate::booking::step_dependencies::StepDependencies;
use host_domain::booking::{payment_client_reference, refund_client_reference};
use host_domain::id::{PaymentId, RefundId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::ProcessorPayment;
use host_domain::payment::{
    Payment, PaymentError, PaymentEvent, PaymentMethod, PaymentOperation, PaymentStep,
};
use host_domain::supplier::ReadError;
use host_domain::time::Timestamp;
use host_runtime::{
    AuthorizeRequest, CallContext, CaptureRequest, PaymentLookup, RefundLookup, RefundRequest,
    Supplier, VoidRequest,
};

/// Text on the payer's statement.
pub const STATEMENT_DESCRIPTOR: &str = "Travel booking";

/// Prepares a payment step. Returns `None` if the payment no longer exists.
pub fn prepare_payment_step<B: BookingAggregate>(
    booking: &B,
    step: &PaymentStep,
    next_at: Timestamp,
) -> Option<StepPreparation<B::Event>> {
    let payment = booking.payment(step.payment()).ok()?;
    let (event, amount) = match step {
        PaymentStep::Authorize(_) | PaymentStep::Capture(_) | PaymentStep::Void(_) => (
            PaymentEvent::Sent {
                reconcile_at: next_at,
            },
            payment.amount,
        ),
        PaymentStep::Refund(_, refund) => {
            let sent = PaymentEvent::RefundSent {
                refund: refund.clone(),
                next_at,
            };
            (sent, refund_amount(payment, refund)?)
        }
        PaymentStep::Reconcile(_) => {
            let open = payment.unresolved_operations().into_iter().next()?;
            return Some(StepPreparation::Reconcile(call_key(
                booking, payment, &open,
            )));
        }
        PaymentStep::ReconcileRefund(_, refund) => {
            let open = PaymentOperation::Refund(refund.clone());
            return Some(StepPreparation::Reconcile(call_key(
                booking, payment, &open,
            )));
        }
    };
    let client_reference = client_reference(booking, payment, step);
    let call = OutboundCall {
        target: payment.processor.clone(),
        request_digest: request_digest(&(step.name(), &client_reference, amount)),
        client_reference,
    };
    Some(StepPreparation::RecordThenSend(
        B::payment_event(payment.id.clone(), event),
        call,
    ))
}

/// Makes the call of a payment step.
pub async fn execute_payment_step<B: BookingAggregate>(
    dependencies: &StepDependencies,
    booking: &B,
    step: &PaymentStep,
    execution: &ExecutionContext,
) -> Result<Interpretation<B::Event>, WorkflowError> {
    let payment = booking.payment(step.payment())?;
    let context = execution.call_context(booking.owner(), booking.id());
    let processor = dependencies.suppliers.loaded(&payment.processor);
    let client_reference = client_reference(booking, payment, step);
    let requested_at = dependencies.base.now();
    let schedules = || {
        dependencies
            .schedule_context()
            .with_requested_at(requested_at)
    };
    let interpretation = match step {
        PaymentStep::Authorize(_) => {
            let response = match instrument_token(dependencies, booking.owner(), payment, execution)
                .await
            {
                Ok(token) => authorize(processor, &context, payment, client_reference, token).await,
                Err(why) => Err(PaymentError::NotSent(why)),
            };
            interpret::authorize_response(payment, response, schedules())
        }
        PaymentStep::Capture(_) => {
            let response = capture(processor, &context, payment, client_reference).await;
            interpret::capture_response(payment, response, schedules())
        }
        PaymentStep::Void(_) => {
            let response = void(processor, &context, payment, client_reference).await;
            interpret::void_response(payment, response, schedules())
        }
        PaymentStep::Reconcile(_) => {
            let response = find_payment(processor, &context, payment, client_reference).await;
            let guarantees = dependencies.supplier_guarantees(&payment.processor);
            interpret::payment_lookup(payment, response, guarantees, schedules())
        }
        PaymentStep::Refund(_, id) => {
            let amount = refund_amount(payment, id);
            let amount =
                amount.ok_or_else(|| WorkflowError::BookingMissing(booking.id().clone()))?;
            let response = refund(processor, &context, payment, client_reference, amount).await;
            interpret::refund_response(payment, id, response, schedules())
        }
        PaymentStep::ReconcileRefund(_, id) => {
            let response = find_refund(processor, &context, payment, client_reference).await;
            let guarantees = dependencies.supplier_guarantees(&payment.processor);
            interpret::refund_lookup(payment, id, response, guarantees, schedules())
        }
    };
    let id = payment.id.clone();
    Ok(interpretation.map(|event| B::payment_event(id, event)))
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

async fn authorize(
    processor: Option<Supplier>,
    context: &CallContext,
    payment: &Payment,
    client_reference: String,
    token: String,
) -> Result<ProcessorPayment, PaymentError> {
    let request = AuthorizeRequest {
        client_reference,
        amount: payment.amount,
        instrument: token,
        description: STATEMENT_DESCRIPTOR.to_owned(),
        off_session: false,
    };
    let processor = processor.ok_or_else(processor_not_configured)?;
    processor.authorize(context, request).await
}

async fn capture(
    processor: Option<Supplier>,
    context: &CallContext,
    payment: &Payment,
    client_reference: String,
) -> Result<ProcessorPayment, PaymentError> {
    let request = CaptureRequest {
        client_reference,
        processor_reference: payment.processor_reference.clone().unwrap_or_default(),
        amount: payment.amount,
    };
    let processor = processor.ok_or_else(processor_not_configured)?;
    processor.capture(context, request).await
}

async fn void(
    processor: Option<Supplier>,
    context: &CallContext,
    payment: &Payment,
    client_reference: String,
) -> Result<ProcessorPayment, PaymentError> {
    let request = VoidRequest {
        client_reference,
        processor_reference: payment.processor_reference.clone().unwrap_or_default(),
    };
    let processor = processor.ok_or_else(processor_not_configured)?;
    processor.void(context, request).await
}

/// Returns the processor's id of the refund.
async fn refund(
    processor: Option<Supplier>,
    context: &CallContext,
    payment: &Payment,
    client_reference: String,
    amount: Money,
) -> Result<String, PaymentError> {
    let request = RefundRequest {
        client_reference,
        processor_reference: payment.processor_reference.clone().unwrap_or_default(),
        amount,
    };
    let processor = processor.ok_or_else(processor_not_configured)?;
    let done = processor.refund(context, request).await?;
    Ok(done.processor_reference)
}

/// Returns whether the processor has the refund.
async fn find_refund(
    processor: Option<Supplier>,
    context: &CallContext,
    payment: &Payment,
    client_reference: String,
) -> Result<bool, ReadError> {
    let at_processor = payment.processor_reference.clone().unwrap_or_default();
    let processor = processor.ok_or_else(processor_not_configured_for_read)?;
    let found = processor.find_refund(context, at_processor, client_reference);
    Ok(matches!(found.await?, RefundLookup::Found(_)))
}

async fn find_payment(
    processor: Option<Supplier>,
    context: &CallContext,
    payment: &Payment,
    client_reference: String,
) -> Result<Option<ProcessorPayment>, ReadError> {
    let processor = processor.ok_or_else(processor_not_configured_for_read)?;
    let at_processor = payment.processor_reference.clone();
    let found = processor.find_payment(context, client_reference, at_processor);
    Ok(match found.await? {
        PaymentLookup::Found(state) => Some(*state),
        PaymentLookup::NotFound => None,
    })
}

/// Returns the gateway's client reference of a step's call. For a reconciliation it is the
/// reference of the call that started the payment.
pub fn client_reference<B: BookingAggregate>(
    booking: &B,
    payment: &Payment,
    step: &PaymentStep,
) -> String {
    let of = |call: &str, tries: u32| {
        payment_client_reference(booking.id(), booking.payments(), &payment.id, call, tries)
    };
    match step {
        PaymentStep::Authorize(_) | PaymentStep::Capture(_) | PaymentStep::Void(_) => {
            of(step.name(), payment.failed_attempts())
        }
        PaymentStep::Reconcile(_) if payment.is_browser_payment() => of("intent", 0),
        PaymentStep::Reconcile(_) => of("authorize", 0),
        PaymentStep::Refund(_, refund) | PaymentStep::ReconcileRefund(_, refund) => {
            refund_client_reference(booking.id(), booking.payments(), payment, refund)
        }
    }
}

/// Returns what identifies a call among all calls of its booking.
pub fn call_key<B: BookingAggregate>(
    booking: &B,
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
pub fn intent_reference<B: BookingAggregate>(booking: &B, payment: &PaymentId) -> String {
    payment_client_reference(booking.id(), booking.payments(), payment, "intent", 0)
}

fn refund_amount(payment: &Payment, refund: &RefundId) -> Option<Money> {
    let mut refunds = payment.refunds.iter();
    let known = refunds.find(|known| known.id == *refund)?;
    Some(known.amount)
}

fn processor_not_configured() -> PaymentError {
    PaymentError::NotSent("the processor is not configured".to_owned())
}

fn processor_not_configured_for_read() -> ReadError {
    ReadError::Misconfigured("the processor is not configured".to_owned())
}
