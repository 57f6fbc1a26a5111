//! Measures repeated replacement of a plugin while it prices offers.

use crate::load::Load;
use crate::report::Row;
use crate::sample::{Samples, ms};
use crate::scene::{self, block_on};
use crate::wire::{Wire, request};
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use tests::{Database, Server, offers_request};

const CONNECTIONS: usize = 8;
const REPLACEMENTS: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(150);

pub(super) fn measure() -> Result<Vec<Row>> {
    block_on(replace())
}

async fn replace() -> Result<Vec<Row>> {
    let server = scene::gateway(Database::Sqlite, "").await;
    let ask = scene::post(&server, "/v1/hotel/offers", &offers_request("OK"));
    let load = Load::new(&server.api, ask, CONNECTIONS);
    load.run(Duration::from_secs(1)).await?.faultless()?;
    let (done, times) = tokio::join!(
        load.run(BETWEEN * (REPLACEMENTS + 4)),
        replacements(&server)
    );
    let (done, times) = (done?, times?);
    for failure in &done.failures {
        eprintln!("  {failure}");
    }
    let failed = u32::try_from(done.failures.len())?;
    Ok(vec![
        Row::new(
            "replace.p50",
            "replacing a plugin under load, code kept: median",
            ms(times.percentile(50)),
            "ms",
        )
        .at_most(50.0),
        Row::new(
            "replace.max",
            "the same: longest of 40",
            ms(times.max()),
            "ms",
        )
        .at_most(50.0),
        Row::new(
            "replace.failed",
            "requests that failed meanwhile",
            f64::from(failed),
            "",
        )
        .at_most(0.0),
        Row::new(
            "replace.rate",
            "requests meanwhile",
            done.per_second(),
            "/s",
        ),
    ])
}

async fn replacements(server: &Server) -> Result<Samples> {
    let ask = request(
        "POST",
        &server.admin,
        "/plugins/SANDBOX_HOTELS/reload",
        &[("content-length", "0")],
        None,
    );
    let mut wire = Wire::connect(&server.admin).await?;
    let mut times = Samples::default();
    for _ in 0..REPLACEMENTS {
        tokio::time::sleep(BETWEEN).await;
        let begin = Instant::now();
        let answer = wire.exchange(&ask).await?;
        ensure!(
            answer.status() == Some(200),
            "{}",
            String::from_utf8_lossy(answer.body)
        );
        times.push(begin.elapsed());
    }
    Ok(times)
}
