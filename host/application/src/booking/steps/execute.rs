//! Executes a prepared step: makes its call and interprets the response.

use crate::booking::aggregate::{BookingAggregate, SupplierResponse, SupplierTarget};
use crate::booking::execution::{ExecutionContext, NotSentCause, WorkflowError};
use crate::booking::interpret::{self, InterpretContext, Interpretation};
use crate::booking::step_dependencies::{StepDependencies, declared_guarantees};
use crate::booking::steps::payment::execute_payment_request;
use crate::booking::steps::prepare::{PreparedStep, StepRequest, SupplierRequest};
use crate::booking::steps::total_deviation;
use host_domain::booking::{Booking, BookingEvent, BookingStep, Named};
use host_domain::personal::PersonalWords;
use host_domain::supplier::{ChangeError, FailureReason, ReadError, RefusalReason};

/// Reason for not making a call: its supplier was removed from the configuration.
const SUPPLIER_NOT_CONFIGURED: &str = "the supplier is not configured";

/// Makes the call of a step after its intent is committed, and interprets the response. The evidence
/// has no words about the booking's people, which the other side may have quoted.
///
/// # Errors
/// [`WorkflowError::BookingMissing`] if the part of the booking that the step concerns no longer
/// exists.
pub async fn execute_step<K: BookingAggregate>(
    booking: &Booking<K>,
    prepared: PreparedStep<K>,
    dependencies: &StepDependencies,
    execution: &ExecutionContext,
) -> Result<Interpretation<BookingEvent<K>>, WorkflowError> {
    let interpretation = send_step(booking, prepared, dependencies, execution).await?;
    if matches!(interpretation.event, BookingEvent::CheckoutNotCompleted) {
        execution.findings.record_incomplete_checkout();
    }
    let personal = PersonalWords::new(booking.details.personal_texts());
    Ok(Interpretation {
        evidence: personal.mask(&interpretation.evidence).into_owned(),
        ..interpretation
    })
}

async fn send_step<K: BookingAggregate>(
    booking: &Booking<K>,
    prepared: PreparedStep<K>,
    dependencies: &StepDependencies,
    execution: &ExecutionContext,
) -> Result<Interpretation<BookingEvent<K>>, WorkflowError> {
    let PreparedStep { step, request } = prepared;
    let request = match request {
        StepRequest::Payment(request) => {
            return execute_payment_request(dependencies, booking, request, execution).await;
        }
        StepRequest::Supplier(request) => request,
    };
    let requested_at = dependencies.base.now();
    let context = execution.call_context(booking);
    let supplier = dependencies.suppliers.loaded(&booking.supplier);
    let target = supplier.as_ref().map(|supplier| SupplierTarget {
        supplier,
        context: &context,
        passenger_secrets: &dependencies.passenger_secrets,
    });
    let response = match request {
        SupplierRequest::Change(request) => SupplierResponse::Change(match target {
            Some(target) => K::send_change(booking, request, target).await,
            None => Err(ChangeError::NotSent(FailureReason::requiring_correction(
                SUPPLIER_NOT_CONFIGURED,
            ))),
        }),
        SupplierRequest::Find(request) => SupplierResponse::Lookup(match target {
            Some(target) => K::find(booking, request, target).await,
            None => Err(ReadError::Misconfigured(SUPPLIER_NOT_CONFIGURED.to_owned())),
        }),
    };
    if let SupplierResponse::Change(Err(error)) = &response
        && let Some(cause) = NotSentCause::of_change(error)
    {
        execution.findings.record_not_sent(cause);
    }
    if let SupplierResponse::Change(Err(
        ChangeError::Refused(refusal) | ChangeError::RefusedByAdapter(refusal),
    )) = &response
        && refusal.reason == RefusalReason::Account
    {
        tracing::error!(booking = %booking.id, supplier = %booking.supplier, step = step.name(), code = refusal.supplier_code.as_deref(), "the supplier refuses the gateway's account; check its credentials, rights and funds");
    }
    let context = InterpretContext {
        schedules: dependencies.schedule_context(requested_at),
        guarantees: declared_guarantees(supplier.as_ref()),
        ids: &*dependencies.base.ids,
    };
    Ok(interpret_response(booking, &step, response, &context))
}

pub fn interpret_response<K: BookingAggregate>(
    booking: &Booking<K>,
    step: &BookingStep<K::Step>,
    response: SupplierResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    match (step, response) {
        (BookingStep::Kind(step), response) => {
            K::interpret_kind_step(booking, step, response, context)
        }
        (BookingStep::Cancel | BookingStep::FindCancellation, response) => match response {
            SupplierResponse::Change(response) => {
                interpret::cancel_response(booking, response, context)
            }
            SupplierResponse::Lookup(response) => {
                interpret::cancel_lookup(booking, response, context)
            }
        },
        (BookingStep::Refresh, SupplierResponse::Lookup(response)) => {
            interpret::refresh_response(booking, response, context)
        }
        (BookingStep::RecheckAbsence, SupplierResponse::Lookup(response)) => {
            interpret::absence_recheck(booking, response, context)
        }
        (
            BookingStep::Book
            | BookingStep::FindBooking
            | BookingStep::RecheckAbsence
            | BookingStep::Refresh
            | BookingStep::Payment(_),
            response,
        ) => {
            let deviation = total_deviation::report(booking, &response);
            let interpretation = match response {
                SupplierResponse::Change(response) => {
                    interpret::book_response(booking, response, context)
                }
                SupplierResponse::Lookup(response) => {
                    interpret::book_lookup(booking, response, context)
                }
            };
            match deviation {
                Some(deviation) => Interpretation {
                    evidence: format!("{}; {deviation}", interpretation.evidence),
                    ..interpretation
                },
                None => interpretation,
            }
        }
    }
}
