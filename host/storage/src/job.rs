//! Work that is due, and who holds it. Knows nothing of what the work is.
//!
//! A job is known by its kind and its subject. Whoever works on it holds a
//! lease: a token of their own, good until an instant of the database's clock.
//! Every later word about the job needs the token, so that somebody whose lease
//! was taken over cannot undo what the new holder does. When it is due is told
//! by the caller's clock.

use crate::error::CommitError;
use crate::statement::{Row, Statement, text_array, statement};
use crate::wake::WorkQueue;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::time::Timestamp;

/// A unit of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Which task.
    pub kind: String,
    /// What about, usually an id.
    pub subject: String,
    /// Not before.
    pub due_at: Timestamp,
    /// Whether somebody's lease runs.
    pub is_leased: bool,
    /// Claims since it was last released in order.
    pub attempts: i64,
    /// When it was put aside after too many claims.
    pub parked_at: Option<Timestamp>,
    /// How the last attempt failed; neither secrets nor personal data.
    pub last_error: Option<String>,
    /// When it was first asked for.
    pub created_at: Timestamp,
}

/// What to claim, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct JobClaim<'a> {
    /// Of these kinds.
    pub kinds: &'a [&'a str],
    /// The most to claim.
    pub limit: u32,
    /// Due at this instant.
    pub now: Timestamp,
    /// How long the lease is good.
    pub lease_ms: i64,
    /// Of nobody else.
    pub token: &'a str,
    /// A job that was claimed this often without being released is parked.
    pub attempts_max: u32,
}

/// Parked jobs of this kind and about this subject; of any, where it is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParkedJobFilter<'a> {
    /// Which task.
    pub kind: Option<&'a str>,
    /// What about.
    pub subject: Option<&'a str>,
}

/// What a claim brought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaimedJobs {
    /// Held now, longest due first.
    pub jobs: Vec<Job>,
    /// Put aside just now instead, for the log.
    pub parked: Vec<Job>,
}

impl UnitOfWork {
    /// Asks for work at an instant: makes the job or moves it. If somebody holds
    /// it, it becomes due again then, when they have finished. Ends parking.
    pub fn schedule_job(&mut self, kind: &str, subject: &str, due_at: Timestamp) -> &mut Self {
        self.wake_if_due(due_at);
        self.add(statement!(
            "INSERT INTO job (kind, subject, due_at, attempts, created_at) \
             VALUES ($1, $2, $3, 0, $4) \
             ON CONFLICT (kind, subject) DO UPDATE SET \
               due_at = CASE WHEN job.lease_token IS NULL THEN excluded.due_at \
                             ELSE job.due_at END, \
               again_at = CASE WHEN job.lease_token IS NULL THEN NULL \
                               WHEN job.again_at < excluded.due_at THEN job.again_at \
                               ELSE excluded.due_at END, \
               attempts = CASE WHEN job.parked_at IS NULL THEN job.attempts ELSE 0 END, \
               parked_at = NULL",
            kind,
            subject,
            due_at,
            self.now,
        ))
    }

