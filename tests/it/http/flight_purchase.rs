//! Tests of purchasing bags under an idempotency key when responses are lost, payments fail or the
//! supplier refuses.

use serde_json::json;
use tests::{
    BookingBuilder, Database, FlightBookingBuilder, Server, eventually, on_both_databases,
};

const KINDS: [&str; 4] = ["bags", "authorization", "capture", "void"];

/// While the outcome of the purchase is unknown, every other change to the ticket is refused.
async fn bag_purchase_with_lost_response_is_unknown_until_reconciled(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("BTS-LHR");
    let booking = way.book_confirmed(&server).await;
    let wanted = client.bag_request(&booking, "tok_visa").await;
    for _ in 0..2 {
        let unknown = client.purchase_bags(&booking, "bags", &wanted).await;
        let unknown = unknown.expect_problem(500, "result_unknown");
        assert_eq!(unknown.body["retryable"], false);
    }
    let other = client.purchase_bags(&booking, "other", &wanted).await;
    other.expect_state_conflict("CONFIRMED");
    let canceled = client.cancel_flight(&booking).await;
    canceled.expect_state_conflict("CONFIRMED");
    let meanwhile = client.flight_booking(&booking).await;
    assert_eq!(meanwhile["services"][0]["status"], "PENDING");
    assert_eq!(meanwhile["total_amount"]["amount"], 420);
    let bought = eventually("the bags to be found", async || {
        let repeat = client.purchase_bags(&booking, "bags", &wanted).await;
        if repeat.status == 200 {
            return Some(repeat);
        }
        repeat.expect_problem(500, "result_unknown");
        None
    })
    .await;
    assert_eq!(bought.data()["services"][0]["status"], "CONFIRMED");
    assert_eq!(bought.data()["total_amount"]["amount"], 480);
    server.wait_for_entries(&booking, KINDS, [1, 2, 2, 0]).await;
}

/// After the supplier has confirmed the bags, a failing payment does not undo them.
async fn failing_capture_does_not_undo_purchased_bags(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for card in ["tok_timeout", "tok_capture_fails"] {
        let way = FlightBookingBuilder::on("LHR-JFK");
        let booking = way.book_confirmed(&server).await;
        let wanted = client.bag_request(&booking, card).await;
        let bought = client.purchase_bags(&booking, card, &wanted).await;
        assert_eq!(bought.outcome(), (200, "CONFIRMED"), "{card}");
        assert_eq!(bought.data()["services"][0]["status"], "CONFIRMED");
        let paid = client.wait_for_flight_booking_where(&booking, "paid", |now| {
            now["payments"][1]["status"] == "CAPTURED"
        });
        assert_eq!(paid.await["services"], bought.data()["services"], "{card}");
        let counts = server.ledger().await.counts(&booking, KINDS);
        assert_eq!(counts, [1, 2, 2, 0], "{card}");
    }
}

/// A key keeps its refusal. A new key starts a new attempt with an authorization of its own.
async fn refused_bag_purchase_is_replayed_and_new_key_starts_new_attempt(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("BTS-MRU");
    let booking = way.book_confirmed(&server).await;
    let wanted = client.bag_request(&booking, "tok_visa").await;
    for (key, tries) in [("first", 1), ("second", 2), ("first", 2)] {
        for _ in 0..3 {
            let refused = client.purchase_bags(&booking, key, &wanted).await;
            let refused = refused.expect_problem(422, "supplier_rejected");
            assert_eq!(refused.header("x-supplier"), Some("SUPPLIER_A"));
        }
        let counts = [0, 1 + tries, 1, tries];
        server.wait_for_entries(&booking, KINDS, counts).await;
    }
    let ticket = client.flight_booking(&booking).await;
    assert_eq!(ticket["status"], "CONFIRMED");
    assert!(ticket.get("failure").is_none(), "the ticket has no failure");
}

async fn bags_of_unconfirmed_or_canceled_booking_return_409(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let bag = json!({"id": "svc_00000000000000000000000000000000", "quantity": 1});
    let card = client.store_card("tok_visa").await;
    let wanted = json!({"services": [bag], "payment_instrument_id": card});
    let at = BookingBuilder::new;
    let (refused, _) = at("SUPPLIER_A", "LHR-LGW").book(&server).await;
    let (unknown, _) = at("SUPPLIER_A", "LTN-STN").book(&server).await;
    let canceled = at("SUPPLIER_A", "LHR-JFK").book_confirmed(&server).await;
    canceled.cancel().await.expect(202);
    canceled.wait_for("CANCELED").await;
    let ready = at("SUPPLIER_A", "LHR-JFK").prebooked(&server).await;
    let ready_at_b = at("SUPPLIER_B", "LHR-JFK").prebooked(&server).await;
    for (booking, status) in [
        (refused, "FAILED"),
        (unknown, "COMPLETE_IN_PROGRESS"),
        (canceled, "CANCELED"),
        (ready, "READY_FOR_COMPLETE"),
        (ready_at_b, "READY_FOR_COMPLETE"),
    ] {
        let listed = client.bags_for_sale(&booking.id).await;
        listed.expect_state_conflict(status);
        let key = &booking.id;
        let bought = client.purchase_bags(&booking.id, key, &wanted).await;
        bought.expect_state_conflict(status);
    }
}

on_both_databases! {
    bag_purchase_with_lost_response_is_unknown_until_reconciled,
    failing_capture_does_not_undo_purchased_bags,
    refused_bag_purchase_is_replayed_and_new_key_starts_new_attempt,
    bags_of_unconfirmed_or_canceled_booking_return_409,
}
