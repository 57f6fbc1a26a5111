//! Background jobs. One worker claims the jobs that are due and starts a task for each kind. A task
//! receives only the subject of its row. It reads the state, compares, acts, and can safely run
//! twice.

use crate::application::Application;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::WorkflowError;
use crate::supplier_event::service::SupplierEventKey;
use crate::watch::purchase_job::{self, WatchPurchaseError};
use crate::watch::service::PURCHASE_JOB_KIND;
use host_domain::{flight, hotel};
use host_storage::{Job, JobClaim, UnitOfWork, WorkQueue};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Maximum number of concurrent tasks in one process: as many as the database and the suppliers can
/// serve beside the callers' requests.
const CONCURRENT_JOBS_MAX: usize = 64;

/// Number of claims without completion after which a job is parked for an operator.
const ATTEMPTS_MAX: u32 = 20;

/// Delay before a failed job is retried, in seconds.
const RETRY_DELAY_S: i64 = 5;

/// Reasons why a job failed. A failed job is retried.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Flow(#[from] WorkflowError),
    #[error(transparent)]
    Purchase(#[from] WatchPurchaseError),
}

/// Runs the job worker until the application stops.
pub async fn run_worker(app: Arc<Application>) {
    let stopping = app.tasks.shutdown_token();
    let places = Arc::new(Semaphore::new(CONCURRENT_JOBS_MAX));
    let mut word = app.store.subscribe_wakeups(WorkQueue::Jobs);
    let poll = Duration::from_secs(app.config.jobs.poll_s.max(1));
    while !stopping.is_cancelled() {
        let full = claim_and_spawn(&app, &places).await;
        if full {
            continue;
        }
        tokio::select! {
            () = stopping.cancelled() => return,
            _ = word.wait(poll) => {}
        }
    }
}

/// Claims as many jobs as there are free permits and starts them. Returns whether more jobs may be
/// due.
async fn claim_and_spawn(app: &Arc<Application>, places: &Arc<Semaphore>) -> bool {
    let Ok(first) = Arc::clone(places).acquire_owned().await else {
        return false;
    };
    let room = places.available_permits().saturating_add(1);
    let token = format!("{:032x}", app.ids.generate());
    let claim = JobClaim {
        kinds: &[
            hotel::Booking::JOB_KIND,
            flight::Booking::JOB_KIND,
            SupplierEventKey::JOB_KIND,
            PURCHASE_JOB_KIND,
        ],
        limit: u32::try_from(room).unwrap_or(1),
        now: app.clock.now(),
        lease_ms: app.lease_ms(),
        token: &token,
        attempts_max: ATTEMPTS_MAX,
    };
    let claimed = match app.store.claim_jobs(claim).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "jobs could not be claimed; they are claimed again at the next poll"
            );
            return false;
        }
    };
    for parked in &claimed.parked {
        tracing::error!(
            kind = parked.kind,
            subject = parked.subject,
            "a job did not complete after the maximum number of attempts and is parked; see GET /unresolved on the admin listener"
        );
        metrics::counter!(crate::metric_names::JOBS_PARKED_TOTAL).increment(1);
    }
    let full = claimed.jobs.len() >= room;
    let mut first = Some(first);
    for job in claimed.jobs {
        let place = match first.take() {
            Some(place) => place,
            None => match Arc::clone(places).acquire_owned().await {
                Ok(place) => place,
                Err(_) => return false,
            },
        };
        let (app, token) = (Arc::clone(app), token.clone());
        let tasks = app.tasks.clone();
        tasks.spawn("job", async move {
            run_job(&app, &job, &token).await;
            drop(place);
        });
    }
    full
}

async fn run_job(app: &Arc<Application>, job: &Job, token: &str) {
    let subject = &job.subject;
    let ended = match job.kind.as_str() {
        hotel::Booking::JOB_KIND => crate::booking::job::run::<hotel::Booking>(app, subject, token)
            .await
            .map_err(JobError::from),
        flight::Booking::JOB_KIND => {
            crate::booking::job::run::<flight::Booking>(app, subject, token)
                .await
                .map_err(JobError::from)
        }
        SupplierEventKey::JOB_KIND => crate::supplier_event::job::run(app, subject, token)
            .await
            .map_err(JobError::from),
        PURCHASE_JOB_KIND => purchase_job::run(app, subject, token)
            .await
            .map_err(JobError::from),
        unknown => {
            tracing::error!(
                kind = unknown,
                "a claimed job has a kind that this version does not support"
            );
            return;
        }
    };
    let Err(error) = ended else { return };
    tracing::warn!(
        kind = job.kind,
        subject = job.subject,
        error = &error as &dyn std::error::Error,
        "a job failed; it is retried"
    );
    let now = app.clock.now();
    let mut write = UnitOfWork::new(now);
    write.fail_job(
        &job.kind,
        &job.subject,
        token,
        now.plus_s(RETRY_DELAY_S),
        &error.to_string(),
    );
    if let Err(error) = app.store.commit(write).await {
        // The lease expires, and then the job is due again.
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "the failure of a job could not be stored; the job is due again once its lease expires"
        );
    }
}
