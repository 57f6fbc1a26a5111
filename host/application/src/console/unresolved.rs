//! Work that waits for operators: calls with an unknown outcome, undecided refunds, and parked jobs.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::DECIDE_REFUND_STEP;
use crate::booking::resolution::{
    CallSelector, Resolution, ResolveError, decidable_state, select_call,
};
use crate::booking::settlement::{
    NewSettlement, SettlementError, SettlementResult, SettlementService,
};
use crate::booking::unresolved_call::OpenCall;
use crate::console::access::AccessError;
use crate::console::consequence::{Consequence, consequence};
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleListRequest, readable_organizations};
use crate::jobs::operator::OperatorService;
use crate::reporting::overview::IN_PROGRESS_MS_MAX;
use host_domain::account::Permission;
use host_domain::booking::{Booking, BookingStep};
use host_domain::console::{AnyBooking, UnresolvedFilter};
use host_domain::id::{AttemptId, BookingId, SettlementId};
use host_domain::page::Cursor;
use host_domain::payment::PaymentOperation;
use host_domain::remote_call::RemoteCall;
use host_domain::request_log::{LoggedCall, LoggedCallKind};
use host_domain::settlement::{SettlementChoice, SettlementState};
use host_domain::time::Timestamp;
use host_storage::{Attempt, Job, RecentSettlement, SettlementDecision, UnresolvedAttempt};
use std::sync::Arc;

const JOBS_MAX: u32 = 100;
const RECENT_MAX: u32 = 10;
/// Maximum number of logged calls among which those of an attempt are searched.
const LOGGED_CALLS_MAX: u32 = 50;

/// Stands for a reference that the operator has not entered yet.
const ANY_REFERENCE: &str = "-";

