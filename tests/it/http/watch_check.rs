//! Tests of price checks: which events watches report and when.

use super::shape::check_names;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Client, Database, Server, ServerOptions, eventually, money, on_both_databases, set_price,
    watch_request,
};

on_both_databases! {
    watch_triggers_once_until_the_price_was_above_again,
    watch_of_hotel_without_offers_does_not_trigger,
    watches_with_the_same_query_share_a_supplier_call,
    price_checks_stay_within_the_supplier_rate_limit,
    trip_watch_reports_the_cheapest_hotels,
    watch_is_checked_again_after_the_process_is_killed,
}

const OFTEN: &str = "[watches]\ninterval_s = 1\n[jobs]\nlease_s = 3";

async fn start(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(OFTEN)).await
}

/// Waits until a watch was checked `count` more times.
async fn checks(client: &Client, id: &Value, count: usize) {
    let mut seen = client.read_watch(id).await["last_checked_at"].clone();
    // The current check may have started before this call, so one more check is awaited.
    for _ in 0..=count {
        let what = "another check to be made";
        let watch = client.wait_for_watch(what, id, |watch| watch["last_checked_at"] != seen);
        seen = watch.await["last_checked_at"].clone();
    }
}

async fn watch_triggers_once_until_the_price_was_above_again(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    let watch = client.watch_hotel("OK", 180.0, json!({})).await;
    let id = &watch["id"];
    checks(&client, id, 1).await;
    assert_eq!(client.read_watch(id).await["status"], "active");
    assert_eq!(client.watch_events().await, Vec::<Value>::new());
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let triggered = client.wait_for_watch_status(id, "triggered").await;
    let events = client.watch_events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "travel.hotel.watch.triggered");
    let data = &events[0]["data"];
    assert_eq!(data["user_id"], "ada");
    assert_eq!(data["watch"]["id"], *id);
    assert_eq!(data["watch"]["status"], "triggered");
    assert_eq!(data["watch"]["last_total"], money(180.0, "EUR"));
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(members(&data["watch"]), members(&triggered));
    let current = &data["current"];
    check_names("data", data, &["watch", "user_id", "current"], &[]);
    let of_stay = ["total", "currency", "room_type", "board", "refundable"];
    check_names("current", current, &of_stay, &[]);
    assert_eq!(
        (&current["total"], &current["currency"]),
        (&json!(180), &json!("EUR"))
    );
    assert_eq!(current["refundable"], false);
    assert!(current["room_type"].is_string() && current["board"].is_string());
    checks(&client, id, 2).await;
    assert_eq!(
        client.watch_events().await.len(),
        1,
        "the watch triggers once"
    );
    set_price(&server.sandbox_url, "OK", 90.01).await;
    let active = client.wait_for_watch_status(id, "active").await;
    assert_eq!(active["last_total"], money(180.02, "EUR"));
    set_price(&server.sandbox_url, "OK", 50.0).await;
    client.wait_for_watch_status(id, "triggered").await;
    let events = client.watch_events().await;
    assert_eq!(events.len(), 2);
    assert_ne!(events[0]["id"], events[1]["id"]);
}

async fn watch_of_hotel_without_offers_does_not_trigger(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let watch = client.watch_hotel("NO_OFFERS", 1000.0, json!({})).await;
    checks(&client, &watch["id"], 1).await;
    let watch = client.read_watch(&watch["id"]).await;
    assert_eq!(
        (&watch["status"], &watch["last_total"]),
        (&json!("active"), &Value::Null)
    );
    assert_eq!(client.watch_events().await, Vec::<Value>::new());
}

async fn watches_with_the_same_query_share_a_supplier_call(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let request = watch_request(&client.hotel_id("OK").await, 10.0);
    let mut last = Value::Null;
    for number in 0..10 {
        let user = client.user(&format!("user-{number}"));
        let mut request = request.clone();
        request["trigger"]["amount"] = json!(10 + number);
        last = user
            .post("/v1/watcher/travel/hotel/watches", &request)
            .await
            .expect(201)
            .data()["id"]
            .clone();
    }
    let ninth = client.user("user-9");
    checks(&ninth, &last, 1).await;
    let calls = || {
        server.metric(
            "stopover_supplier_calls_total",
            &[("operation", "hotel_pricing")],
        )
    };
    let seen = || server.metric("stopover_watch_checks_total", &[("outcome", "seen")]);
    let (seen_before, calls_before) = (seen().await, calls().await);
    checks(&ninth, &last, 3).await;
    let (calls_after, seen_after) = (calls().await, seen().await);
    assert!(
        seen_after >= seen_before + 3,
        "{seen_before} to {seen_after}"
    );
    // One call may still be in progress.
    let calls = calls_after - calls_before;
    let checks = seen_after - seen_before;
    assert!(
        (1..=checks + 1).contains(&calls),
        "{calls} calls for {checks} checks"
    );
}

