//! Executes a prepared step: makes its call and interprets the response.

use crate::booking::aggregate::{BookingAggregate, SupplierResponse, SupplierTarget};
use crate::booking::execution::{ExecutionContext, WorkflowError};
use crate::booking::interpret::{self, InterpretContext, Interpretation};
use crate::booking::step_dependencies::StepDependencies;
use crate::booking::steps::payment::execute_payment_request;
use crate::booking::steps::prepare::{PreparedStep, StepRequest};
use host_domain::booking::{Booking, BookingEvent, BookingStep, ReportedBooking};
use host_domain::supplier::{ChangeError, ReadError};

/// Reason for not making a call: its supplier was removed from the configuration.
const SUPPLIER_NOT_CONFIGURED: &str = "the supplier is not configured";

/// Makes the call of a step after its intent is committed, and interprets the response.
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
    let requested_at = dependencies.base.now();
    let request = match prepared.request {
        StepRequest::Payment(call) => {
            return execute_payment_request(dependencies, booking, call, execution).await;
        }
        request => request,
    };
    let context = execution.call_context(&booking.owner, &booking.id);
    let supplier = dependencies.suppliers.loaded(&booking.supplier);
    let call = supplier.as_ref().map(|supplier| SupplierTarget {
        supplier,
        context: &context,
        passenger_secrets: &dependencies.passenger_secrets,
    });
    let response = match (request, call) {
        (StepRequest::Change(request), Some(call)) => {
            SupplierResponse::Change(K::send_change(booking, request, call).await)
        }
        (StepRequest::Change(_), None) => {
            let error = ChangeError::NotSent(SUPPLIER_NOT_CONFIGURED.to_owned());
            SupplierResponse::Change(Err(error))
        }
        (StepRequest::Find(request), Some(call)) => {
            SupplierResponse::Lookup(K::find(request, call).await)
        }
        (StepRequest::Find(_) | StepRequest::Payment(_), None | Some(_)) => {
            let error = ReadError::Misconfigured(SUPPLIER_NOT_CONFIGURED.to_owned());
            SupplierResponse::Lookup(Err(error))
        }
    };
    let context = InterpretContext {
        schedules: dependencies
            .schedule_context()
            .with_requested_at(requested_at),
        guarantees: dependencies.supplier_guarantees(&booking.supplier),
        ids: &*dependencies.base.ids,
    };
    Ok(interpret_response(
        booking,
        &prepared.step,
        response,
        &context,
    ))
}

/// Interprets the supplier's response to a step.
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
        (BookingStep::Cancel | BookingStep::ReconcileCancellation, response) => match response {
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
        (
            BookingStep::Book
            | BookingStep::ReconcileBooking
            | BookingStep::Refresh
            | BookingStep::Payment(_),
            response,
        ) => match response {
            SupplierResponse::Change(response) => {
                if let Ok(supplier_booking) = &response
                    && supplier_booking.total() != booking.details.booked_price()
                {
                    tracing::warn!(booking = %booking.id, "the supplier booked at a different total than it bound");
                }
                interpret::book_response(booking, response, context)
            }
            SupplierResponse::Lookup(response) => {
                interpret::book_lookup(booking, response, context)
            }
        },
    }
}
