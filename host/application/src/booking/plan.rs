//! Plans the transitions of a booking up to its next call. The code is pure: it makes no call and
//! does not read the database.

use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{CallKey, OutboundCall, StepPreparation, WorkflowError};
use crate::id_generator::IdGenerator;
use host_domain::booking::{Expiry, Transition};
use host_domain::id::AttemptId;
use host_domain::payment::NextStep;
use host_domain::time::Timestamp;

/// Maximum number of steps in one run. A booking takes four; the bound only stops an endless loop
/// that a mistake in the state machine would cause.
pub const STEPS_MAX: usize = 32;

/// Transitions that are stored together, and the action that follows them.
pub struct TransitionPlan<B: BookingAggregate> {
    pub booking: B,
    pub transitions: Vec<Transition<B>>,
    /// An expiry among the transitions.
    pub expiry: Option<Expiry>,
    pub next: PlannedAction<B::Step>,
}

/// The action that is planned to follow a commit.
pub enum PlannedAction<S> {
    /// Make the call of this step.
    Execute(S, PlannedCall),
    /// Wait until this instant, or indefinitely.
    Wait(Option<Timestamp>),
}

/// The call of a planned step.
pub enum PlannedCall {
    /// The call may change something. Its intent is committed before it is sent.
    Record {
        /// Id of the attempt.
        attempt: AttemptId,
        /// Name of the step.
        step: &'static str,
        /// The call.
        call: OutboundCall,
    },
    /// The call reads what became of this earlier call.
    Reconcile(CallKey),
}

/// Plans the transitions up to the next call, or to the point where nothing is due. The plan covers
/// everything that is decided without a call and without the database. `on_step_planned` is called
/// with the name of each step.
pub fn plan_transitions<B: BookingAggregate>(
    mut booking: B,
    mut event: Option<B::Event>,
    now: Timestamp,
    first_reconcile_at: Timestamp,
    ids: &dyn IdGenerator,
    on_step_planned: impl Fn(&'static str),
) -> Result<TransitionPlan<B>, WorkflowError> {
    let (mut transitions, mut expiry) = (Vec::new(), None);
    for _ in 0..STEPS_MAX {
        if let Some(event) = event.take() {
            let transition = booking.apply(event, now)?;
            booking = transition.booking.clone();
            transitions.push(transition);
        }
        let next = match booking.next_step(now) {
            NextStep::Run(step) => {
                let name = B::step_name(&step);
                let preparation = booking.prepare_step(&step, first_reconcile_at);
                match preparation
                    .ok_or_else(|| WorkflowError::BookingMissing(booking.id().clone()))?
                {
                    StepPreparation::RecordThenSend(intent, call) => {
                        on_step_planned(name);
                        let transition = booking.apply(intent, now)?;
                        booking = transition.booking.clone();
                        transitions.push(transition);
                        let attempt = AttemptId::from_bits(ids.generate());
                        let call = PlannedCall::Record {
                            attempt,
                            step: name,
                            call,
                        };
                        PlannedAction::Execute(step, call)
                    }
                    StepPreparation::Reconcile(call) => {
                        PlannedAction::Execute(step, PlannedCall::Reconcile(call))
                    }
                }
            }
            NextStep::Expire(due) => {
                on_step_planned(due.name());
                expiry = Some(due);
                event = Some(B::expired_event(due));
                continue;
            }
            NextStep::WaitUntil(at) => PlannedAction::Wait(Some(at)),
            NextStep::Idle => PlannedAction::Wait(None),
        };
        return Ok(TransitionPlan {
            booking,
            transitions,
            expiry,
            next,
        });
    }
    Err(WorkflowError::TooManyConflicts(booking.id().clone()))
}
