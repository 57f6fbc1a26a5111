//! Applies the decisions of operators that wait for the end of a lookup.

use crate::base::Base;
use crate::booking::resolution::{
    CallSelector, Resolution, ResolutionRequest, ResolutionService, ResolveError,
};
use crate::jobs::worker::{JobError, JobHandler};
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::id::SettlementId;
use host_domain::owner::{Mode, Tenant};
use host_domain::settlement::{SETTLEMENT_JOB_KIND, SettlementChoice, SettlementState};
use host_storage::{DatabaseError, SettlementDecision, UnitOfWork};
use std::sync::Arc;

/// Interval in seconds at which a waiting decision is tried again.
pub(crate) const SETTLEMENT_RETRY_S: i64 = 5;

/// Returns the subject of the job of a decision. It begins with the mode.
pub(crate) fn job_subject(tenant: &Tenant, id: &SettlementId) -> String {
    format!("{}/{}/{id}", tenant.mode.as_str(), tenant.organization)
}

/// Returns the tenant and the decision that [`job_subject`] names.
fn parse_subject(subject: &str) -> Option<(Tenant, SettlementId)> {
    let mut parts = subject.splitn(3, '/');
    let mode = Mode::parse(parts.next()?)?;
    let organization = parts.next()?.to_owned();
    let id = SettlementId::parse(parts.next()?).ok()?;
    Some((Tenant { organization, mode }, id))
}

/// Handler of the jobs of waiting decisions.
pub struct SettlementJob {
    pub(crate) base: Base,
    pub(crate) resolutions: Arc<ResolutionService>,
}

impl SettlementJob {
    async fn apply(&self, subject: &str, lease_token: &str) -> Result<(), JobError> {
        let complete = |write: &mut UnitOfWork| {
            write.complete_job(SETTLEMENT_JOB_KIND, subject, lease_token);
        };
        let Some((tenant, id)) = parse_subject(subject) else {
            tracing::error!(
                subject,
                "a settlement job has a subject that names no decision, so it is completed; \
                 the gateway writes no such job: find out who changed the table of jobs"
            );
            return Ok(self.commit(complete).await?);
        };
        let decision = self.base.store.settlement(&tenant, &id).await?;
        let is_waiting = |decision: &SettlementDecision| decision.state == SettlementState::Waiting;
        let Some(decision) = decision.filter(is_waiting) else {
            return Ok(self.commit(complete).await?);
        };
        let request_id = format!("job_{:032x}", self.base.ids.generate());
        let request = ResolutionRequest {
            call: CallSelector::Attempt(&decision.attempt_id),
            resolution: resolution(&decision),
            seen_state: decision.seen_state.as_deref(),
            request_id: &request_id,
            statements: Box::new(|tenant, _| {
                let mut write = self.base.unit_of_work();
                write.end_settlement(tenant, &id, SettlementState::Applied, None);
                complete(&mut write);
                write
            }),
        };
        let resolved = self
            .resolutions
            .resolve(&decision.booking_id, request)
            .await;
        let superseded = match resolved {
            Ok(_) => return Ok(()),
            Err(ResolveError::InProgress) => {
                let due_at = self.base.now().plus_s(SETTLEMENT_RETRY_S);
                let release = |write: &mut UnitOfWork| {
                    write.release_job(SETTLEMENT_JOB_KIND, subject, lease_token, due_at);
                };
                return Ok(self.commit(release).await?);
            }
            Err(ResolveError::Workflow(error)) => return Err(error.into()),
            Err(
                error @ (ResolveError::NotFound
                | ResolveError::NothingUnresolved(_)
                | ResolveError::StateChanged(_)
                | ResolveError::ReferenceRequired
                | ResolveError::AmbiguousCall
                | ResolveError::InvalidRefundAmount),
            ) => error,
        };
        let result = self.reason(&decision, &superseded).await?;
        let end = |write: &mut UnitOfWork| {
            write.end_settlement(&tenant, &id, SettlementState::Superseded, Some(&result));
            complete(write);
        };
        Ok(self.commit(end).await?)
    }

    /// Returns the sentence that tells why a decision had no effect.
    async fn reason(
        &self,
        decision: &SettlementDecision,
        error: &ResolveError,
    ) -> Result<String, DatabaseError> {
        let (tenant, booking) = (&decision.tenant, &decision.booking_id);
        let attempts = self.base.store.attempts(tenant, booking).await?;
        let mut attempts = attempts.into_iter();
        let attempt = attempts.find(|attempt| attempt.call.id == decision.attempt_id);
        let evidence = attempt.and_then(|attempt| attempt.evidence);
        Ok(match (error, evidence) {
            (ResolveError::NothingUnresolved(_), Some(evidence)) => {
                format!("The outcome became known first: {evidence}")
            }
            (error, _) => format!("The decision did not fit any more: {error}"),
        })
    }

    /// Commits a write. If the lease is lost, another worker has the job.
    async fn commit(&self, fill: impl FnOnce(&mut UnitOfWork)) -> Result<(), DatabaseError> {
        let mut write = self.base.unit_of_work();
        fill(&mut write);
        self.base.try_commit(write).await.map(|_| ())
    }
}

/// Returns what a stored decision means.
fn resolution(decision: &SettlementDecision) -> Resolution {
    match (decision.choice, decision.refund) {
        (SettlementChoice::Refund, Some(amount)) => Resolution::Refund(amount),
        (SettlementChoice::Done, _) => Resolution::Done {
            reference: decision.reference.clone(),
        },
        // The column of the amount of a refund is never empty.
        (SettlementChoice::NotDone | SettlementChoice::Refund, _) => Resolution::NotDone,
    }
}

impl JobHandler for SettlementJob {
    fn kind(&self) -> &'static str {
        SETTLEMENT_JOB_KIND
    }

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        self.apply(subject, lease_token).boxed()
    }
}
