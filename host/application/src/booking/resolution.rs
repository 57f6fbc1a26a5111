//! Resolves calls whose outcome the gateway could not determine, by an operator's decision. The
//! operator has asked the supplier by other means. The gateway accepts the decision, records it as
//! an operator's, and continues from there.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::{BOOK_STEP, DECIDE_REFUND_STEP, StepOutcome, WorkflowEngine};
use crate::booking::execution::{CallKey, WorkflowError};
use crate::booking::interpret::{CallOutcome, Interpretation, absent_booking_failure};
use crate::booking::steps::payment;
use crate::id_generator::IdGenerator;
use host_domain::booking::{
    BookedCall, Booking, BookingEvent, BookingState, BookingStep, Failure, Named,
};
use host_domain::flight::booking::FlightBookingDetails;
use host_domain::hotel::booking::HotelBookingDetails;
use host_domain::id::{BookingId, PaymentId};
use host_domain::money::Money;
use host_domain::payment::{Payment, PaymentOperation};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::SupplierBookingStatus;
use host_storage::Attempt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of the calls that follow an operator's decision.
const FOLLOW_UP_TIMEOUT: Duration = Duration::from_secs(30);

/// An operator's decision about an unresolved call, as the other side reported the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    Succeeded {
        /// The supplier's or processor's id. Required if none is known yet.
        reference: Option<String>,
    },
    /// The call was not executed and will not be.
    NotExecuted,
    /// The refund amount of a completed cancellation whose refund is undecided.
    RefundAmount(Money),
}

enum UnresolvedCall<'a, S> {
    Supplier(BookingStep<S>),
    Processor(&'a Payment, PaymentOperation),
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0} and has no unresolved call")]
    NothingUnresolved(&'static str),
    #[error("the gateway is reconciling the call at the moment; try again later")]
    InProgress,
    #[error("the supplier's or processor's reference is required")]
    ReferenceRequired,
    #[error("the booking has several unresolved calls; select one with `client_reference`")]
    AmbiguousCall,
    #[error("the refund must be between 0 and the amount paid, in its currency")]
    InvalidRefundAmount,
}

impl<E: Into<WorkflowError>> From<E> for ResolveError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

pub struct ResolutionService {
    pub(crate) base: Base,
    pub(crate) engine: Arc<WorkflowEngine>,
}

