//! Tests of the flight supplier with its own checkout.

use serde_json::{Value, json};

use crate::market::{JETBRIDGE, Market, assert_ledger, assert_refused, get_ok, post_ok, with};

/// Posts and returns the result of a response with this status.
async fn done(market: &Market, path: &str, body: &Value, status: u16) -> Value {
    let answer = post_ok(market, JETBRIDGE, path, body, status).await;
    assert_eq!(answer["ok"], true);
    answer["result"].clone()
}

async fn read(market: &Market, path: &str) -> Value {
    get_ok(market, JETBRIDGE, path).await["result"].clone()
}

fn search_request(route: &str, more: Value) -> Value {
    let (org, dst) = route.split_once('-').unwrap();
    let body = json!({
        "legs": [{ "org": org, "dst": dst, "day": "2026-12-10" }], "pax": { "adt": 1 },
    });
    with(body, more)
}

async fn search(market: &Market, route: &str, more: Value) -> Value {
    done(market, "/fares", &search_request(route, more), 200).await
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
    done(market, "/prebooks", &body, 201).await
}

async fn paid(market: &Market, route: &str) -> Value {
    let prebook = prebooked(market, route).await;
    assert_eq!(market.pay(&prebook["checkout"]["token"]).await, 200);
    json!({ "prebookId": prebook["prebookId"], "clientRef": format!("bkg_{route}") })
}

async fn booked(market: &Market, route: &str, status: u16) -> Value {
    done(market, "/bookings", &paid(market, route).await, status).await
}

async fn found(market: &Market, client_ref: &str) -> Value {
    let path = format!("/bookings?clientRef={client_ref}");
    read(market, &path).await["bookings"].clone()
}

#[tokio::test]
async fn search_applies_every_filter() {
    let market = Market::open().await;
    let plain = search(&market, "LHR-JFK", json!({})).await;
    assert_eq!(plain["fares"].as_array().unwrap().len(), 3);
    let fare = &plain["fares"][0];
    let price = json!({ "units": 32_000, "scale": 2, "ccy": "GBP" });
    assert_eq!(fare["price"], price);
    assert_eq!(fare["journeys"][0]["legs"][0]["dep"], "2026-12-10 10:00");
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
    let legs = &sorted["fares"][0]["journeys"][0]["legs"];
    assert_eq!(legs.as_array().unwrap().len(), 3);
    let wrong = search_request("LHR-JFK", json!({ "filters": { "departAfter": "noon" } }));
    assert_refused(&market, JETBRIDGE, "/fares", &wrong, 400, 40_000).await;
}

#[tokio::test]
async fn prebook_returns_current_price_and_checkout() {
    let market = Market::open().await;
    let prebook = prebooked(&market, "JFK-EWR").await;
    assert_eq!(prebook["price"]["units"], 43_000);
    let (status, page) = market.get_text(&prebook["checkout"]["url"]).await;
    assert!(status == 200 && page.contains("430.00 GBP"));

    let mut loyal = prebook_request(&market, "LHR-JFK").await;
    loyal["pax"][0]["ffp"] = json!([{ "airline": "BA", "no": "ZZ-10" }]);
    let prebook = done(&market, "/prebooks", &loyal, 201).await;
    assert_eq!(prebook["price"]["units"], 37_800);

    for (route, status, number) in [("LGW-LHR", 409, 42_200), ("LHR-ORD", 422, 43_000)] {
        let body = prebook_request(&market, route).await;
        assert_refused(&market, JETBRIDGE, "/prebooks", &body, status, number).await;
    }
}

