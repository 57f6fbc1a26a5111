//! Tests of the caller's identity: keys, scopes, users and organizations.

use super::resource_assertions::check_refused_get;
use serde_json::{Value, json};
use tests::{Client, Database, Server, binary, eventually, offers_request};
use tokio::process::Command;

/// Runs a command of the binary and returns its output.
async fn stopover(server: &Server, arguments: &[&str]) -> String {
    let output = Command::new(binary())
        .args(arguments)
        .arg("--data-dir")
        .arg(server.data_dir())
        .output()
        .await
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn missing_and_invalid_api_key_return_different_401_codes() {
    let server = Server::start(Database::Sqlite).await;
    let nobody = server.client().without("x-api-key");
    check_refused_get(&nobody, "/v1/suppliers", 401, "missing_api_key").await;
    let mut unknown = server.key.clone();
    unknown.replace_range(12..13, if &unknown[12..13] == "a" { "b" } else { "a" });
    for bad in ["nonsense", "sk_test_short", &unknown] {
        let client = Client::new(&server.api, bad);
        check_refused_get(&client, "/v1/suppliers", 401, "invalid_api_key").await;
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
    let is_covered = |path: &str| path.starts_with("/v1/") && !path.starts_with("/v1/suppliers/");
    for (path, operations) in paths.filter(|(path, _)| is_covered(path)) {
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
    let create = "keys create --organization acme --mode test --name ci";
    let create: Vec<&str> = create.split(' ').collect();
    let made = stopover(&server, &create).await;
    let made = made.trim();
    assert!(made.starts_with("sk_test_") && made.len() == "sk_test_".len() + 38);
    let client = Client::new(&server.api, made);
    client.get("/v1/suppliers").await.expect(200);
    let listed = stopover(&server, &["keys", "list", "--json"]).await;
    let keys: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let row = keys.iter().find(|row| row["name"] == "ci").unwrap();
    assert_eq!(row["organization"], "acme");
    assert_eq!(row["mode"], "test");
    stopover(&server, &["keys", "revoke", row["id"].as_str().unwrap()]).await;
    let refused = eventually("the revocation to take effect", async || {
        Some(client.get("/v1/suppliers").await).filter(|r| r.status == 401)
    })
    .await;
    refused.expect_problem(401, "invalid_api_key");
}

#[tokio::test]
async fn key_is_limited_to_its_scopes() {
    let server = Server::start(Database::Sqlite).await;
    let with = async |scopes: &str| {
        let options = ["--mode", "test", "--scopes", scopes];
        server.client_with("acme", &options).await
    };
    let (reader, booker) = (with("read").await, with("book").await);
    let offers = reader.post("/v1/hotel/offers", &offers_request("OK")).await;
    offers.expect(200);
    let body = json!({"type": "CARD", "token": "tok_visa"});
    let refused = reader.post("/v1/payment-instruments", &body).await;
    refused.expect_problem(403, "insufficient_scope");
    booker.store_card("tok_visa").await;
    check_refused_get(&booker, "/v1/hotel/bookings", 403, "insufficient_scope").await;
}

#[tokio::test]
async fn organizations_and_users_are_validated_and_isolated() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let of = |organization: &str| client.header("x-organization-id", organization);
    check_refused_get(&of("acme"), "/v1/suppliers", 403, "organization_mismatch").await;
    of("demo").get("/v1/suppliers").await.expect(200);
    let bad = client.user("white space").get("/v1/hotel/bookings").await;
    let bad = bad.expect_problem(400, "validation_failed");
    assert_eq!(bad.body["errors"][0]["in"], "header");
    let ada = client.user("ada");
    let card = ada.store_card("tok_visa").await;
    let path = format!("/v1/payment-instruments/{card}");
    ada.get(&path).await.expect(200);
    let elsewhere = server.client_for("acme").await.user("ada");
    for other in [client.user("bob"), client, elsewhere] {
        check_refused_get(&other, &path, 404, "payment_instrument_not_found").await;
    }
}

#[tokio::test]
async fn live_key_never_reaches_test_suppliers_or_test_data() {
    let server = Server::start(Database::Sqlite).await;
    let live = server.client_with("demo", &["--mode", "live"]).await;
    let refused = live.post("/v1/hotel/offers", &offers_request("OK")).await;
    refused.expect_problem(422, "supplier_operation_unsupported");
    let suppliers = live.get("/v1/suppliers").await.expect(200);
    assert_eq!(*suppliers.data(), json!([]));
    // A live key does not see data that was stored in test mode either.
    let test = server.client();
    let place = test.find_place("Testville").await;
    let place = format!("/v1/hotel/places/{}", place["id"].as_str().unwrap());
    check_refused_get(&live, &place, 404, "place_not_found").await;
    let hotel = format!("/v1/hotel/hotels/{}", test.hotel_id("OK").await);
    check_refused_get(&live, &hotel, 404, "hotel_not_found").await;
}
