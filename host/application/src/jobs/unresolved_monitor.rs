//! Reports unresolved calls and parked jobs at a regular interval. Reconciliation of an unresolved call
//! continues, but may never find its outcome. A parked job runs again only after an operator
//! retries it, or when its subject gets new work.

use crate::base::Base;
use host_storage::{DatabaseError, ParkedJobFilter};
use std::time::Duration;

/// Age in seconds after which an unresolved call needs an operator.
const OPERATOR_ALERT_AFTER_S: i64 = 24 * 60 * 60;

pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(60);

const COUNT_LIMIT: u32 = 10_000;

/// Reports unresolved calls and parked jobs to the log and the metrics.
pub struct UnresolvedMonitor {
    pub(crate) base: Base,
}

impl UnresolvedMonitor {
    pub(crate) async fn report(&self) -> Result<(), DatabaseError> {
        let store = &self.base.store;
        let before = self.base.now().plus_s(-OPERATOR_ALERT_AFTER_S);
        let calls = store.unresolved_attempts(before, COUNT_LIMIT).await?;
        let parked = store
            .parked_jobs(ParkedJobFilter::default(), COUNT_LIMIT)
            .await?;
        let (calls, parked) = (calls.len(), parked.len());
        metrics::gauge!(crate::metric_names::UNRESOLVED_CALLS)
            .set(u32::try_from(calls).unwrap_or(u32::MAX));
        metrics::gauge!(crate::metric_names::PARKED_JOBS)
            .set(u32::try_from(parked).unwrap_or(u32::MAX));
        if calls > 0 {
            tracing::error!(
                calls,
                "calls have been unresolved for more than a day; GET /unresolved on the admin listener lists them"
            );
        }
        if parked > 0 {
            tracing::error!(
                parked,
                "jobs are parked; GET /unresolved on the admin listener lists them"
            );
        }
        Ok(())
    }
}