impl ResolutionService {
    /// Resolves the unknown outcome of a call about a booking. `call` is the gateway's client
    /// reference of the call; without it, the only unresolved call is meant. Returns the booking's
    /// status afterwards.
    pub async fn resolve(
        &self,
        id: &BookingId,
        call: Option<&str>,
        resolution: Resolution,
        request_id: &str,
    ) -> Result<&'static str, ResolveError> {
        let store = &self.base.store;
        if let Some(hotel) = store.booking_unscoped::<HotelBookingDetails>(id).await? {
            return self
                .resolve_booking(hotel, call, resolution, request_id)
                .await;
        }
        let flight = store.booking_unscoped::<FlightBookingDetails>(id).await?;
        let flight = flight.ok_or(ResolveError::NotFound)?;
        self.resolve_booking(flight, call, resolution, request_id)
            .await
    }

    async fn resolve_booking<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        call: Option<&str>,
        resolution: Resolution,
        request_id: &str,
    ) -> Result<&'static str, ResolveError> {
        let outcome = self.resolution_outcome(&booking, call, resolution).await?;
        let (engine, deadline) = (&self.engine, Instant::now() + FOLLOW_UP_TIMEOUT);
        let execution = engine.execution_context(request_id, deadline);
        // If the booking changed meanwhile, nothing is stored: the unresolved call of this name may
        // be another one by now, which the decision is not about.
        let started = engine.start_with_outcome(booking, &outcome, &execution);
        let (booking, next) = started.await?.ok_or(ResolveError::InProgress)?;
        let run = engine.run_steps_to_completion(booking, next, execution);
        Ok(run.await?.status().as_str())
    }

    async fn resolution_outcome<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        call: Option<&str>,
        resolution: Resolution,
    ) -> Result<StepOutcome<BookingEvent<K>>, ResolveError> {
        let ids = &*self.base.ids;
        let nothing = || ResolveError::NothingUnresolved(booking.status().as_str());
        let attempts = self.engine.unresolved_attempts(booking).await?;
        let attempt_of = |key: &CallKey| attempts.iter().rev().find(|attempt| key.matches(attempt));
        let (key, event, outcome, reference) = match resolution {
            Resolution::RefundAmount(refund) => {
                let reference = select_refund(K::undecided_refunds(booking), call)?;
                let reference = reference.ok_or_else(nothing)?;
                let event = K::refund_decided_event(booking, &reference, refund, ids);
                let event = BookingEvent::Kind(event.ok_or_else(nothing)?);
                let transition = booking.clone().apply(event.clone(), self.base.now());
                transition.map_err(|_| ResolveError::InvalidRefundAmount)?;
                let key = CallKey {
                    step: DECIDE_REFUND_STEP,
                    client_reference: Some(reference),
                };
                (key, event, CallOutcome::Succeeded, None)
            }
            Resolution::Succeeded { reference } => {
                let unresolved = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
                let reference = reference.or_else(|| unresolved.known_reference(booking));
                let event = unresolved.success_event(booking, reference.as_deref(), ids);
                let event = event.ok_or(ResolveError::ReferenceRequired)?;
                let key = unresolved.call_key(booking);
                (key, event, CallOutcome::Succeeded, reference)
            }
            Resolution::NotExecuted => {
                let unresolved = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
                let event = match &unresolved {
                    UnresolvedCall::Supplier(step) => resolved_event(booking, step, None, ids),
                    UnresolvedCall::Processor(payment, call) => BookingEvent::Payment {
                        id: payment.id.clone(),
                        event: call.failure_event(payment, self.base.now()),
                    },
                };
                let key = unresolved.call_key(booking);
                (key, event, CallOutcome::Refused, None)
            }
        };
        Ok(StepOutcome {
            step: key.step,
            attempt: attempt_of(&key).map(|attempt| attempt.call.id.clone()),
            interpretation: Interpretation {
                event,
                outcome,
                evidence: "resolved by an operator".to_owned(),
                reference,
            },
        })
    }
}

/// Selects the undecided refund with this client reference, or the only one.
fn select_refund(
    mut undecided: Vec<String>,
    call: Option<&str>,
) -> Result<Option<String>, ResolveError> {
    if let Some(call) = call {
        undecided.retain(|reference| reference == call);
    }
    match undecided.len() {
        0 | 1 => Ok(undecided.pop()),
        _ => Err(ResolveError::AmbiguousCall),
    }
}

/// Selects the unresolved call with this client reference, or the only one.
fn select_call<'a, 'b, K: BookingAggregate>(
    booking: &'a Booking<K>,
    call: Option<&str>,
    attempt_of: impl Fn(&CallKey) -> Option<&'b Attempt>,
) -> Result<Option<UnresolvedCall<'a, K::Step>>, ResolveError> {
    let mut unresolved = UnresolvedCall::all(booking);
    if let Some(call) = call {
        unresolved.retain(|unresolved| {
            attempt_of(&unresolved.call_key(booking))
                .is_some_and(|attempt| attempt.call.client_reference == call)
        });
    }
    match unresolved.len() {
        0 | 1 => Ok(unresolved.pop()),
        _ => Err(ResolveError::AmbiguousCall),
    }
}

