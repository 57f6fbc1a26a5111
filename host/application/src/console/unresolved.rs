//! Work that waits for operators: calls with an unknown outcome, undecided refunds, and parked jobs.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::booking::open_outcome::{OpenOutcome, OpenOutcomeReader, SentCall};
use crate::booking::settlement::{
    NewSettlement, SettlementError, SettlementResult, SettlementService,
};
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleListRequest, readable_organizations};
use crate::jobs::operator::OperatorService;
use crate::reporting::overview::IN_PROGRESS_MS_MAX;
use host_domain::account::Permission;
use host_domain::console::{TenantScope, UnresolvedFilter};
use host_domain::id::{AttemptId, BookingId, SettlementId};
use host_domain::page::Cursor;
use host_domain::settlement::SettlementState;
use host_storage::{
    DatabaseError, ListedJob, RecentSettlement, SettlementDecision, UnresolvedAttempt,
};
use std::sync::Arc;

const JOBS_MAX: u32 = 100;
const RECENT_MAX: u32 = 10;

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

/// The jobs that have been parked longest.
#[derive(Debug, Clone)]
pub struct ParkedJobs {
    /// Longest parked first.
    pub jobs: Vec<ListedJob>,
    /// Whether there are more than the listed ones.
    pub has_more: bool,
}

/// A page of open outcomes, with parked jobs and recent decisions.
#[derive(Debug, Clone)]
pub struct UnresolvedList {
    /// Oldest first.
    pub outcomes: Vec<OpenOutcome>,
    /// The position after which the next page begins.
    pub next: Option<Cursor>,
    /// `None` for people who may not see them.
    pub jobs: Option<ParkedJobs>,
    /// The latest decisions, latest first.
    pub recent: Vec<RecentSettlement>,
    /// The organizations to choose from.
    pub organizations: Vec<String>,
    pub can_settle: bool,
}

/// Shows open work to people and applies the decisions of operators.
pub struct ConsoleUnresolved {
    pub(crate) base: Base,
    pub(crate) outcomes: Arc<OpenOutcomeReader>,
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
                true => self.parked_jobs(&scope).await.map(Some),
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
        let outcomes = found
            .items
            .into_iter()
            .map(|row| self.outcomes.open_outcome(row));
        Ok(UnresolvedList {
            outcomes: outcomes.collect(),
            next: found.next,
            jobs,
            recent,
            organizations,
            can_settle,
        })
    }

    async fn parked_jobs(&self, scope: &TenantScope) -> Result<ParkedJobs, DatabaseError> {
        let store = &self.base.store;
        let mut jobs = store.parked_jobs_of_scope(scope, JOBS_MAX + 1).await?;
        let shown = usize::try_from(JOBS_MAX).unwrap_or(usize::MAX);
        let has_more = jobs.len() > shown;
        jobs.truncate(shown);
        Ok(ParkedJobs { jobs, has_more })
    }

    /// Returns what was sent for an outcome of [`Self::list`] or [`Self::decidable`], as long as the log
    /// has it.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sent_call(&self, outcome: &OpenOutcome) -> Result<Option<SentCall>, ConsoleError> {
        Ok(self.outcomes.sent_call(outcome).await?)
    }

    /// Returns a call of the session's mode about which the person may decide. If its outcome is known,
    /// it has no choices.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] for everybody but operators.
    pub async fn decidable(
        &self,
        viewer: &Viewer,
        booking: &BookingId,
        attempt: &AttemptId,
    ) -> Result<OpenOutcome, ConsoleError> {
        let found = self.find(viewer, booking, attempt).await?;
        Ok(self.outcomes.open_outcome(found))
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
        let found = self.find(viewer, booking, attempt).await?;
        let actor = viewer.actor();
        let settled = self.settlements.settle(&actor, &found.attempt, new);
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
        let found = self.find(viewer, booking, attempt).await?;
        let waiting = found.waiting.filter(|waiting| waiting.id == *decision);
        let Some(waiting) = waiting else {
            return Ok(false);
        };
        let actor = viewer.actor();
        Ok(self.settlements.withdraw(&actor, &waiting).await?)
    }

    /// Finds a call of the session's mode for a decision. Ownership is judged before the role.
    async fn find(
        &self,
        viewer: &Viewer,
        booking: &BookingId,
        attempt: &AttemptId,
    ) -> Result<UnresolvedAttempt, ConsoleError> {
        let scope = viewer.whole_scope();
        let store = &self.base.store;
        let found = store.attempt_with_booking(&scope, booking, attempt).await?;
        let found = found.ok_or(AccessError::NotFound)?;
        viewer.require_on(Permission::Read, &found.attempt.tenant)?;
        viewer.require_operator()?;
        Ok(found)
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
        let jobs = operator.retry_parked_jobs(&actor, Some(kind), Some(subject));
        Ok(!jobs.await?.is_empty())
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
