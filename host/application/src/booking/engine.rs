//! Executes the steps of a booking until none is due. The caller's own request and the worker that
//! resumes after a crash both use this code.
//!
//! One transaction is committed between two outbound calls. It stores the outcome of the first
//! call, the intent of the next one, the booking, its history, the events for subscribers and the
//! lease on the workflow. The last transaction releases the lease.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{CallKey, ExecutionContext, RunFindings, WorkflowError};
use crate::booking::history::transition_statements;
use crate::booking::interpret::Interpretation;
use crate::booking::lease::WorkflowLeases;
use crate::booking::plan::{self, PlannedAction, PlannedCall, STEPS_MAX, TransitionPlan};
use crate::booking::step_dependencies::StepDependencies;
use crate::booking::steps::execute::execute_step;
use crate::booking::steps::prepare::PreparedStep;
use crate::config::JobsConfig;
use crate::failpoint::{self, FailpointPhase};
use crate::task_supervisor::TaskSupervisor;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{Booking, BookingEvent, BookingStatus, Named, Orphan, Transition};
use host_domain::id::{AttemptId, BookingId};
use host_storage::{Attempt, CommitError, Conflict, NewAttempt, ReadBooking, UnitOfWork};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Part of a caller's time that is reserved for committing the outcome of a long call.
const DEADLINE_RESERVE: Duration = Duration::from_millis(500);

const CONFLICT_RETRIES_MAX: usize = 8;

/// Name of the operator's open task for each undecided refund.
pub const DECIDE_REFUND_STEP: &str = "decide_refund";

/// Name of the step that books, in the records of its calls.
pub const BOOK_STEP: &str = "book";

pub struct StepOutcome<E> {
    pub step: &'static str,
    /// The attempt that the outcome belongs to, if known.
    pub attempt: Option<AttemptId>,
    pub interpretation: Interpretation<E>,
}

/// The call that is due now, if there is one. Otherwise the lease is released.
pub type NextCall<K> = Option<(Box<PreparedStep<K>>, PlannedCall)>;

/// Whether a commit keeps a lease that this run holds, or acquires one.
#[derive(Clone, Copy)]
enum LeaseAction {
    Keep,
    Acquire,
}

pub struct WorkflowEngine {
    base: Base,
    leases: WorkflowLeases,
    steps: StepDependencies,
    abort_at: String,
    tasks: TaskSupervisor,
}

impl WorkflowEngine {
    pub fn new(jobs: &JobsConfig, steps: StepDependencies, tasks: TaskSupervisor) -> Self {
        Self {
            leases: WorkflowLeases {
                base: steps.base.clone(),
                duration: jobs.lease_duration(),
            },
            abort_at: jobs.abort_at.clone(),
            base: steps.base.clone(),
            steps,
            tasks,
        }
    }

    pub const fn leases(&self) -> &WorkflowLeases {
        &self.leases
    }

    /// Creates the context of one workflow run, with a new lease token.
    pub fn execution_context(&self, request_id: &str, deadline: Instant) -> ExecutionContext {
        ExecutionContext {
            lease_token: format!("{:032x}", self.base.ids.generate()),
            request_id: request_id.to_owned(),
            deadline: deadline.checked_sub(DEADLINE_RESERVE).unwrap_or(deadline),
            instrument: None,
            findings: RunFindings::default(),
        }
    }

