//! Tests of the flight supplier that the caller pays, route by route.

use serde_json::{Value, json};

use crate::market::{
    Market, SKYLANE, assert_ledger, assert_refused, get, get_ok, post, post_ok, with,
};

const ORDERS: &str = "/orders";

async fn search(market: &Market, route: &str, more: Value) -> Value {
    let (from, to) = route.split_once('-').unwrap();
    let body = json!({
        "slices": [{ "from": from, "to": to, "date": "2026-12-10" }],
        "travellers": [{ "type": "adult" }],
    });
    post_ok(market, SKYLANE, "/offers/search", &with(body, more), 201).await["data"].clone()
}

/// Returns the offer of the flexible fare.
async fn flex(market: &Market, route: &str) -> Value {
    search(market, route, json!({})).await["offers"][1].clone()
}

/// Returns a request that orders the flexible fare of a route.
async fn order(market: &Market, route: &str, client_ref: &str) -> Value {
    order_of(&flex(market, route).await, client_ref)
}

fn order_of(offer: &Value, client_ref: &str) -> Value {
    json!({
        "offer_id": offer["id"], "client_ref": client_ref, "pay": offer["total"],
        "contact": { "email": "a@example.com", "phone": "+4420" },
        "travellers": [{
            "type": "adult", "given": "Ada", "family": "Byron", "born": "1990-12-10", "gender": "f",
        }],
    })
}

async fn ordered(market: &Market, route: &str) -> Value {
    let body = order(market, route, &format!("bkg_{route}")).await;
    let answer = post_ok(market, SKYLANE, ORDERS, &body, 201).await;
    assert_eq!(answer["data"]["state"], "ticketed");
    answer["data"].clone()
}

fn of(order: &Value, action: &str) -> String {
    format!("/orders/{}/{action}", order["id"].as_str().unwrap())
}

async fn found(market: &Market, client_ref: &str) -> Value {
    let path = format!("/orders?client_ref={client_ref}");
    get_ok(market, SKYLANE, &path).await["data"].clone()
}

#[tokio::test]
async fn search_returns_three_direct_fares_between_any_two_airports() {
    let market = Market::open().await;
    for route in ["LHR-JFK", "CDG-FRA"] {
        let found = search(&market, route, json!({})).await;
        assert_eq!(found["more"], false);
        let offers = found["offers"].as_array().unwrap();
        let totals: Vec<_> = offers
            .iter()
            .map(|offer| &offer["total"]["value"])
            .collect();
        assert_eq!(totals, ["320.00", "420.00", "1480.00"]);
        let segments = |offer: &Value| offer["slices"][0]["segments"].as_array().unwrap().len();
        assert!(offers.iter().all(|offer| segments(offer) == 1));
        assert_eq!(offers[0]["conditions"]["refund"]["allowed"], false);
        let penalty = &offers[1]["conditions"]["refund"]["penalty"];
        assert_eq!(penalty["value"], "50.00");
        let seat = &offers[2]["slices"][0]["segments"][0]["travellers"][0];
        assert_eq!(seat["cabin"], "business");
    }
    let jfk = search(&market, "LHR-JFK", json!({})).await;
    let segment = &jfk["offers"][0]["slices"][0]["segments"][0];
    assert_eq!(segment["departs"], "2026-12-10T10:00:00");
    assert_eq!(segment["to_zone"], "America/New_York");
    assert_eq!(segment["carrier"]["code"], "BA");
}

