//! Tests of mandates: issuing, reading, revoking, and verification by a third party.

use serde_json::{Value, json};
use std::path::Path;
use tests::{Client, Database, Server, ServerOptions, eventually, money, on_both_databases};
use tokio::process::Command;

const UNKNOWN: &str = "mnd_01976f3e4a5b7c8d9e0f112233445566";

async fn card(client: &Client) -> String {
    let token = json!({"type": "CARD", "token": "tok_visa"});
    let added = client.post("/v1/payment-instruments", &token).await;
    added.expect(201).data()["id"].as_str().unwrap().to_owned()
}

fn request(user: &str, amount: f64, currency: &str, card: &str) -> Value {
    json!({
        "user_id": user,
        "payment_amount": money(amount, currency),
        "payment_instrument": {"id": card, "type": "CARD"},
    })
}

async fn issue(client: &Client, user: &str) -> Value {
    let card = card(&client.user(user)).await;
    let body = request(user, 250.5, "EUR", &card);
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    issued.data().clone()
}

fn path(mandate: &Value) -> String {
    format!("/v1/mandate/{}", mandate["id"].as_str().unwrap())
}

async fn issued_mandate_is_readable_by_its_user_and_organization_only(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = card(&client.user("ann")).await;
    let body = request("ann", 250.5, "EUR", &card);
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    let mandate = issued.data();
    let own = ["id", "created_at", "expires_at", "jws"];
    for member in own {
        assert!(mandate[member].is_string(), "{member}: {mandate:#}");
    }
    let mut rest = mandate.clone();
    for member in own {
        rest.as_object_mut().unwrap().remove(member);
    }
    let nothing = Value::Null;
    let expected = json!({
        "status": "ACTIVE", "user_id": "ann", "payment_amount": money(250.5, "EUR"),
        "payment_instrument": {"id": card, "type": "CARD"},
        "scope": {"kind": "ANY", "watch_id": nothing, "hotel_id": nothing, "check_in": nothing, "check_out": nothing},
    });
    assert_eq!(rest, expected);
    // The mandate's user and the organization see it; other callers do not.
    for seeing in [&client, &client.user("ann")] {
        let read = seeing.get(&path(mandate)).await.expect(200);
        assert_eq!(read.data(), mandate);
    }
    let other = server.client_for("other").await;
    for blind in [&client.user("bob"), &other, &other.user("ann")] {
        let revoke = format!("{}/revoke", path(mandate));
        let read = blind.get(&path(mandate)).await;
        read.expect_problem(404, "mandate_not_found");
        let revoked = blind.post(&revoke, &json!({})).await;
        revoked.expect_problem(404, "mandate_not_found");
    }
    let unknown = client.get(&format!("/v1/mandate/{UNKNOWN}")).await;
    unknown.expect_problem(404, "mandate_not_found");
    let malformed = client.get("/v1/mandate/bkg_1").await;
    malformed.expect_problem(400, "validation_failed");
}

