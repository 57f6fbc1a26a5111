//! Measures repeated replacement of a plugin while it prices offers.

use crate::http_connection::{HttpConnection, request};
use crate::load::Load;
use crate::report::{Measured, measured};
use crate::sample::{Samples, ms};
use crate::setup;
use anyhow::Result;
use std::time::{Duration, Instant};
use tests::{Database, Server, offers_request};

const CONNECTIONS: usize = 8;
const REPLACEMENTS: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(150);

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let server = setup::gateway(Database::Sqlite, "").await;
    let ask = setup::post(&server, "/v1/hotel/offers", &offers_request("OK"));
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
        measured("replace.p50", ms(times.percentile(50))),
        measured("replace.max", ms(times.max())),
        measured("replace.failed", f64::from(failed)),
        measured("replace.rate", done.per_second()),
    ])
}

async fn replacements(server: &Server) -> Result<Samples> {
    let path = "/plugins/SANDBOX_HOTELS/reload";
    let ask = request(
        "POST",
        &server.admin,
        path,
        &[("content-length", "0")],
        None,
    );
    let mut connection = HttpConnection::connect(&server.admin).await?;
    let mut times = Samples::default();
    for _ in 0..REPLACEMENTS {
        tokio::time::sleep(BETWEEN).await;
        let begin = Instant::now();
        connection.exchange(&ask).await?.expect(200)?;
        times.push(begin.elapsed());
    }
    Ok(times)
}
