//! Measures distinct price checks at the sandbox, at the rate of a hundred thousand watches with
//! one check an hour each.

use crate::report::Row;
use crate::rows::Rows;
use crate::sample::{Samples, ms};
use crate::scene::{self, name, on_both};
use crate::wire::Wire;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::Duration;
use tests::{Database, Server, WATCHES, days_ahead, watch_request};

const ASKS_PER_HOUR: f64 = 100_000.0;
/// Interval of the watches. It is much shorter than the default, so that few queries cause many
/// checks: each is checked twice during the measurement.
const INTERVAL: Duration = Duration::from_secs(30);
const LENGTH: Duration = Duration::from_secs(60);
/// Number of distinct queries, slightly more than needed, so that checks at the edges of the
/// measurement do not matter.
const QUESTIONS: i64 = 850;
/// Time after the start in which each query is checked for the first time at once.
const WARM_UP: Duration = Duration::from_secs(5);
/// Number of days until the nearest check-in. It is more than a week, because nearer ones are
/// checked more often.
const NEAREST_DAY: i64 = 30;
const DAYS: i64 = 300;

pub(super) fn measure() -> Result<Vec<Row>> {
    on_both(on)
}

async fn on(database: Database) -> Result<Vec<Row>> {
    let interval_s = INTERVAL.as_secs();
    let config = format!("[watches]\ninterval_s = {interval_s}\nsupplier_per_minute = 1000000");
    let server = scene::gateway(database, &config).await;
    watch(&server).await?;
    tokio::time::sleep(WARM_UP).await;
    let before = checks(&server, "seen").await;
    tokio::time::sleep(LENGTH).await;
    let asked = checks(&server, "seen").await - before;
    let failed = checks(&server, "failed").await + checks(&server, "broken").await;
    ensure!(failed == 0, "{failed} price checks failed");
    let late = lateness(&server).await?;
    let (key, name) = (name(database).to_lowercase(), name(database));
    let hour = 3_600.0 / LENGTH.as_secs_f64();
    Ok(vec![
        Row::new(
            format!("cadence.{key}"),
            format!("questions of watches asked in an hour, {name} (computed from a minute)"),
            f64::from(u32::try_from(asked)?) * hour,
            "",
        )
        .at_least(ASKS_PER_HOUR),
        Row::new(
            format!("cadence.{key}_late_p50"),
            format!("from when a question is due to its answer, {name}: median"),
            ms(late.percentile(50)),
            "ms",
        ),
        Row::new(
            format!("cadence.{key}_late_p99"),
            "the same: 99th percentile",
            ms(late.percentile(99)),
            "ms",
        ),
    ])
}

/// Creates watches of one hotel with distinct queries and trigger prices that are never reached.
async fn watch(server: &Server) -> Result<()> {
    let hotel_id = server.client().hotel_id("OK").await;
    let mut wire = Wire::connect(&server.api).await?;
    for number in 0..QUESTIONS {
        let check_in = NEAREST_DAY + number % DAYS;
        let mut request = watch_request(&hotel_id, 1.0);
        let members = request
            .as_object_mut()
            .context("the request is not an object")?;
        let check_out = check_in + 1 + number / DAYS;
        members.insert("check_in".to_owned(), json!(days_ahead(check_in)));
        members.insert("check_out".to_owned(), json!(days_ahead(check_out)));
        let made = wire
            .exchange(&scene::post(server, WATCHES, &request))
            .await?;
        ensure!(
            made.status() == Some(201),
            "a watch: {}: {}",
            made.first_line,
            String::from_utf8_lossy(made.body)
        );
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
        late.len() == usize::try_from(QUESTIONS)?,
        "{} price queries exist, not the expected number",
        late.len()
    );
    Ok(late)
}
