//! Tests of places, search, rates and prebooks of the hotel supplier.

use sandbox::credentials::SANDBOX_HOTELS;
use serde_json::{Value, json};

use crate::market::Market;

/// Returns a request for two nights with two adults and, depending on `rooms`, further rooms such
/// as one with a child.
fn price(hotels: &[&str], currency: &str, rooms: usize) -> Value {
    let all = [
        json!({ "adults": 2 }),
        json!({ "adults": 1, "child_ages": [7] }),
        json!({ "adults": 1 }),
    ];
    json!({
        "hotels": hotels, "arrive": "2026-12-10", "depart": "2026-12-12",
        "rooms": all[..rooms], "currency": currency, "nationality": "GB",
    })
}

async fn first_rate(market: &Market, hotel: &str) -> Value {
    let body = price(&[hotel], "EUR", 1);
    let (status, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
    assert_eq!(status, 200, "{answer}");
    answer["hotels"][0]["rates"][0].clone()
}

#[tokio::test]
async fn place_is_found_by_its_name_only() {
    let market = Market::open().await;
    let (status, answer) = market
        .get(SANDBOX_HOTELS, "/lodge/v1/places?q=testville")
        .await;
    assert_eq!(status, 200);
    let place = &answer["places"][0];
    assert_eq!(place["name"], "Testville");
    assert_eq!(place["country"], "GB");
    for query in ["q=Atlantis", "q=Testville&country=FR", "q="] {
        let path = format!("/lodge/v1/places?{query}");
        let (_, answer) = market.get(SANDBOX_HOTELS, &path).await;
        assert_eq!(answer["places"], json!([]), "{query}");
    }
}

#[tokio::test]
async fn search_finds_filters_and_sorts_all_hotels() {
    let market = Market::open().await;
    let search = async |more: Value| {
        let mut body = json!({
            "place_id": "lp-testville", "arrive": "2026-12-10", "depart": "2026-12-12",
            "rooms": [{ "adults": 2 }], "currency": "EUR", "limit": 100,
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let (status, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/search", &body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let ids = |answer: &Value| -> Vec<String> {
        let hotels = answer["hotels"].as_array().unwrap();
        (hotels.iter())
            .map(|hotel| hotel["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = search(json!({})).await;
    assert_eq!(ids(&all).len(), 30);
    assert_eq!(ids(&all)[0], "OK");
    assert_eq!(all["hotels"][0]["price_from"], "200.00");
    assert_eq!(all["more"], false);
    let few = search(json!({ "limit": 3 })).await;
    assert_eq!((ids(&few).len(), &few["more"]), (3, &json!(true)));
    let best = search(json!({ "filters": { "min_stars": 5, "min_rating": 9 } })).await;
    assert_eq!(ids(&best), ["MANY"]);
    let rated = search(json!({ "sort": "rating" })).await;
    assert_eq!(ids(&rated)[0], "MANY");
    let refundable = search(json!({ "filters": { "refundable": true } })).await;
    assert_eq!(refundable["hotels"][0]["price_from"], "260.00");
    assert!(!ids(&refundable).contains(&"NO_OFFERS".to_owned()));
    let cheap = search(json!({ "filters": { "boards": ["BB"], "max_total": "259.99" } })).await;
    assert_eq!(ids(&cheap), Vec::<String>::new());
    let near = search(json!({
        "place_id": null, "center": { "lat": 51.755, "lng": -0.336 }, "radius_m": 500,
    }))
    .await;
    assert!(ids(&near).contains(&"OK".to_owned()) && ids(&near).len() < 10);
    let far = search(json!({
        "place_id": null, "center": { "lat": 48.1, "lng": 11.5 }, "radius_m": 5000,
    }))
    .await;
    assert_eq!(ids(&far), Vec::<String>::new());
}

#[tokio::test]
async fn every_hotel_has_two_plans_at_the_same_price_in_every_currency() {
    let market = Market::open().await;
    for (currency, room_only, breakfast) in [
        ("EUR", "400.00", "520.00"),
        ("JPY", "400", "520"),
        ("KWD", "400.000", "520.000"),
    ] {
        let body = price(&["OK", "NOWHERE", "NO_OFFERS"], currency, 2);
        let (status, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
        assert_eq!(status, 200);
        let hotels = answer["hotels"].as_array().unwrap();
        assert_eq!(hotels.len(), 2, "an unknown id is omitted");
        assert_eq!(hotels[1]["rates"], json!([]));
        let rates = hotels[0]["rates"].as_array().unwrap();
        assert_eq!(rates.len(), 2);
        assert_eq!(rates[0]["total"], room_only);
        assert_eq!(rates[1]["total"], breakfast);
        assert_eq!(rates[0]["rooms"].as_array().unwrap().len(), 2);
        assert_eq!(rates[0]["rooms"][0]["board"], "RO");
        assert_eq!(rates[1]["rooms"][1]["board"], "BB");
    }
}

#[tokio::test]
async fn breakfast_plan_is_free_to_cancel_until_two_days_before_arrival() {
    let market = Market::open().await;
    let body = price(&["OK"], "EUR", 1);
    let (_, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
    let rates = &answer["hotels"][0]["rates"];
    assert_eq!(
        rates[0]["terms"],
        json!({
            "refundable": false, "free_until": null, "restrictions": [],
            "charges": [{ "from": "2026-11-21T09:00:00.000Z", "amount": "200.00" }],
        })
    );
    assert_eq!(
        rates[1]["terms"],
        json!({
            "refundable": true, "free_until": "2026-12-08T14:00:00.000Z", "restrictions": [],
            "charges": [{ "from": "2026-12-08T14:00:00.000Z", "amount": "260.00" }],
        })
    );
    let mut tomorrow = body;
    tomorrow["arrive"] = json!("2026-11-22");
    tomorrow["depart"] = json!("2026-11-23");
    let (_, answer) = market
        .post(SANDBOX_HOTELS, "/lodge/v1/rates", &tomorrow)
        .await;
    let terms = &answer["hotels"][0]["rates"][1]["terms"];
    assert_eq!(terms["refundable"], false);
    assert_eq!(terms["free_until"], Value::Null);
}

#[tokio::test]
async fn the_rich_hotel_has_a_promotion_over_two_rooms_and_rewards() {
    let market = Market::open().await;
    let body = price(&["MANY"], "EUR", 3);
    let (_, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
    let rate = &answer["hotels"][0]["rates"][0];
    assert_eq!(rate["total"], "600.00");
    assert_eq!(rate["promotions"][0]["rooms"], json!([0, 1]));
    assert_eq!(rate["promotions"][0]["off"], "40.00");
    assert_eq!(rate["rewards"]["points"], 600);
    assert_eq!(
        rate["rooms"][0]["due_at_hotel"],
        json!({ "amount": "8.00", "currency": "EUR" })
    );
}

#[tokio::test]
async fn prebook_returns_the_current_price() {
    let market = Market::open().await;
    for (hotel, total) in [
        ("OK", "200.00"),
        ("PRICE_UP", "220.00"),
        ("PRICE_DOWN", "180.00"),
    ] {
        let rate = first_rate(&market, hotel).await;
        let body = json!({ "rate_id": rate["rate_id"] });
        let (status, prebook) = market
            .post(SANDBOX_HOTELS, "/lodge/v1/prebooks", &body)
            .await;
        assert_eq!(status, 201);
        assert_eq!(prebook["total"], total, "{hotel}");
        assert_eq!(rate["total"], "200.00");
    }
    let rate = first_rate(&market, "OK").await;
    let moved = json!({ "supplier_hotel_id": "OK", "nightly": 99.5 });
    assert_eq!(market.open_post("/control/price", &moved).await.0, 200);
    let body = json!({ "rate_id": rate["rate_id"] });
    let (_, prebook) = market
        .post(SANDBOX_HOTELS, "/lodge/v1/prebooks", &body)
        .await;
    assert_eq!(prebook["total"], "199.00");
    assert_eq!(
        first_rate(&market, "MANY").await["total"],
        "200.00",
        "other hotels keep their price"
    );
}

#[tokio::test]
async fn prebook_of_unavailable_rate_returns_its_own_code() {
    let market = Market::open().await;
    let sold_out = first_rate(&market, "SOLD_OUT").await["rate_id"].clone();
    let short = first_rate(&market, "EXPIRES_SOON").await["rate_id"].clone();
    let long = first_rate(&market, "OK").await["rate_id"].clone();
    let refused = async |rate: &Value| {
        let body = json!({ "rate_id": rate });
        let (status, answer) = market
            .post(SANDBOX_HOTELS, "/lodge/v1/prebooks", &body)
            .await;
        let code = answer["error"]["code"].as_str().map(str::to_owned);
        (status, code)
    };
    let code = |code: &str| Some(code.to_owned());
    assert_eq!(refused(&sold_out).await, (409, code("SOLD_OUT")));
    assert_eq!(
        refused(&json!("rate-made-up")).await,
        (404, code("RATE_UNKNOWN"))
    );
    market.advance_ms(2_999);
    assert_eq!(refused(&short).await, (201, None));
    market.advance_ms(1);
    assert_eq!(refused(&short).await, (410, code("RATE_EXPIRED")));
    assert_eq!(refused(&long).await, (201, None));
    market.advance_ms(30 * 60_000);
    assert_eq!(refused(&long).await, (410, code("RATE_EXPIRED")));
}

#[tokio::test]
async fn slow_hotel_responds_after_the_time_in_its_id() {
    let market = Market::open().await;
    let body = price(&["OK", "SLOW_10000"], "EUR", 1);
    let call = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body);
    let patience = std::time::Duration::from_millis(100);
    assert!(tokio::time::timeout(patience, call).await.is_err());
    assert!(
        market
            .get_hangs(SANDBOX_HOTELS, "/lodge/v1/hotels/SLOW_10000")
            .await
    );
    assert_eq!(first_rate(&market, "SLOW_1").await["total"], "200.00");
}

#[tokio::test]
async fn invalid_request_is_refused_without_effect() {
    let market = Market::open().await;
    let good = price(&["OK"], "EUR", 1);
    for (field, value) in [
        ("currency", json!("EURO")),
        ("currency", json!("XAU")),
        ("arrive", json!("2026-02-30")),
        ("depart", json!("2026-12-10")),
        ("rooms", json!([])),
        ("rooms", json!([{ "adults": 0 }])),
        ("hotels", json!([])),
        ("unheard_of", json!(1)),
    ] {
        let mut body = good.clone();
        body[field] = value;
        let (status, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
        assert_eq!(status, 400);
        assert_eq!(&answer["error"]["code"], &json!("INVALID_REQUEST"));
    }
    let (status, answer) = market.open_post("/lodge/v1/rates", &good).await;
    assert_eq!(status, 401);
    assert_eq!(&answer["error"]["code"], &json!("UNAUTHORIZED"));
    let (status, answer) = market.get(SANDBOX_HOTELS, "/lodge/v1/nothing").await;
    assert_eq!(status, 404);
    assert_eq!(&answer["error"]["code"], &json!("NOT_FOUND"));
}
