//! Tests of the card processor, token by token.

use serde_json::{Value, json};

use crate::market::{Market, TILLWAY, assert_ledger, assert_refused, get, get_ok, post, post_ok};

const PAYMENTS: &str = "/payments";

fn authorization(reference: &str, source: &str) -> Value {
    json!({
        "reference": reference, "amount": 13_000, "currency": "eur", "source": source,
        "description": "Stay", "off_session": false,
    })
}

fn amount_request(reference: &str, amount: i64) -> Value {
    json!({ "reference": reference, "amount": amount })
}

async fn authorized(market: &Market, reference: &str, source: &str) -> Value {
    let body = authorization(reference, source);
    let payment = post_ok(market, TILLWAY, PAYMENTS, &body, 201).await;
    assert_eq!(payment["status"], "authorized");
    payment
}

fn at(payment: &Value, action: &str) -> String {
    format!("/payments/{}/{action}", payment["id"].as_str().unwrap())
}

async fn found(market: &Market, reference: &str) -> Value {
    let path = format!("/payments?reference={reference}");
    get_ok(market, TILLWAY, &path).await["data"][0].clone()
}

#[tokio::test]
async fn payment_is_authorized_captured_and_partially_refunded() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_visa").await;
    assert_eq!(payment["card"]["last4"], "4242");
    assert_eq!(payment["amount_authorized"], 13_000);
    let held_until = payment["authorization_expires"].as_i64().unwrap();
    assert_eq!(held_until, market.now_ms() / 1_000 + 7 * 86_400);

    let capture = amount_request("bkg_1:capture", 12_000);
    let captured = post_ok(&market, TILLWAY, &at(&payment, "capture"), &capture, 200).await;
    assert_eq!(captured["status"], "captured");
    assert_eq!(captured["amount_captured"], 12_000);

    let path = at(&payment, "refunds");
    let [first, large, rest] = [("refund1", 5_000), ("refund2", 7_001), ("refund2", 7_000)]
        .map(|(name, amount)| amount_request(&format!("bkg_1:{name}"), amount));
    let refund = post_ok(&market, TILLWAY, &path, &first, 201).await;
    assert_refused(&market, TILLWAY, &path, &large, 409, "amount_too_large").await;
    post_ok(&market, TILLWAY, &path, &rest, 201).await;
    let found = get_ok(&market, TILLWAY, &format!("{path}?reference=bkg_1:refund1")).await;
    assert_eq!(found["data"], json!([refund]));
    let all = get_ok(&market, TILLWAY, &path).await;
    assert_eq!(all["data"].as_array().unwrap().len(), 2);
    let ledger = [
        ("authorization", 130.0),
        ("capture", 120.0),
        ("refund", 50.0),
        ("refund", 70.0),
    ];
    assert_ledger(&market, "bkg_1", &ledger).await;
}

#[tokio::test]
async fn repeated_reference_returns_the_first_result_and_has_no_effect() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_mastercard").await;
    let again = authorized(&market, "bkg_1:auth", "tok_mastercard").await;
    assert_eq!(again, payment);
    let mut other = authorization("bkg_1:auth", "tok_mastercard");
    other["amount"] = json!(1);
    assert_refused(&market, TILLWAY, PAYMENTS, &other, 409, "reference_reused").await;

    for (action, reference, status) in [
        ("capture", "bkg_1:capture", 200),
        ("refunds", "bkg_1:refund", 201),
    ] {
        for _ in 0..2 {
            let path = at(&payment, action);
            post_ok(
                &market,
                TILLWAY,
                &path,
                &amount_request(reference, 13_000),
                status,
            )
            .await;
        }
    }
    let ledger = [
        ("authorization", 130.0),
        ("capture", 130.0),
        ("refund", 130.0),
    ];
    assert_ledger(&market, "bkg_1", &ledger).await;
}

#[tokio::test]
async fn authorization_is_voided_once_and_only_while_it_is_valid() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_visa").await;
    let void = json!({ "reference": "bkg_1:void" });
    for _ in 0..2 {
        let voided = post_ok(&market, TILLWAY, &at(&payment, "void"), &void, 200).await;
        assert_eq!(voided["status"], "canceled");
    }
    let capture = amount_request("bkg_1:capture", 1);
    let path = at(&payment, "capture");
    assert_refused(&market, TILLWAY, &path, &capture, 409, "wrong_state").await;
    let ledger = [("authorization", 130.0), ("void", 130.0)];
    assert_ledger(&market, "bkg_1", &ledger).await;
    let old = at(
        &authorized(&market, "bkg_2:auth", "tok_visa").await,
        "capture",
    );
    market.advance_ms(7 * 86_400_000);
    assert_refused(&market, TILLWAY, &old, &capture, 409, "wrong_state").await;
}

