//! A load test of bookings: many are completed at once, and the process is killed at random moments.

use crate::retried_booking::RetriedBooking;
use crate::{SHORT_DELAYS, flight, hotel};
use tests::{Database, Server, ServerOptions, eventually, on_both_databases};
use tokio::task::JoinSet;

const ROUNDS: usize = 4;
/// Number of bookings of each product in a round.
const BOOKINGS: usize = 6;

async fn kills_under_load_lose_and_repeat_no_booking(database: Database) {
    let options = ServerOptions::on(database).config(SHORT_DELAYS);
    let mut server = Server::start_with_own_sandbox(options.clone()).await;
    let mut bookings: Vec<RetriedBooking<'static>> = Vec::new();
    for round in 0..ROUNDS {
        let client = server.client();
        let mut ready = Vec::new();
        for flow in [&hotel::BOOKED, &flight::TICKETED] {
            for _ in 0..BOOKINGS {
                ready.push(RetriedBooking::begin(&server, flow).await);
            }
        }
        let mut calls = JoinSet::new();
        for retried_booking in ready {
            let client = client.clone();
            calls.spawn(async move {
                let _answered_or_killed = retried_booking.call_once(&client).await;
                retried_booking
            });
        }
        // The kill comes after some calls have completed, in whatever order they do.
        for _ in 0..(round * BOOKINGS / 2) {
            bookings.push(calls.join_next().await.unwrap().unwrap());
        }
        server.kill().await;
        bookings.extend(calls.join_all().await);
        server = server.restart(options.clone()).await;
    }
    for retried_booking in &bookings {
        wait_for_end(&server, retried_booking).await;
    }
}

/// Waits until a booking has ended as its flow specifies. If the kill came between the mark and the
/// call, the booking has failed and nothing is owed.
async fn wait_for_end(server: &Server, retried_booking: &RetriedBooking<'_>) {
    let client = server.client();
    let id = &retried_booking.booking.id;
    let what = format!("booking {id} to be final");
    let (booking, ledger) = eventually(&what, async || {
        let booking = retried_booking.call_once(&client).await?.booking;
        let ledger = server.ledger().await;
        let [made, held, released] = ledger.counts(id, ["booking", "authorization", "void"]);
        let over = match booking["status"].as_str().unwrap() {
            "CONFIRMED" => retried_booking.has_ledger_entries(&ledger),
            "FAILED" => made == 0 && held == released,
            _ => false,
        };
        over.then_some((booking, ledger))
    })
    .await;
    retried_booking.check_money(&booking, &ledger, "kill");
}

on_both_databases! {
    kills_under_load_lose_and_repeat_no_booking,
}
