//! Measures a million watches with distinct price queries: the gateway's memory and the time to
//! find due price checks.

use crate::process::resident_mb;
use crate::report::{Measured, measured};
use crate::rows::{Rows, copied, numbers};
use crate::sample::{Samples, ms};
use crate::setup;
use anyhow::{Context, Result, ensure};
use host_domain::time::Timestamp;
use host_domain::watch::ObservedPrice;
use host_storage::{
    ClaimedPriceCheck, PriceCheckClaim, PriceCheckRelease, Store, StoreOptions, UnitOfWork,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::{Database, Server};
use tokio::task::JoinSet;

const FEW: u32 = 1_000;
const MANY: u32 = 1_000_000;
/// Milliseconds between two due checks: a hundred thousand an hour.
const APART_MS: u32 = 36;
/// Time during which the gateway's memory is observed.
const LENGTH: Duration = Duration::from_secs(15);
const CLAIMS: usize = 1_500;
const WARM_UP: usize = 100;
/// Number of price checks in a claim, as by default.
const CONCURRENCY: u32 = 16;
const LEASE_MS: i64 = 15_000;
const HOUR_S: i64 = 60 * 60;
/// Configuration in which no check is due twice and no watch triggers.
const CONFIG: &str = "[watches]\ninterval_s = 86400\nsupplier_per_minute = 1000000";

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let mut server = setup::gateway(Database::Postgres, CONFIG).await;
    let first = Watched::first(&server).await?;
    let mut rows = Rows::of(&server).await?;
    first.copy(&mut rows, 1, FEW - 1).await?;
    let few = resident_at_most(&server, LENGTH).await?;
    first.copy(&mut rows, FEW, MANY - 1).await?;
    let many = resident_at_most(&server, LENGTH).await?;
    let active = "SELECT COUNT(*) FROM watch WHERE status = 'active'";
    let active = rows.numbers(active).await?;
    ensure!(active == [i64::from(MANY)], "{active:?} watches are active");
    // Only the following claims are measured, so the gateway must not claim as well.
    server.kill().await;
    let (claims, nexts) = claims(server.database_url()).await?;
    Ok(vec![
        measured("watches.claim", ms(claims.percentile(99))),
        measured("watches.claim_p50", ms(claims.percentile(50))),
        measured("watches.next", ms(nexts.percentile(99))),
        measured("watches.resident", many / few),
        measured("watches.resident_few", few),
    ])
}

async fn resident_at_most(server: &Server, length: Duration) -> Result<f64> {
    let begin = Instant::now();
    let mut resident = 0.0_f64;
    while begin.elapsed() < length {
        resident = resident.max(resident_mb(server.process_id())?);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(resident)
}

/// Id of the watch that is copied.
struct Watched(String);

impl Watched {
    async fn first(server: &Server) -> Result<Self> {
        let client = server.client();
        let watch = &client.watch_hotel("OK", 1.0, json!({})).await;
        let is_asked = |watch: &Value| !watch["last_checked_at"].is_null();
        let id = &watch["id"];
        drop(client.wait_for_watch("an ask", id, is_asked).await);
        let id = id.as_str().context("the watch has no id")?;
        Ok(Self(id.to_owned()))
    }

    /// Copies the watch to the numbers from `from` to `to`, each with a copy of its query. Their
    /// checks become due one after the other.
    async fn copy(&self, rows: &mut Rows, from: u32, to: u32) -> Result<()> {
        let (numbers, price_check, watch) = (
            numbers(from, to),
            copied("w.price_check_id"),
            copied("w.id"),
        );
        let (now, id) = (now().0, &self.0);
        // The watches are inserted first, because a query without watches is deleted.
        rows.execute(format!(
            "INSERT INTO watch (organization, mode, id, user_id, price_check_id, status, \
             trigger_minor, created_at, updated_at, version, document) {numbers} \
             SELECT w.organization, w.mode, {watch}, w.user_id, {price_check}, w.status, \
               w.trigger_minor, w.created_at + n, w.updated_at + n, w.version, \
               REPLACE(w.document, w.id, {watch}) \
             FROM watch AS w CROSS JOIN numbers WHERE w.id = '{id}'"
        ))
        .await?;
        rows.execute(format!(
            "INSERT INTO price_check (organization, mode, id, query, next_check_at, \
             watch_revision, created_at) {numbers} \
             SELECT p.organization, p.mode, {price_check}, p.query, \
               {now} + CAST(n - {from} AS BIGINT) * {APART_MS}, 1, p.created_at \
             FROM watch AS w JOIN price_check AS p ON p.organization = w.organization \
               AND p.mode = w.mode AND p.id = w.price_check_id CROSS JOIN numbers \
             WHERE w.id = '{id}'"
        ))
        .await?;
        rows.vacuum(&["watch", "price_check"]).await
    }
}

/// Returns the times of claims as a gateway makes them, and the times of finding when the next one
/// is due. Claimed checks are released with a due time after all others.
async fn claims(database: &str) -> Result<(Samples, Samples)> {
    let store = Store::open(database, &StoreOptions::default()).await?;
    let now = now().plus_s(HOUR_S);
    let (mut claims, mut nexts) = (Samples::default(), Samples::default());
    for number in 0..WARM_UP + CLAIMS {
        let token = format!("{number:032x}");
        let claim = PriceCheckClaim {
            now,
            limit: CONCURRENCY,
            lease_ms: LEASE_MS,
            token: &token,
        };
        let begin = Instant::now();
        let claimed = store.claim_price_checks(claim).await?;
        let claim_time = begin.elapsed();
        ensure!(
            claimed.len() == usize::try_from(CONCURRENCY)?
                && claimed.iter().all(|ask| ask.has_open_watches),
            "{} price checks were claimed, not the expected number",
            claimed.len()
        );
        release(&store, claimed, now).await?;
        let begin = Instant::now();
        let next = store.next_price_check_due_at().await?;
        let next_time = begin.elapsed();
        ensure!(
            next.is_some_and(|at| at <= now),
            "no price check is due next"
        );
        if number >= WARM_UP {
            claims.push(claim_time);
            nexts.push(next_time);
        }
    }
    store.close().await;
    Ok((claims, nexts))
}

/// Releases the checks concurrently and one by one, as their responses would arrive.
async fn release(store: &Store, claimed: Vec<ClaimedPriceCheck>, now: Timestamp) -> Result<()> {
    let mut releases = JoinSet::new();
    for price_check in claimed {
        let store = store.clone();
        releases.spawn(async move {
            let outcome = PriceCheckRelease {
                observed: Some(ObservedPrice {
                    observed_at: now,
                    total: None,
                }),
                next_at: now.plus_s(24 * HOUR_S),
            };
            let mut write = UnitOfWork::new(now);
            write.release_price_check(&price_check, outcome);
            store.commit(write).await
        });
    }
    while let Some(released) = releases.join_next().await {
        released??;
    }
    Ok(())
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
