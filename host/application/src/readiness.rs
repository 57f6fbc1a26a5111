//! Readiness of the process: whether its database responds and it is not shutting down.

use crate::storage_failure::StorageFailure;
use crate::task_supervisor::TaskSupervisor;
use host_storage::{DatabaseError, Store};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Minimum time between two pings of the database, however many readiness requests arrive.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

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
    last_ping: Mutex<Option<(Instant, Result<(), DatabaseError>)>>,
}

impl ReadinessProbe {
    pub fn new(store: Store, tasks: TaskSupervisor) -> Self {
        Self {
            store,
            tasks,
            last_ping: Mutex::default(),
        }
    }

    /// Checks that the process is not shutting down and that the database responds.
    pub async fn check(&self) -> Result<(), NotReady> {
        if self.tasks.shutdown_token().is_cancelled() {
            return Err(NotReady::ShuttingDown);
        }
        let ping = self.ping().await;
        Ok(ping.map_err(StorageFailure::from)?)
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
