//! Settings of the booking workflow.

use crate::config::{JobsConfig, PaymentsConfig, ReconcileConfig};
use host_domain::remote_call::BackoffSchedule;
use std::time::Duration;

/// Backoff schedules of the booking workflow.
#[derive(Debug, Clone)]
pub struct RetrySchedules {
    /// Schedule for reconciling calls whose outcome is unknown.
    pub reconcile: BackoffSchedule,
    /// Schedule for retrying calls that are known not to have been executed.
    pub capture_retry: BackoffSchedule,
}

impl RetrySchedules {
    /// Creates the schedules from the sections of the configuration.
    #[must_use]
    pub fn new(reconcile: &ReconcileConfig, payments: &PaymentsConfig) -> Self {
        let schedule = |offsets: &[u64]| {
            BackoffSchedule::new(
                offsets
                    .iter()
                    .map(|&s| i64::try_from(s).unwrap_or(i64::MAX))
                    .collect(),
            )
        };
        Self {
            reconcile: schedule(&reconcile.schedule_s),
            capture_retry: schedule(&payments.capture_retry_s),
        }
    }
}

/// Settings of the workflow engine.
#[derive(Debug, Clone)]
pub struct BookingSettings {
    /// Retry and reconcile schedules.
    pub schedules: RetrySchedules,
    /// Duration of a lease on a booking's workflow.
    pub lease_duration: Duration,
    /// Failpoint at which a debug build aborts.
    pub abort_at: String,
}

impl BookingSettings {
    /// Creates the settings from the sections of the configuration.
    #[must_use]
    pub fn new(jobs: &JobsConfig, reconcile: &ReconcileConfig, payments: &PaymentsConfig) -> Self {
        Self {
            schedules: RetrySchedules::new(reconcile, payments),
            lease_duration: jobs.lease_duration(),
            abort_at: jobs.abort_at.clone(),
        }
    }
}
