//! Tests of running a cancellation: it starts once, and a further request retries it after a
//! failure.

use serde_json::json;
use tests::{
    Booking, BookingBuilder, Client, Database, FlightBookingBuilder, Server, ServerOptions,
    concurrently, eventually, on_both_databases, supplier_at,
};

/// Retry schedules that retry nothing by themselves while a test runs.
const PATIENT: &str = "[reconcile]\nschedule_s = [3600]\n[payments]\ncapture_retry_s = [3600]\n";

/// URL at which no server listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Returns a captured booking of a flexible fare, whose cancellation refunds 370 of 420 euros.
async fn paid(server: &Server, route: &str) -> Booking {
    let builder = BookingBuilder::new("SUPPLIER_A", route);
    builder.book_captured(server).await
}

/// Waits until the ticket is cancelled and refunded once.
async fn wait_for_refund(server: &Server, booking: &Booking) {
    booking.wait_for("CANCELED").await;
    let kinds = ["cancellation", "refund"];
    server.wait_for_entries(&booking.id, kinds, [1, 1]).await;
    let ledger = server.ledger().await;
    assert_eq!(ledger.sum(&booking.id, "refund"), 370.0);
}

async fn concurrent_cancel_calls_cancel_and_refund_once(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    // The first route cancels at once, the second after two seconds.
    for route in ["LHR-JFK", "AMS-DXB"] {
        let booking = paid(&server, route).await;
        let calls = (0..64).map(|_| {
            let booking = booking.clone();
            async move { booking.cancel().await }
        });
        for reply in concurrently(calls).await {
            let is_accepted = matches!(
                reply.outcome(),
                (200, "CANCELED") | (202, "CANCEL_IN_PROGRESS")
            );
            assert!(is_accepted, "{route}: {:#}", reply.body);
        }
        wait_for_refund(&server, &booking).await;
        for _ in 0..3 {
            let again = booking.cancel().await;
            assert_eq!(again.outcome(), (200, "CANCELED"), "{route}");
        }
        wait_for_refund(&server, &booking).await;
    }
}

/// A refund before the capture: the payment is either captured and refunded, or voided. The refund
/// never exceeds the capture.
async fn cancellation_before_capture_refunds_no_more_than_captured(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for (fare, kept) in [("Business", 0.0), ("Economy Flex", 50.0)] {
        let way = FlightBookingBuilder::on("LHR-JFK").fare(fare);
        let builder = BookingBuilder::Flight(way.card("tok_capture_fails"));
        let booking = builder.book_confirmed(&server).await;
        booking.cancel().await.expect(202);
        booking.wait_for("CANCELED").await;
        eventually(&format!("{fare}: the payment to be final"), async || {
            let ledger = server.ledger().await;
            let sum = |kind| ledger.sum(&booking.id, kind);
            assert!(sum("refund") <= sum("capture"), "{fare}");
            let count = |kind| ledger.count(&booking.id, kind);
            let is_over = count("capture") + count("void") == 1;
            (is_over && sum("capture") - sum("refund") == kept).then_some(())
        })
        .await;
    }
}

/// Returns a server and a paid booking whose cancellation has begun while no server listens at the
/// URL of a supplier, and whose `step` has failed. At the returned server, the supplier responds.
async fn failed_step(
    database: Database,
    [id, kind, component]: [&str; 3],
    step: &str,
) -> (Server, Booking) {
    let options = ServerOptions::on(database).with_short_retries();
    let server = Server::start_with_own_sandbox(options).await;
    let booking = paid(&server, "LHR-JFK").await;
    let patient = ServerOptions::on(database).config(PATIENT);
    let supplier = supplier_at(NOWHERE, id, kind, component, &[]);
    let server = server.restart(patient.clone().config(&supplier)).await;
    let booking = booking.seen_by(&server.client());
    let begun = booking.cancel().await;
    assert_eq!(begun.outcome(), (202, "CANCEL_IN_PROGRESS"));
    wait_for_failure(&server, step).await;
    let server = server.restart(patient).await;
    let booking = booking.seen_by(&server.client());
    (server, booking)
}

async fn repeated_cancel_retries_failed_cancellation(database: Database) {
    let airline = ["SUPPLIER_A", "flight", "fake-flights-skylane.wasm"];
    let (server, booking) = failed_step(database, airline, "cancel").await;
    assert_eq!(booking.read().await["status"], "CANCEL_IN_PROGRESS");
    booking.cancel().await.expect(202);
    wait_for_refund(&server, &booking).await;
}

/// The ticket is already canceled, so only the refund is submitted again.
async fn repeated_cancel_resubmits_failed_refund(database: Database) {
    let processor = ["SANDBOX_PAYMENTS", "payment", "fake-payments.wasm"];
    let (server, booking) = failed_step(database, processor, "refund").await;
    let canceled = booking.read().await;
    assert_eq!(canceled["status"], "CANCELED");
    assert_eq!(canceled["cancellation"]["refund_amount"]["amount"], 370);
    assert_eq!(canceled["payments"][0]["status"], "CAPTURED");
    let kinds = ["cancellation", "refund"];
    assert_eq!(server.ledger().await.counts(&booking.id, kinds), [1, 0]);
    let again = booking.cancel().await;
    assert_eq!(again.outcome(), (200, "CANCELED"));
    booking.wait_for_payment("PARTIALLY_REFUNDED").await;
    booking.cancel().await.expect(200);
    wait_for_refund(&server, &booking).await;
}

/// Waits until a step has failed and the failure is stored: its call is not among the unresolved
/// calls.
async fn wait_for_failure(server: &Server, step: &str) {
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