#[derive(Debug, thiserror::Error)]
pub enum ConsoleUnresolvedError {
    #[error(transparent)]
    Console(#[from] ConsoleError),
    #[error(transparent)]
    Settlement(#[from] SettlementError),
}

impl From<AccessError> for ConsoleUnresolvedError {
    fn from(error: AccessError) -> Self {
        Self::Console(error.into())
    }
}

/// A call with an unknown outcome, or an undecided refund.
#[derive(Debug, Clone)]
pub struct OpenOutcome {
    pub attempt: Attempt,
    /// The response to the call itself, in one sentence. The attempt has the latest evidence.
    pub first_evidence: Option<String>,
    pub booking: AnyBooking,
    /// The supplier's or processor's id of the booking or payment, if the gateway has it.
    pub known_reference: Option<String>,
    /// State that a decision is about. A decision about an earlier state has no effect.
    pub seen_state: String,
    /// Number of lookups at the other side, all without an answer that decides.
    pub lookups: u32,
    /// Time of the next lookup. `None` if only an operator can decide.
    pub next_lookup_at: Option<Timestamp>,
    /// The decisions to choose from. Empty if the booking has moved on.
    pub choices: Vec<OpenChoice>,
    /// The decision that waits for the end of a lookup.
    pub waiting: Option<SettlementDecision>,
}

/// What was sent to the other side, as the log of calls has it.
#[derive(Debug, Clone)]
pub struct SentCall {
    /// The call of the plugin.
    pub call: LoggedCall,
    /// The HTTP requests that the plugin made, in the order in which they began.
    pub exchanges: Vec<LoggedCall>,
    /// Id of the API call that caused it. `None` if background work did.
    pub request_id: Option<String>,
}

/// A decision that fits a call.
#[derive(Debug, Clone)]
pub struct OpenChoice {
    pub choice: SettlementChoice,
    /// Whether the operator must enter the other side's reference.
    pub needs_reference: bool,
    /// `None` if it depends on the amount of the refund.
    pub consequence: Option<Consequence>,
}

/// A page of open outcomes, with parked jobs and recent decisions.
#[derive(Debug, Clone)]
pub struct UnresolvedList {
    /// Oldest first.
    pub outcomes: Vec<OpenOutcome>,
    /// The position after which the next page begins.
    pub next: Option<Cursor>,
    /// Longest parked first. `None` for people who may not see them.
    pub jobs: Option<Vec<Job>>,
    /// The latest decisions, latest first.
    pub recent: Vec<RecentSettlement>,
    /// The organizations to choose from.
    pub organizations: Vec<String>,
    pub can_settle: bool,
}

/// Shows open work to people and applies the decisions of operators.
pub struct ConsoleUnresolved {
    pub(crate) base: Base,
    pub(crate) settlements: Arc<SettlementService>,
    pub(crate) operator: Arc<OperatorService>,
}

impl ConsoleUnresolved {
    /// Returns a page of the open outcomes in the session's mode, with parked jobs and recent
    /// decisions.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<UnresolvedFilter>,
    ) -> Result<UnresolvedList, ConsoleError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, page) = (&self.base.store, request.page());
        let sent_before = self.base.now().plus_ms(-IN_PROGRESS_MS_MAX);
        let can_settle = viewer.is_operator();
        let jobs = async {
            match can_settle {
                true => store.parked_jobs_of_mode(&scope, JOBS_MAX).await.map(Some),
                false => Ok(None),
            }
        };
        let (mut found, jobs, mut recent, organizations) = futures::try_join!(
            request.read_page(store.unresolved_page(&scope, &request.filter, sent_before, &page)),
            jobs,
            store.recent_settlements(&scope, RECENT_MAX),
            readable_organizations(store, viewer),
        )?;
        if !can_settle {
            let waiting = found.items.iter_mut();
            waiting
                .filter_map(|row| row.waiting.as_mut())
                .chain(recent.iter_mut().map(|recent| &mut recent.decision))
                .for_each(hide_operator);
        }
        let outcomes = found.items.into_iter().map(|row| self.open_outcome(row));
        Ok(UnresolvedList {
            outcomes: outcomes.collect(),
            next: found.next,
            jobs,
            recent,
            organizations,
            can_settle,
        })
    }

    /// Returns what was sent for an outcome of [`Self::list`], as long as the log has it.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sent_call(
        &self,
        viewer: &Viewer,
        outcome: &OpenOutcome,
    ) -> Result<Option<SentCall>, ConsoleError> {
        let attempt = &outcome.attempt;
        // The decision about a refund is no call.
        if attempt.call.step == DECIDE_REFUND_STEP {
            return Ok(None);
        }
        let store = &self.base.store;
        let calls = store.calls_since_attempt(attempt, LOGGED_CALLS_MAX).await?;
        let is_plugin = |call: &&LoggedCall| call.kind == LoggedCallKind::Plugin;
        let Some(call) = calls.iter().find(is_plugin).cloned() else {
            return Ok(None);
        };
        let next = calls.iter().filter(is_plugin).nth(1);
        let is_part = |other: &&LoggedCall| {
            other.kind == LoggedCallKind::Http
                && other.request_id == call.request_id
                && next.is_none_or(|next| other.started_at < next.started_at)
        };
        let exchanges = calls.iter().filter(is_part).cloned().collect();
        let (scope, ids) = (viewer.whole_scope(), [call.request_id.clone()]);
        let mut logged = store.logged_request_ids(&scope, &ids).await?;
        Ok(Some(SentCall {
            request_id: logged.pop(),
            call,
            exchanges,
        }))
    }

    /// Settles a call of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleUnresolvedError`].
    pub async fn settle(
        &self,
        viewer: &Viewer,
        booking: &BookingId,
        attempt: &AttemptId,
        new: &NewSettlement,
    ) -> Result<SettlementResult, ConsoleUnresolvedError> {
        let scope = viewer.whole_scope();
        let store = &self.base.store;
        let found = store.attempt_with_booking(&scope, booking, attempt).await;
        let found = found.map_err(ConsoleError::from)?;
        let attempt = found.ok_or(AccessError::NotFound)?.attempt;
        viewer.require_on(Permission::Read, &attempt.tenant)?;
        viewer.require_operator()?;
        let actor = viewer.actor();
        let settled = self.settlements.settle(&actor, &attempt, new);
        Ok(settled.await?)
    }

    /// Withdraws the decision that waits about a call of the session's mode. Returns whether it was
    /// still waiting.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] for everybody but operators.
    pub async fn withdraw(
        &self,
        viewer: &Viewer,
        booking: &BookingId,
        attempt: &AttemptId,
        decision: &SettlementId,
    ) -> Result<bool, ConsoleError> {
        let scope = viewer.whole_scope();
        let store = &self.base.store;
        let found = store.attempt_with_booking(&scope, booking, attempt).await?;
        let found = found.ok_or(AccessError::NotFound)?;
        viewer.require_on(Permission::Read, &found.attempt.tenant)?;
        viewer.require_operator()?;
        let waiting = found.waiting.filter(|waiting| waiting.id == *decision);
        let Some(waiting) = waiting else {
            return Ok(false);
        };
        let actor = viewer.actor();
        Ok(self.settlements.withdraw(&actor, &waiting).await?)
    }

    /// Makes a parked job due now. Returns whether it was parked.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] for everybody but operators.
    pub async fn retry_job(
        &self,
        viewer: &Viewer,
        kind: &str,
        subject: &str,
    ) -> Result<bool, ConsoleError> {
        viewer.require_operator()?;
        let operator = &self.operator;
        let actor = viewer.actor();
        let jobs = operator.unpark_jobs(&actor, Some(kind), Some(subject));
        Ok(!jobs.await?.is_empty())
    }

    fn open_outcome(&self, row: UnresolvedAttempt) -> OpenOutcome {
        let facts = match &row.booking {
            AnyBooking::Hotel(hotel) => self.facts(hotel, &row.attempt),
            AnyBooking::Flight(flight) => self.facts(flight, &row.attempt),
        };
        OpenOutcome {
            attempt: row.attempt,
            first_evidence: row.first_evidence,
            booking: row.booking,
            known_reference: facts.known_reference,
            seen_state: facts.seen_state,
            lookups: facts.lookups,
            next_lookup_at: facts.next_lookup_at,
            choices: facts.choices,
            waiting: row.waiting,
        }
    }

    fn facts<K: BookingAggregate>(&self, booking: &Booking<K>, attempt: &Attempt) -> CallFacts {
        if attempt.call.step == DECIDE_REFUND_STEP {
            return CallFacts {
                seen_state: decidable_state(booking),
                choices: vec![OpenChoice {
                    choice: SettlementChoice::Refund,
                    needs_reference: false,
                    consequence: None,
                }],
                ..CallFacts::default()
            };
        }
        let selector = CallSelector::Attempt(&attempt.call.id);
        let selected = select_call(booking, selector, |key| {
            key.matches(attempt).then_some(attempt)
        });
        // The record may be older than the state of the booking.
        let Ok(Some(call)) = selected else {
            return CallFacts::default();
        };
        let (lookups, next_lookup_at) = remote_call(&call, booking).map_or_else(
            || (0, booking.absence().and_then(|absence| absence.due_at)),
            lookups,
        );
        CallFacts {
            seen_state: decidable_state(booking),
            known_reference: call.known_reference(booking),
            lookups,
            next_lookup_at,
            choices: self.choices(booking, attempt),
        }
    }

    /// Returns the decisions that fit a call, with what each does.
    fn choices<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        attempt: &Attempt,
    ) -> Vec<OpenChoice> {
        let preview = |resolution| consequence(&self.base, booking, attempt, resolution);
        let done = |reference| preview(Resolution::Succeeded { reference });
        let (needs_reference, done) = match done(None) {
            Err(ResolveError::ReferenceRequired) => (true, done(Some(ANY_REFERENCE.to_owned()))),
            result => (false, result),
        };
        let not_done = preview(Resolution::NotExecuted);
        let choice = |choice, needs_reference, consequence: Result<Consequence, ResolveError>| {
            Some(OpenChoice {
                choice,
                needs_reference,
                consequence: Some(consequence.ok()?),
            })
        };
        let done = choice(SettlementChoice::Done, needs_reference, done);
        let not_done = choice(SettlementChoice::NotDone, false, not_done);
        done.into_iter().chain(not_done).collect()
    }
}

