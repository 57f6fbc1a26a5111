//! Tests of idempotency keys: one key has one effect.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Client, Database, HotelBookingBuilder, Server, WATCHES, concurrently, money, on_both_databases,
    prebook_request, watch_request,
};

const KEY: &str = "x-idempotency-key";
const PREBOOK: &str = "/v1/hotel/prebook";

/// Returns a request that prebooks a room at a sandbox hotel.
async fn request(hotel: &str, client: &Client) -> Value {
    let offer = HotelBookingBuilder::at(hotel).offer(client).await;
    prebook_request(&offer, 1)
}

/// Checks that the key that `client` used for `request` is refused for a different request.
async fn expect_no_other(client: &Client, request: &Value) {
    let mut other = request.clone();
    other["reference_id"] = json!("trip-9");
    let refused = client.post(PREBOOK, &other).await;
    refused.expect_problem(422, "idempotency_key_reused");
}

async fn concurrent_prebooks_with_one_key_make_one_booking(database: Database) {
    let server = Server::start(database).await;
    let request = request("OK", &server.client()).await;
    let client = server.client().header(KEY, "order-1");
    let replies = concurrently((0..32).map(|_| {
        let (client, request) = (client.clone(), request.clone());
        async move { client.post(PREBOOK, &request).await }
    }));
    let (mut ids, mut fresh) = (BTreeSet::new(), 0);
    for reply in replies.await {
        assert!(matches!(reply.status, 200 | 201), "{:#}", reply.body);
        fresh += usize::from(reply.status == 201);
        ids.insert(reply.data()["id"].to_string());
    }
    assert_eq!((ids.len(), fresh), (1, 1));
}

/// A refused request does not consume its key, and a key can be used with every operation.
async fn repeated_create_with_one_key_makes_one_resource(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = client.store_card("tok_visa").await;
    let hotel = client.hotel_id("OK").await;
    let mandate = |card: &str, amount: f64| {
        json!({
            "user_id": "org",
            "payment_amount": money(amount, "EUR"),
            "payment_instrument": {"id": card, "type": "CARD"},
        })
    };
    let token = |token: &str| json!({"type": "CARD", "token": token});
    let keyed = client.header(KEY, "create-1");
    for (path, refused, (status, code), body, other) in [
        (
            WATCHES,
            watch_request("htl_unknown", 150.0),
            (404, "hotel_not_found"),
            watch_request(&hotel, 150.0),
            watch_request(&hotel, 151.0),
        ),
        (
            "/v1/mandate",
            mandate("inst_0", 100.0),
            (422, "payment_instrument_invalid"),
            mandate(&card, 100.0),
            mandate(&card, 101.0),
        ),
        (
            "/v1/payment-instruments",
            token("tok_nobody"),
            (422, "payment_instrument_invalid"),
            token("tok_visa"),
            token("tok_mastercard"),
        ),
    ] {
        let refused = keyed.post(path, &refused).await;
        refused.expect_problem(status, code);
        let first = keyed.post(path, &body).await.expect(201);
        let again = keyed.post(path, &body).await.expect(200);
        assert_eq!(again.data()["id"], first.data()["id"], "{path}");
        let reused = keyed.post(path, &other).await;
        reused.expect_problem(422, "idempotency_key_reused");
    }
}

async fn idempotency_key_is_bound_to_one_request_and_one_user(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().header(KEY, "order-2");
    let request = request("OK", &server.client()).await;
    let first = client.post(PREBOOK, &request).await.expect(201);
    expect_no_other(&client, &request).await;
    let other_user = client.user("somebody-else");
    let another = other_user.post(PREBOOK, &request).await.expect(201);
    assert_ne!(another.data()["id"], first.data()["id"]);
    // White space does not make another request.
    let spaced = serde_json::to_string_pretty(&request).unwrap().into_bytes();
    let same = client.post_bytes(PREBOOK, spaced).await.expect(200);
    assert_eq!(same.data()["id"], first.data()["id"]);
}

async fn supplier_refusal_is_replayed_and_validation_error_is_not(database: Database) {
    let server = Server::start(database).await;
    let plain = server.client();
    for (hotel, status, code) in [
        ("PRICE_UP", 409, "offer_price_changed"),
        ("SOLD_OUT", 422, "offer_unavailable"),
    ] {
        let client = plain.header(KEY, hotel);
        let request = request(hotel, &plain).await;
        let mut mistaken = request.clone();
        mistaken["rooms"][0]["guests"][0]["is_lead"] = json!(false);
        let invalid = client.post(PREBOOK, &mistaken).await;
        invalid.expect_problem(400, "validation_failed");
        for _ in 0..2 {
            let refused = client.post(PREBOOK, &request).await;
            let refused = refused.expect_problem(status, code);
            if hotel == "PRICE_UP" {
                assert_eq!(refused.body["offered"]["amount"], 260.0);
                assert_eq!(refused.body["current"]["amount"], 286.0);
            }
        }
    }
}

async fn replay_of_prebook_succeeds_after_the_offer_expired(database: Database) {
    let server = Server::start(database).await;
    let plain = server.client();
    let request = request("EXPIRES_SOON", &plain).await;
    let client = plain.header(KEY, "in-time");
    let first = client.post(PREBOOK, &request).await.expect(201);
    tests::eventually("the offer to expire", async || {
        let late = plain.header(KEY, &uuid::Uuid::now_v7().to_string());
        let reply = late.post(PREBOOK, &request).await;
        (reply.status == 422).then(|| reply.expect_problem(422, "offer_expired"))
    })
    .await;
    let again = client.post(PREBOOK, &request).await.expect(200);
    assert_eq!(again.data()["id"], first.data()["id"]);
    expect_no_other(&client, &request).await;
}

async fn prebook_without_idempotency_key_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let request = request("OK", &client).await;
    let missing = client.post(PREBOOK, &request).await;
    let missing = missing.expect_problem(400, "validation_failed");
    assert_eq!(missing.body["errors"][0]["in"], "header");
    let long = "k".repeat(201);
    let too_long = client.header(KEY, &long).post(PREBOOK, &request).await;
    too_long.expect_problem(400, "validation_failed");
    let longest = client.header(KEY, &long[..200]);
    longest.post(PREBOOK, &request).await.expect(201);
}

on_both_databases! {
    concurrent_prebooks_with_one_key_make_one_booking,
    repeated_create_with_one_key_makes_one_resource,
    idempotency_key_is_bound_to_one_request_and_one_user,
    supplier_refusal_is_replayed_and_validation_error_is_not,
    replay_of_prebook_succeeds_after_the_offer_expired,
    prebook_without_idempotency_key_returns_400,
}
