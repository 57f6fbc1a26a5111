//! A watch that buys, and a process that dies meanwhile: whoever starts next goes on. It
//! is bought once or not at all, under a mandate that is used once, and told once.

use crate::flow::{EVERYWHERE, OF_A_READ};
use crate::{AT_ONCE, SOON};
use futures::{StreamExt, stream};
use serde_json::Value;
use tests::{Database, Ledger, Server, ServerOptions, eventually, on_both_databases, set_price};

const OFTEN: &str = "[watches]\ninterval_s = 1\n";

/// A step, the phases of it at which the process dies, and what the watch may be in the end.
/// Where the mark of the book says sent and nothing was, the supplier's reads prove it.
const STEPS: &[(&str, &[&str], &[&str])] = &[
    (
        "watch_purchase",
        &["chosen", "answered", "recorded"],
        &["purchased"],
    ),
    ("prebook", &["recorded"], &["purchased"]),
    ("authorize", EVERYWHERE, &["purchased", "purchase_failed"]),
    ("book", EVERYWHERE, &["purchased", "purchase_failed"]),
    ("capture", EVERYWHERE, &["purchased"]),
];

async fn armed(server: &Server) -> Value {
    set_price(&server.sandbox_url, "OK", 500.0).await;
    server.client().armed_watch("OK", 200.0, "tok_visa").await
}

async fn survives(database: Database, point: &str, ends: &[&str]) {
    let plain = ServerOptions::on(database).config(SOON).config(OFTEN);
    let dying = plain.clone().aborting_at(point);
    let mut server = Server::start_beside_sandbox(plain.clone()).await;
    let watch = armed(&server).await;
    server = server.restart(dying).await;
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let _killed = server.wait_for_exit().await;
    let server = server.restart(plain).await;
    let client = server.client();
    let ended = client
        .watch_that(&format!("{point}: the end"), &watch["id"], |watch| {
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
    let events = client.watch_events().await;
    assert_eq!(events.len(), 1, "{point}: {events:#?}");
    let status = ended["status"].as_str().unwrap();
    assert_eq!(
        events[0]["type"],
        format!("travel.hotel.watch.{status}"),
        "{point}"
    );
    assert_eq!(client.begun_for(&watch).await.len(), 1, "{point}");
    let mandate = client.mandate_of(&watch).await;
    assert_eq!(mandate["status"], "CONSUMED", "{point}");
}

/// Bought and paid once, or neither, and no hold is left.
fn is_settled(ledger: &Ledger, booking: &str, bought: bool) -> bool {
    let count = |kind| ledger.count(booking, kind);
    let (made, held) = (count("booking"), count("authorization"));
    let (taken, released) = (count("capture"), count("void"));
    held == taken + released && made == taken && made == usize::from(bought)
}

async fn a_purchase_by_a_watch_survives_a_crash_at_any_point(database: Database) {
    let points = (STEPS.iter())
        .flat_map(|(step, phases, ends)| phases.iter().map(move |phase| (step, phase, ends)));
    stream::iter(points)
        .for_each_concurrent(AT_ONCE, async |(step, phase, ends)| {
            survives(database, &format!("{step}:{phase}"), ends).await;
        })
        .await;
}

/// A rate may be bound, of which nothing is owed: no second one is begun beside it.
async fn a_prebook_without_an_answer_is_waited_for(database: Database) {
    let plain = ServerOptions::on(database).config(SOON).config(OFTEN);
    let point = format!("prebook:{}", OF_A_READ[0]);
    let mut server = Server::start_beside_sandbox(plain.clone()).await;
    let watch = armed(&server).await;
    server = server.restart(plain.clone().aborting_at(&point)).await;
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let _killed = server.wait_for_exit().await;
    let server = server.restart(plain).await;
    let client = server.client();
    // Another watch shows that checks and purchases go on.
    let other = client.armed_watch("MANY", 1000.0, "tok_visa").await;
    client.watch_once(&other["id"], "purchased").await;
    assert_eq!(
        client.read_watch(&watch["id"]).await["status"],
        "purchasing"
    );
    let begun = client.begun_for(&watch).await;
    assert_eq!(begun.len(), 1);
    assert_eq!(begun[0]["status"], "PREBOOK_IN_PROGRESS");
    let id = begun[0]["id"].as_str().unwrap();
    assert_eq!(server.ledger().await.of(id).count(), 0);
}

on_both_databases! {
    a_purchase_by_a_watch_survives_a_crash_at_any_point,
    a_prebook_without_an_answer_is_waited_for,
}