    /// Runs a workflow to completion, even if the caller disconnects meanwhile. The future is
    /// boxed: it holds every step's state and would not fit on a thread's stack beside the
    /// request's own state.
    ///
    /// # Errors
    /// [`WorkflowError::TaskPanicked`].
    pub async fn run_to_completion<T: Send + 'static>(
        &self,
        workflow: BoxFuture<'static, T>,
    ) -> Result<T, WorkflowError> {
        let result = self.tasks.run_to_completion(workflow).await;
        result.map_err(|_logged| WorkflowError::TaskPanicked)
    }

    /// Executes the steps that follow, even if the caller disconnects meanwhile.
    pub async fn run_steps_to_completion<K: BookingAggregate>(
        self: &Arc<Self>,
        booking: Booking<K>,
        next: NextCall<K>,
        execution: ExecutionContext,
    ) -> Result<Booking<K>, WorkflowError> {
        let engine = Arc::clone(self);
        let workflow = async move { engine.run_steps(booking, next, &execution).await };
        self.run_to_completion(workflow.boxed()).await?
    }

    pub async fn resume<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        execution: &ExecutionContext,
    ) -> Result<Booking<K>, WorkflowError> {
        let (booking, next) = self.commit_outcome(booking, None, execution).await?;
        self.run_steps(booking, next, execution).await
    }

    pub async fn resume_with_outcome<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        outcome: StepOutcome<BookingEvent<K>>,
        execution: &ExecutionContext,
    ) -> Result<Booking<K>, WorkflowError> {
        let committed = self.commit_outcome(booking, Some(outcome), execution);
        let (booking, next) = committed.await?;
        self.run_steps(booking, next, execution).await
    }

    /// Stores what a caller requests and acquires the lease. Returns `None` if another process
    /// changed the booking or holds the lease.
    pub async fn start<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        event: BookingEvent<K>,
        execution: &ExecutionContext,
        extra_statements: impl FnOnce(&mut UnitOfWork),
    ) -> Result<Option<(Booking<K>, NextCall<K>)>, WorkflowError> {
        let read = ReadBooking::of(&booking);
        let plan = self.plan_transitions(booking, Some(event))?;
        let lease = LeaseAction::Acquire;
        let mut write = self.plan_statements(&read, &plan, None, execution, lease);
        extra_statements(&mut write);
        self.commit_start(plan, write).await
    }

    /// Stores an outcome that was found out separately, for a call that no run waits for, and
    /// acquires the lease. Returns `None` in the same cases as `start`, and if a precondition of
    /// the accompanying statements fails.
    pub async fn start_with_outcome<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        outcome: &StepOutcome<BookingEvent<K>>,
        execution: &ExecutionContext,
        statements: UnitOfWork,
    ) -> Result<Option<(Booking<K>, NextCall<K>)>, WorkflowError> {
        let read = ReadBooking::of(&booking);
        log_outcome(&booking.id, outcome, execution);
        let plan = self.plan_transitions(booking, Some(outcome.interpretation.event.clone()))?;
        let (outcome, lease) = (Some(outcome), LeaseAction::Acquire);
        let mut write = self.plan_statements(&read, &plan, outcome, execution, lease);
        write.append(statements);
        self.commit_start(plan, write).await
    }

    async fn commit_start<K: BookingAggregate>(
        &self,
        plan: TransitionPlan<K>,
        write: UnitOfWork,
    ) -> Result<Option<(Booking<K>, NextCall<K>)>, WorkflowError> {
        let is_committed = self.base.try_commit(write).await?;
        Ok(is_committed.then(|| self.after_commit(plan)))
    }

    /// Executes the steps that follow and renews the lease meanwhile.
    pub async fn run_steps<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        next: NextCall<K>,
        execution: &ExecutionContext,
    ) -> Result<Booking<K>, WorkflowError> {
        if next.is_none() {
            return Ok(booking);
        }
        let id = booking.id.clone();
        let steps = self.step_loop(booking, next, execution).boxed();
        let run = self.leases.with_lease(K::JOB_KIND, &id, execution, steps);
        run.await.map_err(WorkflowError::after_send)
    }

    async fn step_loop<K: BookingAggregate>(
        &self,
        mut booking: Booking<K>,
        mut next: NextCall<K>,
        execution: &ExecutionContext,
    ) -> Result<Booking<K>, WorkflowError> {
        for _ in 0..STEPS_MAX {
            let Some((prepared, call)) = next else {
                return Ok(booking);
            };
            let attempt = match call {
                PlannedCall::Record { attempt, .. } => Some(attempt),
                PlannedCall::Reconcile(call) => {
                    self.find_unresolved_attempt(&booking, &call).await?
                }
            };
            let name = prepared.step.name();
            let interpretation = execute_step(&booking, *prepared, &self.steps, execution).await?;
            let attempt = match found_orphan(&interpretation) {
                Some(_) => self.find_book_attempt(&booking).await?,
                None => attempt,
            };
            let outcome = StepOutcome {
                step: name,
                attempt,
                interpretation,
            };
            let committed = self.commit_outcome(booking, Some(outcome), execution);
            (booking, next) = committed.await?;
        }
        tracing::error!(booking = %booking.id, status = booking.status().as_str(), "a booking exceeded the maximum number of steps in one run; check the rules of its state machine");
        Err(WorkflowError::TooManySteps(booking.id.clone()))
    }

    /// Stores the outcome of a call, together with the intent of the next one or the release of the
    /// lease. If the booking changed meanwhile, applies the outcome to its current state.
    async fn commit_outcome<K: BookingAggregate>(
        &self,
        mut booking: Booking<K>,
        outcome: Option<StepOutcome<BookingEvent<K>>>,
        execution: &ExecutionContext,
    ) -> Result<(Booking<K>, NextCall<K>), WorkflowError> {
        let id = booking.id.clone();
        if let Some(outcome) = &outcome {
            self.hit_failpoint(outcome.step, FailpointPhase::ResponseReceived);
            log_outcome(&id, outcome, execution);
        }
        for _ in 0..CONFLICT_RETRIES_MAX {
            let read = ReadBooking::of(&booking);
            let (result, lease) = (outcome.as_ref(), LeaseAction::Keep);
            let event = result.map(|outcome| outcome.interpretation.event.clone());
            let plan = self.plan_transitions(booking, event)?;
            let write = self.plan_statements(&read, &plan, result, execution, lease);
            match self.base.store.commit(write).await {
                Ok(()) => {
                    if let Some(outcome) = &outcome {
                        self.hit_failpoint(outcome.step, FailpointPhase::OutcomeCommitted);
                        report_orphan(&plan.booking, outcome);
                    }
                    return Ok(self.after_commit(plan));
                }
                Err(CommitError::Conflict(Conflict::LeaseLost)) => {
                    return Err(WorkflowError::LeaseLost(id));
                }
                Err(CommitError::Conflict(conflict)) => {
                    tracing::debug!(booking = %id, %conflict, "the booking changed meanwhile; the outcome is applied to its new state");
                    let current = self.base.store.booking_unscoped::<K>(&id).await?;
                    booking = current.ok_or_else(|| WorkflowError::BookingMissing(id.clone()))?;
                }
                Err(CommitError::Database(error)) => return Err(error.into()),
            }
        }
        Err(WorkflowError::TooManyConflicts(id))
    }

    fn plan_transitions<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        event: Option<BookingEvent<K>>,
    ) -> Result<TransitionPlan<K>, WorkflowError> {
        let (now, reconcile_at) = (self.base.now(), self.steps.first_reconcile_at());
        let on_step_planned = |step| self.hit_failpoint(step, FailpointPhase::StepPlanned);
        let ids = &*self.base.ids;
        plan::plan_transitions(booking, event, now, reconcile_at, ids, on_step_planned)
    }

    fn plan_statements<K: BookingAggregate>(
        &self,
        read: &ReadBooking,
        plan: &TransitionPlan<K>,
        outcome: Option<&StepOutcome<BookingEvent<K>>>,
        execution: &ExecutionContext,
        lease: LeaseAction,
    ) -> UnitOfWork {
        let booking = &plan.booking;
        let tenant = &booking.owner.tenant;
        let reason = outcome.map(|outcome| outcome.interpretation.evidence.as_str());
        let (base, request_id) = (&self.base, &execution.request_id);
        let mut write = transition_statements(base, read, &plan.transitions, reason, request_id);
        if let Some(outcome) = outcome
            && let Some(id) = &outcome.attempt
        {
            let interpretation = &outcome.interpretation;
            let reference = interpretation.reference.as_deref();
            let result = interpretation.outcome.into();
            match found_orphan(interpretation) {
                Some(_) => write.reopen_attempt(tenant, id, reference, reason),
                None => write.finish_attempt(tenant, id, result, reference, reason),
            };
        }
        self.append_attempts(&mut write, plan);
        self.append_refund_decisions(&mut write, plan, reason);
        let lease_ms = self.leases.duration_ms();
        append_lease_statements(&mut write, plan, execution, lease, lease_ms);
        write
    }

    /// Adds the attempt of the next call.
    fn append_attempts<K: BookingAggregate>(
        &self,
        write: &mut UnitOfWork,
        plan: &TransitionPlan<K>,
    ) {
        let booking = &plan.booking;
        let tenant = &booking.owner.tenant;
        if let PlannedAction::Execute(_, next) = &plan.next
            && let PlannedCall::Record {
                attempt,
                step,
                call,
            } = next
        {
            let supplier = self.steps.suppliers.loaded(&call.target);
            let digest = supplier.map(|supplier| supplier.info().digest.clone());
            let attempt = NewAttempt {
                id: attempt.clone(),
                booking_id: booking.id.clone(),
                step: (*step).to_owned(),
                target: call.target.clone(),
                client_reference: call.client_reference.clone(),
                plugin_digest: digest.unwrap_or_default(),
                request_digest: call.request_digest.clone(),
            };
            write.record_attempt(tenant, &attempt);
        }
    }

    /// Adds an operator's task for each refund that became undecided. No supplier or processor can
    /// decide it.
    fn append_refund_decisions<K: BookingAggregate>(
        &self,
        write: &mut UnitOfWork,
        plan: &TransitionPlan<K>,
        evidence: Option<&str>,
    ) {
        let booking = &plan.booking;
        for reference in &plan.undecided_refunds {
            tracing::warn!(booking = %booking.id, supplier = %booking.supplier, reference, evidence, "the refund of a cancellation is undecided; set it with POST /unresolved/{{booking_id}}");
            let decision = NewAttempt {
                id: AttemptId::from_bits(self.base.ids.generate()),
                booking_id: booking.id.clone(),
                step: DECIDE_REFUND_STEP.to_owned(),
                target: booking.supplier.clone(),
                client_reference: reference.clone(),
                plugin_digest: String::new(),
                request_digest: String::new(),
            };
            write.record_attempt(&booking.owner.tenant, &decision);
        }
    }

    fn after_commit<K: BookingAggregate>(
        &self,
        plan: TransitionPlan<K>,
    ) -> (Booking<K>, NextCall<K>) {
        if let Some(expiry) = plan.expiry {
            self.hit_failpoint(expiry.name(), FailpointPhase::OutcomeCommitted);
        }
        self.count_confirmation(&plan.transitions);
        let next = match plan.next {
            PlannedAction::Execute(prepared, call) => {
                if matches!(call, PlannedCall::Record { .. }) {
                    self.hit_failpoint(prepared.step.name(), FailpointPhase::IntentCommitted);
                }
                Some((prepared, call))
            }
            PlannedAction::Wait(_) => None,
        };
        (plan.booking, next)
    }

    /// Counts the amount of a booking that was just confirmed.
    fn count_confirmation<K: BookingAggregate>(&self, transitions: &[Transition<Booking<K>>]) {
        let is_confirmation = |transition: &&Transition<Booking<K>>| {
            transition.from_status == BookingStatus::CompleteInProgress.as_str()
                && transition.booking.confirmed_at.is_some()
        };
        if let Some(Transition { booking, .. }) = transitions.iter().find(is_confirmation) {
            let (tenant, amount) = (&booking.owner.tenant, booking.details.booked_price());
            self.steps
                .recorder
                .count_confirmed_booking(tenant, booking.updated_at, amount);
        }
    }

    /// Returns the latest unresolved attempt of a call, if there is one.
    async fn find_unresolved_attempt<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        call: &CallKey,
    ) -> Result<Option<AttemptId>, WorkflowError> {
        let attempts = self.unresolved_attempts(booking).await?;
        let mut newest_first = attempts.into_iter().rev();
        let attempt = newest_first.find(|attempt| call.matches(attempt));
        Ok(attempt.map(|attempt| attempt.call.id))
    }

    /// Returns the latest call that booked, whatever its outcome.
    async fn find_book_attempt<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
    ) -> Result<Option<AttemptId>, WorkflowError> {
        let tenant = &booking.owner.tenant;
        let attempts = self.base.store.attempts(tenant, &booking.id).await?;
        let key = CallKey::of_step(BOOK_STEP);
        let mut newest_first = attempts.into_iter().rev();
        let attempt = newest_first.find(|attempt| key.matches(attempt));
        Ok(attempt.map(|attempt| attempt.call.id))
    }

    /// Returns the attempts whose outcome is unknown, oldest first.
    pub async fn unresolved_attempts<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
    ) -> Result<Vec<Attempt>, WorkflowError> {
        let tenant = &booking.owner.tenant;
        let mut attempts = self.base.store.attempts(tenant, &booking.id).await?;
        attempts.retain(|attempt| attempt.outcome.is_unresolved());
        Ok(attempts)
    }

    /// Aborts the process if the configuration names this failpoint.
    pub fn hit_failpoint(&self, step: &str, phase: FailpointPhase) {
        failpoint::hit(&self.abort_at, step, phase);
    }
}

