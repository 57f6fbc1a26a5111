//! Tests of the state after a restart: everything that a response showed is still there.

use serde_json::{Value, json};

use crate::lodge::{book_room_request, booked};
use crate::market::{LODGE, Market, TILLWAY, assert_ledger, assert_refused, get_ok, post_ok};

#[tokio::test]
async fn every_effect_with_a_response_survives_a_kill() {
    let mut market = Market::open().await;
    let booking = booked(&market, "OK", 0, 1).await;
    let pending = book_room_request(&market, "BOOK_PENDING", "bkg_2").await;
    post_ok(&market, LODGE, "/bookings", &pending, 202).await;
    let body = json!({
        "reference": "bkg_1:auth", "amount": 10_000, "currency": "eur", "source": "tok_capture_fails",
    });
    let payment = post_ok(&market, TILLWAY, "/payments", &body, 201).await;
    let capture = json!({ "reference": "bkg_1:capture", "amount": 10_000 });
    let path = format!("/payments/{}/capture", payment["id"].as_str().unwrap());
    for _ in 0..2 {
        assert_refused(&market, TILLWAY, &path, &capture, 402, "capture_failed").await;
    }
    let price = json!({ "supplier_hotel_id": "MANY", "nightly": 50 });
    market.open_post("/control/price", &price).await;

    market.restart_after_kill().await;
    let read = format!("/bookings/{}", booking["id"].as_str().unwrap());
    assert_eq!(get_ok(&market, LODGE, &read).await, booking);
    assert_refused(&market, TILLWAY, &path, &capture, 402, "capture_failed").await;
    post_ok(&market, TILLWAY, &path, &capture, 200).await;
    assert_eq!(booked(&market, "MANY", 0, 1).await["total"], "100.00");
    market.advance_ms(2_000);
    let expected = [
        ("booking", 200.0),
        ("authorization", 100.0),
        ("capture", 100.0),
        ("booking", 100.0),
        ("booking", 200.0),
    ];
    assert_ledger(&market, "bkg_", &expected).await;
    let (_, ledger) = market.open_get("/control/ledger").await;
    let mut references: Vec<&Value> = (ledger.as_array().unwrap().iter())
        .map(|row| &row["reference"])
        .collect();
    references.dedup();
    assert_eq!(
        references.len(),
        4,
        "authorization and capture share the payment's reference"
    );
}

#[tokio::test]
async fn state_can_be_reopened_after_shutdown() {
    let mut market = Market::open().await;
    booked(&market, "OK", 0, 1).await;
    market.restart_after_shutdown().await;
    assert_ledger(&market, "bkg_OK", &[("booking", 200.0)]).await;
    booked(&market, "MANY", 0, 1).await;
}

#[tokio::test]
async fn state_cannot_be_opened_by_a_second_sandbox() {
    let market = Market::open().await;
    let Err(error) = sandbox::serve(market.config()).await else {
        panic!("a second sandbox opened the state");
    };
    assert!(matches!(error, sandbox::StartError::Open { .. }), "{error}");
}
