//! Leases on the workflows of bookings. Only the process that holds the lease executes the steps of
//! a booking.

use crate::base::Base;
use crate::booking::execution::{ExecutionContext, WorkflowError};
use futures::future::BoxFuture;
use host_domain::id::BookingId;
use host_storage::{CommitError, DatabaseError};
use std::time::Duration;
use tokio::time::Instant;

/// Interval at which a call polls for the outcome of a workflow that another call runs.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Checks and renews leases on the workflows of bookings.
#[derive(Clone)]
pub struct WorkflowLeases {
    pub(crate) base: Base,
    pub(crate) duration: Duration,
}

impl WorkflowLeases {
    pub fn duration_ms(&self) -> i64 {
        i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX)
    }

    pub async fn is_held(&self, job_kind: &str, id: &BookingId) -> Result<bool, DatabaseError> {
        let job = self.base.store.job(job_kind, id.as_str()).await?;
        Ok(job.is_some_and(|job| job.is_leased))
    }

    /// Runs `work` and renews the lease on the booking's workflow meanwhile. If the lease is lost, the
    /// work is dropped at once: calls that it sent are already recorded as sent, so another worker
    /// reconciles them.
    ///
    /// # Errors
    /// The error of the work, or [`WorkflowError::LeaseLost`].
    pub async fn with_lease<T, E: From<WorkflowError>>(
        &self,
        job_kind: &str,
        id: &BookingId,
        execution: &ExecutionContext,
        work: BoxFuture<'_, Result<T, E>>,
    ) -> Result<T, E> {
        tokio::select! {
            // The last commit of the work releases the lease. A renewal that conflicts with this release
            // can complete at the same time, so the work is polled first.
            biased;
            result = work => result,
            error = self.renew_until_lost(job_kind, id, execution) => Err(error.into()),
        }
    }

    async fn renew_until_lost(
        &self,
        job_kind: &str,
        id: &BookingId,
        execution: &ExecutionContext,
    ) -> WorkflowError {
        let mut ticks = tokio::time::interval(self.duration / 3);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let mut write = self.base.unit_of_work();
            write.renew_job_lease(
                job_kind,
                id.as_str(),
                &execution.lease_token,
                self.duration_ms(),
            );
            match self.base.store.commit(write).await {
                Ok(()) => {}
                Err(CommitError::Conflict(_)) => match self.is_held(job_kind, id).await {
                    Ok(true) => return WorkflowError::LeaseLost(id.clone()),
                    // The work has just released the lease, and is about to return. If another process
                    // has acquired and released it meanwhile, the next commit of the work fails.
                    Ok(false) => std::future::pending().await,
                    Err(error) => {
                        tracing::warn!(booking = %id, error = &error as &dyn std::error::Error, "cannot tell whether the lease on a booking's workflow is lost; the renewal is retried at the next interval");
                    }
                },
                Err(CommitError::Database(error)) => {
                    tracing::warn!(booking = %id, error = &error as &dyn std::error::Error, "cannot renew the lease on a booking's workflow; the renewal is retried at the next interval");
                }
            }
        }
    }
}

/// Waits one poll interval for another call's outcome. Returns `false` at the deadline.
#[expect(
    clippy::disallowed_methods,
    reason = "the other call may run in another process, so its outcome can only be polled from the database"
)]
pub async fn wait_for_next_poll(deadline: Instant) -> bool {
    let next = Instant::now() + POLL_INTERVAL;
    if next >= deadline {
        return false;
    }
    tokio::time::sleep(POLL_INTERVAL).await;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::booking::execution::RunFindings;
    use crate::id_generator::UuidV7Generator;
    use host_domain::time::{Clock, Timestamp};
    use host_storage::{Store, StoreOptions};
    use std::future::pending;
    use std::sync::Arc;
    use tokio::time::timeout;

    const KIND: &str = "resume";
    const LEASE: Duration = Duration::from_millis(60);

    struct FixedClock;

    impl Clock for FixedClock {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }
    }

    /// Works under a lease, releases it, and returns some renewals later. Another process may acquire
    /// the lease in between.
    async fn outlive_lease(is_acquired_again: bool) -> Result<(), WorkflowError> {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("stopover.db").display());
        let store = Store::open(&url, &StoreOptions::default()).await.unwrap();
        store.migrate().await.unwrap();
        let base = Base {
            store: store.clone(),
            clock: Arc::new(FixedClock),
            ids: Arc::new(UuidV7Generator),
        };
        let leases = WorkflowLeases {
            base: base.clone(),
            duration: LEASE,
        };
        let execution = ExecutionContext {
            lease_token: "own".to_owned(),
            request_id: String::new(),
            deadline: Instant::now(),
            instrument: None,
            findings: RunFindings::default(),
        };
        let id = BookingId::from_bits(1);
        let acquire = async |token: &str| {
            let mut write = base.unit_of_work();
            write.insert_leased_job(KIND, id.as_str(), token, 60_000);
            store.commit(write).await.unwrap();
        };
        acquire("own").await;
        let work = async {
            let mut write = base.unit_of_work();
            write.complete_job(KIND, id.as_str(), "own");
            store.commit(write).await.unwrap();
            if is_acquired_again {
                acquire("other").await;
                // Only the loss of the lease ends this.
                pending::<()>().await;
            }
            let _elapsed = timeout(10 * LEASE, pending::<()>()).await;
            Ok(())
        };
        let result = leases.with_lease(KIND, &id, &execution, Box::pin(work));
        let result = result.await;
        store.close().await;
        result
    }

    #[tokio::test]
    async fn lease_that_the_work_has_released_is_not_lost() {
        outlive_lease(false).await.unwrap();
        let lost = outlive_lease(true).await;
        assert!(matches!(lost, Err(WorkflowError::LeaseLost(_))));
    }
}
