//! Tests of the control routes, which exist only in the sandbox.

use serde_json::{Value, json};

use crate::lodge::rates;
use crate::market::{Market, TILLWAY, post_ok};

#[tokio::test]
async fn control_price_sets_the_nightly_price_exactly() {
    let market = Market::open().await;
    for (price, currency, room_only, breakfast) in [
        (json!(89.99), "EUR", "179.98", "239.98"),
        (json!(80), "EUR", "160.00", "220.00"),
        (json!("89.5"), "JPY", "180", "240"),
        (json!(0.1), "USD", "0.20", "60.20"),
    ] {
        let body = json!({ "supplier_hotel_id": "OK", "nightly": price });
        assert_eq!(market.open_post("/control/price", &body).await, (200, body));
        // The stay has two nights.
        let hotels = rates(&market, &["OK"], json!([{ "adults": 1 }]), currency).await;
        assert_eq!(hotels[0]["rates"][0]["total"], room_only);
        assert_eq!(hotels[0]["rates"][1]["total"], breakfast);
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
        post_ok(&market, TILLWAY, "/payments", &body, 201).await;
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
    let filtered = references("?client_reference=bkg_a").await;
    assert_eq!(filtered, ["bkg_a", "bkg_ab"]);
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
