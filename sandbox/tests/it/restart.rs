//! Tests of the state after a restart: everything that a response showed is still there.

use sandbox::credentials::{SANDBOX_HOTELS, SANDBOX_PAYMENTS};
use serde_json::{Value, json};

use crate::market::{Market, rows};

async fn book(market: &Market, hotel: &str) -> Value {
    let body = json!({
        "hotels": [hotel], "arrive": "2026-12-10", "depart": "2026-12-11",
        "rooms": [{ "adults": 1 }], "currency": "EUR",
    });
    let (_, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
    let body = json!({ "rate_id": answer["hotels"][0]["rates"][0]["rate_id"] });
    let (_, prebook) = market
        .post(SANDBOX_HOTELS, "/lodge/v1/prebooks", &body)
        .await;
    let guest = json!({ "first": "Ada", "last": "Byron", "kind": "adult", "lead": true });
    let body = json!({
        "prebook_id": prebook["prebook_id"], "client_ref": format!("bkg_{hotel}"),
        "holder": { "first": "Ada", "last": "Byron", "email": "a@example.com", "phone": "+4420" },
        "rooms": [{ "guests": [guest] }],
    });
    let (status, booking) = market
        .post(SANDBOX_HOTELS, "/lodge/v1/bookings", &body)
        .await;
    assert!((201..=202).contains(&status), "{booking}");
    booking
}

async fn authorize(market: &Market, reference: &str) -> Value {
    let body = json!({
        "reference": reference, "amount": 10_000, "currency": "eur", "source": "tok_capture_fails",
    });
    let path = "/tillway/v1/payments";
    let (status, payment) = market.post(SANDBOX_PAYMENTS, path, &body).await;
    assert_eq!(status, 201);
    payment
}

#[tokio::test]
async fn every_effect_with_a_response_survives_a_kill() {
    let market = Market::open().await;
    let booking = book(&market, "OK").await;
    book(&market, "BOOK_PENDING").await;
    let payment = authorize(&market, "bkg_1:auth").await;
    let capture = json!({ "reference": "bkg_1:capture", "amount": 10_000 });
    let path = format!(
        "/tillway/v1/payments/{}/capture",
        payment["id"].as_str().unwrap()
    );
    for _ in 0..2 {
        assert_eq!(market.post(SANDBOX_PAYMENTS, &path, &capture).await.0, 402);
    }
    let price = json!({ "supplier_hotel_id": "MANY", "nightly": 50 });
    market.open_post("/control/price", &price).await;

    let market = market.restart_after_kill().await;
    let read = format!("/lodge/v1/bookings/{}", booking["id"].as_str().unwrap());
    assert_eq!(
        market.get(SANDBOX_HOTELS, &read).await,
        (200, booking.clone())
    );
    assert_eq!(market.post(SANDBOX_PAYMENTS, &path, &capture).await.0, 402);
    assert_eq!(market.post(SANDBOX_PAYMENTS, &path, &capture).await.0, 200);
    assert_eq!(book(&market, "MANY").await["total"], "50.00");
    market.advance_ms(2_000);
    assert_eq!(
        market.ledger("bkg_").await,
        rows(&[
            ("booking", 100.0),
            ("authorization", 100.0),
            ("capture", 100.0),
            ("booking", 50.0),
            ("booking", 100.0),
        ])
    );
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
    let market = Market::open().await;
    book(&market, "OK").await;
    let market = market.restart_after_shutdown().await;
    assert_eq!(market.ledger("bkg_OK").await, rows(&[("booking", 100.0)]));
    book(&market, "MANY").await;
}

#[tokio::test]
async fn state_cannot_be_opened_by_a_second_sandbox() {
    let market = Market::open().await;
    let Err(error) = sandbox::serve(market.config()).await else {
        panic!("a second sandbox opened the state");
    };
    assert!(matches!(error, sandbox::StartError::Open { .. }), "{error}");
}
