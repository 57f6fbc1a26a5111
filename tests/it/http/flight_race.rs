//! Tests of many concurrent callers at one booking: one of them makes the change, the others get
//! its outcome. Each test checks the sandbox's ledger.
#![expect(
    clippy::panic,
    reason = "a response that the test does not expect fails it"
)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use tests::{
    Client, Database, FlightBookingBuilder, HotelBookingBuilder, Ledger, Reply, Server,
    concurrently, eventually, on_both_databases,
};
use tokio::task::JoinSet;

/// Number of concurrent callers per booking.
const CROWD: usize = 64;
/// Number of bookings, each with its own race.
const ROUNDS: usize = 12;

/// Returns the response's status with the problem's code or the booking's status.
fn word(reply: &Reply) -> String {
    let said = match reply.status {
        200..300 => &reply.data()["status"],
        _ => &reply.body["code"],
    };
    format!("{} {}", reply.status, said.as_str().unwrap())
}

/// Counts the responses by their summary.
fn words(replies: &[Reply]) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for reply in replies {
        *words.entry(word(reply)).or_default() += 1;
    }
    words
}

fn counts<const N: usize>(ledger: &Ledger, booking: &str, kinds: [&str; N]) -> [usize; N] {
    kinds.map(|kind| ledger.count(booking, kind))
}

async fn captured(server: &Server, booking: &str, payments: usize) {
    eventually("the payment to be captured", async || {
        (server.ledger().await.count(booking, "capture") == payments).then_some(())
    })
    .await;
}

async fn concurrent_book_calls_make_one_order_and_one_charge(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        let way = FlightBookingBuilder::on("LHR-JFK").at(supplier);
        let booking = way.prebooked(&server).await;
        let payment = way.payment(&client).await;
        let calls = (0..CROWD).map(|_| {
            let (client, booking, payment) = (client.clone(), booking.clone(), payment.clone());
            async move { client.book_flight(&booking, &payment).await }
        });
        let said = words(&concurrently(calls).await);
        assert_eq!(said, BTreeMap::from([("200 CONFIRMED".to_owned(), CROWD)]));
        let cards = usize::from(supplier == "SUPPLIER_A");
        captured(&server, &booking, cards).await;
        let ledger = server.ledger().await;
        let kinds = ["booking", "authorization", "capture", "void"];
        assert_eq!(counts(&ledger, &booking, kinds), [1, cards, cards, 0]);
    }
}

/// Every caller has a card of its own. Exactly one card is charged.
async fn concurrent_book_calls_with_different_cards_charge_one(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let mut calls = Vec::new();
    for _ in 0..16 {
        let (client, booking) = (client.clone(), booking.clone());
        let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
        calls.push(async move { client.book_flight(&booking, &card).await });
    }
    let said = words(&concurrently(calls.into_iter()).await);
    assert_eq!(said, BTreeMap::from([("200 CONFIRMED".to_owned(), 16)]));
    captured(&server, &booking, 1).await;
    let ledger = server.ledger().await;
    assert_eq!(
        counts(&ledger, &booking, ["booking", "authorization", "void"]),
        [1, 1, 0]
    );
}

/// The cancellation either comes before the ticket and changes nothing, or comes after it and
/// cancels it.
async fn concurrent_book_and_cancel_run_in_either_order(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let mut races = Vec::new();
    for _ in 0..ROUNDS {
        let way = FlightBookingBuilder::on("LHR-JFK");
        races.push((way.prebooked(&server).await, way.payment(&client).await));
    }
    let mut running = JoinSet::new();
    for (booking, payment) in races {
        let client = client.clone();
        running.spawn(async move {
            let (booked, canceled) = tokio::join!(
                client.book_flight(&booking, &payment),
                client.cancel_flight(&booking)
            );
            (booking, booked, canceled)
        });
    }
    for (booking, booked, canceled) in running.join_all().await {
        let booked = booked.expect(200);
        assert_eq!(booked.data()["id"], *booking);
        let end = match word(&canceled).as_str() {
            "202 CANCEL_IN_PROGRESS" | "200 CANCELED" => "CANCELED",
            "409 booking_state_conflict" => {
                let status = canceled.body["booking_status"].as_str().unwrap();
                let early = ["READY_FOR_COMPLETE", "COMPLETE_IN_PROGRESS"];
                assert!(early.contains(&status), "{status}");
                "CONFIRMED"
            }
            other => panic!("{other}: {:#}", canceled.body),
        };
        let _ended = client.wait_for_flight_booking(&booking, end).await;
        let canceled = usize::from(end == "CANCELED");
        let kinds = [
            "booking",
            "authorization",
            "capture",
            "cancellation",
            "refund",
        ];
        let wanted = [1, 1, 1, canceled, canceled];
        eventually(&format!("{end} with {wanted:?} of {kinds:?}"), async || {
            let ledger = server.ledger().await;
            (counts(&ledger, &booking, kinds) == wanted).then_some(())
        })
        .await;
    }
}