#[tokio::test]
async fn declined_card_returns_its_reason() {
    let market = Market::open().await;
    for (source, reason, status) in [
        ("tok_declined", "generic_decline", "declined"),
        ("tok_insufficient_funds", "insufficient_funds", "declined"),
        (
            "tok_requires_action",
            "authentication_required",
            "requires_action",
        ),
    ] {
        let body = authorization(source, source);
        for _ in 0..2 {
            let answer = post_ok(&market, TILLWAY, PAYMENTS, &body, 402).await;
            assert_eq!(answer["code"], "card_declined");
            assert_eq!(answer["decline_code"], reason);
        }
        let payment = found(&market, source).await;
        assert_eq!(payment["status"], status);
        assert_eq!(payment["amount_authorized"], 0);
    }
    assert_ledger(&market, "", &[]).await;
    let unknown = authorization("r", "tok_unheard_of");
    assert_refused(&market, TILLWAY, PAYMENTS, &unknown, 404, "no_such_token").await;
}

#[tokio::test]
async fn authorization_with_lost_response_can_be_read() {
    let market = Market::open().await;
    let body = authorization("bkg_1:auth", "tok_timeout");
    assert!(market.post_is_cut(TILLWAY, PAYMENTS, &body).await);
    let payment = found(&market, "bkg_1:auth").await;
    assert_eq!(payment["status"], "authorized");
    let repeated = post_ok(&market, TILLWAY, PAYMENTS, &body, 201).await;
    assert_eq!(repeated, payment);
    assert_ledger(&market, "bkg_1", &[("authorization", 130.0)]).await;
}

#[tokio::test]
async fn capture_succeeds_after_three_failures() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_capture_fails").await;
    let (path, capture) = (
        at(&payment, "capture"),
        amount_request("bkg_1:capture", 13_000),
    );
    for _ in 0..3 {
        assert_refused(&market, TILLWAY, &path, &capture, 402, "capture_failed").await;
    }
    post_ok(&market, TILLWAY, &path, &capture, 200).await;
    let ledger = [("authorization", 130.0), ("capture", 130.0)];
    assert_ledger(&market, "bkg_1", &ledger).await;
}

async fn intent(market: &Market, reference: &str) -> Value {
    let body = json!({ "reference": reference, "amount": 200, "currency": "jpy" });
    post_ok(market, TILLWAY, "/intents", &body, 201).await
}

#[tokio::test]
async fn intent_is_authorized_after_the_end_user_paid() {
    let market = Market::open().await;
    let first = intent(&market, "bkg_1:intent").await;
    assert_eq!(first["payment"]["status"], "requires_action");
    assert_eq!(intent(&market, "bkg_1:intent").await, first);
    let (path, capture) = (
        at(&first["payment"], "capture"),
        amount_request("bkg_1:capture", 200),
    );
    assert_eq!(post(&market, TILLWAY, &path, &capture).await.0, 409);

    assert_eq!(market.pay(&json!("no-such-token")).await, 404);
    assert_eq!(market.pay(&first["token"]).await, 200);
    assert_eq!(market.pay(&first["token"]).await, 200);
    let payment = found(&market, "bkg_1:intent").await;
    assert_eq!(payment["status"], "authorized");
    post_ok(&market, TILLWAY, &path, &capture, 200).await;
    let ledger = [("authorization", 200.0), ("capture", 200.0)];
    assert_ledger(&market, "bkg_1", &ledger).await;

    let second = intent(&market, "bkg_2:intent").await;
    let void = json!({ "reference": "bkg_2:void" });
    post_ok(
        &market,
        TILLWAY,
        &at(&second["payment"], "void"),
        &void,
        200,
    )
    .await;
    assert_eq!(market.pay(&second["token"]).await, 409);
    // Nothing was authorized.
    assert_ledger(&market, "bkg_2", &[]).await;
}

#[tokio::test]
async fn token_returns_its_card() {
    let market = Market::open().await;
    let answer = get_ok(&market, TILLWAY, "/tokens/tok_mastercard").await;
    assert_eq!(answer["card"]["brand"], "mastercard");
    assert_eq!(answer["card"]["funding"], "debit");
    assert_eq!(get(&market, TILLWAY, "/tokens/tok_other").await.0, 404);
}

#[tokio::test]
async fn invalid_payment_request_has_no_effect() {
    let market = Market::open().await;
    for (field, value) in [
        ("amount", json!(0)),
        ("amount", json!(1.5)),
        ("currency", json!("EUR")),
        ("currency", json!("zzz")),
        ("reference", json!("")),
        ("unheard_of", json!(1)),
    ] {
        let mut body = authorization("bkg_1:auth", "tok_visa");
        body[field] = value;
        assert_refused(&market, TILLWAY, PAYMENTS, &body, 400, "invalid").await;
    }
    let body = authorization("bkg_1:auth", "tok_visa");
    let (status, error) = market.open_post("/tillway/v1/payments", &body).await;
    assert_eq!((status, &error["code"]), (401, &json!("invalid_key")));
    assert_eq!(get(&market, TILLWAY, "/payments/pay-1").await.0, 404);
    assert_ledger(&market, "", &[]).await;
}