/// Returns the event for an operator's decision about a call to the supplier. With a reference the
/// call succeeded; without one it was not executed.
pub fn resolved_event<K: BookingAggregate>(
    booking: &Booking<K>,
    step: &BookingStep<K::Step>,
    reference: Option<&str>,
    ids: &dyn IdGenerator,
) -> BookingEvent<K> {
    let resolved = |status| {
        let reported = reference.map(|reference| K::resolved_booking(booking, reference, status));
        reported.map(Box::new)
    };
    match step {
        BookingStep::Kind(step) => {
            let resolved = resolved(SupplierBookingStatus::Confirmed);
            BookingEvent::Kind(K::resolved_kind_event(step, resolved))
        }
        BookingStep::Cancel | BookingStep::ReconcileCancellation => {
            match resolved(SupplierBookingStatus::Canceled) {
                Some(canceled) => BookingEvent::Kind(K::cancel_succeeded_event(canceled, ids)),
                None => BookingEvent::CancelRefused(Failure::new(
                    "cancel_refused",
                    "The supplier refused the cancellation.",
                )),
            }
        }
        BookingStep::RecheckAbsence => BookingEvent::OrphanResolved,
        BookingStep::Book
        | BookingStep::ReconcileBooking
        | BookingStep::Refresh
        | BookingStep::Payment(_) => match resolved(SupplierBookingStatus::Confirmed) {
            Some(supplier_booking) => BookingEvent::BookConfirmed {
                supplier_booking,
                payment: PaymentId::from_bits(ids.generate()),
            },
            None => {
                let call = booking.active_call();
                BookingEvent::BookRefused(absent_booking_failure(call, K::TEXTS.sold_out))
            }
        },
    }
}

/// Returns the step whose call to the supplier was sent and has no known outcome, or that found an
/// orphan.
pub fn unresolved_supplier_step<K: BookingAggregate>(
    booking: &Booking<K>,
) -> Option<BookingStep<K::Step>> {
    let (step, call) = match &booking.state {
        BookingState::CompleteInProgress { book } => (BookingStep::Book, book),
        BookingState::Booked(state) => match K::booked_call(state) {
            Some(BookedCall::Cancel(cancel)) => (BookingStep::Cancel, cancel),
            Some(BookedCall::Refresh(_)) | None => {
                let (step, call) = K::unresolved_kind_call(booking)?;
                (BookingStep::Kind(step), call)
            }
        },
        BookingState::Failed { .. } => {
            return booking.orphan().map(|_| BookingStep::RecheckAbsence);
        }
        BookingState::Created
        | BookingState::PrebookInProgress { .. }
        | BookingState::ReadyForComplete
        | BookingState::Expired => return None,
    };
    (!matches!(call, RemoteCall::Pending { .. })).then_some(step)
}

impl<'a, S: Named> UnresolvedCall<'a, S> {
    fn all<K: BookingAggregate<Step = S>>(booking: &'a Booking<K>) -> Vec<Self> {
        let supplier = unresolved_supplier_step(booking).map(Self::Supplier);
        let payments = booking.payments.iter().flat_map(|payment| {
            let operations = payment.unresolved_operations().into_iter();
            operations.map(move |operation| Self::Processor(payment, operation))
        });
        supplier.into_iter().chain(payments).collect()
    }

    /// Returns the event for a call that succeeded, or `None` if its reference is missing.
    fn success_event<K: BookingAggregate<Step = S>>(
        &self,
        booking: &Booking<K>,
        reference: Option<&str>,
        ids: &dyn IdGenerator,
    ) -> Option<BookingEvent<K>> {
        Some(match self {
            Self::Supplier(step) => resolved_event(booking, step, Some(reference?), ids),
            Self::Processor(payment, call) => BookingEvent::Payment {
                id: payment.id.clone(),
                event: call.success_event(reference)?,
            },
        })
    }

    fn call_key<K: BookingAggregate<Step = S>>(&self, booking: &Booking<K>) -> CallKey {
        match self {
            // An orphan is the late result of the call that booked.
            Self::Supplier(BookingStep::RecheckAbsence) => CallKey::of_step(BOOK_STEP),
            Self::Supplier(step) => CallKey::of_step(step.name()),
            Self::Processor(payment, operation) => payment::call_key(booking, payment, operation),
        }
    }

    fn known_reference<K: BookingAggregate<Step = S>>(
        &self,
        booking: &Booking<K>,
    ) -> Option<String> {
        match self {
            Self::Supplier(_) => {
                let orphan = booking.orphan();
                let found = orphan.map(|orphan| orphan.supplier_reference.clone());
                found.or_else(|| booking.supplier_reference.clone())
            }
            Self::Processor(payment, _) => payment.processor_reference.clone(),
        }
    }
}
