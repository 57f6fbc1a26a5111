//! A queue of background jobs with due times and leases, independent of what the jobs do.
//!
//! A job is identified by its kind and its subject. A worker holds a lease: a token of its own,
//! valid until a time of the database's clock. Every later change of the job requires the token, so
//! a worker whose lease was taken over cannot overwrite the work of the new holder. Due times come
//! from the caller's clock.

use crate::statement::{Row, statement, text_array};
use crate::unit_of_work::Precondition;
use crate::wakeup::WorkQueue;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::time::Timestamp;

/// A unit of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub kind: String,
    /// The object of the task, usually an id.
    pub subject: String,
    /// Earliest time at which the job runs.
    pub due_at: Timestamp,
    pub is_leased: bool,
    /// The number of claims since the job was last released normally.
    pub attempts: i64,
    /// Time at which the job was parked after too many claims.
    pub parked_at: Option<Timestamp>,
    /// The error of the last attempt, without secrets or personal data.
    pub last_error: Option<String>,
    /// Time at which the job was first scheduled.
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub struct JobClaim<'a> {
    pub kinds: &'a [&'a str],
    pub limit: u32,
    /// The current time. Jobs due by then are claimed.
    pub now: Timestamp,
    pub lease_ms: i64,
    /// The lease token, unique to the claim.
    pub token: &'a str,
    /// The number of claims without a release after which a job is parked.
    pub attempts_max: u32,
}

/// A filter for parked jobs. A field that is `None` matches every job.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParkedJobFilter<'a> {
    pub kind: Option<&'a str>,
    pub subject: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaimedJobs {
    /// The jobs now leased, longest due first.
    pub jobs: Vec<Job>,
    /// The jobs that were parked instead, for the log.
    pub parked: Vec<Job>,
}

impl UnitOfWork {
    /// Schedules a job: creates it or moves its due time. If it is leased, it becomes due again at
    /// that time once the lease holder is done. Unparks a parked job.
    pub fn schedule_job(&mut self, kind: &str, subject: &str, due_at: Timestamp) -> &mut Self {
        self.wake_if_due(due_at);
        self.add(statement!(
            "INSERT INTO job (kind, subject, due_at, attempt_count, created_at) \
             VALUES ($1, $2, $3, 0, $4) \
             ON CONFLICT (kind, subject) DO UPDATE SET \
               due_at = CASE WHEN job.lease_token IS NULL THEN excluded.due_at \
                             ELSE job.due_at END, \
               reschedule_at = CASE WHEN job.lease_token IS NULL THEN NULL \
                                    WHEN job.reschedule_at < excluded.due_at \
                                    THEN job.reschedule_at ELSE excluded.due_at END, \
               attempt_count = CASE WHEN job.parked_at IS NULL THEN job.attempt_count ELSE 0 END, \
               parked_at = NULL",
            kind,
            subject,
            due_at,
            self.now,
        ))
    }

    /// Creates a job that the caller runs at once, or takes it over. Fails with
    /// [`Conflict::JobLeased`] while another lease is valid. If the caller vanishes, the job is due
    /// as soon as the lease expires. Unparks a parked job.
    pub fn insert_leased_job(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        lease_ms: i64,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO job (kind, subject, due_at, lease_token, lease_expires_at, attempt_count, \
             created_at) VALUES ($1, $2, $3, $4, {now_ms} + $5, 1, $3) \
             ON CONFLICT (kind, subject) DO UPDATE SET \
               due_at = excluded.due_at, reschedule_at = NULL, \
               lease_token = excluded.lease_token, lease_expires_at = excluded.lease_expires_at, \
               attempt_count = CASE WHEN job.parked_at IS NULL THEN job.attempt_count + 1 ELSE 1 \
               END, parked_at = NULL \
             WHERE job.lease_token IS NULL OR job.lease_token = excluded.lease_token \
                OR job.lease_expires_at <= {now_ms}",
            kind,
            subject,
            self.now,
            token,
            lease_ms,
        );
        self.add_expecting_one(insert, Conflict::JobLeased)
    }

    /// Renews a lease, starting now. Fails with [`Conflict::LeaseLost`] if the token does not
    /// match.
    pub fn renew_job_lease(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        lease_ms: i64,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE job SET lease_expires_at = {now_ms} + $4 \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3",
            kind,
            subject,
            token,
            lease_ms,
        );
        self.add_expecting_one(update, Conflict::LeaseLost)
    }

    /// Releases a job after success and schedules its next run. Resets the number of attempts.
    /// Fails with [`Conflict::LeaseLost`] if the token does not match.
    pub fn release_job(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        due_at: Timestamp,
    ) -> &mut Self {
        self.local_wakeups.insert(WorkQueue::Jobs);
        let update = statement!(
            "UPDATE job SET due_at = CASE WHEN reschedule_at < $4 THEN reschedule_at ELSE $4 END, \
             reschedule_at = NULL, lease_token = NULL, lease_expires_at = NULL, attempt_count = 0, \
             last_error = NULL \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3",
            kind,
            subject,
            token,
            due_at,
        );
        self.add_expecting_one(update, Conflict::LeaseLost)
    }

    /// Releases a job after a failure and schedules a retry. Keeps the number of attempts. Fails
    /// with [`Conflict::LeaseLost`] if the token does not match.
    pub fn fail_job(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        due_at: Timestamp,
        error: &str,
    ) -> &mut Self {
        self.wake_if_due(due_at);
        let update = statement!(
            "UPDATE job SET due_at = CASE WHEN reschedule_at < $4 THEN reschedule_at ELSE $4 END, \
             reschedule_at = NULL, lease_token = NULL, lease_expires_at = NULL, last_error = $5 \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3",
            kind,
            subject,
            token,
            due_at,
            error,
        );
        self.add_expecting_one(update, Conflict::LeaseLost)
    }

    /// Completes a job: deletes it unless it was scheduled again during the lease. Fails with
    /// [`Conflict::LeaseLost`] if the token does not match.
    pub fn complete_job(&mut self, kind: &str, subject: &str, token: &str) -> &mut Self {
        self.local_wakeups.insert(WorkQueue::Jobs);
        // A job that was scheduled again keeps its row and is released; otherwise the row is
        // deleted.
        let release = statement!(
            "UPDATE job SET due_at = reschedule_at, reschedule_at = NULL, lease_token = NULL, \
             lease_expires_at = NULL, attempt_count = 0, last_error = NULL \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3 AND reschedule_at IS NOT NULL",
            kind,
            subject,
            token,
        );
        let delete = statement!(
            "DELETE FROM job \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3 AND reschedule_at IS NULL",
            kind,
            subject,
            token,
        );
        let one_of_pair = Precondition::OneRowOfPair(Conflict::LeaseLost);
        self.add(release).push(delete, one_of_pair, false)
    }

    /// Unparks a job: resets its attempts and makes it due now. Fails with
    /// [`Conflict::JobNotParked`] if it is not parked any more as it was read.
    pub fn retry_parked_job(&mut self, job: &Job) -> &mut Self {
        self.wake_if_due(self.now);
        let update = statement!(
            "UPDATE job SET parked_at = NULL, attempt_count = 0, due_at = $4 \
             WHERE kind = $1 AND subject = $2 AND parked_at = $3",
            job.kind.as_str(),
            job.subject.as_str(),
            job.parked_at,
            self.now,
        );
        self.add_expecting_one(update, Conflict::JobNotParked)
    }

    /// Wakes workers if the job is due now. Polling finds jobs that become due later.
    fn wake_if_due(&mut self, due_at: Timestamp) {
        if due_at <= self.now {
            self.wakeups.insert(WorkQueue::Jobs);
        }
    }
}

