//! Readiness of the process: whether its database commits writes and it is not shutting down.

use crate::storage_failure::StorageFailure;
use crate::task_supervisor::TaskSupervisor;
use host_storage::{DatabaseError, Store};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Minimum time between the beginnings of two write probes, however many readiness requests arrive.
/// A probe costs the database a flush to disk.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time for a write probe. A load balancer should learn soon that writes are not committed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error("the process is shutting down")]
    ShuttingDown,
    #[error(transparent)]
    Storage(#[from] StorageFailure),
}

pub struct ReadinessProbe {
    store: Store,
    tasks: TaskSupervisor,
    latest: Mutex<Option<WriteProbe>>,
}

/// A write probe that is running or has ended.
struct WriteProbe {
    started_at: Instant,
    /// `None` while the probe is running.
    outcome: watch::Receiver<Option<Result<(), DatabaseError>>>,
}

#[derive(Debug, thiserror::Error)]
enum ProbeFailed {
    #[error("the database has not committed a write within {:?}", PROBE_TIMEOUT)]
    TimedOut,
    #[error("the write probe ended without a result")]
    Panicked,
}

impl ReadinessProbe {
    pub fn new(store: Store, tasks: TaskSupervisor) -> Self {
        Self {
            store,
            tasks,
            latest: Mutex::default(),
        }
    }

    /// Checks that the process is not shutting down and that the database commits writes.
    pub async fn check(&self) -> Result<(), NotReady> {
        if self.tasks.shutdown_token().is_cancelled() {
            return Err(NotReady::ShuttingDown);
        }
        let mut outcome = self.latest_or_new_probe();
        let ended = outcome.wait_for(Option::is_some).await;
        let ended = ended.ok().and_then(|outcome| outcome.clone());
        let ended = ended.unwrap_or_else(|| Err(ProbeFailed::Panicked.into()));
        Ok(ended.map_err(StorageFailure::from)?)
    }

    /// Returns the outcome of the latest probe. Starts another probe if that one has ended and
    /// began before [`PROBE_INTERVAL`].
    fn latest_or_new_probe(&self) -> watch::Receiver<Option<Result<(), DatabaseError>>> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(probe) = &*latest
            && (probe.is_running() || probe.started_at.elapsed() < PROBE_INTERVAL)
        {
            return probe.outcome.clone();
        }
        let (ended, outcome) = watch::channel(None);
        *latest = Some(WriteProbe {
            started_at: Instant::now(),
            outcome: outcome.clone(),
        });
        let store = self.store.clone();
        // The probe is a task, so a caller that leaves neither ends it nor causes another one.
        self.tasks.spawn("readiness probe", async move {
            ended.send_replace(Some(probe_write(&store).await));
        });
        outcome
    }
}

impl WriteProbe {
    fn is_running(&self) -> bool {
        // A task that panicked has dropped its end of the channel.
        self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok()
    }
}

async fn probe_write(store: &Store) -> Result<(), DatabaseError> {
    match timeout(PROBE_TIMEOUT, store.probe_write()).await {
        // Nobody reads the row, so all that matters is that the write was not confirmed.
        Ok(Err(DatabaseError::CommitUnknown(cause))) => Err(DatabaseError::Unavailable(cause)),
        Ok(outcome) => outcome,
        Err(_) => Err(ProbeFailed::TimedOut.into()),
    }
}

impl From<ProbeFailed> for DatabaseError {
    fn from(failure: ProbeFailed) -> Self {
        Self::Unavailable(Arc::new(failure))
    }
}
