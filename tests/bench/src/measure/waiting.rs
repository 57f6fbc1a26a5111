//! Measures a thousand concurrent requests that wait for a slow supplier.

use crate::http_connection::HttpConnection;
use crate::process::resident_mb;
use crate::report::{Measured, measured};
use crate::setup;
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use tests::{Database, offers_request};
use tokio::task::JoinSet;

const WAITING: usize = 1_000;
/// Response time of the supplier, which is part of its hotel's name.
const SLOW: Duration = Duration::from_secs(5);
const LIMITS: &str = "plugin_calls = 1100";
const PLUGIN_LIMITS: &str = "{ calls_max = 1100 }";

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let config = format!("{LIMITS}\n{}", setup::sandbox_hotels(PLUGIN_LIMITS));
    let server = setup::gateway(Database::Sqlite, &config).await;
    let hotel = format!("SLOW_{}", SLOW.as_millis());
    // The first request makes the hotel known to the gateway.
    let request = setup::post(&server, "/v1/hotel/offers", &offers_request(&hotel));
    let mut first = HttpConnection::connect(&server.api).await?;
    first.exchange(&request).await?.expect(200)?;
    let idle = resident_mb(server.process_id())?;
    let mut wires = Vec::new();
    for _ in 0..WAITING {
        wires.push(HttpConnection::connect(&server.api).await?);
    }
    let begin = Instant::now();
    for connection in &mut wires {
        connection.send(&request).await?;
    }
    ensure!(
        begin.elapsed() < SLOW / 2,
        "the requests were sent too slowly to wait concurrently"
    );
    let mut waiting = JoinSet::new();
    for mut connection in wires {
        waiting.spawn(async move {
            let answer = connection.receive().await?;
            Ok::<_, anyhow::Error>((answer.and_then(|answer| answer.status()), begin.elapsed()))
        });
    }
    let mut resident = idle;
    let mut failed = 0_u32;
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    loop {
        tokio::select! {
            _ = ticks.tick() => resident = resident.max(resident_mb(server.process_id())?),
            answer = waiting.join_next() => {
                let Some(answer) = answer else { break };
                let (status, after) = answer??;
                failed += u32::from(status != Some(200));
                ensure!(after >= SLOW, "a response arrived too early, after {after:?}");
            }
        }
    }
    Ok(vec![
        measured("waiting.resident", resident),
        measured("waiting.before", idle),
        measured("waiting.failed", f64::from(failed)),
    ])
}
