//! Tests of the card processor, token by token.

use sandbox::credentials::SANDBOX_PAYMENTS;
use serde_json::{Value, json};

use crate::market::{Market, rows};

fn authorization(reference: &str, source: &str) -> Value {
    json!({
        "reference": reference, "amount": 13_000, "currency": "eur", "source": source,
        "description": "Stay", "off_session": false,
    })
}

async fn post(market: &Market, path: &str, body: Value) -> (u16, Value) {
    market
        .post(SANDBOX_PAYMENTS, &format!("/tillway/v1{path}"), &body)
        .await
}

async fn get(market: &Market, path: &str) -> (u16, Value) {
    market
        .get(SANDBOX_PAYMENTS, &format!("/tillway/v1{path}"))
        .await
}

async fn authorized(market: &Market, reference: &str, source: &str) -> Value {
    let (status, payment) = post(market, "/payments", authorization(reference, source)).await;
    assert_eq!((status, &payment["status"]), (201, &json!("authorized")));
    payment
}

fn at(payment: &Value, action: &str) -> String {
    format!("/payments/{}/{action}", payment["id"].as_str().unwrap())
}

#[tokio::test]
async fn payment_is_authorized_captured_and_partially_refunded() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_visa").await;
    assert_eq!(payment["card"]["last4"], "4242");
    assert_eq!(payment["amount_authorized"], 13_000);
    let held_until = payment["authorization_expires"].as_i64().unwrap();
    assert_eq!(held_until, market.now_ms() / 1_000 + 7 * 86_400);

    let capture = json!({ "reference": "bkg_1:capture", "amount": 12_000 });
    let (status, captured) = post(&market, &at(&payment, "capture"), capture).await;
    assert_eq!((status, &captured["status"]), (200, &json!("captured")));
    assert_eq!(captured["amount_captured"], 12_000);

    let refund = |reference: &str, amount: i64| json!({ "reference": reference, "amount": amount });
    let path = at(&payment, "refunds");
    let (status, first) = post(&market, &path, refund("bkg_1:refund1", 5_000)).await;
    assert_eq!(status, 201);
    let (status, error) = post(&market, &path, refund("bkg_1:refund2", 7_001)).await;
    assert_eq!((status, &error["code"]), (409, &json!("amount_too_large")));
    assert_eq!(
        post(&market, &path, refund("bkg_1:refund2", 7_000)).await.0,
        201
    );
    let (_, found) = get(&market, &format!("{path}?reference=bkg_1:refund1")).await;
    assert_eq!(found["data"], json!([first]));
    assert_eq!(
        get(&market, &path).await.1["data"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        market.ledger("bkg_1").await,
        rows(&[
            ("authorization", 130.0),
            ("capture", 120.0),
            ("refund", 50.0),
            ("refund", 70.0),
        ])
    );
}

#[tokio::test]
async fn repeated_reference_returns_the_first_result_and_has_no_effect() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_mastercard").await;
    assert_eq!(
        authorized(&market, "bkg_1:auth", "tok_mastercard").await,
        payment
    );
    let mut other = authorization("bkg_1:auth", "tok_mastercard");
    other["amount"] = json!(1);
    let (status, error) = post(&market, "/payments", other).await;
    assert_eq!((status, &error["code"]), (409, &json!("reference_reused")));

    let capture = json!({ "reference": "bkg_1:capture", "amount": 13_000 });
    let refund = json!({ "reference": "bkg_1:refund", "amount": 13_000 });
    for _ in 0..2 {
        assert_eq!(
            post(&market, &at(&payment, "capture"), capture.clone())
                .await
                .0,
            200
        );
    }
    for _ in 0..2 {
        assert_eq!(
            post(&market, &at(&payment, "refunds"), refund.clone())
                .await
                .0,
            201
        );
    }
    assert_eq!(market.ledger("bkg_1").await.len(), 3);
}

#[tokio::test]
async fn authorization_is_voided_once_and_only_while_it_is_valid() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_visa").await;
    let void = json!({ "reference": "bkg_1:void" });
    for _ in 0..2 {
        let (status, voided) = post(&market, &at(&payment, "void"), void.clone()).await;
        assert_eq!((status, &voided["status"]), (200, &json!("canceled")));
    }
    let capture = json!({ "reference": "bkg_1:capture", "amount": 1 });
    let (status, error) = post(&market, &at(&payment, "capture"), capture.clone()).await;
    assert_eq!((status, &error["code"]), (409, &json!("wrong_state")));
    assert_eq!(
        market.ledger("bkg_1").await,
        rows(&[("authorization", 130.0), ("void", 130.0)])
    );
    let old = authorized(&market, "bkg_2:auth", "tok_visa").await;
    market.advance_ms(7 * 86_400_000);
    assert_eq!(post(&market, &at(&old, "capture"), capture).await.0, 409);
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
        for _ in 0..2 {
            let answer = post(&market, "/payments", authorization(source, source)).await;
            assert_eq!(answer.0, 402);
            assert_eq!(&answer.1["code"], &json!("card_declined"));
            assert_eq!(answer.1["decline_code"], reason);
        }
        let (_, found) = get(&market, &format!("/payments?reference={source}")).await;
        assert_eq!(found["data"][0]["status"], status);
        assert_eq!(found["data"][0]["amount_authorized"], 0);
    }
    assert_eq!(market.ledger("").await, rows(&[]));
    let unknown = post(&market, "/payments", authorization("r", "tok_unheard_of")).await;
    assert_eq!(unknown.0, 404);
    assert_eq!(&unknown.1["code"], &json!("no_such_token"));
}

