//! Says, again and again, what nobody knows the outcome of, and which work was put
//! aside: neither is ever given up, so somebody has to look.

use crate::app::Application;
use host_storage::DatabaseError;
use std::time::Duration;

/// After so long reading back alone is not enough.
const OPERATOR_ALERT_AFTER_S: i64 = 24 * 60 * 60;

/// How often it is looked at.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The most that are counted.
const COUNT_LIMIT: u32 = 10_000;

/// Looks until the application stops.
pub(crate) async fn run_monitor(app: &Application) {
    let complaint = "the operator's list cannot be read";
    app.tasks.run_periodically(CHECK_INTERVAL, complaint, || report_unresolved(app)).await;
}

async fn report_unresolved(app: &Application) -> Result<(), DatabaseError> {
    let before = app.clock.now().plus_s(-OPERATOR_ALERT_AFTER_S);
    let calls = app.store.unresolved_attempts(before, COUNT_LIMIT).await?;
    let parked = app.store.parked_jobs(COUNT_LIMIT).await?;
    let (calls, parked) = (calls.len(), parked.len());
    metrics::gauge!("stopover_unresolved_calls").set(u32::try_from(calls).unwrap_or(u32::MAX));
    metrics::gauge!("stopover_parked_jobs").set(u32::try_from(parked).unwrap_or(u32::MAX));
    if calls > 0 {
        tracing::error!(
            calls,
            "outcomes are unknown for more than a day: GET /unresolved on the admin listener lists them"
        );
    }
    if parked > 0 {
        tracing::error!(
            parked,
            "background work is parked: GET /unresolved on the admin listener lists it"
        );
    }
    Ok(())
}
