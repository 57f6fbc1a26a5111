//! Measures reading a booking: the gateway and a minimal handler alternate on the same database.

use crate::http_connection::request;
use crate::load::Load;
use crate::peer::Peer;
use crate::process::cpu_of;
use crate::report::{Measured, measured};
use crate::sample::{median, us};
use crate::setup::{self, key};
use anyhow::Result;
use std::time::Duration;
use tests::{Database, HotelBookingBuilder};

const CONNECTIONS: usize = 32;
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 7;

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let server = setup::gateway(database, "").await;
    let booking = HotelBookingBuilder::at("OK")
        .book_confirmed(&server.client())
        .await;
    let bare = Peer::Bare.start(server.database_url()).await?;
    let ours = setup::get(&server, &format!("/v1/hotel/bookings/{booking}"));
    let ours = Load::new(&server.api, ours, CONNECTIONS);
    let least = request("GET", &bare.base, &format!("/{booking}"), &[], None);
    let least = Load::new(&bare.base, least, CONNECTIONS);
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
    let key = format!("read.{}", key(database));
    Ok(vec![
        measured(&key, median(ratios)),
        measured(format!("{key}_rate"), median(rates)),
        measured(format!("{key}_cpu"), median(ours_cpu)),
        measured(format!("{key}_cpu_bare"), median(least_cpu)),
    ])
}

/// Returns requests per second and the server's processor time per request in microseconds.
async fn round(load: &Load, process: u32) -> Result<(f64, f64)> {
    let before = cpu_of(process)?;
    let done = load.run(ROUND).await?.faultless()?;
    let used = cpu_of(process)? - before;
    let requests = f64::from(u32::try_from(done.times.len())?);
    Ok((done.per_second(), us(used) / requests))
}
