//! Operator view of unresolved calls and parked jobs.

use crate::base::Base;
use host_domain::id::BookingId;
use host_domain::owner::Tenant;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_storage::{Attempt, DatabaseError, Job, ParkedJobFilter};

/// Maximum number of rows in each list.
const ROWS_MAX: u32 = 500;

/// A call whose outcome is unknown.
#[derive(Debug, Clone)]
pub struct UnresolvedCall {
    /// Tenant of the booking.
    pub tenant: Tenant,
    /// The booking that the call is about.
    pub booking_id: BookingId,
    /// Name of the step that made the call.
    pub step: String,
    /// The supplier or processor that was called.
    pub target: SupplierId,
    /// The gateway's reference at the other side.
    pub client_reference: String,
    /// Time at which the call was last sent.
    pub sent_at: Timestamp,
    /// One sentence about the last response.
    pub evidence: Option<String>,
}

impl From<Attempt> for UnresolvedCall {
    fn from(attempt: Attempt) -> Self {
        Self {
            tenant: attempt.tenant,
            booking_id: attempt.call.booking_id,
            step: attempt.call.step,
            target: attempt.call.target,
            client_reference: attempt.call.client_reference,
            sent_at: attempt.last_sent_at,
            evidence: attempt.evidence,
        }
    }
}

/// A job that failed too often and is no longer retried.
#[derive(Debug, Clone)]
pub struct ParkedJob {
    /// Kind of the job.
    pub kind: String,
    /// Object of the job.
    pub subject: String,
    /// Number of attempts.
    pub attempts: i64,
    /// Time at which it was parked. `None` if it is unparked.
    pub parked_at: Option<Timestamp>,
    /// Error of the last attempt.
    pub last_error: Option<String>,
}

impl From<Job> for ParkedJob {
    fn from(job: Job) -> Self {
        Self {
            kind: job.kind,
            subject: job.subject,
            attempts: job.attempts,
            parked_at: job.parked_at,
            last_error: job.last_error,
        }
    }
}

/// Work that needs an operator.
#[derive(Debug, Clone)]
pub struct UnresolvedWork {
    /// Calls whose outcome is unknown.
    pub calls: Vec<UnresolvedCall>,
    /// Jobs that are no longer retried.
    pub parked_jobs: Vec<ParkedJob>,
}

/// Lists unresolved work and restarts parked jobs.
pub struct OperatorService {
    base: Base,
}

impl OperatorService {
    #[must_use]
    pub const fn new(base: Base) -> Self {
        Self { base }
    }

    /// Lists parked jobs and the unresolved calls that were sent at least `older_than_s` seconds
    /// ago.
    pub async fn list_unresolved(
        &self,
        older_than_s: u32,
    ) -> Result<UnresolvedWork, DatabaseError> {
        let store = &self.base.store;
        let before = self.base.now().plus_s(-i64::from(older_than_s));
        let calls = store.unresolved_attempts(before, ROWS_MAX).await?;
        let parked_jobs = store.parked_jobs(ROWS_MAX).await?;
        Ok(UnresolvedWork {
            calls: calls.into_iter().map(UnresolvedCall::from).collect(),
            parked_jobs: parked_jobs.into_iter().map(ParkedJob::from).collect(),
        })
    }

    /// Resets the attempts of the parked jobs of a kind and subject and makes them due now. `None`
    /// means any. Returns the jobs.
    pub async fn unpark_jobs(
        &self,
        kind: Option<&str>,
        subject: Option<&str>,
    ) -> Result<Vec<ParkedJob>, DatabaseError> {
        let filter = ParkedJobFilter { kind, subject };
        let jobs = self.base.store.unpark_jobs(filter, self.base.now()).await?;
        for job in &jobs {
            tracing::info!(
                kind = job.kind,
                subject = job.subject,
                "an operator restarted a parked job"
            );
        }
        Ok(jobs.into_iter().map(ParkedJob::from).collect())
    }
}
