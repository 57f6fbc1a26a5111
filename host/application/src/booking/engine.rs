//! Executes the steps of a booking until none is due. The caller's own request and the worker that
//! resumes after a crash both use this code.
//!
//! One transaction is committed between two outbound calls. It stores the outcome of the first
//! call, the intent of the next one, the booking, its history, the events for subscribers and the
//! lease on the workflow. The last transaction releases the lease.

use crate::application::Application;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{
    CallKey, ExecutionContext, OutboundCall, StepPreparation, WorkflowError,
};
use crate::booking::interpret::Interpretation;
use crate::failpoint::{self, FailpointPhase};
use crate::id_generator::IdGenerator;
use futures::FutureExt;
use host_domain::booking::{Expiry, Transition};
use host_domain::id::{AttemptId, BookingId, EventId};
use host_domain::payment::NextStep;
use host_domain::time::Timestamp;
use host_storage::{
    Attempt, AttemptOutcome, BookingHistoryEntry, CommitError, Conflict, NewAttempt, OutboxEvent,
    UnitOfWork,
};

/// Maximum number of steps in one run. A booking takes four; the bound only stops an endless loop
/// that a mistake in the state machine would cause.
const STEPS_MAX: usize = 32;

/// Maximum number of attempts to store an outcome if the booking changes meanwhile.
const CONFLICT_RETRIES_MAX: usize = 8;

/// Name of the operator's open task while a refund is undecided.
pub const DECIDE_REFUND_STEP: &str = "decide_refund";

/// The outcome of a step's call.
pub struct StepOutcome<E> {
    /// Name of the step.
    pub step: &'static str,
    /// The attempt that the outcome belongs to, if known.
    pub attempt: Option<AttemptId>,
    /// Interpretation of the outcome for the booking.
    pub interpretation: Interpretation<E>,
}

