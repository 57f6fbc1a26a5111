//! Readiness of the process: whether its database responds.

use host_storage::{DatabaseError, Store};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Minimum time between two pings of the database, however many readiness requests arrive.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Result of the last ping of the database.
#[derive(Default)]
pub struct ReadinessProbe(Mutex<Option<(Instant, Result<(), DatabaseError>)>>);

impl ReadinessProbe {
    /// Pings the database unless that was done within the last second.
    ///
    /// # Errors
    /// The error of the ping.
    pub async fn check(&self, store: &Store) -> Result<(), DatabaseError> {
        let mut last = self.0.lock().await;
        if let Some((at, answers)) = &*last
            && at.elapsed() < CHECK_INTERVAL
        {
            return answers.clone();
        }
        let answers = store.ping().await;
        *last = Some((Instant::now(), answers.clone()));
        answers
    }
}