/// Either the first of the two operations blocks the other, or the second one takes the result of
/// the first into account.
async fn concurrent_bag_purchase_and_cancel_run_in_either_order(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let mut races = Vec::new();
    for _ in 0..ROUNDS {
        let booking = FlightBookingBuilder::on("LHR-JFK")
            .book_confirmed(&server)
            .await;
        captured(&server, &booking, 1).await;
        let wanted = client.bag_request(&booking, "tok_visa").await;
        races.push((booking, wanted));
    }
    let mut running = JoinSet::new();
    for (at, (booking, wanted)) in races.into_iter().enumerate() {
        let client = client.clone();
        let key = format!("bags-{at}");
        running.spawn(async move {
            let (bought, canceled) = tokio::join!(
                client.purchase_bags(&booking, &key, &wanted),
                client.cancel_flight(&booking)
            );
            (booking, bought, canceled)
        });
    }
    for (booking, bought, canceled) in running.join_all().await {
        let has_bags = match word(&bought).as_str() {
            "200 CONFIRMED" | "200 CANCEL_IN_PROGRESS" | "200 CANCELED" => true,
            "409 booking_state_conflict" => {
                let status = bought.body["booking_status"].as_str().unwrap();
                let gone = ["CANCEL_IN_PROGRESS", "CANCELED"];
                assert!(gone.contains(&status), "{status}");
                false
            }
            // The airline released the ticket before the gateway recorded its response.
            "422 supplier_rejected" => false,
            other => panic!("{other}: {:#}", bought.body),
        };
        let is_kept = match word(&canceled).as_str() {
            "202 CANCEL_IN_PROGRESS" | "200 CANCELED" => false,
            "409 booking_state_conflict" => {
                assert_eq!(canceled.body["booking_status"], "CONFIRMED");
                true
            }
            other => panic!("{other}: {:#}", canceled.body),
        };
        assert!(
            has_bags || !is_kept,
            "both the purchase and the cancellation were refused"
        );
        let end = if is_kept { "CONFIRMED" } else { "CANCELED" };
        let ended = client.wait_for_flight_booking(&booking, end).await;
        let bags = usize::from(has_bags);
        let kinds = ["bags", "capture", "cancellation", "refund"];
        let given = usize::from(!is_kept);
        let wanted = [bags, 1 + bags, given, given];
        eventually(&format!("{end} with {wanted:?} of {kinds:?}"), async || {
            let ledger = server.ledger().await;
            (counts(&ledger, &booking, kinds) == wanted).then_some(())
        })
        .await;
        let price = if has_bags { 480.0 } else { 420.0 };
        assert_eq!(ended["total_amount"]["amount"], price);
        let ledger = server.ledger().await;
        assert_eq!(ledger.sum(&booking, "capture"), price);
        assert!(ledger.sum(&booking, "refund") <= price);
    }
}

/// Purchases a bag concurrently. The callers share `keys` idempotency keys: one for all, or one
/// each.
async fn crowd_at_bags(client: &Client, booking: &str, keys: usize) -> Vec<Reply> {
    let wanted = client.bag_request(booking, "tok_visa").await;
    let calls = (0..CROWD).map(|at| {
        let (client, wanted) = (client.clone(), wanted.clone());
        let (booking, key) = (booking.to_owned(), format!("{booking}-{}", at % keys));
        async move { client.purchase_bags(&booking, &key, &wanted).await }
    });
    concurrently(calls).await
}

