//! Tests of an operator resolving the unknown outcome of a ticket or of a bag purchase. The payment
//! follows the operator's outcome.

use serde_json::json;
use tests::{
    AdminClient, Database, FlightBookingBuilder, Server, ServerOptions, eventually,
    on_both_databases,
};

/// A reconciliation schedule that starts no reconciliation while a test runs.
const PATIENT: &str = "[reconcile]\nschedule_s = [3600]\n[payments]\ncapture_retry_s = [1]\n";

async fn holds(server: &Server, booking: &str, kinds: &[&str]) {
    eventually(&format!("the ledger to hold {kinds:?}"), async || {
        (server.ledger().await.kinds_of(booking) == kinds).then_some(())
    })
    .await;
}

async fn operator_resolves_ticket_with_unknown_outcome(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let (client, operator) = (server.client(), AdminClient::of(&server));
    for (verdict, end, repeat, payment, money) in [
        (
            json!({"outcome": "done", "supplier_reference": "FLT-9"}),
            "CONFIRMED",
            200,
            "CAPTURED",
            "capture",
        ),
        (
            json!({"outcome": "not_done"}),
            "FAILED",
            422,
            "VOIDED",
            "void",
        ),
    ] {
        let (booking, reply) = FlightBookingBuilder::on("LTN-STN").book(&server).await;
        reply.expect_problem(500, "result_unknown");
        assert!(operator.has_unresolved_call(&booking, "book").await);
        if end == "CONFIRMED" {
            let unnamed = json!({"outcome": "done"});
            let unnamed = operator.resolve_when_idle(&booking, &unnamed).await;
            unnamed.expect_problem(400, "validation_failed");
        }
        let settled = operator
            .resolve_when_idle(&booking, &verdict)
            .await
            .expect(200);
        assert_eq!(*settled.data(), json!({"id": booking, "status": end}));
        holds(&server, &booking, &["authorization", "booking", money]).await;
        let ended = client.flight_booking(&booking).await;
        assert_eq!(ended["status"], end);
        assert_eq!(ended["payments"][0]["status"], payment);
        assert_eq!(ended.get("failure").is_some(), end == "FAILED");
        if end == "CONFIRMED" {
            assert_eq!(ended["supplier_reference"], "FLT-9");
        }
        let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
        let again = client.book_flight(&booking, &card).await;
        assert_eq!(again.status, repeat, "{:#}", again.body);
        assert!(!operator.has_unresolved_call(&booking, "book").await);
        let late = operator.resolve(&booking, &verdict).await;
        let late = late.expect_problem(409, "booking_state_conflict");
        assert_eq!(late.body["booking_status"], end);
    }
}

async fn operator_resolves_bag_purchase_with_unknown_outcome(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(PATIENT)).await;
    let (client, operator) = (server.client(), AdminClient::of(&server));
    for (verdict, answer, service, total, money) in [
        (json!({"outcome": "done"}), 200, "CONFIRMED", 480, "capture"),
        (json!({"outcome": "not_done"}), 422, "FAILED", 420, "void"),
    ] {
        let booking = FlightBookingBuilder::on("BTS-LHR")
            .book_confirmed(&server)
            .await;
        let ticket = client.flight_booking(&booking).await;
        let wanted = client.bag_request(&booking, "tok_visa").await;
        let unknown = client.purchase_bags(&booking, &booking, &wanted).await;
        unknown.expect_problem(500, "result_unknown");
        assert!(operator.has_unresolved_call(&booking, "buy").await);
        let settled = operator
            .resolve_when_idle(&booking, &verdict)
            .await
            .expect(200);
        assert_eq!(
            settled.data()["status"],
            "CONFIRMED",
            "the ticket stays confirmed"
        );
        let before = [
            "authorization",
            "booking",
            "capture",
            "authorization",
            "bags",
        ];
        holds(&server, &booking, &[&before[..], &[money]].concat()).await;
        let again = client.purchase_bags(&booking, &booking, &wanted).await;
        assert_eq!(again.status, answer, "{:#}", again.body);
        let now = client.flight_booking(&booking).await;
        assert_eq!(now["services"][0]["status"], service);
        assert_eq!(now["total_amount"]["amount"], total);
        for member in [
            "supplier_reference",
            "airline_pnr",
            "journeys",
            "fare_amount",
        ] {
            assert_eq!(now[member], ticket[member], "{member}");
        }
        assert!(!operator.has_unresolved_call(&booking, "buy").await);
    }
}

async fn operator_resolution_of_known_outcome_returns_409(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let operator = AdminClient::of(&server);
    let done = json!({"outcome": "done", "supplier_reference": "FLT-9"});
    for verdict in [&done, &json!({"outcome": "not_done"})] {
        let ready = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
        let early = operator.resolve(&ready, verdict).await;
        early.expect_problem(409, "booking_state_conflict");
        let ticket = FlightBookingBuilder::on("LHR-JFK")
            .book_confirmed(&server)
            .await;
        let late = operator.resolve(&ticket, verdict).await;
        late.expect_problem(409, "booking_state_conflict");
        let unknown = "bkg_00000000000000000000000000000000";
        let nobodys = operator.resolve(unknown, verdict).await;
        nobodys.expect_problem(404, "booking_not_found");
    }
}

on_both_databases! {
    operator_resolves_ticket_with_unknown_outcome,
    operator_resolves_bag_purchase_with_unknown_outcome,
    operator_resolution_of_known_outcome_returns_409,
}
