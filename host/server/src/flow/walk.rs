//! Walks the steps of a booking until nothing is due. The caller's own call and
//! the worker that resumes after a crash both come here.
//!
//! Between two outward calls there is one transaction: the outcome of the one,
//! the mark of the next, the booking, its history, what subscribers are told,
//! and the claim on the work, which ends in the last one.

use crate::app::App;
use crate::flow::bookable::Bookable;
use crate::flow::failpoint::{self, Phase};
use crate::flow::judge::Judgement;
use crate::flow::step::{Begin, Call, FlowError, Made, Walker};
use crate::id::IdSource;
use futures::FutureExt;
use host_domain::booking::{Expiry, Transition};
use host_domain::id::{AttemptId, BookingId, EventId};
use host_domain::payment::NextStep;
use host_domain::time::Timestamp;
use host_storage::{
    Attempt, AttemptOutcome, BookingHistoryEntry, CommitError, Conflict, NewAttempt, OutboxEvent, UnitOfWork,
};

/// The most steps of one walk. A booking takes four; the bound only keeps a
/// mistake in the rules from spinning.
const STEPS_MAX: usize = 32;

/// How often an outcome is stored again against a booking that moved meanwhile.
const CONFLICT_RETRIES_MAX: usize = 8;

/// What stands on the operator's list while a refund is held.
pub(crate) const DECIDE_REFUND: &str = "decide_refund";

/// What came of a call.
pub(crate) struct Told<E> {
    /// The name of the step.
    pub(crate) step: &'static str,
    /// The call that it settles, where that is known.
    pub(crate) attempt: Option<AttemptId>,
    /// What it means.
    pub(crate) judgement: Judgement<E>,
}

/// What follows after what is stored.
pub(crate) enum Then<S> {
    /// A call is to be made; its mark is stored.
    Call(S, Option<AttemptId>),
    /// Nothing is due before this instant, or at all; the claim is given back.
    Rest,
}

/// Moves that are stored together, and what follows them.
pub(crate) struct Plan<B: Bookable> {
    pub(crate) booking: B,
    pub(crate) moves: Vec<Transition<B>>,
    /// What happened among them by itself.
    pub(crate) lapse: Option<Expiry>,
    pub(crate) then: Planned<B::Step>,
}