/// The action that follows a commit.
pub enum NextAction<S> {
    /// Makes a call. If the call may change something, its intent is committed under this attempt.
    Execute(S, Option<AttemptId>),
    /// Makes no call: none is due, at all or before a later instant. The lease is released.
    Idle,
}

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
    /// Make this call. The second field is its intent, if the call may change something.
    Execute(S, Option<(AttemptId, &'static str, OutboundCall)>),
    /// Wait until this instant, or indefinitely.
    Wait(Option<Timestamp>),
}

/// Whether a commit keeps a lease that this run holds, or acquires one.
#[derive(Clone, Copy)]
enum LeaseAction {
    Keep,
    Acquire,
}

impl Application {
    /// Continues a workflow from a stored booking.
    pub async fn resume<B: BookingAggregate>(
        &self,
        booking: B,
        execution: &ExecutionContext,
    ) -> Result<B, WorkflowError> {
        let (booking, then) = self.commit_outcome(booking, None, execution).await?;
        self.run_steps(booking, then, execution).await
    }

    /// Stores the outcome of a call and continues the workflow.
    pub async fn resume_with_outcome<B: BookingAggregate>(
        &self,
        booking: B,
        told: StepOutcome<B::Event>,
        execution: &ExecutionContext,
    ) -> Result<B, WorkflowError> {
        let (booking, then) = self.commit_outcome(booking, Some(told), execution).await?;
        self.run_steps(booking, then, execution).await
    }

    /// Stores what a caller requests and acquires the lease. Returns `None` if another process
    /// changed the booking or holds the lease.
    pub async fn start<B: BookingAggregate>(
        &self,
        booking: B,
        event: B::Event,
        execution: &ExecutionContext,
        more: impl FnOnce(&mut UnitOfWork),
    ) -> Result<Option<(B, NextAction<B::Step>)>, WorkflowError> {
        let read_version = booking.version();
        let plan = self.plan_transitions(booking, Some(event))?;
        let mut write =
            self.plan_statements(read_version, &plan, None, execution, LeaseAction::Acquire);
        more(&mut write);
        self.commit_start(plan, write).await
    }

    /// Stores an outcome that was found out separately, for a call that no run waits for, and
    /// acquires the lease. Returns `None` in the same cases as `start`.
    pub async fn start_with_outcome<B: BookingAggregate>(
        &self,
        booking: B,
        told: &StepOutcome<B::Event>,
        execution: &ExecutionContext,
    ) -> Result<Option<(B, NextAction<B::Step>)>, WorkflowError> {
        let read_version = booking.version();
        Self::log_outcome(booking.id(), told, execution);
        let plan = self.plan_transitions(booking, Some(told.interpretation.event.clone()))?;
        let write = self.plan_statements(
            read_version,
            &plan,
            Some(told),
            execution,
            LeaseAction::Acquire,
        );
        self.commit_start(plan, write).await
    }

    async fn commit_start<B: BookingAggregate>(
        &self,
        plan: TransitionPlan<B>,
        write: UnitOfWork,
    ) -> Result<Option<(B, NextAction<B::Step>)>, WorkflowError> {
        match self.store.commit(write).await {
            Ok(()) => Ok(Some(self.after_commit(plan))),
            Err(CommitError::Conflict(_)) => Ok(None),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    /// Executes the steps that follow and renews the lease meanwhile.
    pub async fn run_steps<B: BookingAggregate>(
        &self,
        booking: B,
        then: NextAction<B::Step>,
        execution: &ExecutionContext,
    ) -> Result<B, WorkflowError> {
        if matches!(then, NextAction::Idle) {
            return Ok(booking);
        }
        let id = booking.id().clone();
        self.with_lease(
            B::JOB_KIND,
            &id,
            execution,
            self.step_loop(booking, then, execution).boxed(),
        )
        .await
        .map_err(WorkflowError::after_send)
    }

    async fn step_loop<B: BookingAggregate>(
        &self,
        mut booking: B,
        mut then: NextAction<B::Step>,
        execution: &ExecutionContext,
    ) -> Result<B, WorkflowError> {
        for _ in 0..STEPS_MAX {
            let (step, attempt) = match then {
                NextAction::Execute(step, attempt) => (step, attempt),
                NextAction::Idle => return Ok(booking),
            };
            let attempt = match (
                attempt,
                booking.prepare_step(&step, self.first_reconcile_at()),
            ) {
                (None, Some(StepPreparation::Reconcile(made))) => {
                    self.find_unresolved_attempt(&booking, &made).await?
                }
                (attempt, _) => attempt,
            };
            let judgement = booking.execute_step(&step, self, execution).await?;
            let told = StepOutcome {
                step: B::step_name(&step),
                attempt,
                interpretation: judgement,
            };
            (booking, then) = self.commit_outcome(booking, Some(told), execution).await?;
        }
        tracing::error!(booking = %booking.id(), status = booking.status_str(), "a booking exceeded the maximum number of steps in one run; check the rules of its state machine");
        Err(WorkflowError::TooManyConflicts(booking.id().clone()))
    }

    /// Stores the outcome of a call, together with the intent of the next one or the release of the
    /// lease. If the booking changed meanwhile, applies the outcome to its current state.
    async fn commit_outcome<B: BookingAggregate>(
        &self,
        mut booking: B,
        told: Option<StepOutcome<B::Event>>,
        execution: &ExecutionContext,
    ) -> Result<(B, NextAction<B::Step>), WorkflowError> {
        let id = booking.id().clone();
        if let Some(told) = &told {
            self.failpoint(told.step, FailpointPhase::ResponseReceived);
            Self::log_outcome(&id, told, execution);
        }
        for _ in 0..CONFLICT_RETRIES_MAX {
            let read_version = booking.version();
            let event = told.as_ref().map(|told| told.interpretation.event.clone());
            let plan = self.plan_transitions(booking, event)?;
            let write = self.plan_statements(
                read_version,
                &plan,
                told.as_ref(),
                execution,
                LeaseAction::Keep,
            );
            match self.store.commit(write).await {
                Ok(()) => {
                    if let Some(told) = &told {
                        self.failpoint(told.step, FailpointPhase::OutcomeCommitted);
                    }
                    return Ok(self.after_commit(plan));
                }
                Err(CommitError::Conflict(Conflict::LeaseLost)) => {
                    return Err(WorkflowError::LeaseLost(id));
                }
                Err(CommitError::Conflict(conflict)) => {
                    tracing::debug!(booking = %id, %conflict, "the booking changed meanwhile; the outcome is applied to its new state");
                    let current = B::load(&self.store, &id).await?;
                    booking = current.ok_or_else(|| WorkflowError::BookingMissing(id.clone()))?;
                }
                Err(CommitError::Database(error)) => return Err(error.into()),
            }
        }
        Err(WorkflowError::TooManyConflicts(id))
    }

    fn log_outcome<E>(booking: &BookingId, told: &StepOutcome<E>, execution: &ExecutionContext) {
        let (outcome, evidence) = (
            told.interpretation.outcome.as_str(),
            told.interpretation.evidence.as_str(),
        );
        tracing::info!(%booking, step = told.step, outcome, evidence, request_id = execution.request_id, "step");
    }

    fn plan_transitions<B: BookingAggregate>(
        &self,
        booking: B,
        event: Option<B::Event>,
    ) -> Result<TransitionPlan<B>, WorkflowError> {
        let (now, first_check) = (self.clock.now(), self.first_reconcile_at());
        let chosen = |step| self.failpoint(step, FailpointPhase::StepPlanned);
        plan_transitions(booking, event, now, first_check, &*self.ids, chosen)
    }

    fn plan_statements<B: BookingAggregate>(
        &self,
        read_version: i64,
        plan: &TransitionPlan<B>,
        told: Option<&StepOutcome<B::Event>>,
        execution: &ExecutionContext,
        claim: LeaseAction,
    ) -> UnitOfWork {
        let booking = &plan.booking;
        let tenant = &booking.owner().tenant;
        let why = told.map(|told| told.interpretation.evidence.as_str());
        let mut write =
            self.transition_statements(read_version, &plan.transitions, why, &execution.request_id);
        if let Some(told) = told
            && let Some(id) = &told.attempt
        {
            let Interpretation {
                outcome,
                reference,
                evidence,
                ..
            } = &told.interpretation;
            write.finish_attempt(
                tenant,
                id,
                (*outcome).into(),
                reference.as_deref(),
                Some(evidence),
            );
        }
        if let PlannedAction::Execute(_, Some((id, step, call))) = &plan.next {
            let digest = self
                .runtime
                .supplier(&call.target)
                .map_or_else(String::new, |supplier| supplier.info().digest.clone());
            let attempt = NewAttempt {
                id: id.clone(),
                booking_id: booking.id().clone(),
                step: (*step).to_owned(),
                target: call.target.clone(),
                client_reference: call.client_reference.clone(),
                plugin_digest: digest,
                request_digest: call.request_digest.clone(),
            };
            write.record_attempt(tenant, &attempt);
        }
        // No supplier or processor can decide this refund, so it becomes a task for an operator.
        let is_new = |moved: &Transition<B>| moved.from_status != booking.status_str();
        if booking.pending_refund_decision().is_some() && plan.transitions.iter().any(is_new) {
            let question = NewAttempt {
                id: AttemptId::from_bits(self.ids.generate()),
                booking_id: booking.id().clone(),
                step: DECIDE_REFUND_STEP.to_owned(),
                target: booking.supplier().clone(),
                client_reference: booking.id().to_string(),
                plugin_digest: String::new(),
                request_digest: String::new(),
            };
            write.record_attempt(tenant, &question);
        }
        let (job, subject, token) = (
            B::JOB_KIND,
            booking.id().as_str(),
            execution.lease_token.as_str(),
        );
        if matches!(claim, LeaseAction::Acquire) {
            write.insert_leased_job(job, subject, token, self.lease_ms());
        }
        match &plan.next {
            PlannedAction::Execute(..) if matches!(claim, LeaseAction::Acquire) => {}
            PlannedAction::Execute(..) => {
                write.renew_job_lease(job, subject, token, self.lease_ms());
            }
            PlannedAction::Wait(Some(at)) => {
                write.release_job(job, subject, token, *at);
            }
            PlannedAction::Wait(None) => {
                write.complete_job(job, subject, token);
            }
        }
        write
    }

    fn after_commit<B: BookingAggregate>(
        &self,
        plan: TransitionPlan<B>,
    ) -> (B, NextAction<B::Step>) {
        if let Some(lapse) = plan.expiry {
            self.failpoint(lapse.name(), FailpointPhase::OutcomeCommitted);
        }
        let then = match plan.next {
            PlannedAction::Execute(step, attempt) => {
                if attempt.is_some() {
                    self.failpoint(B::step_name(&step), FailpointPhase::IntentCommitted);
                }
                NextAction::Execute(step, attempt.map(|(id, _, _)| id))
            }
            PlannedAction::Wait(_) => NextAction::Idle,
        };
        (plan.booking, then)
    }

    /// Builds the statements that store a booking's transitions. `why` is the reason of the first
    /// transition.
    pub fn transition_statements<B: BookingAggregate>(
        &self,
        read_version: i64,
        moves: &[Transition<B>],
        why: Option<&str>,
        request_id: &str,
    ) -> UnitOfWork {
        let mut write = UnitOfWork::new(self.clock.now());
        if let Some(last) = moves.last() {
            last.booking.update(read_version, &mut write);
        }
        self.append_history_and_events(&mut write, moves, why, request_id);
        write
    }

    /// Adds the history entries of transitions and the events for subscribers. `why` is the reason
    /// of the first transition.
    pub fn append_history_and_events<B: BookingAggregate>(
        &self,
        write: &mut UnitOfWork,
        moves: &[Transition<B>],
        why: Option<&str>,
        request_id: &str,
    ) {
        let mut why = why;
        for moved in moves {
            let booking = &moved.booking;
            let tenant = &booking.owner().tenant;
            write.append_booking_history(
                tenant,
                &BookingHistoryEntry {
                    booking_id: booking.id().clone(),
                    sequence: booking.version(),
                    event: moved.event.to_owned(),
                    from_status: Some(moved.from_status.to_owned()),
                    to_status: booking.status_str().to_owned(),
                    reason: why.take().map(str::to_owned),
                    request_id: Some(request_id.to_owned()),
                    occurred_at: booking.updated_at(),
                },
            );
            for notice in &moved.notifications {
                let id = EventId::from_bits(self.ids.generate());
                let payload = booking.event_payload(&id, notice);
                write.publish(
                    tenant,
                    &OutboxEvent {
                        id,
                        event_type: notice.event_type.as_str().to_owned(),
                        product: B::PRODUCT,
                        booking_id: Some(booking.id().clone()),
                        payload,
                        created_at: booking.updated_at(),
                    },
                );
            }
        }
    }

    /// Returns the latest unresolved attempt of a call, if there is one.
    async fn find_unresolved_attempt<B: BookingAggregate>(
        &self,
        booking: &B,
        made: &CallKey,
    ) -> Result<Option<AttemptId>, WorkflowError> {
        let open = self.unresolved_attempts(booking).await?;
        let found = open.into_iter().rev().find(|attempt| made.matches(attempt));
        Ok(found.map(|attempt| attempt.call.id))
    }

    /// Returns the attempts whose outcome is unknown, oldest first.
    pub async fn unresolved_attempts<B: BookingAggregate>(
        &self,
        booking: &B,
    ) -> Result<Vec<Attempt>, WorkflowError> {
        let tenant = &booking.owner().tenant;
        let mut attempts = self.store.attempts(tenant, booking.id()).await?;
        attempts.retain(|attempt| {
            let outcome = attempt.outcome;
            matches!(outcome, AttemptOutcome::Sent | AttemptOutcome::Unknown)
        });
        Ok(attempts)
    }

    pub fn failpoint(&self, step: &str, phase: FailpointPhase) {
        failpoint::hit(&self.config.jobs.abort_at, step, phase);
    }
}

/// Plans the transitions up to the next call, or to the point where nothing is due. The plan covers
/// everything that is decided without a call and without the database. `chosen` is called with the
/// name of each step.
pub fn plan_transitions<B: BookingAggregate>(
    mut booking: B,
    mut event: Option<B::Event>,
    now: Timestamp,
    first_check: Timestamp,
    ids: &dyn IdGenerator,
    chosen: impl Fn(&'static str),
) -> Result<TransitionPlan<B>, WorkflowError> {
    let (mut moves, mut lapsed) = (Vec::new(), None);
    for _ in 0..STEPS_MAX {
        if let Some(event) = event.take() {
            let moved = booking.apply(event, now)?;
            booking = moved.booking.clone();
            moves.push(moved);
        }
        let step = match booking.next_step(now) {
            NextStep::Run(step) => step,
            NextStep::Expire(lapse) => {
                chosen(lapse.name());
                lapsed = Some(lapse);
                event = Some(B::expired_event(lapse));
                continue;
            }
            NextStep::WaitUntil(at) => return Ok(idle_plan(booking, moves, lapsed, Some(at))),
            NextStep::Idle => return Ok(idle_plan(booking, moves, lapsed, None)),
        };
        let name = B::step_name(&step);
        let begin = booking.prepare_step(&step, first_check);
        match begin.ok_or_else(|| WorkflowError::BookingMissing(booking.id().clone()))? {
            StepPreparation::RecordThenSend(mark, call) => {
                chosen(name);
                let moved = booking.apply(mark, now)?;
                let id = AttemptId::from_bits(ids.generate());
                return Ok(TransitionPlan {
                    booking: moved.booking.clone(),
                    transitions: moves.into_iter().chain([moved]).collect(),
                    expiry: lapsed,
                    next: PlannedAction::Execute(step, Some((id, name, call))),
                });
            }
            StepPreparation::Reconcile(_) => {
                return Ok(TransitionPlan {
                    booking,
                    transitions: moves,
                    expiry: lapsed,
                    next: PlannedAction::Execute(step, None),
                });
            }
        }
    }
    Err(WorkflowError::TooManyConflicts(booking.id().clone()))
}

fn idle_plan<B: BookingAggregate>(
    booking: B,
    moves: Vec<Transition<B>>,
    lapse: Option<Expiry>,
    at: Option<Timestamp>,
) -> TransitionPlan<B> {
    TransitionPlan {
        booking,
        transitions: moves,
        expiry: lapse,
        next: PlannedAction::Wait(at),
    }
}
