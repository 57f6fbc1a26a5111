//! Tests of payment instruments.

use serde_json::json;
use tests::{Database, Server, on_both_databases};

async fn instrument_shows_its_card_and_never_its_token(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let made = client
        .post(
            "/v1/payment-instruments",
            &json!({"type": "CARD", "token": "tok_mastercard"}),
        )
        .await
        .expect(201);
    assert!(made.data()["id"].as_str().unwrap().starts_with("inst_"));
    assert_eq!(made.data()["card"]["brand"], "MASTERCARD");
    assert_eq!(made.data()["card"]["last4"].as_str().unwrap().len(), 4);
    assert!(!made.body.to_string().contains("tok_"));
    let path = format!(
        "/v1/payment-instruments/{}",
        made.data()["id"].as_str().unwrap()
    );
    assert_eq!(client.get(&path).await.expect(200).data(), made.data());
    assert_eq!(
        client
            .get("/v1/payment-instruments")
            .await
            .expect(200)
            .data()[0],
        *made.data()
    );
    let _deleted = client.delete(&path).await.expect(204);
    client
        .get(&path)
        .await
        .expect_problem(404, "payment_instrument_not_found");
    client
        .delete(&path)
        .await
        .expect_problem(404, "payment_instrument_not_found");
}

async fn repeated_create_with_one_key_makes_one_instrument(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().header("x-idempotency-key", "card-1");
    let body = json!({"type": "CARD", "token": "tok_visa"});
    let first = client
        .post("/v1/payment-instruments", &body)
        .await
        .expect(201);
    let again = client.post("/v1/payment-instruments", &body).await;
    assert!(matches!(again.status, 200 | 201), "{:#}", again.body);
    assert_eq!(again.data()["id"], first.data()["id"]);
    let other = client
        .post(
            "/v1/payment-instruments",
            &json!({"type": "CARD", "token": "tok_mastercard"}),
        )
        .await;
    other.expect_problem(422, "idempotency_key_reused");
}

async fn instrument_with_unknown_token_is_refused(database: Database) {
    let server = Server::start(database).await;
    let reply = server
        .client()
        .post(
            "/v1/payment-instruments",
            &json!({"type": "CARD", "token": "tok_nobody"}),
        )
        .await;
    reply.expect_problem(422, "payment_instrument_invalid");
}

on_both_databases! {
    instrument_shows_its_card_and_never_its_token,
    repeated_create_with_one_key_makes_one_instrument,
    instrument_with_unknown_token_is_refused,
}
