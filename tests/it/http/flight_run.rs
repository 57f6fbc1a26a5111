//! Tests of running a cancellation: it starts once, and a further request retries it after a
//! failure.

use serde_json::json;
use tests::{
    Client, Database, FlightBookingBuilder, Server, ServerOptions, eventually, on_both_databases,
};
use tokio::task::JoinSet;

/// Retry schedules that retry nothing by themselves while a test runs.
const PATIENT: &str = "[reconcile]\nschedule_s = [3600]\n[payments]\ncapture_retry_s = [3600]\n";

/// Returns the configuration of a demo supplier, with its kind and component, at an address where
/// no server listens.
fn unreachable(supplier: &str, kind: &str, component: &str) -> String {
    let address = "http://127.0.0.1:9";
    format!(
        "[[suppliers]]\nid = \"{supplier}\"\nkind = \"{kind}\"\nmodes = [\"test\"]\ncomponent = \"{component}\"\n\
         hosts = [{{ host = \"{address}\", private = true }}]\nsettings = {{ base_url = \"{address}\" }}\n"
    )
}

async fn paid(server: &Server, way: FlightBookingBuilder) -> String {
    let booking = way.book_confirmed(server).await;
    let what = "the payment to be captured";
    let paid = |now: &serde_json::Value| now["payments"][0]["status"] == "CAPTURED";
    let _paid = (server.client())
        .wait_for_flight_booking_where(&booking, what, paid)
        .await;
    booking
}

async fn counts(server: &Server, booking: &str) -> [usize; 2] {
    let ledger = server.ledger().await;
    ["cancellation", "refund"].map(|kind| ledger.count(booking, kind))
}

async fn concurrent_cancel_calls_cancel_and_refund_once(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    // The first route cancels at once, the second after two seconds.
    for route in ["LHR-JFK", "AMS-DXB"] {
        let booking = paid(&server, FlightBookingBuilder::on(route)).await;
        let mut calls = JoinSet::new();
        for _ in 0..64 {
            let (client, booking) = (client.clone(), booking.clone());
            calls.spawn(async move { client.cancel_flight(&booking).await });
        }
        for reply in calls.join_all().await {
            let status = match reply.status {
                200 => "CANCELED",
                _ => "CANCEL_IN_PROGRESS",
            };
            let reply = reply.expect(if status == "CANCELED" { 200 } else { 202 });
            assert_eq!(reply.data()["status"], status, "{route}");
        }
        let _canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
        eventually("the refund to be made", async || {
            (counts(&server, &booking).await == [1, 1]).then_some(())
        })
        .await;
        for _ in 0..3 {
            let again = client.cancel_flight(&booking).await.expect(200);
            assert_eq!(again.data()["status"], "CANCELED", "{route}");
        }
        assert_eq!(counts(&server, &booking).await, [1, 1], "{route}");
        assert_eq!(server.ledger().await.sum(&booking, "refund"), 370.0);
    }
}

/// A refund before the capture: the payment is either captured and refunded, or voided. The refund
/// never exceeds the capture.
async fn cancellation_before_capture_refunds_no_more_than_captured(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (fare, kept) in [("Business", 0.0), ("Economy Flex", 50.0)] {
        let way = FlightBookingBuilder::on("LHR-JFK")
            .fare(fare)
            .card("tok_capture_fails");
        let booking = way.book_confirmed(&server).await;
        let _begun = client.cancel_flight(&booking).await.expect(202);
        let _canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
        eventually(&format!("{fare}: the payment to be final"), async || {
            let ledger = server.ledger().await;
            let sum = |kind| ledger.sum(&booking, kind);
            assert!(sum("refund") <= sum("capture"), "{fare}");
            let count = |kind| ledger.count(&booking, kind);
            let is_over = count("capture") + count("void") == 1;
            (is_over && sum("capture") - sum("refund") == kept).then_some(())
        })
        .await;
    }
}

async fn repeated_cancel_retries_failed_cancellation(database: Database) {
    let hurried = ServerOptions::on(database).hurried();
    let server = Server::start_with_own_sandbox(hurried).await;
    let booking = paid(&server, FlightBookingBuilder::on("LHR-JFK")).await;
    let patient = ServerOptions::on(database).config(PATIENT);
    let airline = unreachable("SUPPLIER_A", "flight", "fake-flights-skylane.wasm");
    let broken = patient.clone().config(&airline);
    let server = server.restart(broken).await;
    let begun = server.client().cancel_flight(&booking).await.expect(202);
    assert_eq!(begun.data()["status"], "CANCEL_IN_PROGRESS");
    tried(&server, "cancel").await;

    let server = server.restart(patient).await;
    let client = server.client();
    let waiting = client.flight_booking(&booking).await;
    assert_eq!(waiting["status"], "CANCEL_IN_PROGRESS");
    let _again = client.cancel_flight(&booking).await.expect(202);
    let _canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
    eventually("the refund to be made", async || {
        (counts(&server, &booking).await == [1, 1]).then_some(())
    })
    .await;
}

/// The ticket is already canceled, so only the refund is submitted again.
async fn repeated_cancel_resubmits_failed_refund(database: Database) {
    let hurried = ServerOptions::on(database).hurried();
    let server = Server::start_with_own_sandbox(hurried).await;
    let booking = paid(&server, FlightBookingBuilder::on("LHR-JFK")).await;
    let patient = ServerOptions::on(database).config(PATIENT);
    let processor = unreachable("SANDBOX_PAYMENTS", "payment", "fake-payments.wasm");
    let broken = patient.clone().config(&processor);
    let server = server.restart(broken).await;
    let client = server.client();
    let _begun = client.cancel_flight(&booking).await.expect(202);
    let canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
    assert_eq!(canceled["cancellation"]["refund_amount"]["amount"], 370);
    tried(&server, "refund").await;

    let server = server.restart(patient).await;
    let client = server.client();
    let waiting = client.flight_booking(&booking).await;
    assert_eq!(waiting["payments"][0]["status"], "CAPTURED");
    assert_eq!(counts(&server, &booking).await, [1, 0]);
    let again = client.cancel_flight(&booking).await.expect(200);
    assert_eq!(again.data()["status"], "CANCELED");
    let refunded = client.wait_for_flight_booking_where(&booking, "to be refunded", |now| {
        now["payments"][0]["status"] == "PARTIALLY_REFUNDED"
    });
    let _refunded = refunded.await;
    let _again = client.cancel_flight(&booking).await.expect(200);
    assert_eq!(counts(&server, &booking).await, [1, 1]);
    assert_eq!(server.ledger().await.sum(&booking, "refund"), 370.0);
}

/// Waits until a step has failed and the failure is stored: its call is not among the unresolved
/// calls.
async fn tried(server: &Server, step: &str) {
    let admin = Client::new(&server.admin, "");
    let came_to_nothing = format!("step=\"{step}\" outcome=\"not_sent\"");
    eventually(&format!("{step} to be attempted"), async || {
        let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
        let open = admin.get("/unresolved").await.expect(200).data()["calls"].clone();
        (log.contains(&came_to_nothing) && open == json!([])).then_some(())
    })
    .await;
}

on_both_databases! {
    concurrent_cancel_calls_cancel_and_refund_once,
    cancellation_before_capture_refunds_no_more_than_captured,
    repeated_cancel_retries_failed_cancellation,
    repeated_cancel_resubmits_failed_refund,
}
