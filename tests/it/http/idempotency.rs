//! Tests of idempotency keys: one key has one effect.

use serde_json::{Value, json};
use tests::{Client, Database, HotelBookingBuilder, Server, on_both_databases, prebook_request};

/// Checks that the key that `client` used for `request` is refused for a different request.
async fn expect_no_other(client: &Client, request: &Value) {
    let mut other = request.clone();
    other["reference_id"] = json!("trip-9");
    client
        .post("/v1/hotel/prebook", &other)
        .await
        .expect_problem(422, "idempotency_key_reused");
}

async fn concurrent_prebooks_with_one_key_make_one_booking(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().header("x-idempotency-key", "order-1");
    let request = prebook_request(
        &HotelBookingBuilder::at("OK")
            .offer(&client.without("x-idempotency-key"))
            .await,
        1,
    );
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (client, request) = (client.clone(), request.clone());
        calls.spawn(async move { client.post("/v1/hotel/prebook", &request).await });
    }
    let (mut ids, mut fresh) = (std::collections::BTreeSet::new(), 0);
    while let Some(reply) = calls.join_next().await {
        let reply = reply.unwrap();
        assert!(matches!(reply.status, 200 | 201), "{:#}", reply.body);
        fresh += usize::from(reply.status == 201);
        ids.insert(reply.data()["id"].as_str().unwrap().to_owned());
    }
    assert_eq!((ids.len(), fresh), (1, 1));
}

async fn idempotency_key_is_bound_to_one_request_and_one_user(database: Database) {
    let server = Server::start(database).await;
    let plain = server.client();
    let client = plain.header("x-idempotency-key", "order-2");
    let request = prebook_request(&HotelBookingBuilder::at("OK").offer(&plain).await, 1);
    let first = client.post("/v1/hotel/prebook", &request).await.expect(201);
    expect_no_other(&client, &request).await;
    let another = client
        .user("somebody-else")
        .post("/v1/hotel/prebook", &request)
        .await
        .expect(201);
    assert_ne!(another.data()["id"], first.data()["id"]);
    let spaced = serde_json::to_string_pretty(&request).unwrap().into_bytes();
    let same = client
        .post_bytes("/v1/hotel/prebook", spaced)
        .await
        .expect(200);
    assert_eq!(
        same.data()["id"],
        first.data()["id"],
        "white space does not make another request"
    );
}

async fn supplier_refusal_is_replayed_and_validation_error_is_not(database: Database) {
    let server = Server::start(database).await;
    let plain = server.client();
    for (hotel, status, code) in [
        ("PRICE_UP", 409, "offer_price_changed"),
        ("SOLD_OUT", 422, "offer_unavailable"),
    ] {
        let client = plain.header("x-idempotency-key", hotel);
        let request = prebook_request(&HotelBookingBuilder::at(hotel).offer(&plain).await, 1);
        let mut mistaken = request.clone();
        mistaken["rooms"][0]["guests"][0]["is_lead"] = json!(false);
        client
            .post("/v1/hotel/prebook", &mistaken)
            .await
            .expect_problem(400, "validation_failed");
        for _ in 0..2 {
            let refused = client
                .post("/v1/hotel/prebook", &request)
                .await
                .expect_problem(status, code);
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
    let request = prebook_request(
        &HotelBookingBuilder::at("EXPIRES_SOON").offer(&plain).await,
        1,
    );
    let client = plain.header("x-idempotency-key", "in-time");
    let first = client.post("/v1/hotel/prebook", &request).await.expect(201);
    tests::eventually("the offer to expire", async || {
        let late = plain.header("x-idempotency-key", &uuid::Uuid::now_v7().to_string());
        let reply = late.post("/v1/hotel/prebook", &request).await;
        (reply.status == 422).then(|| reply.expect_problem(422, "offer_expired"))
    })
    .await;
    let again = client.post("/v1/hotel/prebook", &request).await.expect(200);
    assert_eq!(again.data()["id"], first.data()["id"]);
    expect_no_other(&client, &request).await;
}

async fn prebook_without_idempotency_key_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let request = prebook_request(&HotelBookingBuilder::at("OK").offer(&client).await, 1);
    let missing = client
        .post("/v1/hotel/prebook", &request)
        .await
        .expect_problem(400, "validation_failed");
    assert_eq!(missing.body["errors"][0]["in"], "header");
    let long = "k".repeat(201);
    client
        .header("x-idempotency-key", &long)
        .post("/v1/hotel/prebook", &request)
        .await
        .expect_problem(400, "validation_failed");
    let longest = client.header("x-idempotency-key", &long[..200]);
    let bound = longest.post("/v1/hotel/prebook", &request).await;
    bound.expect(201);
}

on_both_databases! {
    concurrent_prebooks_with_one_key_make_one_booking,
    idempotency_key_is_bound_to_one_request_and_one_user,
    supplier_refusal_is_replayed_and_validation_error_is_not,
    replay_of_prebook_succeeds_after_the_offer_expired,
    prebook_without_idempotency_key_returns_400,
}
