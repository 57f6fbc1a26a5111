//! Measures the effect on other callers of the same plugin while one caller continuously makes it
//! loop or allocate all memory that it may use.

use crate::load::Load;
use crate::report::Row;
use crate::sample::{Samples, median, ms, ratio};
use crate::scene::{self, block_on};
use crate::wire::Wire;
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use tests::{Database, Server, offers_request};

const CONNECTIONS: usize = 4;
const PAUSE: Duration = Duration::from_millis(5);
const PHASE: Duration = Duration::from_secs(5);
const ROUNDS: usize = 5;
/// Deadline of a call. The limit of processor time is far higher.
const DEADLINE: Duration = Duration::from_millis(500);
const PLUGIN_LIMITS: &str = "{ call_ms_max = 500, cpu_ms_max = 10000 }";

pub(super) fn measure() -> Result<Vec<Row>> {
    block_on(isolate())
}

async fn isolate() -> Result<Vec<Row>> {
    let server = scene::gateway(Database::Sqlite, &scene::sandbox_hotels(PLUGIN_LIMITS)).await;
    let ask = scene::post(&server, "/v1/hotel/offers", &offers_request("OK"));
    let load = Load {
        pause: PAUSE,
        ..Load::new(&server.api, ask, CONNECTIONS)
    };
    load.run(PHASE / 2).await?.faultless()?;
    let mut quiet = Vec::new();
    let (mut spin, mut hoard) = (Vec::new(), Vec::new());
    let mut spins = Samples::default();
    for _ in 0..ROUNDS {
        let alone = load.run(PHASE).await?.faultless()?.times.percentile(99);
        let (beside_spin, times) = beside(&server, &load, "SPIN").await?;
        let (beside_hoard, _) = beside(&server, &load, "HOARD").await?;
        quiet.push(ms(alone));
        spin.push(ratio(beside_spin.percentile(99), alone));
        hoard.push(ratio(beside_hoard.percentile(99), alone));
        spins.extend(times);
    }
    let late = spins.percentile(99).saturating_sub(DEADLINE);
    Ok(vec![
        Row::new(
            "isolation.spin",
            "99th percentile of others while a plugin spins, against alone",
            median(spin),
            "×",
        )
        .at_most(1.2),
        Row::new(
            "isolation.hoard",
            "the same while a plugin hoards memory",
            median(hoard),
            "×",
        )
        .at_most(1.2),
        Row::new(
            "isolation.alone",
            "99th percentile alone",
            median(quiet),
            "ms",
        ),
        Row::new(
            "isolation.stopped",
            "a spinning plugin is stopped after its deadline: 99th percentile",
            ms(late),
            "ms",
        )
        .at_most(20.0),
    ])
}

/// Returns the response times of the load while another connection sends harmful requests, and the
/// times of those requests.
async fn beside(server: &Server, load: &Load, hotel: &str) -> Result<(Samples, Samples)> {
    let (done, trouble) = tokio::join!(load.run(PHASE), trouble(server, hotel));
    Ok((done?.faultless()?.times, trouble?))
}

async fn trouble(server: &Server, hotel: &str) -> Result<Samples> {
    let ask = scene::post(server, "/v1/hotel/offers", &offers_request(hotel));
    let mut wire = Wire::connect(&server.api).await?;
    let mut times = Samples::default();
    let begin = Instant::now();
    while begin.elapsed() < PHASE {
        let start = Instant::now();
        let answer = wire.exchange(&ask).await?;
        ensure!(
            answer.status().is_some_and(|status| status >= 500),
            "{hotel}: {}",
            answer.first_line
        );
        times.push(start.elapsed());
    }
    Ok(times)
}
