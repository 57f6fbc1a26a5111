//! Plans the transitions of a booking up to its next call. The code is pure: it makes no call and
//! does not read the database.

use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{CallKey, OutboundCall, StepRecord, WorkflowError};
use crate::booking::steps::prepare::{PreparedStep, prepare_step};
use crate::id_generator::IdGenerator;
use host_domain::booking::{Booking, BookingEvent, Named, Transition};
use host_domain::id::AttemptId;
use host_domain::time::Timestamp;
use host_domain::workflow::{Expiry, NextStep};

/// Maximum number of steps in one run. A booking takes four; the bound only stops an endless loop
/// that a mistake in the state machine would cause.
pub const STEPS_MAX: usize = 32;

/// Transitions that are stored together, and the action that follows them.
pub struct TransitionPlan<K: BookingAggregate> {
    pub booking: Booking<K>,
    pub transitions: Vec<Transition<Booking<K>>>,
    /// The gateway's references of the cancellations whose refund became undecided.
    pub undecided_refunds: Vec<String>,
    pub expiry: Option<Expiry>,
    pub next: PlannedAction<K>,
}

pub enum PlannedAction<K: BookingAggregate> {
    Execute(Box<PreparedStep<K>>, PlannedCall),
    Wait(Option<Timestamp>),
}

pub enum PlannedCall {
    /// The call may change something. Its intent is committed before it is sent.
    Record {
        attempt: AttemptId,
        step: &'static str,
        call: OutboundCall,
    },
    /// The call reads what became of this earlier call.
    Reconcile(CallKey),
}

/// Plans the transitions up to the next call, or to the point where nothing is due. The plan covers
/// everything that is decided without a call and without the database. `on_step_planned` is called
/// with the name of each step.
pub fn plan_transitions<K: BookingAggregate>(
    mut booking: Booking<K>,
    mut event: Option<BookingEvent<K>>,
    now: Timestamp,
    first_reconcile_at: Timestamp,
    ids: &dyn IdGenerator,
    on_step_planned: impl Fn(&'static str),
) -> Result<TransitionPlan<K>, WorkflowError> {
    let (mut transitions, mut expiry) = (Vec::new(), None);
    let undecided_before = K::undecided_refunds(&booking);
    for _ in 0..STEPS_MAX {
        if let Some(event) = event.take() {
            let transition = booking.apply(event, now)?;
            booking = transition.booking.clone();
            transitions.push(transition);
        }
        let next = match booking.next_step(now) {
            NextStep::Run(step) => {
                let name = step.name();
                let prepared = prepare_step(&booking, step, first_reconcile_at);
                let (step, record) =
                    prepared.ok_or_else(|| WorkflowError::BookingMissing(booking.id.clone()))?;
                let call = match record {
                    StepRecord::Intent(intent, call) => {
                        on_step_planned(name);
                        let transition = booking.apply(intent, now)?;
                        booking = transition.booking.clone();
                        transitions.push(transition);
                        PlannedCall::Record {
                            attempt: AttemptId::from_bits(ids.generate()),
                            step: name,
                            call,
                        }
                    }
                    StepRecord::Reconcile(call) => PlannedCall::Reconcile(call),
                };
                PlannedAction::Execute(Box::new(step), call)
            }
            NextStep::Expire(due) => {
                on_step_planned(due.name());
                expiry = Some(due);
                event = Some(match due {
                    Expiry::PrebookTimeout => BookingEvent::PrebookTimedOut,
                    Expiry::Offer => BookingEvent::OfferExpired,
                });
                continue;
            }
            NextStep::WaitUntil(at) => PlannedAction::Wait(Some(at)),
            NextStep::Idle => PlannedAction::Wait(None),
        };
        let mut undecided_refunds = K::undecided_refunds(&booking);
        undecided_refunds.retain(|reference| !undecided_before.contains(reference));
        return Ok(TransitionPlan {
            booking,
            transitions,
            undecided_refunds,
            expiry,
            next,
        });
    }
    Err(WorkflowError::TooManySteps(booking.id.clone()))
}