async fn check_one_bag(server: &Server, booking: &str) {
    captured(server, booking, 2).await;
    let ledger = server.ledger().await;
    let kinds = ["bags", "authorization", "capture", "void"];
    assert_eq!(counts(&ledger, booking, kinds), [1, 2, 2, 0]);
    assert_eq!(ledger.sum(booking, "capture"), 480.0);
    let ticket = server.client().flight_booking(booking).await;
    let services: Vec<&Value> = ticket["services"].as_array().unwrap().iter().collect();
    assert_eq!(services.len(), 1, "{services:#?}");
    assert_eq!(services[0]["status"], "CONFIRMED");
}

async fn concurrent_bag_purchases_with_one_key_buy_one_bag(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let said = words(&crowd_at_bags(&client, &booking, 1).await);
    assert_eq!(said, BTreeMap::from([("200 CONFIRMED".to_owned(), CROWD)]));
    check_one_bag(&server, &booking).await;
}

/// The other callers arrive while the bag is being purchased or when the ticket already has it.
async fn concurrent_bag_purchases_with_different_keys_buy_one_bag(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let replies = crowd_at_bags(&client, &booking, CROWD).await;
    for reply in &replies {
        match word(reply).as_str() {
            "200 CONFIRMED" => {}
            "409 booking_state_conflict" => assert_eq!(reply.body["booking_status"], "CONFIRMED"),
            "400 validation_failed" => {
                assert_eq!(reply.body["errors"][0]["pointer"], "/services/0/id");
            }
            other => panic!("{other}: {:#}", reply.body),
        }
    }
    assert_eq!(words(&replies)["200 CONFIRMED"], 1);
    check_one_bag(&server, &booking).await;
}

/// At the moment an offer expires, the booking is either made or expired. Only a made booking is
/// charged.
async fn book_at_offer_expiry_either_confirms_or_expires(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
    let mut running = JoinSet::new();
    for at in 0..ROUNDS {
        let booking = HotelBookingBuilder::at("EXPIRES_SOON")
            .prebooked(&client)
            .await;
        let ready = client.hotel_booking(&booking).await;
        let expires = ready["offer_expires_at"].as_str().unwrap();
        let expires: jiff::Timestamp = expires.parse().unwrap();
        // The calls begin before, at and after the expiry.
        let early = jiff::SignedDuration::from_millis(120 - 20 * i64::try_from(at).unwrap());
        let (client, card) = (client.clone(), card.clone());
        running.spawn(async move {
            let begin = expires - early;
            // The loop waits for the offer's expiry.
            #[expect(
                clippy::disallowed_methods,
                reason = "the gateway in the other process reads the same clock"
            )]
            while jiff::Timestamp::now() < begin {
                tokio::task::yield_now().await;
            }
            let path = format!("/v1/hotel/bookings/{booking}/book");
            let reply = client.post(&path, &card).await;
            (booking, reply)
        });
    }
    for (booking, reply) in running.join_all().await {
        let (end, effects) = match word(&reply).as_str() {
            "200 CONFIRMED" => ("CONFIRMED", &["authorization", "booking", "capture"][..]),
            "409 booking_state_conflict" => {
                assert_eq!(reply.body["booking_status"], "EXPIRED");
                ("EXPIRED", &[][..])
            }
            // The call was in time for the gateway but too late for the supplier.
            "422 supplier_rejected" => ("FAILED", &["authorization", "void"][..]),
            other => panic!("{other}: {:#}", reply.body),
        };
        let _ended = client.wait_for_hotel_booking(&booking, end).await;
        eventually(&format!("{end} with {effects:?}"), async || {
            (server.ledger().await.kinds_of(&booking) == effects).then_some(())
        })
        .await;
    }
}

on_both_databases! {
    concurrent_book_calls_make_one_order_and_one_charge,
    concurrent_book_calls_with_different_cards_charge_one,
    concurrent_book_and_cancel_run_in_either_order,
    concurrent_bag_purchase_and_cancel_run_in_either_order,
    concurrent_bag_purchases_with_one_key_buy_one_bag,
    concurrent_bag_purchases_with_different_keys_buy_one_bag,
    book_at_offer_expiry_either_confirms_or_expires,
}