#[tokio::test]
async fn booking_requires_a_paid_checkout_and_is_made_once() {
    let market = Market::open().await;
    let prebook = prebooked(&market, "LHR-JFK").await;
    let body = json!({ "prebookId": prebook["prebookId"], "clientRef": "bkg_1" });
    assert_refused(&market, JETBRIDGE, "/bookings", &body, 402, 45_014).await;
    assert_eq!(market.pay(&prebook["checkout"]["token"]).await, 200);
    assert_eq!(market.pay(&prebook["checkout"]["token"]).await, 200);
    let first = done(&market, "/bookings", &body, 200).await;
    assert_eq!(first["status"], "TICKETED");
    assert_eq!(first["pnr"].as_str().unwrap().len(), 6);
    assert_eq!(done(&market, "/bookings", &body, 200).await, first);
    assert_eq!(found(&market, "bkg_1").await, json!([first]));
    assert_ledger(&market, "bkg_1", &[("booking", 420.0)]).await;
    let mut other = paid(&market, "LHR-JFK").await;
    other["clientRef"] = json!("bkg_1");
    assert_refused(&market, JETBRIDGE, "/bookings", &other, 409, 45_036).await;
}

#[tokio::test]
async fn booking_on_each_scenario_route_ends_as_specified() {
    let market = Market::open().await;
    let body = paid(&market, "LHR-LGW").await;
    for _ in 0..2 {
        assert_refused(&market, JETBRIDGE, "/bookings", &body, 422, 45_001).await;
    }
    for (route, status, checkout, ledger) in [
        ("LHR-STN", "TICKETED", "PAID", &[("booking", 420.0)][..]),
        ("LHR-LTN", "FAILED", "RETURNED", &[]),
    ] {
        let booking = booked(&market, route, 202).await;
        assert_eq!(booking["status"], "PROCESSING");
        assert_eq!(booking["pnr"], "");
        market.advance_ms(2_000);
        let now = found(&market, &format!("bkg_{route}")).await[0].clone();
        assert_eq!(now["status"], status);
        assert_eq!(now["checkout"], checkout);
        assert_ledger(&market, &format!("bkg_{route}"), ledger).await;
    }
    let lost = paid(&market, "STN-LHR").await;
    assert!(market.post_is_cut(JETBRIDGE, "/bookings", &lost).await);
    assert_eq!(found(&market, "bkg_STN-LHR").await[0]["status"], "TICKETED");
    let never = paid(&market, "LTN-STN").await;
    for _ in 0..2 {
        assert!(market.post_is_cut(JETBRIDGE, "/bookings", &never).await);
    }
    let path = "/bookings?clientRef=bkg_LTN-STN";
    assert!(market.get_hangs(JETBRIDGE, path).await);
}

#[tokio::test]
async fn ticket_is_changed_quoted_and_canceled() {
    let market = Market::open().await;
    let cancellation = |booking: &Value| {
        let id = booking["bookingId"].as_str().unwrap();
        format!("/bookings/{id}/cancellation")
    };
    let booking = booked(&market, "LHR-DXB", 200).await;
    assert_eq!(booking["changes"][0]["old"][0]["org"], "IST");
    let path = cancellation(&booking);
    assert_eq!(read(&market, &path).await["refund"]["units"], 37_000);
    let body = json!({ "clientRef": "bkg_LHR-DXB:cancel" });
    let canceled = done(&market, &path, &body, 200).await;
    assert_eq!(canceled["checkout"], "RETURNED");
    assert_refused(&market, JETBRIDGE, &path, &body, 409, 46_004).await;
    let ledger = [("booking", 420.0), ("cancellation", 370.0)];
    assert_ledger(&market, "bkg_LHR-DXB", &ledger).await;
    let path = cancellation(&booked(&market, "AMS-DXB", 200).await);
    let canceled = done(&market, &path, &body, 202).await;
    assert_eq!(canceled["status"], "CANCEL_REQUESTED");
}

#[tokio::test]
async fn airports_and_airlines_are_found() {
    let market = Market::open().await;
    let found = read(&market, "/airports?text=paris&max=1").await;
    assert_eq!(found["airports"][0]["code"], "CDG");
    assert_eq!(found["more"], true);
    let airline = read(&market, "/airlines/LH").await;
    assert_eq!(airline["alliance"], "Star Alliance");
    let (status, answer) = market.open_get("/jetbridge/v3/airlines/LH").await;
    let fault = json!({ "no": 40_100, "text": "token not known" });
    assert_eq!(
        (status, answer),
        (401, json!({ "ok": false, "fault": fault }))
    );
}
