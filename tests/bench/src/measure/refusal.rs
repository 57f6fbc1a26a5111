//! Measures what the largest invalid bodies cost above a valid request: time and memory.

use crate::http_connection::HttpConnection;
use crate::process::{peak_resident_mib, reset_peak_resident, resident_mb};
use crate::report::{Measured, measured};
use crate::sample::{Samples, ms};
use crate::setup;
use anyhow::Result;
use serde_json::{Map, Value, json};
use tests::{Database, Server, offers_request};

const PREBOOK: &str = "/v1/hotel/prebook";
const ROUNDS: usize = 20;

/// Cost of a request.
struct Cost {
    /// Median time to the response in milliseconds.
    time_ms: f64,
    /// Largest growth of the resident memory during a request in MiB.
    memory_mib: f64,
}

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let server = setup::gateway(Database::Sqlite, "").await;
    let valid = setup::post(&server, "/v1/hotel/offers", &offers_request("OK"));
    // The first requests load what all later ones share.
    cost(&server, &valid, 200).await?;
    let valid = cost(&server, &valid, 200).await?;
    let (mut time_ms, mut memory_mib) = (f64::MIN, f64::MIN);
    for body in invalid_bodies() {
        let request = setup::post_once(&server, PREBOOK, &body);
        let invalid = cost(&server, &request, 400).await?;
        time_ms = time_ms.max(invalid.time_ms - valid.time_ms);
        memory_mib = memory_mib.max(invalid.memory_mib - valid.memory_mib);
    }
    Ok(vec![
        measured("refusal.time", time_ms),
        measured("refusal.memory", memory_mib),
    ])
}

/// Returns bodies just below the limit of 1 MiB, each with as many invalid values as it can hold.
fn invalid_bodies() -> Vec<Value> {
    let unknown: Map<String, Value> = (0..85_000)
        .map(|number| (format!("u{number}"), json!(0)))
        .collect();
    vec![
        json!({ "rooms": vec![json!({}); 349_000] }),
        json!({ "rooms": [{ "guests": vec![json!({}); 349_000] }] }),
        json!({ "offer_reference": vec![0; 520_000] }),
        json!({ "contact": { "email": "a".repeat(1_040_000) } }),
        json!({ "unknown": vec![json!([]); 349_000] }),
        Value::Object(unknown),
    ]
}

async fn cost(server: &Server, request: &[u8], status: u16) -> Result<Cost> {
    let process = server.process_id();
    let mut connection = HttpConnection::connect(&server.api).await?;
    let (mut times, mut memory_mib) = (Samples::default(), 0.0_f64);
    for _ in 0..ROUNDS {
        reset_peak_resident(process)?;
        let before_mib = resident_mb(process)? * 1e6 / f64::from(1 << 20);
        let begin = std::time::Instant::now();
        connection.exchange(request).await?.expect(status)?;
        times.push(begin.elapsed());
        memory_mib = memory_mib.max(peak_resident_mib(process)? - before_mib);
    }
    Ok(Cost {
        time_ms: ms(times.percentile(50)),
        memory_mib,
    })
}
