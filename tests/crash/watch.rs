//! Tests of a watch that reports or purchases while the process crashes. The next process
//! continues: the watch purchases once or not at all, under a mandate that is consumed once, and
//! reports once.

use crate::SHORT_DELAYS;
use crate::flow::{ALL_PHASES, Steps, for_each, points, points_of};
use serde_json::{Value, json};
use tests::{Database, Ledger, Server, ServerOptions, eventually, on_both_databases, set_price};

/// A short interval between price checks.
const SHORT_INTERVAL: &str = "[watches]\ninterval_s = 1\n";

/// Steps, the phases at which the process aborts, and the allowed final statuses of the watch. If
/// the book call is marked as sent but never left, the supplier's reads prove it.
const STEPS: &[(&str, &[&str], &[&str])] = &[
    (
        "watch_purchase",
        &["planned", "response_received", "outcome_committed"],
        &["purchased"],
    ),
    ("prebook", ALL_PHASES, &["purchased"]),
    ("authorize", ALL_PHASES, &["purchased", "purchase_failed"]),
    ("book", ALL_PHASES, &["purchased", "purchase_failed"]),
    ("capture", ALL_PHASES, &["purchased"]),
];

/// Failpoints while a price is checked and the result is reported.
pub(crate) const CHECKS: Steps = &[
    (
        "watch_check",
        &["intent_committed", "response_received", "outcome_committed"],
    ),
    ("watch_update", &["outcome_committed"]),
];

/// Failpoints from the declined authorization of a purchase to the end of the watch.
const DECLINED: Steps = &[
    ("authorize", &["response_received", "outcome_committed"]),
    (
        "watch_purchase",
        &["response_received", "outcome_committed"],
    ),
];

