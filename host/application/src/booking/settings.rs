//! The booking workflow: named steps that call suppliers and payment processors. The intent of a
//! step is committed before its call, and the outcome after it. Request handlers start a workflow
//! and background workers resume it; both execute the same steps.
//!
//! This module does not depend on HTTP.

use crate::application::Application;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{ExecutionContext, WorkflowError};
use crate::booking::interpret::{ScheduleContext, SupplierGuarantees};
use crate::config::Config;
use futures::future::BoxFuture;
use host_domain::id::BookingId;
use host_domain::remote_call::BackoffSchedule;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_runtime::CallContext;
use host_storage::{CommitError, DatabaseError, UnitOfWork};
use std::time::Duration;
use tokio::time::Instant;

/// Interval at which a call polls for the outcome of a workflow that another call runs.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Part of a caller's time that is reserved for committing the outcome of a call that takes all the
/// rest.
const DEADLINE_RESERVE: Duration = Duration::from_millis(500);

/// Backoff schedules of the booking workflow.
#[derive(Debug, Clone)]
pub struct RetrySchedules {
    /// Schedule for reconciling calls whose outcome is unknown.
    pub reconcile: BackoffSchedule,
    /// Schedule for retrying calls that are known not to have been executed.
    pub capture_retry: BackoffSchedule,
}

impl RetrySchedules {
    pub fn new(config: &Config) -> Self {
        let schedule = |offsets: &[u64]| {
            BackoffSchedule::new(
                offsets
                    .iter()
                    .map(|&s| i64::try_from(s).unwrap_or(i64::MAX))
                    .collect(),
            )
        };
        Self {
            reconcile: schedule(&config.reconcile.schedule_s),
            capture_retry: schedule(&config.payments.capture_retry_s),
        }
    }
}

impl Application {
    fn lease_duration(&self) -> Duration {
        Duration::from_secs(self.config.jobs.lease_s.max(1))
    }

    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease_duration().as_millis()).unwrap_or(i64::MAX)
    }

    pub fn schedule_context(&self) -> ScheduleContext<'_> {
        let now = self.clock.now();
        ScheduleContext {
            now,
            requested_at: now,
            reconcile: &self.schedules.reconcile,
            capture_retry: &self.schedules.capture_retry,
        }
    }

    /// Returns when a call that is sent now is first reconciled if its response is lost.
    pub fn first_reconcile_at(&self) -> Timestamp {
        let now = self.clock.now();
        self.schedules.reconcile.next_after(now, now)
    }

    /// Returns the guarantees that the adapter of a supplier or processor declares.
    pub fn supplier_guarantees(&self, id: &SupplierId) -> SupplierGuarantees {
        let supplier = self.runtime.supplier(id);
        supplier.map_or(SupplierGuarantees::default(), |supplier| {
            let description = &supplier.info().description;
            SupplierGuarantees {
                reads_consistent_after_ms: description.reads_consistent_after_ms,
                supports_idempotent_retry: description.supports_idempotent_resend,
            }
        })
    }

    /// Creates the context of one workflow run, with a new lease token.
    pub fn execution_context(&self, request_id: &str, deadline: Instant) -> ExecutionContext {
        ExecutionContext {
            lease_token: format!("{:032x}", self.ids.generate()),
            request_id: request_id.to_owned(),
            deadline: deadline.checked_sub(DEADLINE_RESERVE).unwrap_or(deadline),
            instrument: None,
        }
    }

    pub fn call_context<B: BookingAggregate>(
        &self,
        booking: &B,
        execution: &ExecutionContext,
    ) -> CallContext {
        CallContext {
            request_id: execution.request_id.clone(),
            organization: booking.owner().tenant.organization.clone(),
            booking: Some(booking.id().to_string()),
            deadline: execution.deadline,
        }
    }

    /// Returns whether a lease on a booking's workflow is held at the moment.
    pub async fn is_lease_held(&self, job: &str, id: &BookingId) -> Result<bool, DatabaseError> {
        Ok(self
            .store
            .job(job, id.as_str())
            .await?
            .is_some_and(|job| job.is_leased))
    }

    /// Returns the validity of an offer whose supplier names no expiry, in seconds.
    pub fn offer_ttl_s(&self) -> i64 {
        i64::try_from(self.config.offers.ttl_s).unwrap_or(i64::MAX)
    }

    /// Runs a workflow to completion, even if the caller disconnects meanwhile. The future is
    /// boxed: it holds every step's state and would not fit on a thread's stack beside the
    /// request's own state.
    pub async fn run_to_completion<T: Send + 'static>(
        &self,
        walk: BoxFuture<'static, T>,
    ) -> Result<T, WorkflowError> {
        self.tasks
            .run_to_completion(walk)
            .await
            .map_err(|_logged| WorkflowError::TaskPanicked)
    }

    /// Works on a booking and renews the lease on its workflow meanwhile. If the lease is lost, the
    /// work is dropped at once: calls that it sent are already recorded as sent, so another worker
    /// reconciles them.
    pub async fn with_lease<T, E: From<WorkflowError>>(
        &self,
        job: &str,
        id: &BookingId,
        execution: &ExecutionContext,
        work: BoxFuture<'_, Result<T, E>>,
    ) -> Result<T, E> {
        tokio::select! {
            ended = work => ended,
            lost = self.renew_lease_until_lost(job, id, execution) => Err(lost.into()),
        }
    }

    async fn renew_lease_until_lost(
        &self,
        job: &str,
        id: &BookingId,
        execution: &ExecutionContext,
    ) -> WorkflowError {
        let mut ticks = tokio::time::interval(self.lease_duration() / 3);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let mut write = UnitOfWork::new(self.clock.now());
            write.renew_job_lease(job, id.as_str(), &execution.lease_token, self.lease_ms());
            match self.store.commit(write).await {
                Ok(()) => {}
                Err(CommitError::Conflict(_)) => return WorkflowError::LeaseLost(id.clone()),
                Err(CommitError::Database(error)) => {
                    tracing::warn!(booking = %id, error = &error as &dyn std::error::Error, "the lease on a booking's workflow could not be renewed; it is tried again at the next interval");
                }
            }
        }
    }

    /// Waits one poll interval for the outcome of another call's work. Returns `false` if the
    /// deadline comes first.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other call may run in another process, so its outcome can only be polled from the database"
    )]
    pub async fn wait_for_next_poll(&self, deadline: Instant) -> bool {
        let next = Instant::now() + POLL_INTERVAL;
        if next >= deadline {
            return false;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        true
    }
}
