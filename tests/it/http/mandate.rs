//! Tests of mandates: issuing, reading, revoking, and verification by a third party.

use super::resource_assertions::{check_names, check_refused_get, violations};
use serde_json::{Value, json};
use std::path::Path;
use tests::{Client, Database, Server, ServerOptions, eventually, money, on_both_databases};
use tokio::process::Command;

on_both_databases!(
    issued_mandate_is_readable_by_its_user_and_organization_only,
    invalid_mandate_request_names_each_violation,
    mandate_for_foreign_instrument_or_other_user_is_refused,
    revoked_mandate_stays_revoked,
    mandate_expires_after_its_ttl,
    signing_keys_are_published_and_rotated,
    third_party_verifies_mandate_with_published_keys,
);

fn request(user: &str, amount: f64, card: &str) -> Value {
    json!({
        "user_id": user,
        "payment_amount": money(amount, "EUR"),
        "payment_instrument": {"id": card, "type": "CARD"},
    })
}

async fn issue(client: &Client, user: &str) -> Value {
    let card = client.user(user).store_card("tok_visa").await;
    let body = request(user, 250.5, &card);
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    issued.data().clone()
}

fn path(mandate: &Value) -> String {
    format!("/v1/mandate/{}", mandate["id"].as_str().unwrap())
}

async fn issued_mandate_is_readable_by_its_user_and_organization_only(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = client.user("ann").store_card("tok_visa").await;
    let body = request("ann", 250.5, &card);
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    let mandate = issued.data();
    let mut rest = mandate.clone();
    for member in ["id", "created_at", "expires_at", "jws"] {
        let value = rest.as_object_mut().unwrap().remove(member);
        assert!(value.unwrap().is_string(), "{member}: {mandate:#}");
    }
    let expected = json!({
        "status": "ACTIVE", "user_id": "ann", "payment_amount": money(250.5, "EUR"),
        "payment_instrument": {"id": card, "type": "CARD"},
        "scope": {"kind": "ANY", "watch_id": null, "hotel_id": null, "check_in": null, "check_out": null},
    });
    assert_eq!(rest, expected);
    // The mandate's user and the organization see it; other callers do not.
    for seeing in [&client, &client.user("ann")] {
        let read = seeing.get(&path(mandate)).await.expect(200);
        assert_eq!(read.data(), mandate);
    }
    let other = server.client_for("other").await;
    for blind in [&client.user("bob"), &other, &other.user("ann")] {
        check_refused_get(blind, &path(mandate), 404, "mandate_not_found").await;
        let revoke = format!("{}/revoke", path(mandate));
        let revoked = blind.post(&revoke, &json!({})).await;
        revoked.expect_problem(404, "mandate_not_found");
    }
    let unknown = "/v1/mandate/mnd_01976f3e4a5b7c8d9e0f112233445566";
    check_refused_get(&client, unknown, 404, "mandate_not_found").await;
    check_refused_get(&client, "/v1/mandate/bkg_1", 400, "validation_failed").await;
}

async fn invalid_mandate_request_names_each_violation(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = client.store_card("tok_visa").await;
    for (pointer, value, code) in [
        ("/user_id", json!("a b"), "pattern"),
        ("/user_id", json!(""), "pattern"),
        ("/payment_amount/currency", json!("XXX"), "not_allowed"),
        ("/payment_amount/amount", json!(0.99), "too_small"),
        ("/payment_amount/amount", json!(1.001), "not_allowed"),
        ("/payment_instrument/id", json!("tok_visa"), "pattern"),
        ("/payment_instrument/type", json!("card"), "not_allowed"),
    ] {
        let mut body = request("org", 250.0, &card);
        *body.pointer_mut(pointer).unwrap() = value;
        let refused = client.post("/v1/mandate", &body).await;
        assert_eq!(violations(refused), format!("{pointer} {code}"));
    }
    let mut typo = request("org", 250.0, &card);
    typo["expires_at"] = json!("2027-01-01T00:00:00Z");
    let refused = client.post("/v1/mandate", &typo).await;
    assert_eq!(violations(refused), "/expires_at unknown_field");
}

async fn mandate_for_foreign_instrument_or_other_user_is_refused(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let (ann, bob) = (client.user("ann"), client.user("bob"));
    let anns = ann.store_card("tok_visa").await;
    let bobs = bob.store_card("tok_visa").await;
    let gone = ann.store_card("tok_visa").await;
    let deleted = ann.delete(&format!("/v1/payment-instruments/{gone}")).await;
    deleted.expect(204);
    for instrument in [bobs.as_str(), gone.as_str(), "inst_0"] {
        for caller in [&client, &ann] {
            let body = request("ann", 100.0, instrument);
            let refused = caller.post("/v1/mandate", &body).await;
            refused.expect_problem(422, "payment_instrument_invalid");
        }
    }
    let body = request("ann", 100.0, &anns);
    let refused = bob.post("/v1/mandate", &body).await;
    assert_eq!(violations(refused), "/user_id other_user");
    ann.post("/v1/mandate", &body).await.expect(201);
}

