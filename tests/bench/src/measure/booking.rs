//! Bookings from prebook to confirmation, card included, every step durable,
//! at a sandbox in another process.

use crate::report::Row;
use crate::sample::{Samples, ms};
use crate::scene::{self, block_on, name};
use crate::wire::Wire;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tests::{Booked, Database, Server, prebook_request};
use tokio::task::JoinSet;

const AT_ONCE: usize = 64;
const WARM_UP: Duration = Duration::from_secs(2);
const LENGTH: Duration = Duration::from_secs(10);

pub(super) fn measure() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (database, target) in [(Database::Sqlite, 150.0), (Database::Postgres, 300.0)] {
        rows.extend(block_on(on(database, target))?);
    }
    Ok(rows)
}

async fn on(database: Database, target: f64) -> Result<Vec<Row>> {
    let server = Arc::new(scene::gateway(database, "").await);
    let client = server.client();
    let at = Booked::at("OK");
    let prebook = prebook_request(&at.offer(&client).await, 1);
    let complete = json!({ "payment_instrument_id": at.instrument(&client).await });
    let asks = Arc::new((prebook, complete));
    run(&server, &asks, WARM_UP).await?;
    let (times, rate) = run(&server, &asks, LENGTH).await?;
    let booked = server.ledger().await;
    let count = booked
        .of("bkg_")
        .filter(|effect| effect.kind == "booking")
        .count();
    ensure!(
        count >= times.len(),
        "{} bookings are confirmed, {count} were made",
        times.len()
    );
    let (key, name) = (name(database).to_lowercase(), name(database));
    Ok(vec![
        Row::new(
            format!("booking.{key}"),
            format!("bookings, {name}, 64 at once"),
            rate,
            "/s",
        )
        .at_least(target),
        Row::new(
            format!("booking.{key}_p50"),
            format!("a booking, {name}, 64 at once: median"),
            ms(times.percentile(50)),
            "ms",
        ),
        Row::new(
            format!("booking.{key}_p99"),
            format!("a booking, {name}, 64 at once: 99th percentile"),
            ms(times.percentile(99)),
            "ms",
        ),
    ])
}

/// Times of bookings, and bookings a second.
async fn run(
    server: &Arc<Server>,
    asks: &Arc<(Value, Value)>,
    length: Duration,
) -> Result<(Samples, f64)> {
    let begin = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (server, asks) = (Arc::clone(server), Arc::clone(asks));
        workers.spawn(async move {
            let mut wire = Wire::connect(&server.api).await?;
            let mut times = Samples::default();
            while begin.elapsed() < length {
                let start = Instant::now();
                book(&server, &mut wire, &asks).await?;
                times.push(start.elapsed());
            }
            Ok::<_, anyhow::Error>(times)
        });
    }
    let mut times = Samples::default();
    while let Some(worker) = workers.join_next().await {
        times.extend(worker??);
    }
    let booked = f64::from(u32::try_from(times.len())?);
    Ok((times, booked / begin.elapsed().as_secs_f64()))
}

async fn book(
    server: &Server,
    wire: &mut Wire,
    (prebook, complete): &(Value, Value),
) -> Result<()> {
    let answer = wire
        .exchange(&scene::post_once(server, "/v1/hotel/prebook", prebook))
        .await?;
    ensure!(
        answer.status() == Some(201),
        "prebook: {}: {}",
        answer.first_line,
        String::from_utf8_lossy(answer.body)
    );
    let document = answer.json()?;
    let id = document
        .pointer("/data/id")
        .and_then(Value::as_str)
        .context("a booking has an id")?;
    let path = format!("/v1/hotel/bookings/{id}/book");
    let answer = wire
        .exchange(&scene::post_once(server, &path, complete))
        .await?;
    ensure!(
        answer.status() == Some(200),
        "book: {}: {}",
        answer.first_line,
        String::from_utf8_lossy(answer.body)
    );
    ensure!(
        answer.json()?.pointer("/data/status") == Some(&json!("CONFIRMED")),
        "a booking is not confirmed"
    );
    Ok(())
}
