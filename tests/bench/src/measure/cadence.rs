//! Measures distinct price checks at the sandbox, at the rate of a hundred thousand watches with
//! one check an hour each.

use crate::http_connection::HttpConnection;
use crate::report::{Measured, measured};
use crate::rows::Rows;
use crate::sample::{Samples, ms};
use crate::setup::{self, key};
use anyhow::{Result, ensure};
use serde_json::json;
use std::time::Duration;
use tests::{Database, Server, WATCHES, days_ahead, merged, watch_request};

/// Interval of the watches. It is much shorter than the default, so that few queries cause many
/// checks: each is checked twice during the measurement.
const INTERVAL: Duration = Duration::from_secs(30);
const LENGTH: Duration = Duration::from_secs(60);
/// Number of distinct queries, slightly more than needed, so that checks at the edges of the
/// measurement do not matter.
const QUERIES: i64 = 850;
/// Time after the start in which each query is checked for the first time at once.
const WARM_UP: Duration = Duration::from_secs(5);
/// Number of days until the nearest check-in. It is more than a week, because nearer ones are
/// checked more often.
const NEAREST_DAY: i64 = 30;
const DAYS: i64 = 300;

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let interval_s = INTERVAL.as_secs();
    let config = format!("[watches]\ninterval_s = {interval_s}\nsupplier_per_minute = 1000000");
    let server = setup::gateway(database, &config).await;
    watch(&server).await?;
    tokio::time::sleep(WARM_UP).await;
    let before = checks(&server, "checked").await;
    tokio::time::sleep(LENGTH).await;
    let checked = checks(&server, "checked").await - before;
    let failed = checks(&server, "failed").await + checks(&server, "error").await;
    ensure!(failed == 0, "{failed} price checks failed");
    let late = lateness(&server).await?;
    let key = format!("cadence.{}", key(database));
    let hour = 3_600.0 / LENGTH.as_secs_f64();
    Ok(vec![
        measured(&key, f64::from(u32::try_from(checked)?) * hour),
        measured(format!("{key}_late_p50"), ms(late.percentile(50))),
        measured(format!("{key}_late_p99"), ms(late.percentile(99))),
    ])
}

/// Creates watches of one hotel with distinct queries and trigger prices that are never reached.
async fn watch(server: &Server) -> Result<()> {
    let hotel_id = server.client().hotel_id("OK").await;
    let mut connection = HttpConnection::connect(&server.api).await?;
    for number in 0..QUERIES {
        let check_in = NEAREST_DAY + number % DAYS;
        let check_out = check_in + 1 + number / DAYS;
        let stay = json!({ "check_in": days_ahead(check_in), "check_out": days_ahead(check_out) });
        let request = merged(watch_request(&hotel_id, 1.0), stay);
        let request = setup::post(server, WATCHES, &request);
        connection.exchange(&request).await?.expect(201)?;
    }
    Ok(())
}

async fn checks(server: &Server, outcome: &str) -> u64 {
    let name = "stopover_watch_checks_total";
    server.metric(name, &[("outcome", outcome)]).await
}

/// Returns for each query how long after its due time it was last checked. The due time is one
/// interval before the next one, because each query has a fixed phase.
async fn lateness(server: &Server) -> Result<Samples> {
    let interval_ms = INTERVAL.as_millis();
    let query = format!("SELECT last_checked_at - next_check_at + {interval_ms} FROM price_check");
    let mut late = Samples::default();
    for late_ms in Rows::of(server).await?.numbers(&query).await? {
        // A negative value means that the check finished right before it was due.
        let late_ms = u64::try_from(late_ms).unwrap_or_default();
        late.push(Duration::from_millis(late_ms));
    }
    ensure!(
        late.len() == usize::try_from(QUERIES)?,
        "{} price queries exist, not the expected number",
        late.len()
    );
    Ok(late)
}
