//! Tests of an operator resolving the unknown outcome of a bag purchase, and of outcomes that are
//! known.

use serde_json::json;
use tests::{
    AdminClient, BookingBuilder, Database, FlightBookingBuilder, Server, ServerOptions,
    on_both_databases,
};

async fn operator_resolves_bag_purchase_with_unknown_outcome(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let (client, operator) = (server.client(), AdminClient::of(&server));
    for (verdict, answer, service, total, money) in [
        (json!({"outcome": "done"}), 200, "CONFIRMED", 480, "capture"),
        (json!({"outcome": "not_done"}), 422, "FAILED", 420, "void"),
    ] {
        let way = FlightBookingBuilder::on("BTS-LHR");
        let booking = way.book_confirmed(&server).await;
        let ticket = client.flight_booking(&booking).await;
        let wanted = client.bag_request(&booking, "tok_visa").await;
        let unknown = client.purchase_bags(&booking, &booking, &wanted).await;
        unknown.expect_problem(500, "result_unknown");
        assert!(operator.has_unresolved_call(&booking, "buy").await);
        let settled = operator.resolve_when_idle(&booking, &verdict).await;
        assert_eq!(settled.outcome(), (200, "CONFIRMED"), "of the ticket");
        let before = ["authorization", "booking", "capture"];
        let ledger = [&before[..], &["authorization", "bags", money]].concat();
        server.wait_for_ledger(&booking, &ledger).await;
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
    for builder in BookingBuilder::of_each_kind() {
        let ready = builder.prebooked(&server).await;
        let confirmed = builder.book_confirmed(&server).await;
        for verdict in [&done, &json!({"outcome": "not_done"})] {
            for (booking, status) in [(&ready, "READY_FOR_COMPLETE"), (&confirmed, "CONFIRMED")] {
                let refused = operator.resolve(&booking.id, verdict).await;
                refused.expect_state_conflict(status);
            }
            let unknown = "bkg_00000000000000000000000000000000";
            let nobodys = operator.resolve(unknown, verdict).await;
            nobodys.expect_problem(404, "booking_not_found");
        }
    }
}

on_both_databases! {
    operator_resolves_bag_purchase_with_unknown_outcome,
    operator_resolution_of_known_outcome_returns_409,
}