async fn invalid_mandate_request_names_each_violation(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = card(&client).await;
    let with = |pointer: &str, value: Value| {
        let mut body = request("org", 250.0, "EUR", &card);
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let mut typo = request("org", 250.0, "EUR", &card);
    typo["expires_at"] = json!("2027-01-01T00:00:00Z");
    for (body, pointer, code) in [
        (with("/user_id", json!("a b")), "/user_id", "pattern"),
        (with("/user_id", json!("")), "/user_id", "pattern"),
        (
            with("/payment_amount/currency", json!("XXX")),
            "/payment_amount/currency",
            "not_allowed",
        ),
        (
            with("/payment_amount/amount", json!(0.99)),
            "/payment_amount/amount",
            "too_small",
        ),
        (
            with("/payment_amount/amount", json!(1.001)),
            "/payment_amount/amount",
            "not_allowed",
        ),
        (
            with("/payment_instrument/id", json!("tok_visa")),
            "/payment_instrument/id",
            "pattern",
        ),
        (
            with("/payment_instrument/type", json!("card")),
            "/payment_instrument/type",
            "not_allowed",
        ),
        (typo, "/expires_at", "unknown_field"),
    ] {
        let refused = client.post("/v1/mandate", &body).await;
        let refused = refused.expect_problem(400, "validation_failed");
        let found = &refused.body["errors"][0];
        assert_eq!(
            (&found["pointer"], &found["code"]),
            (&json!(pointer), &json!(code))
        );
    }
}

async fn mandate_for_foreign_instrument_or_other_user_is_refused(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let (ann, bob) = (client.user("ann"), client.user("bob"));
    let (anns, bobs) = (card(&ann).await, card(&bob).await);
    let gone = card(&ann).await;
    let deleted = ann.delete(&format!("/v1/payment-instruments/{gone}")).await;
    deleted.expect(204);
    for instrument in [bobs.as_str(), gone.as_str(), "inst_0"] {
        for caller in [&client, &ann] {
            let body = request("ann", 100.0, "EUR", instrument);
            let refused = caller.post("/v1/mandate", &body).await;
            refused.expect_problem(422, "payment_instrument_invalid");
        }
    }
    let body = request("ann", 100.0, "EUR", &anns);
    let refused = bob.post("/v1/mandate", &body).await;
    let refused = refused.expect_problem(400, "validation_failed");
    assert_eq!(refused.body["errors"][0]["code"], "other_user");
    ann.post("/v1/mandate", &body).await.expect(201);
}

async fn repeated_request_with_one_key_issues_one_mandate(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let card = card(&client).await;
    let keyed = client.header("x-idempotency-key", "mandate-1");
    let body = request("org", 100.0, "EUR", &card);
    let first = keyed.post("/v1/mandate", &body).await.expect(201);
    let again = keyed.post("/v1/mandate", &body).await.expect(200);
    assert_eq!(again.data(), first.data());
    let other = request("org", 101.0, "EUR", &card);
    let reused = keyed.post("/v1/mandate", &other).await;
    reused.expect_problem(422, "idempotency_key_reused");
    // A repeated request returns the mandate in its current state.
    let revoke = format!("{}/revoke", path(first.data()));
    for _ in 0..2 {
        let revoked = keyed.post(&revoke, &json!({})).await.expect(200);
        assert_eq!(revoked.data()["status"], "REVOKED");
    }
    let again = keyed.post("/v1/mandate", &body).await.expect(200);
    assert_eq!(again.data()["status"], "REVOKED");
}

async fn revoked_mandate_stays_revoked(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mandate = issue(&client, "org").await;
    let revoke = format!("{}/revoke", path(&mandate));
    let typo = client.post(&revoke, &json!({"reason": "none"})).await;
    typo.expect_problem(400, "validation_failed");
    let bodies = [None, Some(b"{}".to_vec()), None];
    for body in bodies {
        let revoked = client.send(reqwest::Method::POST, &revoke, body).await;
        let mut expected = mandate.clone();
        expected["status"] = json!("REVOKED");
        assert_eq!(revoked.expect(200).data(), &expected);
    }
    let read = client.get(&path(&mandate)).await.expect(200);
    assert_eq!(read.data()["status"], "REVOKED");
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
    let revoked = client
        .post(&format!("{}/revoke", path(&mandate)), &json!({}))
        .await;
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
    let members: Vec<&str> = first
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut sorted = members.clone();
    sorted.sort_unstable();
    // The set contains no private member such as `d`.
    assert_eq!(sorted, ["alg", "crv", "kid", "kty", "use", "x", "y"]);
    let before = issue(&server.client(), "org").await;
    let hurried = ServerOptions::on(database).config("[mandates]\nkey_max_age_s = 1");
    let server = server.restart(hurried).await;
    let client = server.client();
    let changed = eventually("a new signing key to be used", async || {
        issue(&client, "org").await;
        let keys = keys(&server).await;
        (keys.len() > 1).then_some(keys)
    })
    .await;
    assert_eq!(changed.last(), Some(first));
    let read = client.get(&path(&before)).await.expect(200);
    assert_eq!(
        verify(&server, &read.data()["jws"]).await.unwrap()["header"]["kid"],
        first["kid"]
    );
}

/// Verifies a mandate with a Python library. Returns its header and claims, or `None` if the
/// signature is invalid.
async fn verify(server: &Server, jws: &Value) -> Option<Value> {
    let python = tests::target_dir().join("pyjwt/bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/http/verify_mandate.py");
    let output = Command::new(&python)
        .arg(script)
        .arg(format!("{}/.well-known/jwks.json", server.api))
        .arg(jws.as_str().unwrap())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .await
        .unwrap_or_else(|error| {
            panic!(
                "{} does not start ({error}): install it with `cargo xtask test`",
                python.display()
            )
        });
    let complaint = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Some(serde_json::from_slice(&output.stdout).unwrap());
    }
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
    assert_eq!(
        (&claims["jti"], &claims["sub"]),
        (&mandate["id"], &mandate["user_id"])
    );
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

on_both_databases!(
    issued_mandate_is_readable_by_its_user_and_organization_only,
    invalid_mandate_request_names_each_violation,
    mandate_for_foreign_instrument_or_other_user_is_refused,
    repeated_request_with_one_key_issues_one_mandate,
    revoked_mandate_stays_revoked,
    mandate_expires_after_its_ttl,
    signing_keys_are_published_and_rotated,
    third_party_verifies_mandate_with_published_keys,
);