#[tokio::test]
async fn authorization_with_lost_response_can_be_read() {
    let market = Market::open().await;
    let body = authorization("bkg_1:auth", "tok_timeout");
    assert!(
        market
            .post_is_cut(SANDBOX_PAYMENTS, "/tillway/v1/payments", &body)
            .await
    );
    let (_, found) = get(&market, "/payments?reference=bkg_1:auth").await;
    assert_eq!(found["data"][0]["status"], "authorized");
    let (status, repeated) = post(&market, "/payments", body).await;
    assert_eq!((status, &repeated), (201, &found["data"][0]));
    assert_eq!(
        market.ledger("bkg_1").await,
        rows(&[("authorization", 130.0)])
    );
}

#[tokio::test]
async fn capture_succeeds_after_three_failures() {
    let market = Market::open().await;
    let payment = authorized(&market, "bkg_1:auth", "tok_capture_fails").await;
    let capture = json!({ "reference": "bkg_1:capture", "amount": 13_000 });
    for _ in 0..3 {
        let (status, error) = post(&market, &at(&payment, "capture"), capture.clone()).await;
        assert_eq!((status, &error["code"]), (402, &json!("capture_failed")));
    }
    assert_eq!(
        post(&market, &at(&payment, "capture"), capture).await.0,
        200
    );
    assert_eq!(
        market.ledger("bkg_1").await,
        rows(&[("authorization", 130.0), ("capture", 130.0)])
    );
}

#[tokio::test]
async fn intent_is_authorized_after_the_end_user_paid() {
    let market = Market::open().await;
    let body = json!({ "reference": "bkg_1:intent", "amount": 200, "currency": "jpy" });
    let (status, intent) = post(&market, "/intents", body.clone()).await;
    assert_eq!(status, 201);
    assert_eq!(&intent["payment"]["status"], &json!("requires_action"));
    assert_eq!(post(&market, "/intents", body).await.1, intent);
    let payment = &intent["payment"];
    let capture = json!({ "reference": "bkg_1:capture", "amount": 200 });
    assert_eq!(
        post(&market, &at(payment, "capture"), capture.clone())
            .await
            .0,
        409
    );

    assert_eq!(market.pay(&json!("no-such-token")).await, 404);
    assert_eq!(market.pay(&intent["token"]).await, 200);
    assert_eq!(market.pay(&intent["token"]).await, 200);
    let (_, now) = get(&market, "/payments?reference=bkg_1:intent").await;
    assert_eq!(now["data"][0]["status"], "authorized");
    assert_eq!(post(&market, &at(payment, "capture"), capture).await.0, 200);
    assert_eq!(
        market.ledger("bkg_1").await,
        rows(&[("authorization", 200.0), ("capture", 200.0)])
    );

    let body = json!({ "reference": "bkg_2:intent", "amount": 200, "currency": "jpy" });
    let (_, intent) = post(&market, "/intents", body).await;
    let void = json!({ "reference": "bkg_2:void" });
    assert_eq!(
        post(&market, &at(&intent["payment"], "void"), void).await.0,
        200
    );
    assert_eq!(market.pay(&intent["token"]).await, 409);
    assert_eq!(
        market.ledger("bkg_2").await,
        rows(&[]),
        "nothing was authorized"
    );
}

#[tokio::test]
async fn token_returns_its_card() {
    let market = Market::open().await;
    let (status, answer) = get(&market, "/tokens/tok_mastercard").await;
    assert_eq!(status, 200);
    assert_eq!(answer["card"]["brand"], "mastercard");
    assert_eq!(answer["card"]["funding"], "debit");
    assert_eq!(get(&market, "/tokens/tok_other").await.0, 404);
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
        let (status, error) = post(&market, "/payments", body).await;
        assert_eq!(
            (status, &error["code"]),
            (400, &json!("invalid")),
            "{field}"
        );
    }
    let body = authorization("bkg_1:auth", "tok_visa");
    let (status, error) = market.open_post("/tillway/v1/payments", &body).await;
    assert_eq!((status, &error["code"]), (401, &json!("invalid_key")));
    assert_eq!(get(&market, "/payments/pay-1").await.0, 404);
    assert_eq!(market.ledger("").await, rows(&[]));
}
