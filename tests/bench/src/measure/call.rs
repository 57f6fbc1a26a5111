//! Measures a plugin call that does nothing else: circuit breaker, concurrency limits, a new
//! instance, a small request and response across the boundary, and the record.

use crate::plugin::{context, load};
use crate::report::{Measured, measured};
use crate::sample::{Samples, us};
use anyhow::{Result, ensure};
use host_domain::hotel::supplier_api::PlaceQuery;
use host_runtime::NoSink;
use std::sync::Arc;
use std::time::Instant;

const WARM_UP: usize = 5_000;
const CALLS: usize = 50_000;

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let times = calls().await?;
    Ok(vec![
        measured("call.p50", us(times.percentile(50))),
        measured("call.p99", us(times.percentile(99))),
    ])
}

async fn calls() -> Result<Samples> {
    let supplier = load(
        "bench-supplier",
        serde_json::json!({}),
        "",
        Arc::new(NoSink),
    )
    .await?;
    let context = context();
    let mut times = Samples::default();
    for call in 0..WARM_UP + CALLS {
        let question = PlaceQuery {
            text: "Rome".to_owned(),
            country: Some("IT".to_owned()),
            limit: 5,
        };
        let begin = Instant::now();
        let places = supplier.find_places(&context, question).await?;
        let time = begin.elapsed();
        ensure!(
            places.len() == 1 && places.iter().all(|place| place.name == "Rome"),
            "the plugin returned an unexpected place"
        );
        if call >= WARM_UP {
            times.push(time);
        }
    }
    Ok(times)
}
