//! What the gateway does with other people's systems: named steps, each with
//! its intent stored before and its outcome after. Handlers start a flow, the
//! workers resume it; both walk the same steps.
//!
//! Knows nothing of HTTP.

pub(crate) mod bookable;
pub(crate) mod cancel;
pub(crate) mod complete;
pub(crate) mod failpoint;
pub(crate) mod flight;
pub(crate) mod hotel;
pub(crate) mod judge;
pub(crate) mod payment;
pub(crate) mod prebook;
pub(crate) mod refusal;
pub(crate) mod settle;
pub(crate) mod step;
pub(crate) mod supplier_event;
pub(crate) mod walk;

use crate::app::Application;
use crate::config::Config;
use crate::flow::bookable::BookingAggregate;
use crate::flow::judge::{SupplierGuarantees, ScheduleContext};
use crate::flow::step::{WorkflowError, ExecutionContext};
use futures::future::BoxFuture;
use host_domain::id::BookingId;
use host_domain::leg::BackoffSchedule;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_runtime::CallContext;
use host_storage::{CommitError, DatabaseError, UnitOfWork};
use std::time::Duration;
use tokio::time::Instant;

/// How often a call that waits for another's outcome looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What is kept of a caller's time for storing the outcome of a call that took all the rest.
const DEADLINE_RESERVE: Duration = Duration::from_millis(500);

/// When what went wrong is looked at again.
#[derive(Debug, Clone)]
pub(crate) struct RetrySchedules {
    /// Reading back what is not known.
    pub(crate) reconcile: BackoffSchedule,
    /// Trying again what is known not to have happened.
    pub(crate) capture_retry: BackoffSchedule,
}

impl RetrySchedules {
    pub(crate) fn new(config: &Config) -> Self {
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

    pub(crate) fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease_duration().as_millis()).unwrap_or(i64::MAX)
    }

    pub(crate) fn schedule_context(&self) -> ScheduleContext<'_> {
        let now = self.clock.now();
        ScheduleContext {
            now,
            requested_at: now,
            reconcile: &self.schedules.reconcile,
            capture_retry: &self.schedules.capture_retry,
        }
    }

    /// When a call that is made now is first read back, should its answer be lost.
    pub(crate) fn first_reconcile_at(&self) -> Timestamp {
        let now = self.clock.now();
        self.schedules.reconcile.next_after(now, now)
    }

    /// What the adapter of a supplier, or processor, promises.
    pub(crate) fn supplier_guarantees(&self, id: &SupplierId) -> SupplierGuarantees {
        let supplier = self.runtime.supplier(id);
        supplier.map_or(SupplierGuarantees::default(), |supplier| {
            let description = &supplier.info().description;
            SupplierGuarantees {
                reads_consistent_after_ms: description.reads_consistent_after_ms,
                supports_idempotent_retry: description.supports_idempotent_resend,
            }
        })
    }

    /// A claim of this call on a booking's work.
    pub(crate) fn execution_context(&self, request_id: &str, deadline: Instant) -> ExecutionContext {
        ExecutionContext {
            lease_token: format!("{:032x}", self.ids.generate()),
            request_id: request_id.to_owned(),
            deadline: deadline.checked_sub(DEADLINE_RESERVE).unwrap_or(deadline),
            instrument: None,
        }
    }

    pub(crate) fn call_context<B: BookingAggregate>(&self, booking: &B, walker: &ExecutionContext) -> CallContext {
        CallContext {
            request_id: walker.request_id.clone(),
            organization: booking.owner().tenant.organization.clone(),
            booking: Some(booking.id().to_string()),
            deadline: walker.deadline,
        }
    }

    /// Whether somebody walks the steps of a booking at this moment.
    pub(crate) async fn is_lease_held(
        &self,
        job: &str,
        id: &BookingId,
    ) -> Result<bool, DatabaseError> {
        Ok(self
            .store
            .job(job, id.as_str())
            .await?
            .is_some_and(|job| job.is_leased))
    }

    /// How long an offer is good whose supplier names no time, seconds.
    pub(crate) fn offer_ttl_s(&self) -> i64 {
        i64::try_from(self.config.offers.ttl_s).unwrap_or(i64::MAX)
    }

    /// Walks to the end, also when the caller goes away meanwhile. A walk is
    /// boxed: it holds every step's state, and would not fit beside the
    /// request's own on a thread's stack.
    pub(crate) async fn run_to_completion<T: Send + 'static>(
        &self,
        walk: BoxFuture<'static, T>,
    ) -> Result<T, WorkflowError> {
        self.tasks
            .run_to_completion(walk)
            .await
            .map_err(|_logged| WorkflowError::TaskPanicked)
    }

    /// Works on a booking and keeps the claim on its work meanwhile. When the
    /// claim is lost the work is dropped where it stands: what it sent is
    /// marked, and somebody else reads it back.
    pub(crate) async fn with_lease<T, E: From<WorkflowError>>(
        &self,
        job: &str,
        id: &BookingId,
        walker: &ExecutionContext,
        work: BoxFuture<'_, Result<T, E>>,
    ) -> Result<T, E> {
        tokio::select! {
            ended = work => ended,
            lost = self.renew_lease_until_lost(job, id, walker) => Err(lost.into()),
        }
    }

    async fn renew_lease_until_lost(&self, job: &str, id: &BookingId, walker: &ExecutionContext) -> WorkflowError {
        let mut ticks = tokio::time::interval(self.lease_duration() / 3);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let mut write = UnitOfWork::new(self.clock.now());
            write.renew_job_lease(job, id.as_str(), &walker.lease_token, self.lease_ms());
            match self.store.commit(write).await {
                Ok(()) => {}
                Err(CommitError::Conflict(_)) => return WorkflowError::LeaseLost(id.clone()),
                Err(CommitError::Database(error)) => {
                    tracing::warn!(booking = %id, error = &error as &dyn std::error::Error, "the claim on a booking's work is not renewed");
                }
            }
        }
    }

    /// Waits a moment for somebody else's outcome; false when the time is over.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other call may run in another process: only looking again tells"
    )]
    pub(crate) async fn wait_for_next_poll(&self, deadline: Instant) -> bool {
        let next = Instant::now() + POLL_INTERVAL;
        if next >= deadline {
            return false;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        true
    }
}
