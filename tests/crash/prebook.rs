//! Tests of a crash during prebook. Nothing is owed afterwards: a replay of the key returns the
//! stored booking, and the ledger is empty.

use crate::SOON;
use crate::flow::EVERYWHERE;
use reqwest::Method;
use serde_json::Value;
use tests::{
    Client, Database, FlightBookingBuilder, HotelBookingBuilder, Server, ServerOptions, eventually,
    on_both_databases, prebook_request,
};

const KEY: &str = "x-idempotency-key";

/// Failpoints at which the process aborts.
pub(crate) const STEPS: &[(&str, &[&str])] = &[("prebook", EVERYWHERE)];

/// Returns the expected response to the key's next call.
fn repeated(phase: &str) -> (u16, &'static str) {
    match phase {
        "chosen" => (201, "READY_FOR_COMPLETE"),
        "recorded" => (200, "READY_FOR_COMPLETE"),
        _ => (200, "PREBOOK_IN_PROGRESS"),
    }
}

/// Returns prebook calls for new offers: path, key and body of each.
async fn prebooks(client: &Client) -> [(&'static str, &'static str, Value); 3] {
    let room = HotelBookingBuilder::at("OK").offer(client).await;
    let mut tickets = Vec::new();
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        let way = FlightBookingBuilder::on("LHR-JFK").at(supplier);
        tickets.push(way.request(&way.offer(client).await));
    }
    let [a, b] = tickets.try_into().unwrap();
    [
        ("/v1/hotel/prebook", "room", prebook_request(&room, 1)),
        ("/v1/flight/prebook", "a", a),
        ("/v1/flight/prebook", "b", b),
    ]
}

async fn crash_during_prebook_leaves_nothing_owed(database: Database) {
    for phase in EVERYWHERE {
        let plain = ServerOptions::on(database).config(SOON);
        let armed = (plain.clone()).with_failpoint(&format!("prebook:{phase}"));
        let mut server = Server::start_with_own_sandbox(plain.clone()).await;
        for (path, key, request) in prebooks(&server.client()).await {
            server = server.restart(armed.clone()).await;
            let client = server.client().header(KEY, key);
            let body = Some(request.to_string().into_bytes());
            let sent = client.try_send(Method::POST, path, body).await;
            assert!(sent.is_err(), "{phase}: {path} got a response");
            let _killed = server.wait_for_exit().await;
            server = server.restart(plain.clone()).await;
            let client = server.client().header(KEY, key);
            let again = eventually("the first call's lease to expire", async || {
                Some(client.post(path, &request).await).filter(|reply| reply.status != 409)
            })
            .await;
            let (status, word) = repeated(phase);
            assert_eq!(again.status, status, "{phase}: {path}");
            assert_eq!(again.data()["status"], word, "{phase}: {path}");
            let id = again.data()["id"].as_str().unwrap();
            assert_eq!(server.ledger().await.of(id).count(), 0, "{phase}: {path}");
        }
        // No repeated call made another booking.
        for (path, count) in [("/v1/hotel/bookings", 1), ("/v1/flight/bookings", 2)] {
            let listed = server.client().get(path).await.expect(200);
            assert_eq!(listed.data().as_array().unwrap().len(), count, "{path}");
        }
    }
}

on_both_databases! {
    crash_during_prebook_leaves_nothing_owed,
}
