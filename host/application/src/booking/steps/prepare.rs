//! Prepares the steps of a booking. A step is prepared once, when it is planned: what is recorded
//! before the call and the request of the call come from the same preparation.

use crate::booking::aggregate::{BookingAggregate, ChangeStep};
use crate::booking::execution::{CallKey, OutboundCall, StepRecord};
use crate::booking::steps::payment::{PaymentRequest, prepare_payment_step};
use host_domain::booking::{Booking, BookingEvent, BookingStep};
use host_domain::supplier::FindRequest;
use host_domain::time::Timestamp;

/// A step with the request of its call.
pub struct PreparedStep<K: BookingAggregate> {
    /// The step.
    pub step: BookingStep<K::Step>,
    /// The request. It holds no card token and no passenger documents; these are added when it is
    /// sent.
    pub request: StepRequest<K>,
}

/// The request of a step's call.
#[derive(Debug, Clone)]
pub enum StepRequest<K: BookingAggregate> {
    /// Changes something at the supplier.
    Change(K::ChangeRequest),
    /// Looks the booking up at its supplier.
    Find(FindRequest),
    /// Calls the payment processor.
    Payment(PaymentRequest),
}

/// Prepares a step. If the response of its call is lost, the call is reconciled at `next_at`.
/// Returns `None` if the part of the booking that the step concerns no longer exists.
pub fn prepare_step<K: BookingAggregate>(
    booking: &Booking<K>,
    step: BookingStep<K::Step>,
    next_at: Timestamp,
) -> Option<(PreparedStep<K>, StepRecord<BookingEvent<K>>)> {
    // The step that changes something, or the name of the step that is reconciled.
    let change = match &step {
        BookingStep::Payment(payment_step) => {
            let (call, record) = prepare_payment_step(booking, payment_step, next_at)?;
            let request = StepRequest::Payment(call);
            return Some((PreparedStep { step, request }, record));
        }
        BookingStep::Book => Ok(ChangeStep::Book),
        BookingStep::Cancel => Ok(ChangeStep::Cancel),
        BookingStep::ReconcileBooking => Err("book"),
        BookingStep::Refresh => Err("reread"),
        BookingStep::ReconcileCancellation => Err("cancel"),
        BookingStep::Kind(kind_step) => match K::reconciled_step(kind_step) {
            Some(earlier) => Err(earlier),
            None => Ok(ChangeStep::Kind(kind_step)),
        },
    };
    let (request, record) = match change {
        Err(earlier) => (
            StepRequest::Find(find_request(booking)),
            StepRecord::Reconcile(CallKey::of_step(earlier)),
        ),
        Ok(change) => {
            let change = K::prepare_change(booking, change, next_at)?;
            let call = OutboundCall {
                target: booking.supplier.clone(),
                client_reference: change.client_reference,
                request_digest: change.digest,
            };
            (
                StepRequest::Change(change.request),
                StepRecord::Intent(change.intent, call),
            )
        }
    };
    Some((PreparedStep { step, request }, record))
}

fn find_request<K: BookingAggregate>(booking: &Booking<K>) -> FindRequest {
    FindRequest {
        client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone(),
        supplier_prebook: booking.supplier_prebook.clone(),
        since: booking.created_at,
    }
}