fn append_lease_statements<K: BookingAggregate>(
    write: &mut UnitOfWork,
    plan: &TransitionPlan<K>,
    execution: &ExecutionContext,
    lease: LeaseAction,
    lease_ms: i64,
) {
    let booking = &plan.booking;
    let (job, subject, token) = (K::JOB_KIND, booking.id.as_str(), &execution.lease_token);
    if matches!(lease, LeaseAction::Acquire) {
        write.insert_leased_job(job, subject, token, lease_ms);
    }
    match &plan.next {
        PlannedAction::Execute(..) if matches!(lease, LeaseAction::Acquire) => {}
        PlannedAction::Execute(..) => {
            write.renew_job_lease(job, subject, token, lease_ms);
        }
        PlannedAction::Wait(Some(at)) => {
            write.release_job(job, subject, token, *at);
        }
        PlannedAction::Wait(None) => {
            write.complete_job(job, subject, token);
        }
    }
}

/// Returns the orphan that a lookup of a failed booking found.
const fn found_orphan<K: BookingAggregate>(
    interpretation: &Interpretation<BookingEvent<K>>,
) -> Option<&Orphan> {
    if let BookingEvent::OrphanFound(orphan) = &interpretation.event {
        Some(orphan)
    } else {
        None
    }
}

/// Reports a booking that the supplier has although it failed at the gateway. The payer is not
/// charged for it, and only an operator can cancel it.
fn report_orphan<K: BookingAggregate>(
    booking: &Booking<K>,
    outcome: &StepOutcome<BookingEvent<K>>,
) {
    let Some(orphan) = found_orphan(&outcome.interpretation) else {
        return;
    };
    let supplier = booking.supplier.to_string();
    metrics::counter!(crate::metric_names::ORPHANED_BOOKINGS_TOTAL, "supplier" => supplier)
        .increment(1);
    tracing::error!(
        booking = %booking.id,
        supplier = %booking.supplier,
        supplier_reference = orphan.supplier_reference,
        evidence = outcome.interpretation.evidence,
        "a failed booking was found at its supplier; GET /unresolved on the admin listener lists it, and an operator has to cancel it there"
    );
}

fn log_outcome<E>(booking: &BookingId, outcome: &StepOutcome<E>, execution: &ExecutionContext) {
    let interpretation = &outcome.interpretation;
    tracing::info!(
        %booking,
        step = outcome.step,
        outcome = interpretation.outcome.as_str(),
        evidence = interpretation.evidence,
        request_id = execution.request_id,
        "a step of a booking has ended"
    );
}
