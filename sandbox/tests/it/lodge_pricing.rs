//! Tests of places, search, rates and prebooks of the hotel supplier.

use serde_json::{Value, json};

use crate::lodge::{rate, rates};
use crate::market::{LODGE, Market, assert_refused, get, get_ok, post_ok, with};

async fn first_rate(market: &Market, hotel: &str) -> Value {
    rate(market, hotel, 0, 1).await
}

#[tokio::test]
async fn place_is_found_by_its_name_only() {
    let market = Market::open().await;
    let answer = get_ok(&market, LODGE, "/places?q=testville").await;
    let place = &answer["places"][0];
    assert_eq!(place["name"], "Testville");
    assert_eq!(place["country"], "GB");
    for query in ["q=Atlantis", "q=Testville&country=FR", "q="] {
        let answer = get_ok(&market, LODGE, &format!("/places?{query}")).await;
        assert_eq!(answer["places"], json!([]), "{query}");
    }
}

#[tokio::test]
async fn search_finds_filters_and_sorts_all_hotels() {
    let market = Market::open().await;
    let search = async |more: Value| {
        let body = json!({
            "place_id": "lp-testville", "arrive": "2026-12-10", "depart": "2026-12-12",
            "rooms": [{ "adults": 2 }], "currency": "EUR", "limit": 100,
        });
        post_ok(&market, LODGE, "/search", &with(body, more), 200).await
    };
    let ids = |answer: &Value| -> Vec<String> {
        let hotels = answer["hotels"].as_array().unwrap().iter();
        hotels
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
    let around = async |lat: f64, lng: f64, radius_m: u32| {
        let center = json!({ "lat": lat, "lng": lng });
        ids(&search(json!({ "place_id": null, "center": center, "radius_m": radius_m })).await)
    };
    let near = around(51.755, -0.336, 500).await;
    assert!(near.contains(&"OK".to_owned()) && near.len() < 10);
    assert_eq!(around(48.1, 11.5, 5_000).await, Vec::<String>::new());
}

#[tokio::test]
async fn every_hotel_has_two_plans_at_the_same_price_in_every_currency() {
    let market = Market::open().await;
    for (currency, room_only, breakfast) in [
        ("EUR", "400.00", "520.00"),
        ("JPY", "400", "520"),
        ("KWD", "400.000", "520.000"),
    ] {
        let rooms = json!([{ "adults": 2 }, { "adults": 1, "child_ages": [7] }]);
        let hotels = rates(&market, &["OK", "NOWHERE", "NO_OFFERS"], rooms, currency).await;
        let hotels = hotels.as_array().unwrap();
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
    assert_eq!(
        first_rate(&market, "OK").await["terms"],
        json!({
            "refundable": false, "free_until": null, "restrictions": [],
            "charges": [{ "from": "2026-11-21T09:00:00.000Z", "percent": null, "amount": "200.00" }],
        })
    );
    assert_eq!(
        rate(&market, "OK", 1, 1).await["terms"],
        json!({
            "refundable": true, "free_until": "2026-12-08T14:00:00.000Z", "restrictions": [],
            "charges": [{ "from": "2026-12-08T14:00:00.000Z", "percent": null, "amount": "260.00" }],
        })
    );
    let tomorrow = json!({
        "hotels": ["OK"], "arrive": "2026-11-22", "depart": "2026-11-23",
        "rooms": [{ "adults": 2 }], "currency": "EUR",
    });
    let answer = post_ok(&market, LODGE, "/rates", &tomorrow, 200).await;
    let terms = &answer["hotels"][0]["rates"][1]["terms"];
    assert_eq!(terms["refundable"], false);
    assert_eq!(terms["free_until"], Value::Null);
}

#[tokio::test]
async fn the_rich_hotel_has_a_promotion_over_two_rooms_and_rewards() {
    let market = Market::open().await;
    let rate = rate(&market, "MANY", 0, 3).await;
    assert_eq!(rate["total"], "600.00");
    assert_eq!(rate["promotions"][0]["rooms"], json!([0, 1]));
    assert_eq!(rate["promotions"][0]["off"], "40.00");
    assert_eq!(rate["rewards"]["points"], 600);
    let due = json!({ "amount": "8.00", "currency": "EUR" });
    assert_eq!(rate["rooms"][0]["due_at_hotel"], due);
}

#[tokio::test]
async fn prebook_returns_the_current_price() {
    let market = Market::open().await;
    let prebooked_total = async |rate: &Value| {
        let body = json!({ "rate_id": rate["rate_id"] });
        post_ok(&market, LODGE, "/prebooks", &body, 201).await["total"].clone()
    };
    for (hotel, total) in [
        ("OK", "200.00"),
        ("PRICE_UP", "220.00"),
        ("PRICE_DOWN", "180.00"),
    ] {
        let rate = first_rate(&market, hotel).await;
        assert_eq!(prebooked_total(&rate).await, total, "{hotel}");
        assert_eq!(rate["total"], "200.00");
    }
    let rate = first_rate(&market, "OK").await;
    let price_change = json!({ "supplier_hotel_id": "OK", "nightly": 99.5 });
    assert_eq!(
        market.open_post("/control/price", &price_change).await.0,
        200
    );
    assert_eq!(prebooked_total(&rate).await, "199.00");
    // Other hotels keep their price.
    assert_eq!(first_rate(&market, "MANY").await["total"], "200.00");
}

#[tokio::test]
async fn prebook_of_unavailable_rate_returns_its_own_code() {
    let market = Market::open().await;
    let prebook = async |hotel: &str| {
        let rate = first_rate(&market, hotel).await;
        json!({ "rate_id": rate["rate_id"] })
    };
    let sold_out = prebook("SOLD_OUT").await;
    let short = prebook("EXPIRES_SOON").await;
    let long = prebook("OK").await;
    let unknown = json!({ "rate_id": "rate-made-up" });
    let path = "/prebooks";
    assert_refused(&market, LODGE, path, &sold_out, 409, "SOLD_OUT").await;
    assert_refused(&market, LODGE, path, &unknown, 404, "RATE_UNKNOWN").await;
    market.advance_ms(2_999);
    post_ok(&market, LODGE, path, &short, 201).await;
    market.advance_ms(1);
    assert_refused(&market, LODGE, path, &short, 410, "RATE_EXPIRED").await;
    post_ok(&market, LODGE, path, &long, 201).await;
    market.advance_ms(30 * 60_000);
    assert_refused(&market, LODGE, path, &long, 410, "RATE_EXPIRED").await;
}

#[tokio::test]
async fn slow_hotel_responds_after_the_time_in_its_id() {
    let market = Market::open().await;
    let rooms = json!([{ "adults": 2 }]);
    let call = rates(&market, &["OK", "SLOW_10000"], rooms, "EUR");
    let patience = std::time::Duration::from_millis(100);
    assert!(tokio::time::timeout(patience, call).await.is_err());
    assert!(market.get_hangs(LODGE, "/hotels/SLOW_10000").await);
    assert_eq!(first_rate(&market, "SLOW_1").await["total"], "200.00");
}

#[tokio::test]
async fn invalid_request_is_refused_without_effect() {
    let market = Market::open().await;
    let good = json!({
        "hotels": ["OK"], "arrive": "2026-12-10", "depart": "2026-12-12",
        "rooms": [{ "adults": 2 }], "currency": "EUR", "nationality": "GB",
    });
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
        let body = with(good.clone(), json!({ field: value }));
        assert_refused(&market, LODGE, "/rates", &body, 400, "INVALID_REQUEST").await;
    }
    let (status, answer) = market.open_post("/lodge/v1/rates", &good).await;
    assert_eq!(
        (status, &answer["error"]["code"]),
        (401, &json!("UNAUTHORIZED"))
    );
    let (status, answer) = get(&market, LODGE, "/nothing").await;
    assert_eq!(
        (status, &answer["error"]["code"]),
        (404, &json!("NOT_FOUND"))
    );
}
