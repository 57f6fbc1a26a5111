//! Readiness of the process: whether its database responds and it is not shutting down.

use crate::storage_failure::StorageFailure;
use crate::task_supervisor::TaskSupervisor;
use host_storage::{DatabaseError, Store};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Minimum time between two pings of the database, however many readiness requests arrive.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Reason why the process is not ready.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// The process is shutting down.
    #[error("the process is shutting down")]
    ShuttingDown,
    /// The database does not respond.
    #[error(transparent)]
    Storage(#[from] StorageFailure),
}

/// Checks the readiness of the process.
pub struct ReadinessProbe {
    store: Store,
    tasks: TaskSupervisor,
    /// Result of the last ping of the database.
    last_ping: Mutex<Option<(Instant, Result<(), DatabaseError>)>>,
}

impl ReadinessProbe {
    /// Creates the probe.
    #[must_use]
    pub fn new(store: Store, tasks: TaskSupervisor) -> Self {
        Self {
            store,
            tasks,
            last_ping: Mutex::default(),
        }
    }

    /// Checks that the process is not shutting down, then pings the database unless that was done
    /// within the last second.
    ///
    /// # Errors
    /// [`NotReady`].
    pub async fn check(&self) -> Result<(), NotReady> {
        if self.tasks.shutdown_token().is_cancelled() {
            return Err(NotReady::ShuttingDown);
        }
        self.ping()
            .await
            .map_err(|error| NotReady::Storage(error.into()))
    }

    async fn ping(&self) -> Result<(), DatabaseError> {
        let mut last_ping = self.last_ping.lock().await;
        if let Some((at, result)) = &*last_ping
            && at.elapsed() < CHECK_INTERVAL
        {
            return result.clone();
        }
        let result = self.store.ping().await;
        *last_ping = Some((Instant::now(), result.clone()));
        result
    }
}