    /// Makes a job that its maker works on at once, or takes it over, unless
    /// another's lease runs: [`Conflict::JobLeased`]. If the maker vanishes, it
    /// is due as soon as the lease is over. Ends parking.
    pub fn insert_leased_job(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        lease_ms: i64,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO job (kind, subject, due_at, lease_token, lease_until, attempts, \
             created_at) VALUES ($1, $2, $3, $4, {now_ms} + $5, 1, $3) \
             ON CONFLICT (kind, subject) DO UPDATE SET \
               due_at = excluded.due_at, again_at = NULL, \
               lease_token = excluded.lease_token, lease_until = excluded.lease_until, \
               attempts = CASE WHEN job.parked_at IS NULL THEN job.attempts + 1 ELSE 1 END, \
               parked_at = NULL \
             WHERE job.lease_token IS NULL OR job.lease_token = excluded.lease_token \
                OR job.lease_until <= {now_ms}",
            kind,
            subject,
            self.now,
            token,
            lease_ms,
        );
        self.one(insert, Conflict::JobLeased)
    }

    /// Begins a lease anew from now, else [`Conflict::LeaseLost`].
    pub fn renew_job_lease(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        lease_ms: i64,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE job SET lease_until = {now_ms} + $4 \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3",
            kind,
            subject,
            token,
            lease_ms,
        );
        self.one(update, Conflict::LeaseLost)
    }

    /// Done for now, due again at an instant; its attempts count anew. Else
    /// [`Conflict::LeaseLost`].
    pub fn release_job(
        &mut self,
        kind: &str,
        subject: &str,
        token: &str,
        due_at: Timestamp,
    ) -> &mut Self {
        self.local_wakeups.add(WorkQueue::Jobs);
        let update = statement!(
            "UPDATE job SET due_at = CASE WHEN again_at < $4 THEN again_at ELSE $4 END, \
             again_at = NULL, lease_token = NULL, lease_until = NULL, attempts = 0, \
             last_error = NULL \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3",
            kind,
            subject,
            token,
            due_at,
        );
        self.one(update, Conflict::LeaseLost)
    }

    /// Went wrong, to be tried again at an instant; its attempts go on counting.
    /// Else [`Conflict::LeaseLost`].
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
            "UPDATE job SET due_at = CASE WHEN again_at < $4 THEN again_at ELSE $4 END, \
             again_at = NULL, lease_token = NULL, lease_until = NULL, last_error = $5 \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3",
            kind,
            subject,
            token,
            due_at,
            error,
        );
        self.one(update, Conflict::LeaseLost)
    }

    /// Done for good, unless it was asked for again meanwhile. Else
    /// [`Conflict::LeaseLost`].
    pub fn complete_job(&mut self, kind: &str, subject: &str, token: &str) -> &mut Self {
        self.local_wakeups.add(WorkQueue::Jobs);
        // What was asked for meanwhile keeps the row and frees it; else it goes.
        let release = statement!(
            "UPDATE job SET due_at = again_at, again_at = NULL, lease_token = NULL, \
             lease_until = NULL, attempts = 0, last_error = NULL \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3 AND again_at IS NOT NULL",
            kind,
            subject,
            token,
        );
        let delete = statement!(
            "DELETE FROM job \
             WHERE kind = $1 AND subject = $2 AND lease_token = $3 AND again_at IS NULL",
            kind,
            subject,
            token,
        );
        self.add_expecting_one_of_pair(release, delete, Conflict::LeaseLost)
    }

    /// What is due later is found by polling.
    fn wake_if_due(&mut self, due_at: Timestamp) {
        if due_at <= self.now {
            self.wakes.add(WorkQueue::Jobs);
        }
    }
}

impl Store {
    /// Takes due jobs that nobody holds; no two claims get the same one.
    ///
    /// # Errors
    /// The database's.
    pub async fn claim_jobs(&self, claim: JobClaim<'_>) -> Result<ClaimedJobs, DatabaseError> {
        let mut write = UnitOfWork::new(claim.now);
        write.add_returning(self::claim(claim));
        let outcome = self.execute(write).await.map_err(CommitError::into_database)?;
        let mut claimed = ClaimedJobs::default();
        for row in &outcome.rows {
            let job = read(row)?;
            if job.parked_at.is_some() {
                claimed.parked.push(job);
            } else {
                claimed.jobs.push(job);
            }
        }
        claimed
            .jobs
            .sort_by(|a, b| (a.due_at, &a.subject).cmp(&(b.due_at, &b.subject)));
        Ok(claimed)
    }

    /// When the next job that nobody holds is due. A held one is found by polling
    /// if its holder vanishes.
    ///
    /// # Errors
    /// The database's.
    pub async fn next_job_due(&self) -> Result<Option<Timestamp>, DatabaseError> {
        let row = self.fetch_optional(next_due()).await?;
        row.map(|row| row.timestamp("due_at")).transpose()
    }

    /// One job.
    ///
    /// # Errors
    /// The database's.
    pub async fn job(&self, kind: &str, subject: &str) -> Result<Option<Job>, DatabaseError> {
        let select = Statement {
            sql: format!("SELECT {COLUMNS} FROM job WHERE kind = $1 AND subject = $2").into(),
            args: vec![kind.into(), subject.into()],
        };
        self.fetch_optional(select).await?.as_ref().map(read).transpose()
    }

