//! Operator view of unresolved calls and parked jobs.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::audit::{Actor, AuditAction};
use host_domain::owner::Tenant;
use host_storage::{
    Attempt, CommitError, Conflict, DatabaseError, Job, ListedJob, ParkedJobFilter,
};
use serde::Serialize;
use serde_json::json;

/// Maximum number of rows in each list.
const ROWS_MAX: u32 = 500;

#[derive(Debug, Clone, Serialize)]
pub struct UnresolvedCallEntry {
    pub organization: String,
    pub mode: &'static str,
    pub booking_id: String,
    pub step: String,
    /// The supplier or processor that was called.
    pub target: String,
    /// The gateway's reference at the other side.
    pub client_reference: String,
    pub sent_at: String,
    /// The other side's id, if it is known.
    pub supplier_reference: Option<String>,
    /// One sentence about the last response.
    pub evidence: Option<String>,
}

impl From<Attempt> for UnresolvedCallEntry {
    fn from(attempt: Attempt) -> Self {
        let (tenant, call) = (attempt.tenant, attempt.call);
        Self {
            organization: tenant.organization,
            mode: tenant.mode.as_str(),
            booking_id: call.booking_id.to_string(),
            step: call.step,
            target: call.target.to_string(),
            client_reference: call.client_reference,
            sent_at: attempt.last_sent_at.to_string(),
            supplier_reference: attempt.supplier_reference,
            evidence: attempt.evidence,
        }
    }
}

/// A job that failed too often and is no longer retried.
#[derive(Debug, Clone, Serialize)]
pub struct ParkedJob {
    pub kind: String,
    pub subject: String,
    pub attempts: i64,
    /// Time at which it was parked. `None` once it is retried.
    pub parked_at: Option<String>,
    pub last_error: Option<String>,
}

impl From<Job> for ParkedJob {
    fn from(job: Job) -> Self {
        Self {
            kind: job.kind,
            subject: job.subject,
            attempts: job.attempts,
            parked_at: job.parked_at.map(|at| at.to_string()),
            last_error: job.last_error,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct UnresolvedWork {
    pub calls: Vec<UnresolvedCallEntry>,
    pub parked_jobs: Vec<ParkedJob>,
}

/// Lists unresolved work and retries parked jobs.
pub struct OperatorService {
    pub(crate) base: Base,
}

impl OperatorService {
    /// Lists parked jobs, and unresolved calls that are at least `older_than_s` seconds old.
    pub async fn list_unresolved(
        &self,
        older_than_s: u32,
    ) -> Result<UnresolvedWork, DatabaseError> {
        let store = &self.base.store;
        let before = self.base.now().plus_s(-i64::from(older_than_s));
        let calls = store.unresolved_attempts(before, ROWS_MAX).await?;
        let parked_jobs = store
            .parked_jobs(ParkedJobFilter::default(), ROWS_MAX)
            .await?;
        Ok(UnresolvedWork {
            calls: calls.into_iter().map(UnresolvedCallEntry::from).collect(),
            parked_jobs: parked_jobs.into_iter().map(ParkedJob::from).collect(),
        })
    }

    /// Resets the attempts of the parked jobs of a kind and subject and makes them due now. `None`
    /// means any. Returns the jobs.
    ///
    /// # Errors
    /// The database failed. Some of the jobs may be retried already.
    pub async fn retry_parked_jobs(
        &self,
        actor: &Actor,
        kind: Option<&str>,
        subject: Option<&str>,
    ) -> Result<Vec<ParkedJob>, StorageFailure> {
        let store = &self.base.store;
        let filter = ParkedJobFilter { kind, subject };
        let mut retried = Vec::new();
        loop {
            let parked = store.parked_jobs_unscoped(filter, ROWS_MAX).await?;
            if parked.is_empty() {
                return Ok(retried);
            }
            for ListedJob { job, tenant } in parked {
                if !self.retry(actor, &job, tenant.as_ref()).await? {
                    // Somebody else retried it, or its booking scheduled it again.
                    continue;
                }
                let (kind, subject) = (&job.kind, &job.subject);
                tracing::info!(kind, subject, "an operator retried a parked job");
                retried.push(ParkedJob::from(Job {
                    attempts: 0,
                    parked_at: None,
                    ..job
                }));
            }
        }
    }

    /// Makes a parked job due now and records it in the organization of its subject. Returns whether
    /// the job was still parked.
    async fn retry(
        &self,
        actor: &Actor,
        job: &Job,
        tenant: Option<&Tenant>,
    ) -> Result<bool, CommitError> {
        let mut write = self.base.unit_of_work();
        write.retry_parked_job(job);
        let change = AuditChange::new(AuditAction::JobRetried, &job.subject);
        let change = change.after(json!({ "kind": job.kind }));
        let change = match tenant {
            Some(tenant) => change.of_tenant(tenant),
            None => change,
        };
        audit_in(&mut write, &self.base, actor, change);
        self.base.commit_unless(Conflict::JobNotParked, write).await
    }
}
