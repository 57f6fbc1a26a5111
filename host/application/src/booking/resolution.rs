//! Resolves calls whose outcome the gateway could not determine, by an operator's decision. The
//! operator has asked the supplier by other means. The gateway accepts the decision, records it as
//! an operator's, and continues from there.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::{DECIDE_REFUND_STEP, StepOutcome, WorkflowEngine};
use crate::booking::execution::{CallKey, WorkflowError};
use crate::booking::interpret::{CallOutcome, Interpretation};
use crate::booking::steps::payment;
use host_domain::id::BookingId;
use host_domain::money::Money;
use host_domain::payment::{Payment, PaymentOperation};
use host_domain::remote_call::RemoteCall;
use host_domain::{flight, hotel};
use host_storage::Attempt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of the calls that follow an operator's decision.
const FOLLOW_UP_TIMEOUT: Duration = Duration::from_secs(30);

/// An operator's decision about an unresolved call, as the other side reported the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The call succeeded.
    Succeeded {
        /// The supplier's id of the booking, or the processor's id of the payment. Required if none
        /// is known yet.
        reference: Option<String>,
    },
    /// The call was not executed and will not be.
    NotExecuted,
    /// The refund amount of a completed cancellation for which neither the supplier nor the fare's
    /// terms gave one.
    RefundAmount(Money),
}

/// A call about a booking whose outcome is unknown.
enum UnresolvedCall<'a> {
    /// A call to the supplier, by the name of its step.
    Supplier(&'static str),
    /// A call to a processor.
    Processor(&'a Payment, PaymentOperation),
}

/// Reasons why a call was not resolved.
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

/// Resolves unknown outcomes by an operator's decision.
pub struct ResolutionService {
    base: Base,
    engine: Arc<WorkflowEngine>,
}

impl ResolutionService {
    /// Creates the service.
    #[must_use]
    pub const fn new(base: Base, engine: Arc<WorkflowEngine>) -> Self {
        Self { base, engine }
    }

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
        if let Some(booking) = hotel::Booking::load(&self.base.store, id).await? {
            return self
                .resolve_booking(booking, call, resolution, request_id)
                .await;
        }
        if let Some(booking) = flight::Booking::load(&self.base.store, id).await? {
            return self
                .resolve_booking(booking, call, resolution, request_id)
                .await;
        }
        Err(ResolveError::NotFound)
    }

    async fn resolve_booking<B: BookingAggregate>(
        &self,
        booking: B,
        call: Option<&str>,
        resolution: Resolution,
        request_id: &str,
    ) -> Result<&'static str, ResolveError> {
        let outcome = self.resolution_outcome(&booking, call, resolution).await?;
        let execution = self
            .engine
            .execution_context(request_id, Instant::now() + FOLLOW_UP_TIMEOUT);
        // If the booking changed meanwhile, nothing is stored: the unresolved call of this name may
        // be another one by now, which the decision is not about.
        let started = self
            .engine
            .start_with_outcome(booking, &outcome, &execution);
        let (booking, next) = started.await?.ok_or(ResolveError::InProgress)?;
        let run = self
            .engine
            .run_steps_to_completion(booking, next, execution);
        Ok(run.await?.status_str())
    }

    /// Builds the outcome to store for a decision.
    async fn resolution_outcome<B: BookingAggregate>(
        &self,
        booking: &B,
        call: Option<&str>,
        resolution: Resolution,
    ) -> Result<StepOutcome<B::Event>, ResolveError> {
        let nothing = || ResolveError::NothingUnresolved(booking.status_str());
        let attempts = self.engine.unresolved_attempts(booking).await?;
        let attempt_of = |key: &CallKey| attempts.iter().rev().find(|attempt| key.matches(attempt));
        let (key, event, outcome, reference) = match resolution {
            Resolution::RefundAmount(refund) => {
                let event = booking.pending_refund_decision().ok_or_else(nothing)?(refund);
                let transition = booking.clone().apply(event.clone(), self.base.now());
                transition.map_err(|_| ResolveError::InvalidRefundAmount)?;
                (
                    CallKey::of_step(DECIDE_REFUND_STEP),
                    event,
                    CallOutcome::Succeeded,
                    None,
                )
            }
            Resolution::Succeeded { reference } => {
                let unresolved = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
                let reference = reference.or_else(|| unresolved.known_reference(booking));
                let event = self.success_event(booking, &unresolved, reference.as_deref());
                let event = event.ok_or(ResolveError::ReferenceRequired)?;
                (
                    unresolved.call_key(booking),
                    event,
                    CallOutcome::Succeeded,
                    reference,
                )
            }
            Resolution::NotExecuted => {
                let unresolved = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
                let event = self.not_executed_event(booking, &unresolved);
                (
                    unresolved.call_key(booking),
                    event,
                    CallOutcome::Rejected,
                    None,
                )
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

    /// Returns the event for a call that succeeded, or `None` if its reference is missing.
    fn success_event<B: BookingAggregate>(
        &self,
        booking: &B,
        unresolved: &UnresolvedCall<'_>,
        reference: Option<&str>,
    ) -> Option<B::Event> {
        Some(match unresolved {
            UnresolvedCall::Supplier(step) => {
                booking.resolved_event(step, Some(reference?), &*self.base.ids)
            }
            UnresolvedCall::Processor(payment, call) => {
                B::payment_event(payment.id.clone(), call.success_event(reference)?)
            }
        })
    }

    fn not_executed_event<B: BookingAggregate>(
        &self,
        booking: &B,
        unresolved: &UnresolvedCall<'_>,
    ) -> B::Event {
        match unresolved {
            UnresolvedCall::Supplier(step) => booking.resolved_event(step, None, &*self.base.ids),
            UnresolvedCall::Processor(payment, call) => {
                B::payment_event(payment.id.clone(), call.failure_event(self.base.now()))
            }
        }
    }
}

/// Selects the unresolved call with this client reference, or the only one.
fn select_call<'a, 'b, B: BookingAggregate>(
    booking: &'a B,
    call: Option<&str>,
    attempt_of: impl Fn(&CallKey) -> Option<&'b Attempt>,
) -> Result<Option<UnresolvedCall<'a>>, ResolveError> {
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

impl<'a> UnresolvedCall<'a> {
    fn all<B: BookingAggregate>(booking: &'a B) -> Vec<Self> {
        let supplier = booking.unresolved_call();
        let supplier = supplier.filter(|(_, call)| !matches!(call, RemoteCall::Pending { .. }));
        let payments = booking.payments().iter().flat_map(|payment| {
            let calls = payment.unresolved_operations().into_iter();
            calls.map(move |call| UnresolvedCall::Processor(payment, call))
        });
        let supplier = supplier.map(|(step, _)| UnresolvedCall::Supplier(step));
        supplier.into_iter().chain(payments).collect()
    }

    fn call_key<B: BookingAggregate>(&self, booking: &B) -> CallKey {
        match self {
            Self::Supplier(step) => CallKey::of_step(step),
            Self::Processor(payment, call) => payment::call_key(booking, payment, call),
        }
    }

    fn known_reference<B: BookingAggregate>(&self, booking: &B) -> Option<String> {
        match self {
            Self::Supplier(_) => booking.supplier_reference().map(str::to_owned),
            Self::Processor(payment, _) => payment.processor_reference.clone(),
        }
    }
}
