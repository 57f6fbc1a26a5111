//! Calls of the hotel supplier that several modules make.

use serde_json::{Value, json};

use crate::market::{LODGE, Market, post_ok};

/// Returns the hotels and rates of a stay of two nights from 2026-12-10.
pub(crate) async fn rates(market: &Market, hotels: &[&str], rooms: Value, currency: &str) -> Value {
    let body = json!({
        "hotels": hotels, "arrive": "2026-12-10", "depart": "2026-12-12",
        "rooms": rooms, "currency": currency, "nationality": "GB",
    });
    post_ok(market, LODGE, "/rates", &body, 200).await["hotels"].clone()
}

/// Returns a rate of `rooms` rooms with two adults each: room only, or the refundable plan.
pub(crate) async fn rate(market: &Market, hotel: &str, plan: usize, rooms: usize) -> Value {
    let rooms = json!(vec![json!({ "adults": 2 }); rooms]);
    rates(market, &[hotel], rooms, "EUR").await[0]["rates"][plan].clone()
}

pub(crate) async fn prebook(market: &Market, hotel: &str, plan: usize, rooms: usize) -> Value {
    let rate = rate(market, hotel, plan, rooms).await;
    let body = json!({ "rate_id": rate["rate_id"] });
    post_ok(market, LODGE, "/prebooks", &body, 201).await
}

pub(crate) fn book_request(prebook: &Value, client_ref: &str) -> Value {
    let rooms = prebook["rooms"].as_array().unwrap().len();
    let guest = json!({ "first": "Ada", "last": "Byron", "kind": "adult", "lead": true });
    json!({
        "prebook_id": prebook["prebook_id"], "client_ref": client_ref,
        "expected_total": prebook["total"],
        "holder": { "first": "Ada", "last": "Byron", "email": "a@example.com", "phone": "+4420" },
        "rooms": vec![json!({ "guests": [guest] }); rooms],
    })
}

/// Returns a request that books one room without refund.
pub(crate) async fn book_room_request(market: &Market, hotel: &str, client_ref: &str) -> Value {
    book_request(&prebook(market, hotel, 0, 1).await, client_ref)
}

pub(crate) async fn booked(market: &Market, hotel: &str, plan: usize, rooms: usize) -> Value {
    let prebook = prebook(market, hotel, plan, rooms).await;
    let body = book_request(&prebook, &format!("bkg_{hotel}"));
    let booking = post_ok(market, LODGE, "/bookings", &body, 201).await;
    assert_eq!(booking["state"], "CONFIRMED");
    booking
}