/// Returns the failpoints of a purchase.
pub(crate) fn steps() -> Vec<(&'static str, &'static [&'static str])> {
    let steps = STEPS.iter();
    steps.map(|(step, phases, _)| (*step, *phases)).collect()
}

fn options(database: Database) -> ServerOptions {
    ServerOptions::on(database)
        .config(SHORT_DELAYS)
        .config(SHORT_INTERVAL)
}

/// Arms a watch with a card, aborts the process at a failpoint after the price fell, and restarts it
/// when the price is `later`. Returns the new process and the watch.
async fn crash(database: Database, point: &str, card: &str, later: f64) -> (Server, Value) {
    let plain = options(database);
    let mut server = Server::start_with_own_sandbox(plain.clone()).await;
    set_price(&server.sandbox_url, "OK", 500.0).await;
    let watch = server.client().armed_watch("OK", 200.0, card).await;
    server = server.restart(plain.clone().with_failpoint(point)).await;
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let _killed = server.wait_for_exit().await;
    set_price(&server.sandbox_url, "OK", later).await;
    (server.restart(plain).await, watch)
}

async fn check_survives(database: Database, point: &str, ends: &[&str]) {
    let (server, watch) = crash(database, point, "tok_visa", 90.0).await;
    let client = server.client();
    let ended = client
        .wait_for_watch(&format!("{point}: the end"), &watch["id"], |watch| {
            ends.iter().any(|end| watch["status"] == *end)
        })
        .await;
    let id = ended["booking_id"].as_str().unwrap();
    let bought = ended["status"] == "purchased";
    eventually(&format!("{point}: the money to be settled"), async || {
        let ledger = server.ledger().await;
        is_settled(&ledger, id, bought).then_some(())
    })
    .await;
    let status = ended["status"].as_str().unwrap();
    let event_type = format!("travel.hotel.watch.{status}");
    let _only_event = client.only_watch_event(&event_type).await;
    assert_eq!(client.bookings_of_watch(&watch).await.len(), 1, "{point}");
    let mandate = client.mandate_of(&watch).await;
    assert_eq!(mandate["status"], "CONSUMED", "{point}");
}

/// Returns whether the booking is made and captured once, or neither, with no authorization left.
fn is_settled(ledger: &Ledger, booking: &str, bought: bool) -> bool {
    let kinds = ["booking", "authorization", "capture", "void"];
    let [made, held, taken, released] = ledger.counts(booking, kinds);
    held == taken + released && made == taken && made == usize::from(bought)
}

async fn a_purchase_by_a_watch_survives_a_crash_at_any_point(database: Database) {
    let points = STEPS.iter().flat_map(|(step, phases, ends)| {
        let points = points_of(step, phases).into_iter();
        points.map(move |point| (point, *ends))
    });
    let check = async |(point, ends): (String, _)| check_survives(database, &point, ends).await;
    for_each(points, check).await;
}

async fn a_declined_purchase_by_a_watch_survives_a_crash_at_any_point(database: Database) {
    let check = async |point: String| check_declined(database, &point).await;
    for_each(points(DECLINED), check).await;
}

/// The transaction that ends the watch also expires its booking, so nobody can pay for the booking of
/// a watch that has ended.
async fn check_declined(database: Database, point: &str) {
    let (server, watch) = crash(database, point, "tok_declined", 90.0).await;
    let client = server.client();
    let status = "purchase_failed";
    let ended = client.wait_for_watch_status(&watch["id"], status).await;
    let id = ended["booking_id"].as_str().unwrap();
    let booking = client.hotel_booking(id).await;
    assert_eq!(booking["status"], "EXPIRED", "{point}");
    let payments = booking["payments"].as_array().unwrap();
    assert_eq!(payments.len(), 1, "{point}: the card is not tried again");
    let event = client.only_watch_event("travel.hotel.watch.purchase_failed");
    assert_eq!(event.await["reason"], "payment_failed", "{point}");
    assert_eq!(client.bookings_of_watch(&watch).await.len(), 1, "{point}");
    assert_eq!(server.ledger().await.of(id).count(), 0, "{point}");
}

/// The price was low at the check and is high again before the purchase. The next process checks
/// the price once more.
async fn watch_purchases_nothing_if_the_price_rose_meanwhile(database: Database) {
    let (server, watch) = crash(database, "watch_purchase:planned", "tok_visa", 500.0).await;
    let client = server.client();
    let waiting = client.wait_for_watch_status(&watch["id"], "active").await;
    assert_eq!(waiting["booking_id"], Value::Null);
    assert_eq!(client.mandate_of(&watch).await["status"], "ACTIVE");
    assert_eq!(client.bookings_of_watch(&watch).await, Vec::<Value>::new());
    assert_eq!(client.watch_events().await, Vec::<Value>::new());
}

async fn price_check_survives_a_crash_at_any_point(database: Database) {
    for_each(points(CHECKS), async |point| {
        check_after_crash(database, &point).await
    })
    .await;
}

/// Checks a watch whose price falls while no process runs. The first process that checks it aborts.
async fn check_after_crash(database: Database, point: &str) {
    let plain = options(database);
    let mut server = Server::start_with_own_sandbox(plain.clone()).await;
    let client = server.client();
    let watch = client.watch_hotel("OK", 190.0, json!({})).await;
    let id = &watch["id"];
    let what = format!("{point}: the price to be checked");
    let is_seen = |watch: &Value| !watch["last_checked_at"].is_null();
    client.wait_for_watch(&what, id, is_seen).await;
    server.kill().await;
    set_price(&server.sandbox_url, "OK", 90.0).await;
    server = server.restart(plain.clone().with_failpoint(point)).await;
    let _killed = server.wait_for_exit().await;
    let server = server.restart(plain).await;
    let client = server.client();
    let triggered = client.wait_for_watch_status(id, "triggered").await;
    let what = format!("{point}: the next check");
    let is_next = |watch: &Value| watch["last_checked_at"] != triggered["last_checked_at"];
    client.wait_for_watch(&what, id, is_next).await;
    let event_type = "travel.hotel.watch.triggered";
    let _only_event = client.only_watch_event(event_type).await;
}

on_both_databases! {
    a_purchase_by_a_watch_survives_a_crash_at_any_point,
    a_declined_purchase_by_a_watch_survives_a_crash_at_any_point,
    watch_purchases_nothing_if_the_price_rose_meanwhile,
    price_check_survives_a_crash_at_any_point,
}
