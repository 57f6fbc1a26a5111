//! Tests of the flight supplier with its own checkout.

use sandbox::credentials::SUPPLIER_B;
use serde_json::{Value, json};

use crate::market::{Market, rows};

async fn post(market: &Market, path: &str, body: Value) -> (u16, Value) {
    let (status, answer) = market
        .post(SUPPLIER_B, &format!("/jetbridge/v3{path}"), &body)
        .await;
    assert_eq!(answer["ok"], json!(status < 300));
    (status, answer)
}

async fn get(market: &Market, path: &str) -> (u16, Value) {
    market
        .get(SUPPLIER_B, &format!("/jetbridge/v3{path}"))
        .await
}

async fn search(market: &Market, route: &str, more: Value) -> Value {
    let (org, dst) = route.split_once('-').unwrap();
    let mut body = json!({
        "legs": [{ "org": org, "dst": dst, "day": "2026-12-10" }], "pax": { "adt": 1 },
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let (status, answer) = post(market, "/fares", body).await;
    assert_eq!(status, 200, "{answer}");
    answer["result"].clone()
}

async fn prebook_request(market: &Market, route: &str) -> Value {
    let found = search(market, route, json!({})).await;
    json!({
        "fareKey": found["fares"][1]["fareKey"], "clientRef": format!("bkg_{route}"),
        "contact": { "mail": "a@example.com", "phone": "+4420" },
        "pax": [{ "type": "ADT", "first": "Ada", "last": "Byron", "birth": "1990-12-10", "sex": "F" }],
    })
}

async fn prebooked(market: &Market, route: &str) -> Value {
    let body = prebook_request(market, route).await;
    let (status, answer) = post(market, "/prebooks", body).await;
    assert_eq!(status, 201, "{answer}");
    answer["result"].clone()
}

async fn paid(market: &Market, route: &str) -> Value {
    let prebook = prebooked(market, route).await;
    assert_eq!(market.pay(&prebook["checkout"]["token"]).await, 200);
    json!({ "prebookId": prebook["prebookId"], "clientRef": format!("bkg_{route}") })
}

async fn found(market: &Market, client_ref: &str) -> Value {
    let (status, answer) = get(market, &format!("/bookings?clientRef={client_ref}")).await;
    assert_eq!(status, 200);
    answer["result"]["bookings"].clone()
}

#[tokio::test]
async fn search_applies_every_filter() {
    let market = Market::open().await;
    let plain = search(&market, "LHR-JFK", json!({})).await;
    assert_eq!(plain["fares"].as_array().unwrap().len(), 3);
    assert_eq!(
        plain["fares"][0]["price"],
        json!({ "units": 32_000, "scale": 2, "ccy": "GBP" })
    );
    assert_eq!(
        plain["fares"][0]["journeys"][0]["legs"][0]["dep"],
        "2026-12-10 10:00"
    );
    let count = async |filters: Value| {
        let more = json!({ "filters": filters, "limit": 300 });
        let found = search(&market, "LHR-SYD", more).await;
        found["fares"].as_array().unwrap().len()
    };
    let all = count(json!({})).await;
    assert_eq!(all, 300);
    for filters in [
        json!({ "cabin": "C" }),
        json!({ "maxStops": 0 }),
        json!({ "airlines": ["QF"] }),
        json!({ "notAirlines": ["QF"] }),
        json!({ "departAfter": "12:00" }),
        json!({ "departBefore": "12:00" }),
        json!({ "arriveBefore": "12:00" }),
        json!({ "refundable": true }),
        json!({ "checkedBag": true }),
        json!({ "maxPrice": 60_000 }),
    ] {
        let left = count(filters.clone()).await;
        assert!(left > 0 && left < all, "{filters} leaves {left}");
    }
    let sorted = json!({ "sort": "DURATION", "descending": true, "limit": 2 });
    let sorted = search(&market, "LHR-SYD", sorted).await;
    assert_eq!(sorted["more"], true);
    assert_eq!(
        sorted["fares"][0]["journeys"][0]["legs"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let wrong = json!({
        "legs": [{ "org": "LHR", "dst": "JFK", "day": "2026-12-10" }], "pax": { "adt": 1 },
        "filters": { "departAfter": "noon" },
    });
    let (status, answer) = post(&market, "/fares", wrong).await;
    assert_eq!((status, &answer["fault"]["no"]), (400, &json!(40_000)));
}

#[tokio::test]
async fn prebook_returns_current_price_and_checkout() {
    let market = Market::open().await;
    let prebook = prebooked(&market, "JFK-EWR").await;
    assert_eq!(prebook["price"]["units"], 43_000);
    let url = prebook["checkout"]["url"].as_str().unwrap();
    let (status, page) = market
        .get_text(url.strip_prefix(&market.url("")).unwrap())
        .await;
    assert!(status == 200 && page.contains("430.00 GBP"));

    let mut loyal = prebook_request(&market, "LHR-JFK").await;
    loyal["pax"][0]["ffp"] = json!([{ "airline": "BA", "no": "ZZ-10" }]);
    let (_, answer) = post(&market, "/prebooks", loyal).await;
    assert_eq!(answer["result"]["price"]["units"], 37_800);

    for (route, status, number) in [("LGW-LHR", 409, 42_200), ("LHR-ORD", 422, 43_000)] {
        let body = prebook_request(&market, route).await;
        let answer = post(&market, "/prebooks", body).await;
        assert_eq!(answer.0, status);
        assert_eq!(&answer.1["fault"]["no"], &json!(number));
    }
}

#[tokio::test]
async fn booking_requires_a_paid_checkout_and_is_made_once() {
    let market = Market::open().await;
    let prebook = prebooked(&market, "LHR-JFK").await;
    let body = json!({ "prebookId": prebook["prebookId"], "clientRef": "bkg_1" });
    let (status, answer) = post(&market, "/bookings", body.clone()).await;
    assert_eq!((status, &answer["fault"]["no"]), (402, &json!(45_014)));
    assert_eq!(market.pay(&prebook["checkout"]["token"]).await, 200);
    assert_eq!(market.pay(&prebook["checkout"]["token"]).await, 200);
    let (status, first) = post(&market, "/bookings", body.clone()).await;
    assert_eq!(status, 200);
    assert_eq!(&first["result"]["status"], &json!("TICKETED"));
    assert_eq!(first["result"]["pnr"].as_str().unwrap().len(), 6);
    assert_eq!(post(&market, "/bookings", body).await, (200, first.clone()));
    assert_eq!(found(&market, "bkg_1").await, json!([first["result"]]));
    assert_eq!(market.ledger("bkg_1").await, rows(&[("booking", 420.0)]));
    let mut other = paid(&market, "LHR-JFK").await;
    other["clientRef"] = json!("bkg_1");
    let (status, answer) = post(&market, "/bookings", other).await;
    assert_eq!((status, &answer["fault"]["no"]), (409, &json!(45_036)));
}

#[tokio::test]
async fn booking_on_each_scenario_route_ends_as_specified() {
    let market = Market::open().await;
    let body = paid(&market, "LHR-LGW").await;
    for _ in 0..2 {
        let (status, answer) = post(&market, "/bookings", body.clone()).await;
        assert_eq!((status, &answer["fault"]["no"]), (422, &json!(45_001)));
    }
    for (route, status, checkout, ledger) in [
        ("LHR-STN", "TICKETED", "PAID", rows(&[("booking", 420.0)])),
        ("LHR-LTN", "FAILED", "RETURNED", rows(&[])),
    ] {
        let (code, answer) = post(&market, "/bookings", paid(&market, route).await).await;
        assert_eq!(code, 202);
        assert_eq!(&answer["result"]["status"], &json!("PROCESSING"));
        assert_eq!(answer["result"]["pnr"], "");
        market.advance_ms(2_000);
        let now = found(&market, &format!("bkg_{route}")).await[0].clone();
        assert_eq!(&now["status"], &json!(status));
        assert_eq!(&now["checkout"], &json!(checkout));
        assert_eq!(market.ledger(&format!("bkg_{route}")).await, ledger);
    }
    let path = "/jetbridge/v3/bookings";
    let lost = paid(&market, "STN-LHR").await;
    assert!(market.post_is_cut(SUPPLIER_B, path, &lost).await);
    assert_eq!(found(&market, "bkg_STN-LHR").await[0]["status"], "TICKETED");
    let never = paid(&market, "LTN-STN").await;
    for _ in 0..2 {
        assert!(market.post_is_cut(SUPPLIER_B, path, &never).await);
    }
    let path = "/jetbridge/v3/bookings?clientRef=bkg_LTN-STN";
    assert!(market.get_hangs(SUPPLIER_B, path).await);
}

#[tokio::test]
async fn ticket_is_changed_quoted_and_cancelled() {
    let market = Market::open().await;
    let (_, answer) = post(&market, "/bookings", paid(&market, "LHR-DXB").await).await;
    let booking = &answer["result"];
    assert_eq!(booking["changes"][0]["old"][0]["org"], "IST");
    let path = format!(
        "/bookings/{}/cancellation",
        booking["bookingId"].as_str().unwrap()
    );
    let (status, quote) = get(&market, &path).await;
    assert_eq!(status, 200);
    assert_eq!(&quote["result"]["refund"]["units"], &json!(37_000));
    let body = json!({ "clientRef": "bkg_LHR-DXB:cancel" });
    let (status, answer) = post(&market, &path, body.clone()).await;
    assert_eq!(status, 200);
    assert_eq!(&answer["result"]["checkout"], &json!("RETURNED"));
    let (status, answer) = post(&market, &path, body.clone()).await;
    assert_eq!((status, &answer["fault"]["no"]), (409, &json!(46_004)));
    assert_eq!(
        market.ledger("bkg_LHR-DXB").await,
        rows(&[("booking", 420.0), ("cancellation", 370.0)])
    );
    let (_, answer) = post(&market, "/bookings", paid(&market, "AMS-DXB").await).await;
    let path = format!(
        "/bookings/{}/cancellation",
        answer["result"]["bookingId"].as_str().unwrap()
    );
    let (status, answer) = post(&market, &path, body).await;
    assert_eq!(status, 202);
    assert_eq!(&answer["result"]["status"], &json!("CANCEL_REQUESTED"));
}

#[tokio::test]
async fn airports_and_airlines_are_found() {
    let market = Market::open().await;
    let (_, answer) = get(&market, "/airports?text=paris&max=1").await;
    assert_eq!(answer["result"]["airports"][0]["code"], "CDG");
    assert_eq!(answer["result"]["more"], true);
    let (_, answer) = get(&market, "/airlines/LH").await;
    assert_eq!(answer["result"]["alliance"], "Star Alliance");
    let (status, answer) = market.open_get("/jetbridge/v3/airlines/LH").await;
    assert_eq!((status, &answer["fault"]["no"]), (401, &json!(40_100)));
}
