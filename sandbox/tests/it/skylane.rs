//! Tests of the flight supplier that the caller pays, route by route.

use sandbox::credentials::SUPPLIER_A;
use serde_json::{Value, json};

use crate::market::{Market, rows};

async fn post(market: &Market, path: &str, body: Value) -> (u16, Value) {
    market
        .post(SUPPLIER_A, &format!("/skylane{path}"), &body)
        .await
}

async fn get(market: &Market, path: &str) -> (u16, Value) {
    market.get(SUPPLIER_A, &format!("/skylane{path}")).await
}

async fn search(market: &Market, route: &str, more: Value) -> Value {
    let (from, to) = route.split_once('-').unwrap();
    let mut body = json!({
        "slices": [{ "from": from, "to": to, "date": "2026-12-10" }],
        "travellers": [{ "type": "adult" }],
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let (status, answer) = post(market, "/offers/search", body).await;
    assert_eq!(status, 201, "{answer}");
    answer["data"].clone()
}

/// Returns the offer of the flexible fare.
async fn flex(market: &Market, route: &str) -> Value {
    search(market, route, json!({})).await["offers"][1].clone()
}

fn order(offer: &Value, client_ref: &str) -> Value {
    json!({
        "offer_id": offer["id"], "client_ref": client_ref, "pay": offer["total"],
        "contact": { "email": "a@example.com", "phone": "+4420" },
        "travellers": [{
            "type": "adult", "given": "Ada", "family": "Byron", "born": "1990-12-10", "gender": "f",
        }],
    })
}

async fn ordered(market: &Market, route: &str) -> Value {
    let body = order(&flex(market, route).await, &format!("bkg_{route}"));
    let (status, answer) = post(market, "/orders", body).await;
    assert_eq!(
        (status, &answer["data"]["state"]),
        (201, &json!("ticketed")),
        "{answer}"
    );
    answer["data"].clone()
}

fn of(order: &Value, action: &str) -> String {
    format!("/orders/{}/{action}", order["id"].as_str().unwrap())
}

async fn found(market: &Market, client_ref: &str) -> Value {
    let (status, answer) = get(market, &format!("/orders?client_ref={client_ref}")).await;
    assert_eq!(status, 200);
    answer["data"].clone()
}

fn code(answer: &Value) -> &str {
    answer["errors"][0]["code"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn search_returns_three_direct_fares_between_any_two_airports() {
    let market = Market::open().await;
    for route in ["LHR-JFK", "CDG-FRA"] {
        let found = search(&market, route, json!({})).await;
        assert_eq!(found["more"], false);
        let offers = found["offers"].as_array().unwrap();
        let totals: Vec<&str> = (offers.iter())
            .map(|offer| offer["total"]["value"].as_str().unwrap())
            .collect();
        assert_eq!(totals, ["320.00", "420.00", "1480.00"]);
        let segment = |offer: &Value| offer["slices"][0]["segments"].as_array().unwrap().len();
        assert!(offers.iter().all(|offer| segment(offer) == 1));
        assert_eq!(offers[0]["conditions"]["refund"]["allowed"], false);
        assert_eq!(
            offers[1]["conditions"]["refund"]["penalty"]["value"],
            "50.00"
        );
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
    let family = json!([{ "type": "adult" }, { "type": "child", "age": 8 }, { "type": "infant" }]);
    let more = json!({
        "travellers": family, "currency": "JPY",
        "slices": [
            { "from": "LHR", "to": "JFK", "date": "2026-12-10" },
            { "from": "JFK", "to": "LHR", "date": "2026-12-17" },
        ],
    });
    let found = search(&market, "LHR-JFK", more).await;
    let offer = &found["offers"][0];
    assert_eq!(
        offer["total"],
        json!({ "value": "1184", "currency": "JPY" })
    );
    assert_eq!(offer["slices"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn scenario_routes_have_many_no_or_connecting_fares() {
    let market = Market::open().await;
    let many = search(&market, "LHR-SYD", json!({ "limit": 50 })).await;
    assert_eq!(&many["matches"], &json!(300));
    assert_eq!(&many["more"], &json!(true));
    assert_eq!(many["offers"].as_array().unwrap().len(), 50);
    let direct = json!({ "max_connections": 0, "cabin": "business", "limit": 300 });
    let direct = search(&market, "LHR-SYD", direct).await;
    assert!(direct["matches"].as_u64() > Some(10) && direct["matches"].as_u64() < Some(100));
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
    let price = async |route: &str, number: &str| {
        let offer = flex(&market, route).await;
        let path = format!("/offers/{}/price", offer["id"].as_str().unwrap());
        let loyalty = json!([{ "airline": "BA", "number": number }]);
        let body = json!({ "travellers": [{ "type": "adult", "loyalty": loyalty }] });
        post(&market, &path, body).await
    };
    for (route, number, total) in [
        ("LHR-JFK", "BA-1", "420.00"),
        ("LHR-JFK", "ZZ-10", "378.00"),
        ("JFK-EWR", "BA-1", "430.00"),
    ] {
        let (status, answer) = price(route, number).await;
        assert_eq!(status, 200);
        assert_eq!(answer["data"]["total"]["value"], total, "{route} {number}");
    }
    let (status, answer) = price("LGW-LHR", "BA-1").await;
    assert_eq!((status, code(&answer)), (422, "offer_gone"));
    let offer = flex(&market, "LHR-JFK").await;
    market.advance_ms(30 * 60_000);
    let (status, answer) = post(&market, "/orders", order(&offer, "bkg_1")).await;
    assert_eq!((status, code(&answer)), (410, "offer_expired"));
}

#[tokio::test]
async fn order_is_placed_readable_and_recorded_once() {
    let market = Market::open().await;
    let offer = flex(&market, "LHR-JFK").await;
    let (status, answer) = post(&market, "/orders", order(&offer, "bkg_1")).await;
    let placed = &answer["data"];
    assert_eq!((status, &placed["state"]), (201, &json!("ticketed")));
    assert_eq!(placed["locator"].as_str().unwrap().len(), 6);
    assert_eq!(placed["base"]["value"], "336.00");
    assert_eq!(placed["tax"]["value"], "84.00");
    assert_eq!(found(&market, "bkg_1").await, json!([placed]));
    let again = post(&market, "/orders", order(&offer, "bkg_1")).await;
    assert_eq!((again.0, code(&again.1)), (409, "duplicate_client_ref"));
    let other = post(&market, "/orders", order(&offer, "bkg_2")).await;
    assert_eq!((other.0, code(&other.1)), (422, "offer_already_booked"));
    let mut cheap = order(&flex(&market, "LHR-JFK").await, "bkg_3");
    cheap["pay"]["value"] = json!("419.99");
    let cheap = post(&market, "/orders", cheap).await;
    assert_eq!((cheap.0, code(&cheap.1)), (422, "amount_mismatch"));
    let mut loyal = order(&flex(&market, "LHR-JFK").await, "bkg_4");
    loyal["pay"]["value"] = json!("378.00");
    loyal["travellers"][0]["loyalty"] = json!([{ "airline": "BA", "number": "ZZ-10" }]);
    assert_eq!(post(&market, "/orders", loyal).await.0, 201);
    assert_eq!(
        market.ledger("bkg_").await,
        rows(&[("booking", 420.0), ("booking", 378.0)])
    );
}

#[tokio::test]
async fn order_requires_documents_if_the_offer_does() {
    let market = Market::open().await;
    let mut body = order(&flex(&market, "LHR-ORD").await, "bkg_1");
    let (status, answer) = post(&market, "/orders", body.clone()).await;
    assert_eq!((status, code(&answer)), (422, "documents_required"));
    body["travellers"][0]["document"] = json!({
        "kind": "passport", "number": "X1", "country": "GB", "expires": "2030-01-01",
    });
    assert_eq!(post(&market, "/orders", body).await.0, 201);
}

#[tokio::test]
async fn order_on_each_scenario_route_ends_as_specified() {
    let market = Market::open().await;
    let refused = order(&flex(&market, "LHR-LGW").await, "bkg_refused");
    let (status, answer) = post(&market, "/orders", refused).await;
    assert_eq!((status, code(&answer)), (422, "airline_refused"));
    assert_eq!(found(&market, "bkg_refused").await, json!([]));

    for (route, state, ledger) in [
        ("LHR-STN", "ticketed", rows(&[("booking", 420.0)])),
        ("LHR-LTN", "failed", rows(&[])),
    ] {
        let (status, answer) = post(
            &market,
            "/orders",
            order(&flex(&market, route).await, route),
        )
        .await;
        assert_eq!((status, &answer["data"]["state"]), (202, &json!("pending")));
        market.advance_ms(2_000);
        assert_eq!(found(&market, route).await[0]["state"], state);
        assert_eq!(market.ledger(route).await, ledger);
    }

    let lost = order(&flex(&market, "STN-LHR").await, "bkg_lost");
    assert!(
        market
            .post_is_cut(SUPPLIER_A, "/skylane/orders", &lost)
            .await
    );
    assert_eq!(found(&market, "bkg_lost").await[0]["state"], "ticketed");

    let never = order(&flex(&market, "LTN-STN").await, "bkg_never");
    for _ in 0..2 {
        assert!(
            market
                .post_is_cut(SUPPLIER_A, "/skylane/orders", &never)
                .await
        );
    }
    let path = "/skylane/orders?client_ref=bkg_never";
    assert!(market.get_hangs(SUPPLIER_A, path).await);
    assert_eq!(market.ledger("bkg_never").await.len(), 1);
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

#[tokio::test]
async fn bags_can_be_purchased_once() {
    let market = Market::open().await;
    let order = ordered(&market, "LHR-JFK").await;
    let (status, for_sale) = get(&market, &of(&order, "bags")).await;
    assert_eq!(status, 200);
    let bag = &for_sale["data"][0];
    assert_eq!((&bag["weight_kg"], &bag["max"]), (&json!(23), &json!(1)));
    assert_eq!(bag["price"], json!({ "value": "60.00", "currency": "GBP" }));
    let buy = |client_ref: &str, quantity: u8, pay: &str| {
        json!({
            "client_ref": client_ref, "bags": [{ "id": bag["id"], "quantity": quantity }],
            "pay": { "value": pay, "currency": "GBP" },
        })
    };
    let path = of(&order, "bags");
    assert_eq!(
        post(&market, &path, buy("bkg_bag", 2, "120.00")).await.0,
        400
    );
    let cheap = post(&market, &path, buy("bkg_bag", 1, "59.00")).await;
    assert_eq!((cheap.0, code(&cheap.1)), (422, "amount_mismatch"));
    let (status, bought) = post(&market, &path, buy("bkg_bag", 1, "60.00")).await;
    assert_eq!(status, 200);
    assert_eq!(bought["data"]["total"]["value"], "480.00");
    assert_eq!(bought["data"]["bags"][0]["client_ref"], "bkg_bag");
    let again = post(&market, &path, buy("bkg_bag", 1, "60.00")).await;
    assert_eq!((again.0, code(&again.1)), (409, "duplicate_client_ref"));
    assert_eq!(get(&market, &path).await.1["data"], json!([]));
    assert_eq!(market.ledger("bkg_bag").await, rows(&[("bags", 60.0)]));
}

#[tokio::test]
async fn bag_purchase_on_each_scenario_route_ends_as_specified() {
    let market = Market::open().await;
    let none = ordered(&market, "BTS-ABV").await;
    assert_eq!(
        get(&market, &of(&none, "bags")).await,
        (200, json!({ "data": [] }))
    );
    for (route, lost) in [("BTS-MRU", false), ("BTS-LHR", true)] {
        let order = ordered(&market, route).await;
        let path = of(&order, "bags");
        let (_, for_sale) = get(&market, &path).await;
        let body = json!({
            "client_ref": "bkg_bags", "bags": [{ "id": for_sale["data"][0]["id"], "quantity": 1 }],
            "pay": { "value": "60.00", "currency": "GBP" },
        });
        if lost {
            let path = format!("/skylane{path}");
            assert!(market.post_is_cut(SUPPLIER_A, &path, &body).await);
            assert_eq!(
                found(&market, "bkg_BTS-LHR").await[0]["bags_total"]["value"],
                "60.00"
            );
            assert_eq!(market.ledger("bkg_bags").await, rows(&[("bags", 60.0)]));
        } else {
            let (status, answer) = post(&market, &path, body).await;
            assert_eq!((status, code(&answer)), (422, "bags_refused"));
            assert_eq!(market.ledger("bkg_bags").await, rows(&[]));
        }
    }
}

#[tokio::test]
async fn tickets_are_quoted_and_cancelled() {
    let market = Market::open().await;
    let order = ordered(&market, "LHR-JFK").await;
    let (status, quote) = post(&market, &of(&order, "cancel-quote"), json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(quote["data"]["fee"]["value"], "50.00");
    assert_eq!(quote["data"]["refund"]["value"], "370.00");
    let body = json!({ "client_ref": "bkg_LHR-JFK:cancel" });
    let (status, answer) = post(&market, &of(&order, "cancel"), body.clone()).await;
    assert_eq!(status, 200);
    assert_eq!(&answer["data"]["state"], &json!("cancelled"));
    assert_eq!(answer["data"]["cancellation"]["refund"]["value"], "370.00");
    let (status, again) = post(&market, &of(&order, "cancel"), body.clone()).await;
    assert_eq!((status, code(&again)), (409, "already_cancelled"));
    assert_eq!(
        market.ledger("bkg_LHR-JFK").await,
        rows(&[("booking", 420.0), ("cancellation", 370.0)])
    );

    let refused = ordered(&market, "DXB-AMS").await;
    let (status, answer) = post(&market, &of(&refused, "cancel"), body.clone()).await;
    assert_eq!((status, code(&answer)), (409, "not_cancellable"));

    let late = ordered(&market, "AMS-DXB").await;
    let (status, answer) = post(&market, &of(&late, "cancel"), body).await;
    assert_eq!(status, 202);
    assert_eq!(&answer["data"]["state"], &json!("cancelling"));
    market.advance_ms(2_000);
    assert_eq!(found(&market, "bkg_AMS-DXB").await[0]["state"], "cancelled");

    let unquoted = ordered(&market, "AMS-LHR").await;
    let (status, answer) = post(&market, &of(&unquoted, "cancel-quote"), json!({})).await;
    assert_eq!((status, code(&answer)), (422, "quote_unavailable"));
}

#[tokio::test]
async fn airports_and_airlines_are_found() {
    let market = Market::open().await;
    let (_, answer) = get(&market, "/airports?q=london&limit=3").await;
    assert_eq!(answer["data"].as_array().unwrap().len(), 3);
    assert_eq!(answer["more"], true);
    let (_, answer) = get(&market, "/airports?q=lhr").await;
    assert_eq!(answer["data"][0]["zone"], "Europe/London");
    assert!(
        market
            .get_hangs(SUPPLIER_A, "/skylane/airports?q=slowsearch")
            .await
    );
    let (_, answer) = get(&market, "/airlines/BA").await;
    assert_eq!(&answer["data"]["name"], &json!("British Airways"));
    assert_eq!(&answer["data"]["active"], &json!(true));
    let logo = answer["data"]["logo"].as_str().unwrap();
    let path = logo.strip_prefix(&market.url("")).unwrap();
    assert_eq!(market.get_text(path).await.0, 200);
    let (_, answer) = get(&market, "/airlines/XX").await;
    assert_eq!(answer["data"]["active"], false);
    assert_eq!(get(&market, "/airlines/QQ").await.0, 404);
    let (status, answer) = market.open_get("/skylane/airlines/BA").await;
    assert_eq!((status, code(&answer)), (401, "unauthorized"));
}
