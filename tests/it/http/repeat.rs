//! Tests of idempotent replays after further changes: a replay returns the current state and starts
//! no work.

use futures::future::join_all;
use serde_json::{Value, json};
use tests::{
    Client, Database, FlightBookingBuilder, HotelBookingBuilder, Reply, Server, eventually,
    on_both_databases,
};

const KEY: &str = "x-idempotency-key";

/// A booking of either product that is ready to be completed.
struct Sold {
    path: String,
    id: String,
}

impl Sold {
    async fn both(server: &Server, hotel: &str, route: &str) -> [Self; 2] {
        let client = server.client();
        let hotel = HotelBookingBuilder::at(hotel).prebooked(&client).await;
        let flight = FlightBookingBuilder::on(route).prebooked(server).await;
        [("hotel", hotel), ("flight", flight)].map(|(product, id)| Self {
            path: format!("/v1/{product}/bookings/{id}"),
            id,
        })
    }

    async fn book(&self, client: &Client, key: &str, instrument: &str) -> Reply {
        let body = json!({"payment_instrument_id": instrument});
        let client = client.header(KEY, key);
        client.post(&format!("{}/book", self.path), &body).await
    }

    async fn cancel(&self, client: &Client) -> Reply {
        client
            .post(&format!("{}/cancel", self.path), &json!({}))
            .await
    }

    async fn once(&self, client: &Client, what: &str, is: fn(&Value) -> bool) -> Value {
        eventually(what, async || {
            let now = client.get(&self.path).await.expect(200).data().clone();
            is(&now).then_some(now)
        })
        .await
    }
}

async fn refused_cancellation_is_retried_only_with_a_new_key(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let card = client.store_card("tok_visa").await;
    for sold in Sold::both(&server, "CANCEL_REFUSED", "DXB-AMS").await {
        let _booked = sold.book(&client, "b", &card).await.expect(200);
        let asked = client.header(KEY, "c");
        let _begun = sold.cancel(&asked).await.expect(202);
        let refused = |now: &Value| {
            now["status"] == "CONFIRMED" && now["failure"]["code"] == "cancel_refused"
        };
        let then = sold.once(&client, "the refusal", refused).await;
        let again = sold.cancel(&asked).await.expect(200);
        assert_eq!(again.data()["status"], "CONFIRMED", "{}", sold.path);
        assert_eq!(again.data()["failure"], then["failure"], "{}", sold.path);
        let _new = sold.cancel(&client.header(KEY, "d")).await.expect(202);
        let _refused = sold.once(&client, "the next refusal", refused).await;
        let _none = sold.cancel(&client).await.expect(202);
    }
}

async fn replay_of_book_returns_current_status(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let card = client.store_card("tok_visa").await;
    for sold in Sold::both(&server, "OK", "LHR-JFK").await {
        let _booked = sold.book(&client, "b", &card).await.expect(200);
        let _found = sold.book(&client, "found", &card).await.expect(200);
        let _begun = sold.cancel(&client).await.expect(202);
        let canceled = |now: &Value| now["status"] == "CANCELED";
        sold.once(&client, "the end", canceled).await;
        for key in ["b", "found"] {
            let again = sold.book(&client, key, &card).await.expect(200);
            assert_eq!(again.data()["status"], "CANCELED", "{}", sold.path);
        }
        let other = sold.book(&client, "another", &card).await;
        let other = other.expect_problem(409, "booking_state_conflict");
        assert_eq!(other.body["booking_status"], "CANCELED");
        assert_eq!(server.ledger().await.count(&sold.id, "booking"), 1);
    }
}

async fn replay_of_declined_book_returns_later_confirmation(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let declined = client.store_card("tok_declined").await;
    let card = client.store_card("tok_visa").await;
    for sold in Sold::both(&server, "OK", "LHR-JFK").await {
        let at_once = (0..8).map(|_| sold.book(&client, "first", &declined));
        let later = sold.book(&client, "first", &declined);
        for refused in [join_all(at_once).await, vec![later.await]].concat() {
            let refused = refused.expect_problem(422, "payment_failed");
            assert_eq!(refused.body["booking_status"], "READY_FOR_COMPLETE");
        }
        let tries = client.get(&sold.path).await.expect(200).data()["payments"].clone();
        assert_eq!(
            tries.as_array().unwrap().len(),
            1,
            "{}: {tries:#}",
            sold.path
        );
        let _booked = sold.book(&client, "second", &card).await.expect(200);
        let now = sold.book(&client, "first", &declined).await.expect(200);
        assert_eq!(now.data()["status"], "CONFIRMED", "{}", sold.path);
        assert_eq!(server.ledger().await.count(&sold.id, "authorization"), 1);
    }
}

async fn concurrent_book_with_one_key_and_two_cards_charges_one(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let cards = [
        client.store_card("tok_visa").await,
        client.store_card("tok_visa").await,
    ];
    for sold in Sold::both(&server, "OK", "LHR-JFK").await {
        let calls = (0..8).map(|number| sold.book(&client, "one", &cards[number % 2]));
        let replies = join_all(calls).await;
        let said = |reply: &Reply| reply.body["code"].as_str().map(str::to_owned);
        let paid_with = replies.iter().position(|reply| reply.status == 200);
        let winner = paid_with.unwrap() % 2;
        for (number, reply) in replies.iter().enumerate() {
            let expected = (number % 2 != winner).then(|| "idempotency_key_reused".to_owned());
            assert_eq!(said(reply), expected, "{}", sold.path);
        }
        assert_eq!(server.ledger().await.count(&sold.id, "authorization"), 1);
    }
}

/// The key is refused even if the second request is also invalid for another reason.
async fn reused_key_is_refused_before_other_checks(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = client.store_card("tok_visa").await;
    let unknown = format!("inst_{:032x}", 7);
    let [first, second] = [
        Sold::both(&server, "OK", "LHR-JFK").await,
        Sold::both(&server, "OK", "LHR-JFK").await,
    ];
    for (number, (first, mut second)) in first.into_iter().zip(second).enumerate() {
        let key = format!("taken-{number}");
        let _booked = first.book(&client, &key, &card).await.expect(200);
        let reused = async |sold: &Sold, instrument| {
            let refused = sold.book(&client, &key, instrument).await;
            refused.expect_problem(422, "idempotency_key_reused");
        };
        reused(&second, &card).await;
        reused(&second, &unknown).await;
        assert_eq!(server.ledger().await.count(&second.id, "authorization"), 0);
        second.path = second.path.replace(&second.id, &format!("bkg_{:032x}", 7));
        reused(&second, &card).await;
    }
}

on_both_databases! {
    reused_key_is_refused_before_other_checks,
    concurrent_book_with_one_key_and_two_cards_charges_one,
    refused_cancellation_is_retried_only_with_a_new_key,
    replay_of_book_returns_current_status,
    replay_of_declined_book_returns_later_confirmation,
}
