//! Measures reading a booking: the gateway and a minimal handler alternate on the same database.

use crate::load::Load;
use crate::peer::Peer;
use crate::process::cpu_of;
use crate::report::Row;
use crate::sample::{median, us};
use crate::scene::{self, name, on_both};
use crate::wire::request;
use anyhow::Result;
use std::time::Duration;
use tests::{Database, HotelBookingBuilder};

const CONNECTIONS: usize = 32;
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 7;

pub(super) fn measure() -> Result<Vec<Row>> {
    on_both(on)
}

async fn on(database: Database) -> Result<Vec<Row>> {
    let server = scene::gateway(database, "").await;
    let booking = HotelBookingBuilder::at("OK")
        .book_confirmed(&server.client())
        .await;
    let bare = Peer::Bare.start(server.database_url()).await?;
    let ours = Load::new(
        &server.api,
        scene::get(&server, &format!("/v1/hotel/bookings/{booking}")),
        CONNECTIONS,
    );
    let least = Load::new(
        &bare.base,
        request("GET", &bare.base, &format!("/{booking}"), &[], None),
        CONNECTIONS,
    );
    let (mut rates, mut ratios) = (Vec::new(), Vec::new());
    let (mut ours_cpu, mut least_cpu) = (Vec::new(), Vec::new());
    for number in 0..=ROUNDS {
        let (rate, cpu) = round(&ours, server.process_id()).await?;
        let (least_rate, least_round_cpu) = round(&least, bare.id()?).await?;
        // The first round warms up.
        if number > 0 {
            rates.push(rate);
            ratios.push(rate / least_rate);
            ours_cpu.push(cpu);
            least_cpu.push(least_round_cpu);
        }
    }
    let (key, name) = (name(database).to_lowercase(), name(database));
    Ok(vec![
        Row::new(
            format!("read.{key}"),
            format!("GET booking, {name}: requests/s against a bare handler"),
            median(ratios),
            "×",
        )
        .at_least(0.8),
        Row::new(
            format!("read.{key}_rate"),
            format!("GET booking, {name}: requests/s"),
            median(rates),
            "/s",
        ),
        Row::new(
            format!("read.{key}_cpu"),
            format!("GET booking, {name}: processor time of the gateway"),
            median(ours_cpu),
            "µs",
        ),
        Row::new(
            format!("read.{key}_cpu_bare"),
            format!("GET booking, {name}: processor time of the bare handler"),
            median(least_cpu),
            "µs",
        ),
    ])
}

/// Returns requests per second and the server's processor time per request in microseconds.
async fn round(load: &Load, process: u32) -> Result<(f64, f64)> {
    let before = cpu_of(process)?;
    let done = load.run(ROUND).await?.faultless()?;
    let used = cpu_of(process)? - before;
    Ok((
        done.per_second(),
        us(used) / f64::from(u32::try_from(done.times.len())?),
    ))
}
