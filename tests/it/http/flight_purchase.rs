//! Tests of purchasing bags under an idempotency key when responses are lost, payments fail or the
//! supplier refuses.

use serde_json::{Value, json};
use tests::{Client, Database, FlightBookingBuilder, Reply, Server, eventually, on_both_databases};

/// Counts ledger entries of a booking: bags, authorizations, captures and voids.
async fn counts(server: &Server, booking: &str) -> [usize; 4] {
    let ledger = server.ledger().await;
    ["bags", "authorization", "capture", "void"].map(|kind| ledger.count(booking, kind))
}

/// Purchases bags with the booking's id as the idempotency key.
async fn buy(client: &Client, booking: &str, card: &str) -> (Value, Reply) {
    let wanted = client.bag_request(booking, card).await;
    let reply = client.purchase_bags(booking, booking, &wanted).await;
    (wanted, reply)
}

fn state_conflict(reply: Reply, status: &str) {
    let problem = reply.expect_problem(409, "booking_state_conflict");
    assert_eq!(problem.body["booking_status"], status);
}

/// While the outcome of the purchase is unknown, every other change to the ticket is refused.
async fn bag_purchase_with_lost_response_is_unknown_until_reconciled(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("BTS-LHR")
        .book_confirmed(&server)
        .await;
    let (wanted, first) = buy(&client, &booking, "tok_visa").await;
    let unknown = first.expect_problem(500, "result_unknown");
    assert_eq!(unknown.body["retryable"], false);
    let again = client.purchase_bags(&booking, &booking, &wanted).await;
    again.expect_problem(500, "result_unknown");
    let other = client.purchase_bags(&booking, "other", &wanted).await;
    state_conflict(other, "CONFIRMED");
    state_conflict(client.cancel_flight(&booking).await, "CONFIRMED");
    let meanwhile = client.flight_booking(&booking).await;
    assert_eq!(meanwhile["services"][0]["status"], "PENDING");
    assert_eq!(meanwhile["total_amount"]["amount"], 420);
    let bought = eventually("the bags to be found", async || {
        let repeat = client.purchase_bags(&booking, &booking, &wanted).await;
        match repeat.status {
            200 => Some(repeat),
            _ => {
                repeat.expect_problem(500, "result_unknown");
                None
            }
        }
    })
    .await;
    assert_eq!(bought.data()["services"][0]["status"], "CONFIRMED");
    assert_eq!(bought.data()["total_amount"]["amount"], 480);
    eventually("the bags to be paid", async || {
        (counts(&server, &booking).await == [1, 2, 2, 0]).then_some(())
    })
    .await;
}

/// After the supplier has confirmed the bags, a failing payment does not undo them.
async fn failing_capture_does_not_undo_purchased_bags(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for card in ["tok_timeout", "tok_capture_fails"] {
        let booking = FlightBookingBuilder::on("LHR-JFK")
            .book_confirmed(&server)
            .await;
        let (_, bought) = buy(&client, &booking, card).await;
        let bought = bought.expect(200);
        assert_eq!(bought.data()["status"], "CONFIRMED", "{card}");
        assert_eq!(bought.data()["services"][0]["status"], "CONFIRMED");
        let paid = client.wait_for_flight_booking_where(&booking, "to be paid", |now| {
            now["payments"][1]["status"] == "CAPTURED"
        });
        let paid = paid.await;
        assert_eq!(paid["services"], bought.data()["services"], "{card}");
        assert_eq!(counts(&server, &booking).await, [1, 2, 2, 0], "{card}");
    }
}

/// A key keeps its refusal. A new key starts a new attempt with an authorization of its own.
async fn refused_bag_purchase_is_replayed_and_new_key_starts_new_attempt(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("BTS-MRU")
        .book_confirmed(&server)
        .await;
    let wanted = client.bag_request(&booking, "tok_visa").await;
    for (tries, key) in [(1, "first"), (2, "second")] {
        for _ in 0..3 {
            let refused = client.purchase_bags(&booking, key, &wanted).await;
            let refused = refused.expect_problem(422, "supplier_rejected");
            assert_eq!(refused.header("x-supplier"), Some("SUPPLIER_A"));
        }
        eventually("the authorization to be voided", async || {
            (counts(&server, &booking).await == [0, 1 + tries, 1, tries]).then_some(())
        })
        .await;
    }
    let first = client.purchase_bags(&booking, "first", &wanted).await;
    first.expect_problem(422, "supplier_rejected");
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
    let (refused, _) = FlightBookingBuilder::on("LHR-LGW").book(&server).await;
    let (unknown, _) = FlightBookingBuilder::on("LTN-STN").book(&server).await;
    let canceled = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let _begun = client.cancel_flight(&canceled).await.expect(202);
    let _ended = client.wait_for_flight_booking(&canceled, "CANCELED").await;
    for (booking, status) in [
        (&refused, "FAILED"),
        (&unknown, "COMPLETE_IN_PROGRESS"),
        (&canceled, "CANCELED"),
    ] {
        state_conflict(client.bags_for_sale(booking).await, status);
        state_conflict(client.purchase_bags(booking, status, &wanted).await, status);
    }
}

async fn bags_of_another_users_booking_return_404(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let wanted = client.bag_request(&booking, "tok_visa").await;
    let stranger = client.user("stranger");
    let seen = stranger.bags_for_sale(&booking).await;
    seen.expect_problem(404, "booking_not_found");
    let bought = stranger.purchase_bags(&booking, "k", &wanted).await;
    bought.expect_problem(404, "booking_not_found");
    // The stranger's request did not consume the owner's key.
    let bought = client
        .purchase_bags(&booking, "k", &wanted)
        .await
        .expect(200);
    assert_eq!(bought.data()["services_amount"]["amount"], 60);
    let mut other = wanted;
    other["payment_instrument_id"] = json!(client.store_card("tok_visa").await);
    let reused = client.purchase_bags(&booking, "k", &other).await;
    reused.expect_problem(422, "idempotency_key_reused");
    assert_eq!(server.ledger().await.count(&booking, "bags"), 1);
}

on_both_databases! {
    bag_purchase_with_lost_response_is_unknown_until_reconciled,
    failing_capture_does_not_undo_purchased_bags,
    refused_bag_purchase_is_replayed_and_new_key_starts_new_attempt,
    bags_of_unconfirmed_or_canceled_booking_return_409,
    bags_of_another_users_booking_return_404,
}
