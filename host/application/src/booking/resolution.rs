//! Resolves calls whose outcome the gateway could not determine, by an operator's decision. The
//! operator has asked the supplier by other means. The gateway accepts the decision, records it as
//! an operator's, and continues from there.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::{DECIDE_REFUND_STEP, StepOutcome, WorkflowEngine};
use crate::booking::execution::{CallKey, WorkflowError};
use crate::booking::interpret::{CallOutcome, Interpretation};
use crate::booking::unresolved_call::UnresolvedCall;
use crate::id_generator::IdGenerator;
use host_domain::booking::{Booking, BookingEvent, BookingStatus};
use host_domain::flight::booking::FlightBookingDetails;
use host_domain::hotel::booking::HotelBookingDetails;
use host_domain::id::{AttemptId, BookingId};
use host_domain::money::Money;
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_storage::{Attempt, UnitOfWork};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of the calls that follow an operator's decision.
const FOLLOW_UP_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum wait for these calls. They go on afterwards.
const FOLLOW_UP_WAIT: Duration = Duration::from_secs(10);

/// Evidence of a call that an operator's decision resolved.
pub const OPERATOR_EVIDENCE: &str = "resolved by an operator";

/// An operator's decision about an unresolved call or an undecided refund, with the values that
/// [`SettlementChoice`](host_domain::settlement::SettlementChoice) does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The call was executed.
    Done {
        /// The supplier's or processor's id. Required if none is known yet.
        reference: Option<String>,
    },
    /// The call was not executed and will not be.
    NotDone,
    /// The refund amount of a completed cancellation whose refund is undecided.
    Refund(Money),
}

/// Selects one of the unresolved calls of a booking.
#[derive(Debug, Clone, Copy)]
pub enum CallSelector<'a> {
    /// The only unresolved call.
    Only,
    /// The call with this client reference of the gateway.
    ClientReference(&'a str),
    Attempt(&'a AttemptId),
}

/// Builds what is stored together with the outcome of a call, from the tenant of the booking and
/// the record of the call. If one of its preconditions fails, nothing is stored.
pub type OutcomeStatements<'a> =
    Box<dyn FnOnce(&Tenant, Option<&AttemptId>) -> UnitOfWork + Send + 'a>;

/// A decision about a call, and what is stored in the same transaction.
pub struct ResolutionRequest<'a> {
    pub call: CallSelector<'a>,
    pub resolution: Resolution,
    /// The [`decidable_state`] that the operator saw. `None` for any.
    pub seen_state: Option<&'a str>,
    /// Id of the request or the job that decides.
    pub request_id: &'a str,
    pub statements: OutcomeStatements<'a>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0} and has no unresolved call")]
    NothingUnresolved(&'static str),
    /// The decision is about an earlier state of the booking.
    #[error("the booking is {0} by now; look at the call again")]
    StateChanged(&'static str),
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
    /// Resolves the unknown outcome of a call about a booking. Returns the booking's status
    /// afterwards, before the calls that follow if they take long.
    ///
    /// # Errors
    /// [`ResolveError`]. [`ResolveError::InProgress`] also if a precondition of
    /// `statements` fails.
    pub async fn resolve(
        &self,
        id: &BookingId,
        request: ResolutionRequest<'_>,
    ) -> Result<BookingStatus, ResolveError> {
        let store = &self.base.store;
        if let Some(hotel) = store.booking_unscoped::<HotelBookingDetails>(id).await? {
            return self.resolve_booking(hotel, request).await;
        }
        let flight = store.booking_unscoped::<FlightBookingDetails>(id).await?;
        let flight = flight.ok_or(ResolveError::NotFound)?;
        self.resolve_booking(flight, request).await
    }

    async fn resolve_booking<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        request: ResolutionRequest<'_>,
    ) -> Result<BookingStatus, ResolveError> {
        let status = booking.status();
        let current = decidable_state(&booking);
        if request.seen_state.is_some_and(|seen| seen != current) {
            return Err(ResolveError::StateChanged(status.as_str()));
        }
        let (engine, ids) = (&self.engine, &*self.base.ids);
        let attempts = engine.unresolved_attempts(&booking).await?;
        let (call, resolution) = (request.call, request.resolution);
        let now = self.base.now();
        let outcome = resolution_outcome(&booking, &attempts, call, resolution, now, ids)?;
        let deadline = Instant::now() + FOLLOW_UP_TIMEOUT;
        let execution = engine.execution_context(request.request_id, deadline);
        // If the booking changed meanwhile, nothing is stored: the unresolved call of this name may
        // be another one by now, which the decision is not about.
        let tenant = &booking.owner.tenant;
        let statements = (request.statements)(tenant, outcome.attempt.as_ref());
        let started = engine.start_with_outcome(booking, &outcome, &execution, statements);
        let (booking, next) = started.await?.ok_or(ResolveError::InProgress)?;
        let status = booking.status();
        let run = engine.run_steps_to_completion(booking, next, execution);
        match tokio::time::timeout(FOLLOW_UP_WAIT, run).await {
            Ok(booking) => Ok(booking?.status()),
            Err(_elapsed) => Ok(status),
        }
    }
}

/// Returns the state of a booking that a decision is about: its status, and the time at which an
/// orphan was found. The id of the call does not suffice, because its record may be reopened.
pub fn decidable_state<K: BookingAggregate>(booking: &Booking<K>) -> String {
    let status = booking.status().as_str();
    match booking.orphan() {
        Some(orphan) => format!("{status} {}", orphan.found_at),
        None => status.to_owned(),
    }
}

/// Returns the outcome that a decision gives to one of the unresolved calls of a booking.
/// `attempts` are the records of these calls.
///
/// # Errors
/// [`ResolveError`], if the decision does not fit.
pub(crate) fn resolution_outcome<K: BookingAggregate>(
    booking: &Booking<K>,
    attempts: &[Attempt],
    call: CallSelector<'_>,
    resolution: Resolution,
    now: Timestamp,
    ids: &dyn IdGenerator,
) -> Result<StepOutcome<BookingEvent<K>>, ResolveError> {
    let nothing = || ResolveError::NothingUnresolved(booking.status().as_str());
    let attempt_of = |key: &CallKey| attempts.iter().rev().find(|attempt| key.matches(attempt));
    let (key, event, outcome, reference) = match resolution {
        Resolution::Refund(refund) => {
            let key = select_refund(K::undecided_refunds(booking), call, attempt_of)?;
            let key = key.ok_or_else(nothing)?;
            let reference = key.client_reference.as_deref().unwrap_or_default();
            let event = K::refund_decided_event(booking, reference, refund, ids);
            let event = BookingEvent::Kind(event.ok_or_else(nothing)?);
            let transition = booking.clone().apply(event.clone(), now);
            transition.map_err(|_| ResolveError::InvalidRefundAmount)?;
            (key, event, CallOutcome::Succeeded, None)
        }
        Resolution::Done { reference } => {
            let unresolved = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
            let reference = reference.or_else(|| unresolved.known_reference(booking));
            let event = unresolved.success_event(booking, reference.as_deref(), ids);
            let event = event.ok_or(ResolveError::ReferenceRequired)?;
            let key = unresolved.call_key(booking);
            (key, event, CallOutcome::Succeeded, reference)
        }
        Resolution::NotDone => {
            let unresolved = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
            let event = unresolved.failure_event(booking, ids, now);
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
            evidence: OPERATOR_EVIDENCE.to_owned(),
            reference,
        },
    })
}