async fn revoked_mandate_stays_revoked(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let keyed = client.header("x-idempotency-key", "mandate-1");
    let request = request("org", 100.0, &client.store_card("tok_visa").await);
    let issued = keyed.post("/v1/mandate", &request).await.expect(201);
    let mandate = issued.data();
    let again = keyed.post("/v1/mandate", &request).await.expect(200);
    assert_eq!(again.data(), mandate);
    let revoke = format!("{}/revoke", path(mandate));
    let refused = client.post(&revoke, &json!({"reason": "none"})).await;
    assert_eq!(violations(refused), "/reason unknown_field");
    let mut expected = mandate.clone();
    expected["status"] = json!("REVOKED");
    let empty = || Some(b"{}".to_vec());
    for (caller, body) in [
        (&client, None),
        (&client, empty()),
        (&keyed, None),
        (&keyed, empty()),
    ] {
        let revoked = caller.send(reqwest::Method::POST, &revoke, body).await;
        assert_eq!(revoked.expect(200).data(), &expected);
    }
    let read = client.get(&path(mandate)).await.expect(200);
    assert_eq!(read.data(), &expected);
    // A repeated request returns the mandate in its current state.
    let again = keyed.post("/v1/mandate", &request).await.expect(200);
    assert_eq!(again.data(), &expected);
}

async fn mandate_expires_after_its_ttl(database: Database) {
    let options = ServerOptions::on(database).config("[mandates]\nttl_s = 1");
    let server = Server::start_with(options).await;
    let client = server.client();
    let mandate = issue(&client, "org").await;
    eventually("the mandate to expire", async || {
        let read = client.get(&path(&mandate)).await.expect(200);
        (read.data()["status"] == "EXPIRED").then_some(())
    })
    .await;
    let revoke = format!("{}/revoke", path(&mandate));
    let revoked = client.post(&revoke, &json!({})).await;
    revoked.expect_problem(422, "mandate_invalid");
}

async fn keys(server: &Server) -> Vec<Value> {
    let stranger = Client::new(&server.api, "").without("x-api-key");
    let set = stranger.get("/.well-known/jwks.json").await.expect(200);
    set.body["keys"].as_array().unwrap().clone()
}

async fn signing_keys_are_published_and_rotated(database: Database) {
    let server = Server::start(database).await;
    let [first] = &keys(&server).await[..] else {
        panic!("the key set does not contain exactly one key")
    };
    // The set contains no private member such as `d`.
    let members = ["alg", "crv", "kid", "kty", "use", "x", "y"];
    check_names("key", first, &members, &[]);
    let before = issue(&server.client(), "org").await;
    let options = ServerOptions::on(database).config("[mandates]\nkey_max_age_s = 1");
    let server = server.restart(options).await;
    let client = server.client();
    let changed = eventually("a new signing key to be used", async || {
        issue(&client, "org").await;
        let keys = keys(&server).await;
        (keys.len() > 1).then_some(keys)
    })
    .await;
    assert_eq!(changed.last(), Some(first));
    let read = client.get(&path(&before)).await.expect(200);
    let verified = verify(&server, &read.data()["jws"]).await.unwrap();
    assert_eq!(verified["header"]["kid"], first["kid"]);
}

/// Verifies a mandate with a Python library. Returns its header and claims, or `None` if the
/// signature is invalid.
async fn verify(server: &Server, jws: &Value) -> Option<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/http/verify_mandate.py");
    let output = Command::new(tests::target_dir().join("pyjwt/bin/python"))
        .arg(script)
        .arg(format!("{}/.well-known/jwks.json", server.api))
        .arg(jws.as_str().unwrap())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .await
        .unwrap_or_else(|error| panic!("Python, which `cargo xtask test` installs: {error}"));
    if output.status.success() {
        return Some(serde_json::from_slice(&output.stdout).unwrap());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("InvalidSignatureError"), "{complaint}");
    None
}

async fn third_party_verifies_mandate_with_published_keys(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mandate = issue(&client, "ann").await;
    let verified = verify(&server, &mandate["jws"]).await.unwrap();
    assert_eq!(verified["header"]["alg"], "ES256");
    let claims = &verified["claims"];
    assert_eq!(claims["vct"], "mandate.payment.open.1");
    assert_eq!(claims["iss"], server.api.as_str());
    assert_eq!(claims["jti"], mandate["id"]);
    assert_eq!(claims["sub"], mandate["user_id"]);
    let cap = json!({"type": "payment.amount_range", "currency": "EUR", "max": 25_050});
    assert_eq!(claims["constraints"][0], cap);
    let other = issue(&client, "ann").await;
    let [jws, other] = [&mandate, &other].map(|mandate| mandate["jws"].as_str().unwrap());
    // The forged mandate combines the terms of one with the signature of the other.
    let (terms, _) = jws.rsplit_once('.').unwrap();
    let (_, signature) = other.rsplit_once('.').unwrap();
    let forged = json!(format!("{terms}.{signature}"));
    assert_eq!(verify(&server, &forged).await, None);
}