/// Removes what only operators see of a decision.
fn hide_operator(decision: &mut SettlementDecision) {
    decision.note.clear();
    "an operator".clone_into(&mut decision.decided_by);
    if decision.state == SettlementState::Withdrawn {
        // The result names who withdrew the decision.
        decision.result = None;
    }
}

#[derive(Default)]
struct CallFacts {
    seen_state: String,
    known_reference: Option<String>,
    lookups: u32,
    next_lookup_at: Option<Timestamp>,
    choices: Vec<OpenChoice>,
}

/// Returns a call as its booking has it. An orphan has none.
fn remote_call<'a, K: BookingAggregate>(
    call: &OpenCall<'_, K::Step>,
    booking: &'a Booking<K>,
) -> Option<&'a RemoteCall> {
    match call {
        OpenCall::Supplier(BookingStep::RecheckAbsence) => None,
        OpenCall::Supplier(BookingStep::Kind(_)) => {
            K::unresolved_kind_call(booking).map(|(_, call)| call)
        }
        OpenCall::Supplier(_) => booking.active_call(),
        OpenCall::Processor(payment, PaymentOperation::Refund(id)) => {
            let payment = booking.payment(&payment.id)?;
            let refund = payment.refunds.iter().find(|refund| refund.id == *id)?;
            refund.call.as_ref()
        }
        OpenCall::Processor(payment, _) => booking.payment(&payment.id)?.state.call(),
    }
}

/// Returns the number of lookups of a call and the time of the next one.
fn lookups(call: &RemoteCall) -> (u32, Option<Timestamp>) {
    match call {
        RemoteCall::Pending { .. } => (0, None),
        RemoteCall::Sent {
            response_lost_at,
            reconcile_count,
            reconcile_at,
            ..
        } => {
            // The end of the call without a response counts too.
            let ended = u32::from(response_lost_at.is_some());
            (reconcile_count.saturating_sub(ended), Some(*reconcile_at))
        }
        RemoteCall::Accepted {
            reconcile_count,
            reconcile_at,
            ..
        } => (*reconcile_count, Some(*reconcile_at)),
    }
}
