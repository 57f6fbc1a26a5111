//! Prepares the steps of a booking. A step is prepared once, when it is planned: what is recorded
//! before the call and the request of the call come from the same preparation.

use crate::booking::aggregate::{BookingAggregate, ChangeStep};
use crate::booking::execution::{CallKey, OutboundCall, StepRecord};
use crate::booking::steps::payment::{PaymentRequest, prepare_payment_step};
use host_domain::booking::{Booking, BookingEvent, BookingStep, Named};
use host_domain::supplier::FindRequest;
use host_domain::time::Timestamp;

pub struct PreparedStep<K: BookingAggregate> {
    pub step: BookingStep<K::Step>,
    /// The request. Card tokens and passenger documents are added when it is sent.
    pub request: StepRequest<K>,
}

#[derive(Debug, Clone)]
pub enum StepRequest<K: BookingAggregate> {
    Supplier(SupplierRequest<K>),
    Payment(PaymentRequest),
}

#[derive(Debug, Clone)]
pub enum SupplierRequest<K: BookingAggregate> {
    Change(K::ChangeRequest),
    Find(FindRequest),
}

/// The request of a step's call, and what is recorded or looked up before the call.
type Preparation<K> = (StepRequest<K>, StepRecord<BookingEvent<K>>);

/// Prepares a step. If the response of its call is lost, the call is reconciled at `next_at`.
/// Returns `None` if the part of the booking that the step concerns no longer exists.
pub fn prepare_step<K: BookingAggregate>(
    booking: &Booking<K>,
    step: BookingStep<K::Step>,
    next_at: Timestamp,
) -> Option<(PreparedStep<K>, StepRecord<BookingEvent<K>>)> {
    let change = |step| prepare_change(booking, step, next_at);
    let lookup = |step| Some(prepare_lookup(booking, &step));
    let preparation = match &step {
        BookingStep::Book => change(ChangeStep::Book),
        BookingStep::FindBooking | BookingStep::RecheckAbsence => lookup(BookingStep::Book),
        BookingStep::Refresh => lookup(BookingStep::Refresh),
        BookingStep::Cancel => change(ChangeStep::Cancel),
        BookingStep::FindCancellation => lookup(BookingStep::Cancel),
        BookingStep::Kind(kind_step) => match K::reconciled_step(kind_step) {
            Some(earlier) => lookup(BookingStep::Kind(earlier)),
            None => change(ChangeStep::Kind(kind_step)),
        },
        BookingStep::Payment(payment_step) => {
            let preparation = prepare_payment_step(booking, payment_step, next_at);
            preparation.map(|(request, record)| (StepRequest::Payment(request), record))
        }
    };
    let (request, record) = preparation?;
    Some((PreparedStep { step, request }, record))
}

fn prepare_change<K: BookingAggregate>(
    booking: &Booking<K>,
    step: ChangeStep<'_, K::Step>,
    next_at: Timestamp,
) -> Option<Preparation<K>> {
    let change = K::prepare_change(booking, step, next_at)?;
    let call = OutboundCall {
        target: booking.supplier.clone(),
        client_reference: change.client_reference,
        request_digest: change.digest,
    };
    let request = StepRequest::Supplier(SupplierRequest::Change(change.request));
    Some((request, StepRecord::Intent(change.intent, call)))
}

/// Prepares the lookup that reconciles the call of `earlier`.
fn prepare_lookup<K: BookingAggregate>(
    booking: &Booking<K>,
    earlier: &BookingStep<K::Step>,
) -> Preparation<K> {
    let request = StepRequest::Supplier(SupplierRequest::Find(find_request(booking)));
    let record = StepRecord::Reconcile(CallKey::of_step(earlier.name()));
    (request, record)
}

fn find_request<K: BookingAggregate>(booking: &Booking<K>) -> FindRequest {
    FindRequest {
        client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone(),
        supplier_prebook: booking.supplier_prebook.clone(),
        since: booking.created_at,
    }
}
