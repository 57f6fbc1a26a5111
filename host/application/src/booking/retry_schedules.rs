//! The backoff schedules of the booking workflow.

use crate::config::{PaymentsConfig, ReconcileConfig};
use host_domain::remote_call::BackoffSchedule;

#[derive(Debug, Clone)]
pub struct RetrySchedules {
    /// Schedule for reconciling calls whose outcome is unknown.
    pub reconcile: BackoffSchedule,
    /// Schedule for retrying captures and cancellations that are known not to have been executed.
    /// Its times are `payments.capture_retry_s` of the configuration.
    pub call_retry: BackoffSchedule,
    /// Times after a failure by absence at which the booking is looked up again.
    pub absence_recheck: BackoffSchedule,
    /// Milliseconds for which the reads of a supplier that declares no consistent reads may be
    /// outdated.
    pub undeclared_reads_ms: i64,
}

impl RetrySchedules {
    pub fn new(reconcile: &ReconcileConfig, payments: &PaymentsConfig) -> Self {
        let seconds = |offset: &u64| i64::try_from(*offset).unwrap_or(i64::MAX);
        let schedule =
            |offsets: &[u64]| BackoffSchedule::new(offsets.iter().map(seconds).collect());
        Self {
            reconcile: schedule(&reconcile.schedule_s),
            call_retry: schedule(&payments.capture_retry_s),
            absence_recheck: schedule(&reconcile.absence_recheck_s),
            undeclared_reads_ms: i64::from(reconcile.undeclared_reads_s) * 1000,
        }
    }
}