/// Returns whether a selector selects a call. `attempt` is its record.
fn is_selected(selector: CallSelector<'_>, attempt: Option<&Attempt>) -> bool {
    match selector {
        CallSelector::Only => true,
        CallSelector::ClientReference(reference) => {
            attempt.is_some_and(|attempt| attempt.call.client_reference == reference)
        }
        CallSelector::Attempt(id) => attempt.is_some_and(|attempt| attempt.call.id == *id),
    }
}

/// Selects one of the undecided refunds with these client references.
fn select_refund<'a>(
    undecided: Vec<String>,
    selector: CallSelector<'_>,
    attempt_of: impl Fn(&CallKey) -> Option<&'a Attempt>,
) -> Result<Option<CallKey>, ResolveError> {
    let keys = undecided.into_iter().map(|reference| CallKey {
        step: DECIDE_REFUND_STEP,
        client_reference: Some(reference),
    });
    only(keys.filter(|key| is_selected(selector, attempt_of(key))))
}

/// Selects one of the unresolved calls of a booking.
pub(crate) fn select_call<'a, 'b, K: BookingAggregate>(
    booking: &'a Booking<K>,
    selector: CallSelector<'_>,
    attempt_of: impl Fn(&CallKey) -> Option<&'b Attempt>,
) -> Result<Option<UnresolvedCall<'a, K::Step>>, ResolveError> {
    let unresolved = UnresolvedCall::all(booking).into_iter();
    only(unresolved.filter(|call| is_selected(selector, attempt_of(&call.call_key(booking)))))
}

fn only<T>(mut selected: impl Iterator<Item = T>) -> Result<Option<T>, ResolveError> {
    let first = selected.next();
    match selected.next() {
        None => Ok(first),
        Some(_) => Err(ResolveError::AmbiguousCall),
    }
}
