//! Measures the effect on other callers of the same plugin while one caller continuously makes it
//! loop or allocate all memory that it may use.

use crate::http_connection::HttpConnection;
use crate::load::Load;
use crate::report::{Measured, measured};
use crate::sample::{Samples, median, ms, ratio};
use crate::setup;
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

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let server = setup::gateway(Database::Sqlite, &setup::sandbox_hotels(PLUGIN_LIMITS)).await;
    let ask = setup::post(&server, "/v1/hotel/offers", &offers_request("OK"));
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
        measured("isolation.spin", median(spin)),
        measured("isolation.hoard", median(hoard)),
        measured("isolation.alone", median(quiet)),
        measured("isolation.stopped", ms(late)),
    ])
}

/// Returns the response times of the load while another connection sends harmful requests, and the
/// times of those requests.
async fn beside(server: &Server, load: &Load, hotel: &str) -> Result<(Samples, Samples)> {
    let (done, trouble) = tokio::join!(load.run(PHASE), trouble(server, hotel));
    Ok((done?.faultless()?.times, trouble?))
}

async fn trouble(server: &Server, hotel: &str) -> Result<Samples> {
    let ask = setup::post(server, "/v1/hotel/offers", &offers_request(hotel));
    let mut connection = HttpConnection::connect(&server.api).await?;
    let mut times = Samples::default();
    let begin = Instant::now();
    while begin.elapsed() < PHASE {
        let start = Instant::now();
        let answer = connection.exchange(&ask).await?;
        let is_failed = answer.status().is_some_and(|status| status >= 500);
        ensure!(is_failed, "{hotel}: {answer}");
        times.push(start.elapsed());
    }
    Ok(times)
}
