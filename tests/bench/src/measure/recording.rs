//! Measures what the request log and the statistics cost: two gateways, one of which records
//! nothing, alternate on databases of their own.

use crate::load::Load;
use crate::process::cpu_of;
use crate::report::{Measured, measured};
use crate::sample::{median, us};
use crate::setup::{self, key};
use anyhow::{Result, ensure};
use std::time::Duration;
use tests::{Database, HotelBookingBuilder, Server};

const CONNECTIONS: usize = 32;
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 9;
const OFF: &str = "[requests]\ndays = 0";

pub(super) async fn measure(database: Database) -> Result<Vec<Measured>> {
    let (on, off) = (
        Side::start(database, "").await,
        Side::start(database, OFF).await,
    );
    let (mut ratios, mut costs) = (Vec::new(), Vec::new());
    for number in 0..=ROUNDS {
        let with = on.round().await?;
        let without = off.round().await?;
        // The first round warms up.
        if number > 0 {
            ratios.push(with / without);
            costs.push(with - without);
        }
    }
    let recorded = on
        .server
        .metric("stopover_recording_dropped_total", &[])
        .await;
    ensure!(
        recorded > 0,
        "the load was so low that nothing was left out of the log"
    );
    let key = format!("recording.{}", key(database));
    Ok(vec![
        measured(&key, median(ratios)),
        measured(format!("{key}_cost"), median(costs)),
    ])
}

struct Side {
    server: Server,
    load: Load,
}

impl Side {
    async fn start(database: Database, config: &str) -> Self {
        let server = setup::gateway(database, config).await;
        let booking = HotelBookingBuilder::at("OK")
            .book_confirmed(&server.client())
            .await;
        let request = setup::get(&server, &format!("/v1/hotel/bookings/{booking}"));
        let load = Load::new(&server.api, request, CONNECTIONS);
        Self { server, load }
    }

    /// Returns the processor time of a request in microseconds.
    async fn round(&self) -> Result<f64> {
        let before = cpu_of(self.server.process_id())?;
        let done = self.load.run(ROUND).await?.faultless()?;
        let used = cpu_of(self.server.process_id())? - before;
        Ok(us(used) / f64::from(u32::try_from(done.times.len())?))
    }
}
