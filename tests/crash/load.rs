//! Tests of kills from outside at random moments of many concurrent bookings.

use crate::trial::Trial;
use crate::{SOON, flight, hotel};
use tests::{Database, Server, ServerOptions, eventually, on_both_databases};
use tokio::task::JoinSet;

const ROUNDS: usize = 4;
/// Number of bookings of each product in a round.
const BOOKINGS: usize = 6;

async fn kills_under_load_lose_and_repeat_no_booking(database: Database) {
    let options = ServerOptions::on(database).config(SOON);
    let mut server = Server::start_with_own_sandbox(options.clone()).await;
    let mut trials: Vec<Trial<'static>> = Vec::new();
    for round in 0..ROUNDS {
        let client = server.client();
        let mut ready = Vec::new();
        for flow in [&hotel::BOOKED, &flight::TICKETED] {
            for _ in 0..BOOKINGS {
                ready.push(Trial::begin(&server, flow).await);
            }
        }
        let mut calls = JoinSet::new();
        for trial in ready {
            let client = client.clone();
            calls.spawn(async move {
                let _answered_or_killed = trial.ask(&client).await;
                trial
            });
        }
        // The kill comes after some calls have completed, in whatever order they do.
        for _ in 0..(round * BOOKINGS / 2) {
            trials.push(calls.join_next().await.unwrap().unwrap());
        }
        server.kill().await;
        trials.extend(calls.join_all().await);
        server = server.restart(options.clone()).await;
    }
    for trial in &trials {
        settles(&server, trial).await;
    }
}

/// Waits until a booking has ended as its flow specifies. If the kill came between the mark and the
/// call, the booking has failed and nothing is owed.
async fn settles(server: &Server, trial: &Trial<'_>) {
    let client = server.client();
    let id = &trial.booking.id;
    let what = format!("booking {id} to be final");
    let (booking, ledger) = eventually(&what, async || {
        let booking = trial.ask(&client).await?.booking;
        let ledger = server.ledger().await;
        let [made, held, released] = ledger.counts(id, ["booking", "authorization", "void"]);
        let over = match booking["status"].as_str().unwrap() {
            "CONFIRMED" => trial.is_in(&ledger),
            "FAILED" => made == 0 && held == released,
            _ => false,
        };
        over.then_some((booking, ledger))
    })
    .await;
    trial.check_money(&booking, &ledger, "kill");
}

on_both_databases! {
    kills_under_load_lose_and_repeat_no_booking,
}
