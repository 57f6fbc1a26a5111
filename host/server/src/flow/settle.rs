//! What an operator decides about an outcome that nobody could find out. The
//! operator asked the supplier by other means; the gateway believes, writes it
//! down as such, and goes on from there.

use crate::app::Application;
use crate::flow::bookable::BookingAggregate;
use crate::flow::judge::{Interpretation, CallOutcome};
use crate::flow::payment;
use crate::flow::step::{WorkflowError, CallKey};
use crate::flow::walk::{DECIDE_REFUND_STEP, StepOutcome};
use futures::FutureExt;
use host_domain::id::BookingId;
use host_domain::leg::RemoteCall;
use host_domain::money::Money;
use host_domain::payment::{Payment, PaymentOperation};
use host_domain::{flight, hotel};
use host_storage::Attempt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the calls that follow a decision may take.
const FOLLOW_UP_TIMEOUT: Duration = Duration::from_secs(30);

/// What the other side says that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// It was done, under this reference.
    Succeeded {
        /// The supplier's id of the booking, or the processor's of the payment; needed where
        /// there is none yet.
        reference: Option<String>,
    },
    /// It was not done, and will not be.
    NotExecuted,
    /// A cancellation that is done gives this much back, which nobody could tell.
    RefundAmount(Money),
}

/// A call of a booking whose outcome is not known.
enum UnresolvedCall<'a> {
    /// At the supplier, by the name of its step.
    Supplier(&'static str),
    /// At a processor.
    Processor(&'a Payment, PaymentOperation),
}

/// Why it is not settled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("nothing about a booking that is {0} is unknown")]
    NothingUnresolved(&'static str),
    #[error("the gateway is reading it back at this moment")]
    InProgress,
    #[error("the other side's reference of it is needed")]
    ReferenceRequired,
    #[error("several calls about it are unknown; `client_reference` says which is meant")]
    AmbiguousCall,
    #[error("this is no part of what was paid")]
    InvalidRefundAmount,
}

impl<E: Into<WorkflowError>> From<E> for ResolveError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

impl Application {
    /// Settles the unknown outcome of a call about a booking, the one of this reference of
    /// ours or the only one; the booking's status afterwards.
    pub(crate) async fn resolve(
        self: &Arc<Self>,
        id: &BookingId,
        call: Option<&str>,
        verdict: Resolution,
        request_id: &str,
    ) -> Result<&'static str, ResolveError> {
        if let Some(booking) = hotel::Booking::load(&self.store, id).await? {
            return self
                .resolve_booking(booking, call, verdict, request_id)
                .await;
        }
        if let Some(booking) = flight::Booking::load(&self.store, id).await? {
            return self
                .resolve_booking(booking, call, verdict, request_id)
                .await;
        }
        Err(ResolveError::NotFound)
    }

    async fn resolve_booking<B: BookingAggregate>(
        self: &Arc<Self>,
        booking: B,
        call: Option<&str>,
        verdict: Resolution,
        request_id: &str,
    ) -> Result<&'static str, ResolveError> {
        let told = self.resolution_outcome(&booking, call, verdict).await?;
        let walker = self.execution_context(request_id, Instant::now() + FOLLOW_UP_TIMEOUT);
        // What moved meanwhile may be another call of the same name: the verdict is not of that.
        let started = self.start_with_outcome(booking, &told, &walker).await?;
        let (booking, then) = started.ok_or(ResolveError::InProgress)?;
        let app = Arc::clone(self);
        let run = async move { app.run_steps(booking, then, &walker).await };
        let settled: B = self.run_to_completion(run.boxed()).await??;
        Ok(settled.status_str())
    }

    /// What is stored of a verdict.
    async fn resolution_outcome<B: BookingAggregate>(
        &self,
        booking: &B,
        call: Option<&str>,
        verdict: Resolution,
    ) -> Result<StepOutcome<B::Event>, ResolveError> {
        let nothing = || ResolveError::NothingUnresolved(booking.status_str());
        let attempts = self.unresolved_attempts(booking).await?;
        let attempt_of = |made: &CallKey| attempts.iter().rev().find(|attempt| made.matches(attempt));
        let (made, event, outcome, reference) = match verdict {
            Resolution::RefundAmount(refund) => {
                let event = booking.pending_refund_decision().ok_or_else(nothing)?(refund);
                let moved = booking.clone().apply(event.clone(), self.clock.now());
                moved.map_err(|_| ResolveError::InvalidRefundAmount)?;
                (CallKey::of_step(DECIDE_REFUND_STEP), event, CallOutcome::Succeeded, None)
            }
            Resolution::Succeeded { reference } => {
                let open = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
                let reference = reference.or_else(|| open.known_reference(booking));
                let event = self.success_event(booking, &open, reference.as_deref());
                let event = event.ok_or(ResolveError::ReferenceRequired)?;
                (open.call_key(booking), event, CallOutcome::Succeeded, reference)
            }
            Resolution::NotExecuted => {
                let open = select_call(booking, call, attempt_of)?.ok_or_else(nothing)?;
                let event = self.not_executed_event(booking, &open);
                (open.call_key(booking), event, CallOutcome::Rejected, None)
            }
        };
        Ok(StepOutcome {
            step: made.step,
            attempt: attempt_of(&made).map(|attempt| attempt.call.id.clone()),
            interpretation: Interpretation {
                event,
                outcome,
                evidence: "settled by an operator".to_owned(),
                reference,
            },
        })
    }

    /// None where a reference is missing.
    fn success_event<B: BookingAggregate>(
        &self,
        booking: &B,
        open: &UnresolvedCall<'_>,
        reference: Option<&str>,
    ) -> Option<B::Event> {
        Some(match open {
            UnresolvedCall::Supplier(step) => booking.resolved_event(step, Some(reference?), &*self.ids),
            UnresolvedCall::Processor(payment, call) => {
                B::payment_event(payment.id.clone(), call.success_event(reference)?)
            }
        })
    }

    fn not_executed_event<B: BookingAggregate>(&self, booking: &B, open: &UnresolvedCall<'_>) -> B::Event {
        match open {
            UnresolvedCall::Supplier(step) => booking.resolved_event(step, None, &*self.ids),
            UnresolvedCall::Processor(payment, call) => {
                B::payment_event(payment.id.clone(), call.failure_event(self.clock.now()))
            }
        }
    }
}

/// The call of this reference of ours, or the only one.
fn select_call<'a, 'b, B: BookingAggregate>(
    booking: &'a B,
    call: Option<&str>,
    attempt_of: impl Fn(&CallKey) -> Option<&'b Attempt>,
) -> Result<Option<UnresolvedCall<'a>>, ResolveError> {
    let mut open = UnresolvedCall::all(booking);
    if let Some(call) = call {
        open.retain(|open| {
            attempt_of(&open.call_key(booking)).is_some_and(|made| made.call.client_reference == call)
        });
    }
    match open.len() {
        0 | 1 => Ok(open.pop()),
        _ => Err(ResolveError::AmbiguousCall),
    }
}

impl<'a> UnresolvedCall<'a> {
    fn all<B: BookingAggregate>(booking: &'a B) -> Vec<Self> {
        let supplier = booking.unresolved_call();
        let supplier = supplier.filter(|(_, leg)| !matches!(leg, RemoteCall::Pending { .. }));
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
