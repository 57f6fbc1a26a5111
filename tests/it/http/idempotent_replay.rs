//! Tests of idempotent replays after further changes: a replay returns the current state and starts
//! no work.

use futures::future::join_all;
use serde_json::{Value, json};
use tests::{BookingBuilder, Database, Server, on_both_databases};

const KEY: &str = "x-idempotency-key";

async fn refused_cancellation_is_retried_only_with_a_new_key(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for builder in [
        BookingBuilder::new("SANDBOX_HOTELS", "CANCEL_REFUSED"),
        BookingBuilder::new("SUPPLIER_A", "DXB-AMS"),
    ] {
        let booking = builder.book_confirmed(&server).await;
        let keyed = |key: &str| booking.seen_by(&server.client().header(KEY, key));
        let is_refused = |booking: &Value| {
            booking["status"] == "CONFIRMED" && booking["failure"]["code"] == "cancel_refused"
        };
        keyed("c").cancel().await.expect(202);
        let refused = booking.wait_until("kept", is_refused).await;
        let again = keyed("c").cancel().await.expect(200);
        assert_eq!(again.data()["status"], "CONFIRMED", "{}", booking.path);
        assert_eq!(again.data()["failure"], refused["failure"]);
        keyed("d").cancel().await.expect(202);
        booking.wait_until("kept again", is_refused).await;
        booking.cancel().await.expect(202);
    }
}

async fn replay_of_book_returns_current_status(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let card = server.client().card_payment("tok_visa").await;
    for builder in BookingBuilder::of_each_kind() {
        let booking = builder.prebooked(&server).await;
        let keyed = |key: &str| booking.seen_by(&server.client().header(KEY, key));
        for key in ["b", "found"] {
            keyed(key).book(&card).await.expect(200);
        }
        booking.cancel().await.expect(202);
        booking.wait_for("CANCELED").await;
        for key in ["b", "found"] {
            let again = keyed(key).book(&card).await.expect(200);
            assert_eq!(again.data()["status"], "CANCELED", "{}", booking.path);
        }
        let other = keyed("another").book(&card).await;
        other.expect_state_conflict("CANCELED");
        assert_eq!(server.ledger().await.count(&booking.id, "booking"), 1);
    }
}

async fn replay_of_declined_book_returns_later_confirmation(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let declined = server.client().card_payment("tok_declined").await;
    let card = server.client().card_payment("tok_visa").await;
    for builder in BookingBuilder::of_each_kind() {
        let booking = builder.prebooked(&server).await;
        let first = booking.seen_by(&server.client().header(KEY, "first"));
        let at_once = (0..8).map(|_| first.book(&declined));
        let later = first.book(&declined);
        for refused in [join_all(at_once).await, vec![later.await]].concat() {
            let refused = refused.expect_problem(422, "payment_failed");
            assert_eq!(refused.body["booking_status"], "READY_FOR_COMPLETE");
        }
        let payments = booking.read().await["payments"].take();
        assert_eq!(payments.as_array().unwrap().len(), 1, "{payments:#}");
        let second = booking.seen_by(&server.client().header(KEY, "second"));
        second.book(&card).await.expect(200);
        let now = first.book(&declined).await.expect(200);
        assert_eq!(now.data()["status"], "CONFIRMED", "{}", booking.path);
        assert_eq!(server.ledger().await.count(&booking.id, "authorization"), 1);
    }
}

async fn concurrent_book_with_one_key_and_two_cards_charges_one(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client().header(KEY, "one");
    let cards = [
        server.client().card_payment("tok_visa").await,
        server.client().card_payment("tok_visa").await,
    ];
    for builder in BookingBuilder::of_each_kind() {
        let booking = builder.prebooked(&server).await.seen_by(&client);
        let calls = (0..8).map(|number| booking.book(&cards[number % 2]));
        let replies = join_all(calls).await;
        let paid_with = replies.iter().position(|reply| reply.status == 200);
        let winner = paid_with.unwrap() % 2;
        for (number, reply) in replies.iter().enumerate() {
            let expected = (number % 2 != winner).then_some("idempotency_key_reused");
            assert_eq!(reply.body["code"].as_str(), expected, "{}", booking.path);
        }
        assert_eq!(server.ledger().await.count(&booking.id, "authorization"), 1);
    }
}

/// The key is refused even if the second request is also invalid for another reason.
async fn reused_key_is_refused_before_other_checks(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let card = server.client().card_payment("tok_visa").await;
    let unknown = json!({"payment_instrument_id": format!("inst_{:032x}", 7)});
    for builder in BookingBuilder::of_each_kind() {
        let first = builder.prebooked(&server).await;
        let client = server.client().header(KEY, &first.id);
        first.seen_by(&client).book(&card).await.expect(200);
        let second = builder.prebooked(&server).await.seen_by(&client);
        let missing = builder.booking(&client, &format!("bkg_{:032x}", 7));
        for (booking, payment) in [(&second, &card), (&second, &unknown), (&missing, &card)] {
            let refused = booking.book(payment).await;
            refused.expect_problem(422, "idempotency_key_reused");
        }
        assert_eq!(server.ledger().await.count(&second.id, "authorization"), 0);
    }
}

on_both_databases! {
    reused_key_is_refused_before_other_checks,
    concurrent_book_with_one_key_and_two_cards_charges_one,
    refused_cancellation_is_retried_only_with_a_new_key,
    replay_of_book_returns_current_status,
    replay_of_declined_book_returns_later_confirmation,
}
