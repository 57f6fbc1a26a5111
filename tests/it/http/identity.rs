//! Tests of the caller's identity: keys, scopes, users and organizations.

use serde_json::json;
use std::process::Output;
use tests::{Client, Database, Server, binary, eventually, offers_request};
use tokio::process::Command;

async fn stopover(server: &Server, arguments: &[&str]) -> Output {
    let output = Command::new(binary())
        .args(arguments)
        .arg("--data-dir")
        .arg(server.data_dir())
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

async fn key(server: &Server, more: &[&str]) -> String {
    let arguments = [
        &["keys", "create", "--organization", "acme", "--mode", "test"],
        more,
    ]
    .concat();
    let output = stopover(server, &arguments).await;
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn missing_and_invalid_api_key_return_different_401_codes() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    client
        .without("x-api-key")
        .get("/v1/suppliers")
        .await
        .expect_problem(401, "missing_api_key");
    let mut unknown = server.key.clone();
    unknown.replace_range(12..13, if &unknown[12..13] == "a" { "b" } else { "a" });
    for bad in ["nonsense", "sk_test_short", &unknown] {
        Client::new(&server.api, bad)
            .get("/v1/suppliers")
            .await
            .expect_problem(401, "invalid_api_key");
    }
}

/// Covers every operation under `/v1` in the OpenAPI document except those that suppliers call with
/// their own secrets.
#[tokio::test]
async fn every_operation_requires_a_key_and_echoes_the_request_id() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client().header("x-request-id", "mine");
    let nobody = client.without("x-api-key");
    let document = client.get("/openapi.json").await.expect(200);
    let paths = document.body["paths"].as_object().unwrap().iter();
    let mut calls = 0;
    for (path, operations) in paths.filter(|(path, _)| path.starts_with("/v1/")) {
        if path.starts_with("/v1/suppliers/") {
            continue;
        }
        for method in operations.as_object().unwrap().keys() {
            let what = format!("{method} {path}");
            let method: reqwest::Method = method.to_uppercase().parse().unwrap();
            let refused = nobody.send(method, path, None).await;
            assert_eq!(refused.header("x-request-id"), Some("mine"), "{what}");
            let refused = refused.expect_problem(401, "missing_api_key");
            assert_eq!(refused.body["request_id"], "mine", "{what}");
            calls += 1;
        }
    }
    assert!(calls > 50, "{calls} operations");
}

#[tokio::test]
async fn key_created_at_runtime_works_until_revoked() {
    let server = Server::start(Database::Sqlite).await;
    let made = key(&server, &["--name", "ci"]).await;
    assert!(made.starts_with("sk_test_") && made.len() == "sk_test_".len() + 38);
    let client = Client::new(&server.api, &made);
    let _works = client.get("/v1/suppliers").await.expect(200);
    let listed = stopover(&server, &["keys", "list", "--json"]).await;
    let keys: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let row = keys
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "ci")
        .unwrap();
    assert_eq!(
        (row["organization"].as_str(), row["mode"].as_str()),
        (Some("acme"), Some("test"))
    );
    let _revoked = stopover(&server, &["keys", "revoke", row["id"].as_str().unwrap()]).await;
    let refused = eventually("the revocation to take effect", async || {
        Some(client.get("/v1/suppliers").await).filter(|r| r.status == 401)
    })
    .await;
    refused.expect_problem(401, "invalid_api_key");
}

#[tokio::test]
async fn key_is_limited_to_its_scopes() {
    let server = Server::start(Database::Sqlite).await;
    let reader = Client::new(&server.api, &key(&server, &["--scopes", "read"]).await);
    let _reads = reader
        .post("/v1/hotel/offers", &offers_request("OK"))
        .await
        .expect(200);
    let body = json!({"type": "CARD", "token": "tok_visa"});
    reader
        .post("/v1/payment-instruments", &body)
        .await
        .expect_problem(403, "insufficient_scope");
    let booker = Client::new(&server.api, &key(&server, &["--scopes", "book"]).await);
    let _books = booker
        .post("/v1/payment-instruments", &body)
        .await
        .expect(201);
    booker
        .get("/v1/hotel/bookings")
        .await
        .expect_problem(403, "insufficient_scope");
}

#[tokio::test]
async fn organizations_and_users_are_validated_and_isolated() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    client
        .header("x-organization-id", "acme")
        .get("/v1/suppliers")
        .await
        .expect_problem(403, "organization_mismatch");
    let _own = client
        .header("x-organization-id", "demo")
        .get("/v1/suppliers")
        .await
        .expect(200);
    let bad = client
        .user("white space")
        .get("/v1/hotel/bookings")
        .await
        .expect_problem(400, "validation_failed");
    assert_eq!(bad.body["errors"][0]["in"], "header");
    let mine = client
        .user("ada")
        .post(
            "/v1/payment-instruments",
            &json!({"type": "CARD", "token": "tok_visa"}),
        )
        .await
        .expect(201);
    let path = format!(
        "/v1/payment-instruments/{}",
        mine.data()["id"].as_str().unwrap()
    );
    let _seen = client.user("ada").get(&path).await.expect(200);
    client
        .user("bob")
        .get(&path)
        .await
        .expect_problem(404, "payment_instrument_not_found");
    client
        .get(&path)
        .await
        .expect_problem(404, "payment_instrument_not_found");
    let other = Client::new(&server.api, &key(&server, &[]).await).user("ada");
    other
        .get(&path)
        .await
        .expect_problem(404, "payment_instrument_not_found");
}

#[tokio::test]
async fn live_key_never_reaches_test_suppliers_or_test_data() {
    let server = Server::start(Database::Sqlite).await;
    let arguments = ["keys", "create", "--organization", "demo", "--mode", "live"];
    let live = String::from_utf8(stopover(&server, &arguments).await.stdout).unwrap();
    let client = Client::new(&server.api, live.trim());
    client
        .post("/v1/hotel/offers", &offers_request("OK"))
        .await
        .expect_problem(422, "supplier_operation_unsupported");
    assert_eq!(
        *client.get("/v1/suppliers").await.expect(200).data(),
        json!([])
    );
    // A live key does not see data that was stored in test mode either.
    let test = server.client();
    let places = test
        .post("/v1/hotel/places", &json!({"query": "Testville"}))
        .await
        .expect(200);
    let place = places.data()[0]["id"].as_str().unwrap();
    client
        .get(&format!("/v1/hotel/places/{place}"))
        .await
        .expect_problem(404, "place_not_found");
    let priced = test
        .post("/v1/hotel/offers", &offers_request("OK"))
        .await
        .expect(200);
    let hotel = priced.data()[0]["hotel_id"].as_str().unwrap();
    client
        .get(&format!("/v1/hotel/hotels/{hotel}"))
        .await
        .expect_problem(404, "hotel_not_found");
}