/// What follows what is planned to be stored.
pub(crate) enum Planned<S> {
    /// This call; with its mark, if it may change something.
    Call(S, Option<(AttemptId, &'static str, Call)>),
    /// Nothing before this instant, or at all.
    Rest(Option<Timestamp>),
}

/// Whether the work is claimed with this walker's token already.
#[derive(Clone, Copy)]
enum Claim {
    Held,
    Taken,
}

impl App {
    /// Walks on from a stored booking.
    pub(crate) async fn drive<B: Bookable>(
        &self,
        booking: B,
        walker: &Walker,
    ) -> Result<B, FlowError> {
        let (booking, then) = self.advance(booking, None, walker).await?;
        self.go_on(booking, then, walker).await
    }

    /// Stores what came of a call, and walks on.
    pub(crate) async fn drive_on<B: Bookable>(
        &self,
        booking: B,
        told: Told<B::Event>,
        walker: &Walker,
    ) -> Result<B, FlowError> {
        let (booking, then) = self.advance(booking, Some(told), walker).await?;
        self.go_on(booking, then, walker).await
    }

    /// Stores what a caller asks for and claims the work; none when somebody
    /// else moved the booking, or works on it.
    pub(crate) async fn start<B: Bookable>(
        &self,
        booking: B,
        event: B::Event,
        walker: &Walker,
        more: impl FnOnce(&mut UnitOfWork),
    ) -> Result<Option<(B, Then<B::Step>)>, FlowError> {
        let read_version = booking.version();
        let plan = self.plan(booking, Some(event))?;
        let mut write = self.write_plan(read_version, &plan, None, walker, Claim::Taken);
        more(&mut write);
        self.claim(plan, write).await
    }

    /// The same of what somebody found out about a call that nobody waits for.
    pub(crate) async fn start_told<B: Bookable>(
        &self,
        booking: B,
        told: &Told<B::Event>,
        walker: &Walker,
    ) -> Result<Option<(B, Then<B::Step>)>, FlowError> {
        let read_version = booking.version();
        Self::heard(booking.id(), told, walker);
        let plan = self.plan(booking, Some(told.judgement.event.clone()))?;
        let write = self.write_plan(read_version, &plan, Some(told), walker, Claim::Taken);
        self.claim(plan, write).await
    }

    async fn claim<B: Bookable>(
        &self,
        plan: Plan<B>,
        write: UnitOfWork,
    ) -> Result<Option<(B, Then<B::Step>)>, FlowError> {
        match self.store.commit(write).await {
            Ok(()) => Ok(Some(self.reached(plan))),
            Err(CommitError::Conflict(_)) => Ok(None),
            Err(CommitError::Database(error)) => Err(error.into()),
        }
    }

    /// Makes the calls that follow, and keeps the claim on the work meanwhile.
    pub(crate) async fn go_on<B: Bookable>(
        &self,
        booking: B,
        then: Then<B::Step>,
        walker: &Walker,
    ) -> Result<B, FlowError> {
        if matches!(then, Then::Rest) {
            return Ok(booking);
        }
        let id = booking.id().clone();
        self.holding(
            B::JOB,
            &id,
            walker,
            self.walk(booking, then, walker).boxed(),
        )
        .await
        .map_err(FlowError::under_way)
    }

    async fn walk<B: Bookable>(
        &self,
        mut booking: B,
        mut then: Then<B::Step>,
        walker: &Walker,
    ) -> Result<B, FlowError> {
        for _ in 0..STEPS_MAX {
            let (step, attempt) = match then {
                Then::Call(step, attempt) => (step, attempt),
                Then::Rest => return Ok(booking),
            };
            let attempt = match (attempt, booking.begin(&step, self.first_check())) {
                (None, Some(Begin::Read(made))) => self.open_attempt(&booking, &made).await?,
                (attempt, _) => attempt,
            };
            let judgement = booking.act(&step, self, walker).await?;
            let told = Told {
                step: B::step_name(&step),
                attempt,
                judgement,
            };
            (booking, then) = self.advance(booking, Some(told), walker).await?;
        }
        tracing::error!(booking = %booking.id(), status = booking.status_name(), "a booking takes steps without end");
        Err(FlowError::Contended(booking.id().clone()))
    }

    /// Stores the outcome of a call with the mark of the next one, or with the
    /// end of the claim. When the booking moved meanwhile, the outcome is
    /// applied to what it has become.
    async fn advance<B: Bookable>(
        &self,
        mut booking: B,
        told: Option<Told<B::Event>>,
        walker: &Walker,
    ) -> Result<(B, Then<B::Step>), FlowError> {
        let id = booking.id().clone();
        if let Some(told) = &told {
            self.reach(told.step, Phase::Answered);
            Self::heard(&id, told, walker);
        }
        for _ in 0..CONFLICT_RETRIES_MAX {
            let read_version = booking.version();
            let event = told.as_ref().map(|told| told.judgement.event.clone());
            let plan = self.plan(booking, event)?;
            let write = self.write_plan(read_version, &plan, told.as_ref(), walker, Claim::Held);
            match self.store.commit(write).await {
                Ok(()) => {
                    if let Some(told) = &told {
                        self.reach(told.step, Phase::Recorded);
                    }
                    return Ok(self.reached(plan));
                }
                Err(CommitError::Conflict(Conflict::LeaseLost)) => {
                    return Err(FlowError::LeaseLost(id));
                }
                Err(CommitError::Conflict(conflict)) => {
                    tracing::debug!(booking = %id, %conflict, "the booking moved meanwhile");
                    let current = B::load(&self.store, &id).await?;
                    booking = current.ok_or_else(|| FlowError::Gone(id.clone()))?;
                }
                Err(CommitError::Database(error)) => return Err(error.into()),
            }
        }
        Err(FlowError::Contended(id))
    }

    fn heard<E>(booking: &BookingId, told: &Told<E>, walker: &Walker) {
        let (outcome, evidence) = (
            told.judgement.outcome.as_str(),
            told.judgement.evidence.as_str(),
        );
        tracing::info!(%booking, step = told.step, outcome, evidence, request_id = walker.request_id, "step");
    }

    fn plan<B: Bookable>(&self, booking: B, event: Option<B::Event>) -> Result<Plan<B>, FlowError> {
        let (now, first_check) = (self.clock.now(), self.first_check());
        let chosen = |step| self.reach(step, Phase::Chosen);
        plan(booking, event, now, first_check, &*self.ids, chosen)
    }

    fn write_plan<B: Bookable>(
        &self,
        read_version: i64,
        plan: &Plan<B>,
        told: Option<&Told<B::Event>>,
        walker: &Walker,
        claim: Claim,
    ) -> UnitOfWork {
        let booking = &plan.booking;
        let tenant = &booking.owner().tenant;
        let why = told.map(|told| told.judgement.evidence.as_str());
        let mut write = self.write_of(read_version, &plan.moves, why, &walker.request_id);
        if let Some(told) = told
            && let Some(id) = &told.attempt
        {
            let Judgement {
                outcome,
                reference,
                evidence,
                ..
            } = &told.judgement;
            write.finish_attempt(
                tenant,
                id,
                (*outcome).into(),
                reference.as_deref(),
                Some(evidence),
            );
        }
        if let Planned::Call(_, Some((id, step, call))) = &plan.then {
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
        // Nobody was asked: a person has to be.
        let is_new = |moved: &Transition<B>| moved.from_status != booking.status_name();
        if booking.held_refund().is_some() && plan.moves.iter().any(is_new) {
            let question = NewAttempt {
                id: AttemptId::from_bits(self.ids.bits()),
                booking_id: booking.id().clone(),
                step: DECIDE_REFUND.to_owned(),
                target: booking.supplier().clone(),
                client_reference: booking.id().to_string(),
                plugin_digest: String::new(),
                request_digest: String::new(),
            };
            write.record_attempt(tenant, &question);
        }
        let (job, subject, token) = (B::JOB, booking.id().as_str(), walker.lease_token.as_str());
        if matches!(claim, Claim::Taken) {
            write.insert_leased_job(job, subject, token, self.lease_ms());
        }
        match &plan.then {
            Planned::Call(..) if matches!(claim, Claim::Taken) => {}
            Planned::Call(..) => {
                write.renew_job_lease(job, subject, token, self.lease_ms());
            }
            Planned::Rest(Some(at)) => {
                write.release_job(job, subject, token, *at);
            }
            Planned::Rest(None) => {
                write.complete_job(job, subject, token);
            }
        }
        write
    }

    fn reached<B: Bookable>(&self, plan: Plan<B>) -> (B, Then<B::Step>) {
        if let Some(lapse) = plan.lapse {
            self.reach(lapse.name(), Phase::Recorded);
        }
        let then = match plan.then {
            Planned::Call(step, attempt) => {
                if attempt.is_some() {
                    self.reach(B::step_name(&step), Phase::Marked);
                }
                Then::Call(step, attempt.map(|(id, _, _)| id))
            }
            Planned::Rest(_) => Then::Rest,
        };
        (plan.booking, then)
    }

    /// The rows that the moves of a booking write. `why` is the reason of the first.
    pub(crate) fn write_of<B: Bookable>(
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
        self.tell(&mut write, moves, why, request_id);
        write
    }

    /// The history of moves, and what subscribers are told of them. `why` is the
    /// reason of the first.
    pub(crate) fn tell<B: Bookable>(
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
                    to_status: booking.status_name().to_owned(),
                    reason: why.take().map(str::to_owned),
                    request_id: Some(request_id.to_owned()),
                    occurred_at: booking.updated_at(),
                },
            );
            for notice in &moved.notifications {
                let id = EventId::from_bits(self.ids.bits());
                let payload = booking.payload(&id, notice);
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

    /// The mark of a call whose outcome is not known, if there is one.
    async fn open_attempt<B: Bookable>(
        &self,
        booking: &B,
        made: &Made,
    ) -> Result<Option<AttemptId>, FlowError> {
        let open = self.open_attempts(booking).await?;
        let found = open.into_iter().rev().find(|attempt| made.is(attempt));
        Ok(found.map(|attempt| attempt.call.id))
    }

    /// The marks of calls whose outcome is not known, oldest first.
    pub(crate) async fn open_attempts<B: Bookable>(
        &self,
        booking: &B,
    ) -> Result<Vec<Attempt>, FlowError> {
        let tenant = &booking.owner().tenant;
        let mut attempts = self.store.attempts(tenant, booking.id()).await?;
        attempts.retain(|attempt| {
            let outcome = attempt.outcome;
            matches!(outcome, AttemptOutcome::Sent | AttemptOutcome::Unknown)
        });
        Ok(attempts)
    }

    pub(crate) fn reach(&self, step: &str, phase: Phase) {
        failpoint::reach(&self.config.jobs.abort_at, step, phase);
    }
}

/// The moves up to the next call, or to where nothing is due: all that is decided without
/// a call and without the database. `chosen` hears of each step.
pub(crate) fn plan<B: Bookable>(
    mut booking: B,
    mut event: Option<B::Event>,
    now: Timestamp,
    first_check: Timestamp,
    ids: &dyn IdSource,
    chosen: impl Fn(&'static str),
) -> Result<Plan<B>, FlowError> {
    let (mut moves, mut lapsed) = (Vec::new(), None);
    for _ in 0..STEPS_MAX {
        if let Some(event) = event.take() {
            let moved = booking.apply(event, now)?;
            booking = moved.booking.clone();
            moves.push(moved);
        }
        let step = match booking.next(now) {
            NextStep::Run(step) => step,
            NextStep::Expire(lapse) => {
                chosen(lapse.name());
                lapsed = Some(lapse);
                event = Some(B::lapsed(lapse));
                continue;
            }
            NextStep::WaitUntil(at) => return Ok(rest(booking, moves, lapsed, Some(at))),
            NextStep::Idle => return Ok(rest(booking, moves, lapsed, None)),
        };
        let name = B::step_name(&step);
        let begin = booking.begin(&step, first_check);
        match begin.ok_or_else(|| FlowError::Gone(booking.id().clone()))? {
            Begin::Mark(mark, call) => {
                chosen(name);
                let moved = booking.apply(mark, now)?;
                let id = AttemptId::from_bits(ids.bits());
                return Ok(Plan {
                    booking: moved.booking.clone(),
                    moves: moves.into_iter().chain([moved]).collect(),
                    lapse: lapsed,
                    then: Planned::Call(step, Some((id, name, call))),
                });
            }
            Begin::Read(_) => {
                return Ok(Plan {
                    booking,
                    moves,
                    lapse: lapsed,
                    then: Planned::Call(step, None),
                });
            }
        }
    }
    Err(FlowError::Contended(booking.id().clone()))
}

fn rest<B: Bookable>(
    booking: B,
    moves: Vec<Transition<B>>,
    lapse: Option<Expiry>,
    at: Option<Timestamp>,
) -> Plan<B> {
    Plan {
        booking,
        moves,
        lapse,
        then: Planned::Rest(at),
    }
}