impl Store {
    /// Claims due jobs without a valid lease. No job is in two claims.
    pub async fn claim_jobs(&self, claim: JobClaim<'_>) -> Result<ClaimedJobs, DatabaseError> {
        // A job that was claimed too often is parked in the same statement, so that a job that
        // kills its process is parked too. `kind || ''` keeps SQLite from finding jobs by key and
        // then sorting all of them: the index by due time already has the right order.
        let update = statement!(
            format!(
                "WITH due AS ( \
                   SELECT kind, subject FROM job \
                   WHERE parked_at IS NULL AND due_at <= $4 \
                     AND (lease_token IS NULL OR lease_expires_at <= {{now_ms}}) \
                     AND kind || '' {{in $3}} \
                   ORDER BY due_at LIMIT $5 {{skip_locked}}) \
                 UPDATE job SET \
                   lease_token = CASE WHEN attempt_count < $6 THEN $1 END, \
                   lease_expires_at = CASE WHEN attempt_count < $6 THEN {{now_ms}} + $2 END, \
                   parked_at = CASE WHEN attempt_count < $6 THEN NULL ELSE $4 END, \
                   attempt_count = CASE WHEN attempt_count < $6 \
                                   THEN attempt_count + 1 ELSE attempt_count END \
                 WHERE (kind, subject) IN (SELECT kind, subject FROM due) \
                 RETURNING {COLUMNS}"
            ),
            claim.token,
            claim.lease_ms,
            text_array(claim.kinds.iter().copied()),
            claim.now,
            claim.limit,
            claim.attempts_max,
        );
        let claimed = self.execute_returning(update, read).await?;
        let is_parked = |job: &Job| job.parked_at.is_some();
        let (parked, mut jobs): (Vec<_>, Vec<_>) = claimed.into_iter().partition(is_parked);
        jobs.sort_by(|a, b| (a.due_at, &a.subject).cmp(&(b.due_at, &b.subject)));
        Ok(ClaimedJobs { jobs, parked })
    }

    pub async fn job(&self, kind: &str, subject: &str) -> Result<Option<Job>, DatabaseError> {
        let select = statement!(
            format!("SELECT {COLUMNS} FROM job WHERE kind = $1 AND subject = $2"),
            kind,
            subject,
        );
        self.read_optional(select, read).await
    }

    /// Returns the parked jobs, longest parked first. For operators.
    pub async fn parked_jobs(
        &self,
        filter: ParkedJobFilter<'_>,
        limit: u32,
    ) -> Result<Vec<Job>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM job WHERE parked_at IS NOT NULL \
                 AND kind = COALESCE($1, kind) AND subject = COALESCE($2, subject) \
                 ORDER BY parked_at LIMIT $3"
            ),
            filter.kind,
            filter.subject,
            limit,
        );
        self.read_all(select, read).await
    }
}

pub(crate) const COLUMNS: &str = "kind, subject, due_at, attempt_count, parked_at, last_error, created_at, \
    CAST(CASE WHEN lease_expires_at > {now_ms} THEN 1 ELSE 0 END AS BIGINT) AS leased";

pub(crate) fn read(row: &Row) -> Result<Job, DatabaseError> {
    Ok(Job {
        kind: row.get("kind")?,
        subject: row.get("subject")?,
        due_at: row.timestamp("due_at")?,
        is_leased: row.get::<i64>("leased")? != 0,
        attempts: row.get("attempt_count")?,
        parked_at: row.timestamp_opt("parked_at")?,
        last_error: row.get("last_error")?,
        created_at: row.timestamp("created_at")?,
    })
}