    /// The operator's list: jobs that were put aside, longest ago first.
    ///
    /// # Errors
    /// The database's.
    pub async fn parked_jobs(&self, limit: u32) -> Result<Vec<Job>, DatabaseError> {
        self.fetch_all(parked(limit)).await?.iter().map(read).collect()
    }

    /// Gives parked jobs new attempts, due at once; what they were.
    ///
    /// # Errors
    /// The database's.
    pub async fn unpark_jobs(
        &self,
        filter: ParkedJobFilter<'_>,
        now: Timestamp,
    ) -> Result<Vec<Job>, DatabaseError> {
        let mut write = UnitOfWork::new(now);
        write.add_returning(unpark(filter, now));
        write.wake_if_due(now);
        let outcome = self.execute(write).await.map_err(CommitError::into_database)?;
        outcome.rows.iter().map(read).collect()
    }
}

const COLUMNS: &str = "kind, subject, due_at, attempts, parked_at, last_error, created_at, \
    CAST(CASE WHEN lease_until > {now_ms} THEN 1 ELSE 0 END AS BIGINT) AS leased";

/// What is claimed too often is put aside in the same statement, so that a job
/// that kills its process is put aside too. The kind is compared as something
/// other than the column, which keeps SQLite from finding jobs by their key and
/// then sorting all of them: the index by due time is in the right order.
pub(crate) fn claim(claim: JobClaim<'_>) -> Statement {
    Statement {
        sql: format!(
            "WITH due AS ( \
               SELECT kind, subject FROM job \
               WHERE parked_at IS NULL AND due_at <= $4 \
                 AND (lease_token IS NULL OR lease_until <= {{now_ms}}) \
                 AND kind || '' {{in $3}} \
               ORDER BY due_at LIMIT $5 {{skip_locked}}) \
             UPDATE job SET \
               lease_token = CASE WHEN attempts < $6 THEN $1 END, \
               lease_until = CASE WHEN attempts < $6 THEN {{now_ms}} + $2 END, \
               parked_at = CASE WHEN attempts < $6 THEN NULL ELSE $4 END, \
               attempts = CASE WHEN attempts < $6 THEN attempts + 1 ELSE attempts END \
             WHERE (kind, subject) IN (SELECT kind, subject FROM due) \
             RETURNING {COLUMNS}"
        )
        .into(),
        args: vec![
            claim.token.into(),
            claim.lease_ms.into(),
            text_array(claim.kinds.iter().copied()),
            claim.now.into(),
            claim.limit.into(),
            claim.attempts_max.into(),
        ],
    }
}

pub(crate) fn next_due() -> Statement {
    statement!(
        "SELECT due_at FROM job WHERE parked_at IS NULL AND lease_token IS NULL \
         ORDER BY due_at LIMIT 1"
    )
}

pub(crate) fn parked(limit: u32) -> Statement {
    Statement {
        sql: format!(
            "SELECT {COLUMNS} FROM job WHERE parked_at IS NOT NULL ORDER BY parked_at LIMIT $1"
        )
        .into(),
        args: vec![limit.into()],
    }
}

pub(crate) fn unpark(filter: ParkedJobFilter<'_>, now: Timestamp) -> Statement {
    Statement {
        sql: format!(
            "UPDATE job SET parked_at = NULL, attempts = 0, due_at = $1 \
             WHERE parked_at IS NOT NULL \
               AND kind = COALESCE($2, kind) AND subject = COALESCE($3, subject) \
             RETURNING {COLUMNS}"
        )
        .into(),
        args: vec![now.into(), filter.kind.into(), filter.subject.into()],
    }
}

fn read(row: &Row) -> Result<Job, DatabaseError> {
    Ok(Job {
        kind: row.text("kind")?,
        subject: row.text("subject")?,
        due_at: row.timestamp("due_at")?,
        is_leased: row.int("leased")? != 0,
        attempts: row.int("attempts")?,
        parked_at: row.timestamp_opt("parked_at")?,
        last_error: row.text_opt("last_error")?,
        created_at: row.timestamp("created_at")?,
    })
}
