//! Measures the list of an organization with a hundred thousand flight bookings over HTTP: each
//! filter in each order, on first and deep pages.

use crate::load::Load;
use crate::report::{Measured, measured};
use crate::rows::{Rows, copied, numbers};
use crate::sample::{Samples, ms};
use crate::setup::{self, key};
use anyhow::{Context, Result, ensure};
use std::cmp::Reverse;
use std::time::Duration;
use tests::{Database, FlightBookingBuilder, Server};

const BOOKINGS: u32 = 100_000;
/// Number of turns. All queries alternate, so that a disturbance affects all. The slowest query
/// gets hundreds of samples; with fewer than a hundred, the 99th percentile is the maximum.
const ROUNDS: usize = 40;
const EACH: Duration = Duration::from_millis(60);
/// Number of the slowest queries that are printed.
const SHOWN: usize = 10;

/// Each filter alone, and those that are used together.
const FILTERS: [&str; 8] = [
    "",
    "&status=CONFIRMED",
    "&status=CANCELED",
    "&supplier=SUPPLIER_A",
    "&supplier=SUPPLIER_B&status=CONFIRMED",
    "&created_from=2026-03-01&created_to=2026-03-20",
    "&supplier_reference=measured-77",
    "&status=CONFIRMED&created_from=2026-03-01",
];
const ORDERS: [&str; 4] = [
    "",
    "&order=asc",
    "&sort=total_amount",
    "&sort=total_amount&order=asc",
];
const OFFSETS: [u32; 2] = [0, 1_000];

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let server = setup::gateway(database, "").await;
    fill(&server).await?;
    let mut queries: Vec<_> = queries().map(|query| (query, Samples::default())).collect();
    for turn in 0..=ROUNDS {
        for (query, times) in &mut queries {
            let path = format!("/v1/flight/bookings?{query}");
            let load = Load::new(&server.api, setup::get(&server, &path), 1);
            let done = load.run(EACH).await?.faultless()?;
            // The first turn warms up.
            if turn > 0 {
                times.extend(done.times);
            }
        }
    }
    queries.sort_by_key(|(_, times)| Reverse(times.percentile(99)));
    let (_, times) = queries.first().context("no list query was measured")?;
    let worst = times.percentile(99);
    eprintln!("  slowest on {database:?}, median and 99th percentile:");
    for (what, times) in queries.iter().take(SHOWN) {
        let (median, p99) = (ms(times.percentile(50)), ms(times.percentile(99)));
        eprintln!("  {median:6.2} {p99:6.2} ms  {what}");
    }
    let mut all = Samples::default();
    for (_, times) in queries {
        all.extend(times);
    }
    let key = format!("list.{}", key(database));
    Ok(vec![
        measured(&key, ms(worst)),
        measured(format!("{key}_p50"), ms(all.percentile(50))),
    ])
}

fn queries() -> impl Iterator<Item = String> {
    FILTERS.into_iter().flat_map(|filter| {
        ORDERS.into_iter().flat_map(move |order| {
            OFFSETS.map(|offset| format!("limit=20&offset={offset}{filter}{order}"))
        })
    })
}

/// Creates one booking of each kind and copies it under other ids.
async fn fill(server: &Server) -> Result<()> {
    let flown = FlightBookingBuilder::on("LHR-JFK");
    let confirmed = flown.book_confirmed(server).await;
    let elsewhere = flown.clone().at("SUPPLIER_B").book_confirmed(server).await;
    let canceled = flown.book_confirmed(server).await;
    let client = server.client();
    drop(client.cancel_flight(&canceled).await);
    drop(client.wait_for_flight_booking(&canceled, "CANCELED").await);
    let kinds = [(confirmed, 0, 6), (elsewhere, 6, 8), (canceled, 8, 10)];
    let mut rows = Rows::of(server).await?;
    for (id, from, to) in kinds {
        rows.execute(copies(&id, from, to)).await?;
    }
    rows.vacuum(&["flight_booking"]).await?;
    let answer = client.get("/v1/flight/bookings?limit=1").await.expect(200);
    let total = answer.body.pointer("/meta/pagination/total");
    let total = total.and_then(serde_json::Value::as_u64);
    ensure!(
        total.is_some_and(|total| total >= u64::from(BOOKINGS)),
        "{total:?} bookings exist, fewer than were copied"
    );
    Ok(())
}

/// Copies one booking to the numbers that end in `from` to `to`. The copies are five minutes apart
/// from the beginning of 2026, each with a different price.
fn copies(id: &str, from: u32, to: u32) -> String {
    let (numbers, copy) = (numbers(1, BOOKINGS), copied("id"));
    format!(
        "INSERT INTO flight_booking (organization, mode, id, user_id, status, supplier, \
         supplier_reference, offer_hash, exclusive_key, price_sort_key, created_at, updated_at, \
         version, document) \
         {numbers} \
         SELECT organization, mode, {copy}, user_id, status, supplier, 'measured-' || n, \
           offer_hash, NULL, price_sort_key + n * 7919 % 100000, \
           1767225600000 + CAST(n AS BIGINT) * 300000, \
           updated_at, version, REPLACE(document, id, {copy}) \
         FROM flight_booking, numbers \
         WHERE id = '{id}' AND n % 10 >= {from} AND n % 10 < {to}"
    )
}
