//! Background jobs. One worker claims the jobs that are due and starts a task for each. The handler
//! of a job receives only the subject of its row. It reads the state, compares, acts, and can safely
//! run twice.

use crate::base::Base;
use crate::config::JobsConfig;
use crate::task_supervisor::TaskSupervisor;
use futures::future::BoxFuture;
use host_storage::{Job, JobClaim, WorkQueue};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Maximum number of concurrent tasks in one process: as many as the database and the suppliers can
/// serve beside the callers' requests.
const CONCURRENT_JOBS_MAX: usize = 64;

/// Number of claims without completion after which a job is parked for an operator.
const ATTEMPTS_MAX: u32 = 20;

const RETRY_DELAY_S: i64 = 5;

/// Reason why a job failed. A failed job is retried.
pub type JobError = Box<dyn std::error::Error + Send + Sync>;

pub trait JobHandler: Send + Sync {
    fn kind(&self) -> &'static str;

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>>;
}

pub struct JobWorker {
    base: Base,
    tasks: TaskSupervisor,
    handlers: Vec<Arc<dyn JobHandler>>,
    poll_interval: Duration,
    lease_ms: i64,
    permits: Arc<Semaphore>,
}

impl JobWorker {
    pub fn new(
        base: Base,
        tasks: TaskSupervisor,
        config: &JobsConfig,
        handlers: Vec<Arc<dyn JobHandler>>,
    ) -> Self {
        Self {
            base,
            tasks,
            handlers,
            poll_interval: config.poll_interval(),
            lease_ms: config.lease_ms(),
            permits: Arc::new(Semaphore::new(CONCURRENT_JOBS_MAX)),
        }
    }

    pub async fn run(self: Arc<Self>) {
        let shutdown = self.tasks.shutdown_token();
        let mut wakeups = self.base.store.subscribe_wakeups(WorkQueue::Jobs);
        while !shutdown.is_cancelled() {
            let may_have_more = self.claim_and_spawn().await;
            if may_have_more {
                continue;
            }
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = wakeups.wait(self.poll_interval) => {}
            }
        }
    }

    /// Claims and starts as many jobs as permits are free. Returns whether more may be due.
    async fn claim_and_spawn(self: &Arc<Self>) -> bool {
        let Ok(first_permit) = Arc::clone(&self.permits).acquire_owned().await else {
            return false;
        };
        let limit = self.permits.available_permits().saturating_add(1);
        let lease_token = format!("{:032x}", self.base.ids.generate());
        let Some(jobs) = self.claim(limit, &lease_token).await else {
            return false;
        };
        let may_have_more = jobs.len() >= limit;
        let run = |job: Job| {
            let (worker, lease_token) = (Arc::clone(self), lease_token.clone());
            async move { worker.run_job(&job, &lease_token).await }
        };
        let spawned = self
            .tasks
            .spawn_with_permits("job", &self.permits, first_permit, jobs, run);
        spawned.await && may_have_more
    }

    /// Claims due jobs and reports those that are parked. Returns `None` if the database failed.
    async fn claim(&self, limit: usize, lease_token: &str) -> Option<Vec<Job>> {
        let kinds: Vec<&str> = self.handlers.iter().map(|handler| handler.kind()).collect();
        let claim = JobClaim {
            kinds: &kinds,
            limit: u32::try_from(limit).unwrap_or(1),
            now: self.base.now(),
            lease_ms: self.lease_ms,
            token: lease_token,
            attempts_max: ATTEMPTS_MAX,
        };
        let claimed = match self.base.store.claim_jobs(claim).await {
            Ok(claimed) => claimed,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "jobs could not be claimed; they are claimed again at the next poll"
                );
                return None;
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
        Some(claimed.jobs)
    }

    async fn run_job(&self, job: &Job, lease_token: &str) {
        let mut handlers = self.handlers.iter();
        let Some(handler) = handlers.find(|handler| handler.kind() == job.kind) else {
            tracing::error!(
                kind = job.kind,
                "a claimed job has a kind that this version does not support, so it waits; upgrade this process to the version of the one that created the job"
            );
            return;
        };
        let Err(error) = handler.run(&job.subject, lease_token).await else {
            return;
        };
        tracing::warn!(
            kind = job.kind,
            subject = job.subject,
            error = &*error as &dyn std::error::Error,
            "a job failed; it is retried"
        );
        let mut write = self.base.unit_of_work();
        write.fail_job(
            &job.kind,
            &job.subject,
            lease_token,
            self.base.now().plus_s(RETRY_DELAY_S),
            &error.to_string(),
        );
        if let Err(error) = self.base.store.commit(write).await {
            // The lease expires, and then the job is due again.
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the failure of a job could not be stored; the job is due again once its lease expires"
            );
        }
    }
}