/// Five price checks a second become due at a supplier that may be called twice a minute.
async fn price_checks_stay_within_the_supplier_rate_limit(database: Database) {
    let slowly = "[watches]\ninterval_s = 1\nsupplier_per_minute = 2";
    let server = Server::start_with(ServerOptions::on(database).config(slowly)).await;
    let client = server.client();
    let mut requests = Vec::new();
    for hotel in ["OK", "MANY", "PRICE_UP", "PRICE_DOWN", "QUOTE_PREVIEW"] {
        requests.push(watch_request(&client.hotel_id(hotel).await, 10.0));
    }
    let labels = [("operation", "hotel_pricing")];
    let calls = || server.metric("stopover_supplier_calls_total", &labels);
    let (before, began) = (calls().await, std::time::Instant::now());
    for request in requests {
        client
            .post("/v1/watcher/travel/hotel/watches", &request)
            .await
            .expect(201);
    }
    let waits = [("outcome", "failed")];
    eventually("the other checks to be rate-limited", async || {
        let waiting = server.metric("stopover_watch_checks_total", &waits).await;
        (waiting >= 3).then_some(())
    })
    .await;
    let asked = calls().await - before;
    // The limit allows one more call for each half minute.
    let most = 2 + began.elapsed().as_secs() / 30;
    assert!((2..=most).contains(&asked), "{asked} calls");
    let listed = client.get("/v1/watcher/travel/hotel/watches").await;
    let listed = listed.expect(200).data().as_array().unwrap().clone();
    assert!(listed.iter().all(|watch| watch["status"] == "active"));
}

async fn trip_watch_reports_the_cheapest_hotels(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    for (hotel, nightly) in [
        ("OK", 40.0),
        ("MANY", 30.0),
        ("PRICE_UP", 35.0),
        ("PRICE_DOWN", 45.0),
    ] {
        set_price(&server.sandbox_url, hotel, nightly).await;
    }
    let place = client
        .post("/v1/hotel/places", &json!({"query": "Testville"}))
        .await
        .expect(200);
    let mut request = watch_request("", 96.0);
    request.as_object_mut().unwrap().remove("hotel_id");
    request["place_id"] = place.data()[0]["id"].clone();
    request["filters"] = json!({"min_star_rating": 1, "board": ["ROOM_ONLY"]});
    let trips = "/v1/watcher/travel/hotel/trip-watches";
    let made = client.post(trips, &request).await.expect(201);
    let watch = made.data();
    assert_eq!(
        (&watch["kind"], &watch["hotel_id"]),
        (&json!("TRIP"), &Value::Null)
    );
    assert_eq!(watch["place_id"], request["place_id"]);
    assert_eq!(watch["filters"]["board"], json!(["ROOM_ONLY"]));
    let triggered = client
        .wait_for_watch_status(&watch["id"], "triggered")
        .await;
    assert_eq!(triggered["last_total"], money(60.0, "EUR"));
    let events = client.watch_events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "travel.hotel.trip_watch.triggered");
    let data = &events[0]["data"];
    assert_eq!(
        (&data["user_id"], &data["watch"]["id"]),
        (&json!("ada"), &watch["id"])
    );
    check_names("data", data, &["watch", "user_id", "matches"], &[]);
    let matches = data["matches"].as_array().unwrap();
    let totals: Vec<f64> = matches
        .iter()
        .map(|one| one["total"].as_f64().unwrap())
        .collect();
    assert_eq!(totals, [60.0, 70.0, 80.0], "{data:#}");
    for (found, hotel) in matches.iter().zip(["MANY", "PRICE_UP", "OK"]) {
        assert_eq!(found["hotel_id"], client.hotel_id(hotel).await, "{hotel}");
        assert_eq!(found["currency"], "EUR");
        assert_eq!(found["refundable"], false);
        assert!(found["name"].is_string() && found["star_rating"].is_number());
        assert!(found["room_type"].is_string() && found["board"].is_string());
        let members = ["hotel_id", "name", "guest_rating", "star_rating"];
        let of_stay = ["total", "currency", "room_type", "board", "refundable"];
        check_names(hotel, found, &members, &of_stay);
    }
    let refundable = json!({"refundable": true});
    request["filters"] = refundable.clone();
    let dearer = client.post(trips, &request).await.expect(201);
    checks(&client, &dearer.data()["id"], 1).await;
    let dearer = client.read_watch(&dearer.data()["id"]).await;
    assert_eq!(dearer["status"], "active", "{dearer:#}");
}

async fn watch_is_checked_again_after_the_process_is_killed(database: Database) {
    let options = ServerOptions::on(database).config(OFTEN);
    let server = Server::start_with_own_sandbox(options.clone()).await;
    let client = server.client();
    let watch = client.watch_hotel("OK", 180.0, json!({})).await;
    checks(&client, &watch["id"], 1).await;
    let sandbox = server.sandbox_url.clone();
    let server = server.restart(options).await;
    set_price(&sandbox, "OK", 80.0).await;
    let client = server.client();
    client
        .wait_for_watch_status(&watch["id"], "triggered")
        .await;
    eventually("the event to be logged", async || {
        (client.watch_events().await.len() == 1).then_some(())
    })
    .await;
}