#[tokio::test]
async fn children_infants_and_return_legs_have_their_price() {
    let market = Market::open().await;
    let more = json!({
        "travellers": [{ "type": "adult" }, { "type": "child", "age": 8 }, { "type": "infant" }],
        "currency": "JPY",
        "slices": [
            { "from": "LHR", "to": "JFK", "date": "2026-12-10" },
            { "from": "JFK", "to": "LHR", "date": "2026-12-17" },
        ],
    });
    let found = search(&market, "LHR-JFK", more).await;
    let offer = &found["offers"][0];
    let total = json!({ "value": "1184", "currency": "JPY" });
    assert_eq!(offer["total"], total);
    assert_eq!(offer["slices"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn scenario_routes_have_many_no_or_connecting_fares() {
    let market = Market::open().await;
    let many = search(&market, "LHR-SYD", json!({ "limit": 50 })).await;
    assert_eq!(many["matches"], 300);
    assert_eq!(many["more"], true);
    assert_eq!(many["offers"].as_array().unwrap().len(), 50);
    let direct = json!({ "max_connections": 0, "cabin": "business", "limit": 300 });
    let direct = search(&market, "LHR-SYD", direct).await;
    assert!((11..100).contains(&direct["matches"].as_u64().unwrap()));
    for route in ["PVD-RAI", "LHR-QQQ", "LHR-LHR"] {
        assert_eq!(search(&market, route, json!({})).await["offers"], json!([]));
    }
    let dubai = flex(&market, "LHR-DXB").await;
    let segments = dubai["slices"][0]["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 2);
    let arrives = segments[1]["arrives"].as_str().unwrap();
    assert!(arrives.starts_with("2026-12-11"), "{arrives}");
    assert_eq!(flex(&market, "LHR-ORD").await["passports_required"], true);
}

#[tokio::test]
async fn current_price_may_differ_from_the_offer() {
    let market = Market::open().await;
    for (route, number, total) in [
        ("LHR-JFK", "BA-1", Some("420.00")),
        ("LHR-JFK", "ZZ-10", Some("378.00")),
        ("JFK-EWR", "BA-1", Some("430.00")),
        ("LGW-LHR", "BA-1", None),
    ] {
        let offer = flex(&market, route).await;
        let path = format!("/offers/{}/price", offer["id"].as_str().unwrap());
        let loyalty = json!([{ "airline": "BA", "number": number }]);
        let body = json!({ "travellers": [{ "type": "adult", "loyalty": loyalty }] });
        if let Some(total) = total {
            let priced = post_ok(&market, SKYLANE, &path, &body, 200).await;
            assert_eq!(priced["data"]["total"]["value"], total, "{route} {number}");
        } else {
            assert_refused(&market, SKYLANE, &path, &body, 422, "offer_gone").await;
        }
    }
    let body = order(&market, "LHR-JFK", "bkg_1").await;
    market.advance_ms(30 * 60_000);
    assert_refused(&market, SKYLANE, ORDERS, &body, 410, "offer_expired").await;
}

#[tokio::test]
async fn order_is_placed_readable_and_recorded_once() {
    let market = Market::open().await;
    let offer = flex(&market, "LHR-JFK").await;
    let first = order_of(&offer, "bkg_1");
    let answer = post_ok(&market, SKYLANE, ORDERS, &first, 201).await;
    let placed = &answer["data"];
    assert_eq!(placed["state"], "ticketed");
    assert_eq!(placed["locator"].as_str().unwrap().len(), 6);
    assert_eq!(placed["base"]["value"], "336.00");
    assert_eq!(placed["tax"]["value"], "84.00");
    assert_eq!(found(&market, "bkg_1").await, json!([placed]));
    let second = order_of(&offer, "bkg_2");
    let mut cheap = order(&market, "LHR-JFK", "bkg_3").await;
    cheap["pay"]["value"] = json!("419.99");
    for (body, status, code) in [
        (first, 409, "duplicate_client_ref"),
        (second, 422, "offer_already_booked"),
        (cheap, 422, "amount_mismatch"),
    ] {
        assert_refused(&market, SKYLANE, ORDERS, &body, status, code).await;
    }
    let mut loyal = order(&market, "LHR-JFK", "bkg_4").await;
    loyal["pay"]["value"] = json!("378.00");
    loyal["travellers"][0]["loyalty"] = json!([{ "airline": "BA", "number": "ZZ-10" }]);
    post_ok(&market, SKYLANE, ORDERS, &loyal, 201).await;
    assert_ledger(&market, "bkg_", &[("booking", 420.0), ("booking", 378.0)]).await;
}

#[tokio::test]
async fn order_requires_documents_if_the_offer_does() {
    let market = Market::open().await;
    let mut body = order(&market, "LHR-ORD", "bkg_1").await;
    assert_refused(&market, SKYLANE, ORDERS, &body, 422, "documents_required").await;
    body["travellers"][0]["document"] = json!({
        "kind": "passport", "number": "X1", "country": "GB", "expires": "2030-01-01",
    });
    post_ok(&market, SKYLANE, ORDERS, &body, 201).await;
}

#[tokio::test]
async fn order_on_each_scenario_route_ends_as_specified() {
    let market = Market::open().await;
    let refused = order(&market, "LHR-LGW", "bkg_refused").await;
    assert_refused(&market, SKYLANE, ORDERS, &refused, 422, "airline_refused").await;
    assert_eq!(found(&market, "bkg_refused").await, json!([]));

    for (route, state, ledger) in [
        ("LHR-STN", "ticketed", &[("booking", 420.0)][..]),
        ("LHR-LTN", "failed", &[]),
    ] {
        let body = order(&market, route, route).await;
        let answer = post_ok(&market, SKYLANE, ORDERS, &body, 202).await;
        assert_eq!(answer["data"]["state"], "pending");
        market.advance_ms(2_000);
        assert_eq!(found(&market, route).await[0]["state"], state);
        assert_ledger(&market, route, ledger).await;
    }

    let lost = order(&market, "STN-LHR", "bkg_lost").await;
    assert!(market.post_is_cut(SKYLANE, ORDERS, &lost).await);
    assert_eq!(found(&market, "bkg_lost").await[0]["state"], "ticketed");

    let never = order(&market, "LTN-STN", "bkg_never").await;
    for _ in 0..2 {
        assert!(market.post_is_cut(SKYLANE, ORDERS, &never).await);
    }
    let path = "/orders?client_ref=bkg_never";
    assert!(market.get_hangs(SKYLANE, path).await);
    assert_ledger(&market, "bkg_never", &[("booking", 420.0)]).await;
}

#[tokio::test]
async fn airline_changes_orders_on_one_route() {
    let market = Market::open().await;
    let order = ordered(&market, "LHR-DXB").await;
    let change = &order["changes"][0];
    assert_eq!(change["kind"], "schedule_change");
    assert_eq!(change["removed"][0]["from"], "IST");
    assert!(change["added"][0]["departs"].as_str() > change["removed"][0]["departs"].as_str());
    assert_eq!(ordered(&market, "LHR-JFK").await["changes"], json!([]));
}

fn buy(bag: &Value, quantity: u8, pay: &str) -> Value {
    json!({
        "client_ref": "bkg_bag", "bags": [{ "id": bag["id"], "quantity": quantity }],
        "pay": { "value": pay, "currency": "GBP" },
    })
}

#[tokio::test]
async fn bags_can_be_purchased_once() {
    let market = Market::open().await;
    let path = of(&ordered(&market, "LHR-JFK").await, "bags");
    let for_sale = get_ok(&market, SKYLANE, &path).await;
    let bag = &for_sale["data"][0];
    assert_eq!((&bag["weight_kg"], &bag["max"]), (&json!(23), &json!(1)));
    assert_eq!(bag["price"], json!({ "value": "60.00", "currency": "GBP" }));
    let (many, cheap, right) = (
        buy(bag, 2, "120.00"),
        buy(bag, 1, "59.00"),
        buy(bag, 1, "60.00"),
    );
    assert_eq!(post(&market, SKYLANE, &path, &many).await.0, 400);
    assert_refused(&market, SKYLANE, &path, &cheap, 422, "amount_mismatch").await;
    let bought = post_ok(&market, SKYLANE, &path, &right, 200).await;
    assert_eq!(bought["data"]["total"]["value"], "480.00");
    assert_eq!(bought["data"]["bags"][0]["client_ref"], "bkg_bag");
    assert_refused(&market, SKYLANE, &path, &right, 409, "duplicate_client_ref").await;
    assert_eq!(get(&market, SKYLANE, &path).await.1["data"], json!([]));
    assert_ledger(&market, "bkg_bag", &[("bags", 60.0)]).await;
}

#[tokio::test]
async fn bag_purchase_on_each_scenario_route_ends_as_specified() {
    let market = Market::open().await;
    let none = of(&ordered(&market, "BTS-ABV").await, "bags");
    assert_eq!(get_ok(&market, SKYLANE, &none).await, json!({ "data": [] }));
    for (route, lost) in [("BTS-MRU", false), ("BTS-LHR", true)] {
        let path = of(&ordered(&market, route).await, "bags");
        let for_sale = get_ok(&market, SKYLANE, &path).await;
        let body = buy(&for_sale["data"][0], 1, "60.00");
        if lost {
            assert!(market.post_is_cut(SKYLANE, &path, &body).await);
            let bags_total = found(&market, "bkg_BTS-LHR").await[0]["bags_total"].clone();
            assert_eq!(bags_total["value"], "60.00");
            assert_ledger(&market, "bkg_bag", &[("bags", 60.0)]).await;
        } else {
            assert_refused(&market, SKYLANE, &path, &body, 422, "bags_refused").await;
            assert_ledger(&market, "bkg_bag", &[]).await;
        }
    }
}

#[tokio::test]
async fn tickets_are_quoted_and_canceled() {
    let market = Market::open().await;
    let order = ordered(&market, "LHR-JFK").await;
    let (quote, cancel) = (of(&order, "cancel-quote"), of(&order, "cancel"));
    let quote = post_ok(&market, SKYLANE, &quote, &json!({}), 200).await;
    assert_eq!(quote["data"]["fee"]["value"], "50.00");
    assert_eq!(quote["data"]["refund"]["value"], "370.00");
    let body = json!({ "client_ref": "bkg_LHR-JFK:cancel" });
    let answer = post_ok(&market, SKYLANE, &cancel, &body, 200).await;
    assert_eq!(answer["data"]["state"], "cancelled");
    assert_eq!(answer["data"]["cancellation"]["refund"]["value"], "370.00");
    assert_refused(&market, SKYLANE, &cancel, &body, 409, "already_cancelled").await;
    let ledger = [("booking", 420.0), ("cancellation", 370.0)];
    assert_ledger(&market, "bkg_LHR-JFK", &ledger).await;

    let refused = of(&ordered(&market, "DXB-AMS").await, "cancel");
    assert_refused(&market, SKYLANE, &refused, &body, 409, "not_cancellable").await;

    let late = of(&ordered(&market, "AMS-DXB").await, "cancel");
    let answer = post_ok(&market, SKYLANE, &late, &body, 202).await;
    assert_eq!(answer["data"]["state"], "cancelling");
    market.advance_ms(2_000);
    assert_eq!(found(&market, "bkg_AMS-DXB").await[0]["state"], "cancelled");

    let quote = of(&ordered(&market, "AMS-LHR").await, "cancel-quote");
    assert_refused(&market, SKYLANE, &quote, &body, 422, "quote_unavailable").await;
}

#[tokio::test]
async fn airports_and_airlines_are_found() {
    let market = Market::open().await;
    let answer = get_ok(&market, SKYLANE, "/airports?q=london&limit=3").await;
    assert_eq!(answer["data"].as_array().unwrap().len(), 3);
    assert_eq!(answer["more"], true);
    let answer = get_ok(&market, SKYLANE, "/airports?q=lhr").await;
    assert_eq!(answer["data"][0]["zone"], "Europe/London");
    assert!(market.get_hangs(SKYLANE, "/airports?q=slowsearch").await);
    let answer = get_ok(&market, SKYLANE, "/airlines/BA").await;
    assert_eq!(answer["data"]["name"], "British Airways");
    assert_eq!(answer["data"]["active"], true);
    assert_eq!(market.get_text(&answer["data"]["logo"]).await.0, 200);
    let answer = get_ok(&market, SKYLANE, "/airlines/XX").await;
    assert_eq!(answer["data"]["active"], false);
    assert_eq!(get(&market, SKYLANE, "/airlines/QQ").await.0, 404);
    let (status, answer) = market.open_get("/skylane/airlines/BA").await;
    assert_eq!(status, 401);
    assert_eq!(answer["errors"][0]["code"], "unauthorized");
}
