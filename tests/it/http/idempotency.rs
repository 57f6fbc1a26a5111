//! Tests of idempotency keys: one key has one effect.

use serde_json::{Value, json};
use tests::{
    BookingBuilder, Client, Database, HotelBookingBuilder, Server, WATCHES, concurrently,
    eventually, merged, money, on_both_databases, prebook_request, watch_request,
};

const KEY: &str = "x-idempotency-key";
const PREBOOK: &str = "/v1/hotel/prebook";

/// Returns a request that prebooks a room at a sandbox hotel.
async fn request(hotel: &str, client: &Client) -> Value {
    let offer = HotelBookingBuilder::at(hotel).offer(client).await;
    prebook_request(&offer, 1)
}

const fn prebook_path(builder: &BookingBuilder) -> &'static str {
    match builder {
        BookingBuilder::Hotel(_) => PREBOOK,
        BookingBuilder::Flight(_) => "/v1/flight/prebook",
    }
}

async fn concurrent_prebooks_with_one_key_make_one_booking(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for builder in BookingBuilder::at_each_supplier() {
        let request = builder.request(&client).await;
        let keyed = client.header(KEY, &uuid::Uuid::now_v7().to_string());
        let calls = (0..64).map(|_| {
            let (client, request) = (keyed.clone(), request.clone());
            let path = prebook_path(&builder);
            async move { client.post(path, &request).await }
        });
        let replies = concurrently(calls).await;
        let (fresh, replayed): (Vec<_>, Vec<_>) =
            replies.into_iter().partition(|reply| reply.status == 201);
        assert_eq!(fresh.len(), 1, "{builder:?}");
        assert_eq!(fresh[0].data()["status"], "READY_FOR_COMPLETE");
        for reply in replayed {
            assert_eq!(reply.expect(200).data(), fresh[0].data(), "{builder:?}");
        }
    }
    let listed = client.get("/v1/flight/bookings").await.expect(200);
    assert_eq!(listed.body["meta"]["pagination"]["total"], 2);
}

async fn prebook_continues_after_its_caller_disconnects(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let request = request("SLOW_2000", &client).await;
    let caller = tokio::spawn({
        let (client, request) = (client.clone(), request.clone());
        async move { client.prebook_hotel("gone", &request).await }
    });
    eventually("the prebook to begin", async || {
        let listed = client.get("/v1/hotel/bookings").await.expect(200);
        (!listed.list().is_empty()).then_some(())
    })
    .await;
    caller.abort();
    let reply = client.prebook_hotel("gone", &request).await;
    assert_eq!(reply.outcome(), (200, "READY_FOR_COMPLETE"));
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
    let [hotel, _, flight] = BookingBuilder::at_each_supplier();
    for builder in [hotel, flight] {
        let path = prebook_path(&builder);
        let request = builder.request(&server.client()).await;
        let first = client.post(path, &request).await.expect(201);
        let phone = json!({"phone": "+442079460001"});
        for change in [
            json!({"reference_id": "trip-9"}),
            json!({"use_payment_sdk": true}),
            json!({"contact": merged(request["contact"].clone(), phone)}),
        ] {
            let other = merged(request.clone(), change);
            let refused = client.post(path, &other).await;
            refused.expect_problem(422, "idempotency_key_reused");
        }
        let other_user = client.user("somebody-else");
        let another = other_user.post(path, &request).await.expect(201);
        assert_ne!(another.data()["id"], first.data()["id"]);
        // White space does not make another request.
        let spaced = serde_json::to_string_pretty(&request).unwrap().into_bytes();
        let same = client.post_bytes(path, spaced).await.expect(200);
        assert_eq!(same.data(), first.data());
    }
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
    let other = merged(request, json!({"reference_id": "trip-9"}));
    let refused = client.post(PREBOOK, &other).await;
    refused.expect_problem(422, "idempotency_key_reused");
}

async fn prebook_without_idempotency_key_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for builder in BookingBuilder::of_each_kind() {
        let request = builder.request(&client).await;
        let missing = client.post(prebook_path(&builder), &request).await;
        let missing = missing.expect_problem(400, "validation_failed");
        assert_eq!(missing.body["errors"][0]["in"], "header");
    }
    let request = request("OK", &client).await;
    let long = "k".repeat(201);
    let too_long = client.header(KEY, &long).post(PREBOOK, &request).await;
    too_long.expect_problem(400, "validation_failed");
    let longest = client.header(KEY, &long[..200]);
    longest.post(PREBOOK, &request).await.expect(201);
}

on_both_databases! {
    concurrent_prebooks_with_one_key_make_one_booking,
    prebook_continues_after_its_caller_disconnects,
    repeated_create_with_one_key_makes_one_resource,
    idempotency_key_is_bound_to_one_request_and_one_user,
    supplier_refusal_is_replayed_and_validation_error_is_not,
    replay_of_prebook_succeeds_after_the_offer_expired,
    prebook_without_idempotency_key_returns_400,
}
