//! Tests of the control routes, which exist only in the sandbox.

use sandbox::credentials::{SANDBOX_HOTELS, SANDBOX_PAYMENTS};
use serde_json::{Value, json};

use crate::market::Market;

async fn nightly(market: &Market, currency: &str) -> (String, String) {
    let body = json!({
        "hotels": ["OK"], "arrive": "2026-12-10", "depart": "2026-12-11",
        "rooms": [{ "adults": 1 }], "currency": currency,
    });
    let (_, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
    let rates = &answer["hotels"][0]["rates"];
    let total = |plan: usize| rates[plan]["total"].as_str().unwrap().to_owned();
    (total(0), total(1))
}

#[tokio::test]
async fn control_price_sets_the_nightly_price_exactly() {
    let market = Market::open().await;
    let money = |left: &str, right: &str| (left.to_owned(), right.to_owned());
    for (price, currency, expected) in [
        (json!(89.99), "EUR", money("89.99", "119.99")),
        (json!(80), "EUR", money("80.00", "110.00")),
        (json!("89.5"), "JPY", money("90", "120")),
        (json!(0.1), "USD", money("0.10", "30.10")),
    ] {
        let body = json!({ "supplier_hotel_id": "OK", "nightly": price });
        assert_eq!(market.open_post("/control/price", &body).await, (200, body));
        assert_eq!(nightly(&market, currency).await, expected);
    }
    for (id, price, status) in [
        ("OK", json!(0), 400),
        ("OK", json!(-1), 400),
        ("OK", json!("1,0"), 400),
        ("OK", Value::Null, 400),
        ("NOWHERE", json!(1), 404),
    ] {
        let body = json!({ "supplier_hotel_id": id, "nightly": price });
        assert_eq!(market.open_post("/control/price", &body).await.0, status);
    }
}

#[tokio::test]
async fn ledger_is_in_order_and_can_be_filtered() {
    let market = Market::open().await;
    assert_eq!(market.open_get("/control/ledger").await, (200, json!([])));
    for reference in ["bkg_a", "bkg_b", "bkg_ab"] {
        let body = json!({
            "reference": reference, "amount": 1_999, "currency": "kwd", "source": "tok_visa",
        });
        market
            .post(SANDBOX_PAYMENTS, "/tillway/v1/payments", &body)
            .await;
        market.advance_ms(1_001);
    }
    let references = async |query: &str| -> Vec<String> {
        let (status, rows) = market.open_get(&format!("/control/ledger{query}")).await;
        assert_eq!(status, 200);
        let rows = rows.as_array().unwrap();
        (rows.iter())
            .map(|row| row["client_reference"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(references("").await, ["bkg_a", "bkg_b", "bkg_ab"]);
    assert_eq!(
        references("?client_reference=bkg_a").await,
        ["bkg_a", "bkg_ab"]
    );
    assert_eq!(references("?kind=capture").await, Vec::<String>::new());
    assert_eq!(market.open_get("/control/ledger?kind=theft").await.0, 400);
    let (_, rows) = market.open_get("/control/ledger").await;
    assert_eq!(
        rows[1],
        json!({
            "at": "2026-11-21T09:00:01.001Z", "kind": "authorization", "supplier": "SANDBOX_PAYMENTS",
            "client_reference": "bkg_b", "reference": rows[1]["reference"],
            "amount": 1.999, "currency": "KWD",
        })
    );
}
