//! Tests of payment instruments.

use super::resource_assertions::check_refused_get;
use serde_json::json;
use tests::{Database, Server, on_both_databases};

const PATH: &str = "/v1/payment-instruments";

async fn instrument_shows_its_card_and_never_its_token(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = json!({"type": "CARD", "token": "tok_mastercard"});
    let made = client.post(PATH, &card).await.expect(201);
    assert_eq!(made.body["meta"]["supplier"], "SANDBOX_PAYMENTS");
    assert_eq!(made.header("x-supplier"), Some("SANDBOX_PAYMENTS"));
    let id = made.data()["id"].as_str().unwrap();
    assert!(id.starts_with("inst_"));
    assert_eq!(made.data()["card"]["brand"], "MASTERCARD");
    assert_eq!(made.data()["card"]["last4"].as_str().unwrap().len(), 4);
    assert!(!made.body.to_string().contains("tok_"));
    let path = format!("{PATH}/{id}");
    assert_eq!(client.get(&path).await.expect(200).data(), made.data());
    let listed = client.get(PATH).await.expect(200);
    assert_eq!(listed.data()[0], *made.data());
    client.delete(&path).await.expect(204);
    check_refused_get(&client, &path, 404, "payment_instrument_not_found").await;
    let again = client.delete(&path).await;
    again.expect_problem(404, "payment_instrument_not_found");
}

on_both_databases!(instrument_shows_its_card_and_never_its_token);
