//! Tests of price checks: which events watches report and when.

use super::resource_assertions::check_names;
use serde_json::{Value, json};
use tests::{
    Client, Database, Server, ServerOptions, TRIP_WATCHES, WATCHES, eventually, money,
    on_both_databases, set_price, trip_watch_request, watch_request,
};

on_both_databases! {
    watch_triggers_once_until_the_price_was_above_again,
    watch_of_hotel_without_offers_does_not_trigger,
    watches_with_the_same_query_share_a_supplier_call,
    price_checks_stay_within_the_supplier_rate_limit,
    trip_watch_reports_the_cheapest_hotels,
    trip_check_routes_its_search_once_and_its_prices_once,
    watch_is_checked_again_after_the_process_is_killed,
}

const TRIGGERED: &str = "travel.hotel.watch.triggered";
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
    let data = &client.only_watch_event(TRIGGERED).await;
    check_names("data", data, &["watch", "user_id", "current"], &[]);
    assert_eq!(data["user_id"], "ada");
    let watch = &data["watch"];
    assert_eq!(watch["id"], *id);
    assert_eq!(watch["status"], "triggered");
    assert_eq!(watch["last_total"], money(180.0, "EUR"));
    let members = triggered.as_object().unwrap().keys();
    let members: Vec<&str> = members.map(String::as_str).collect();
    check_names("watch", watch, &members, &[]);
    let current = &data["current"];
    check_names("current", current, &OFFER, &[]);
    assert_eq!(current["total"], 180);
    check_offer(current);
    checks(&client, id, 2).await;
    client.only_watch_event(TRIGGERED).await;
    set_price(&server.sandbox_url, "OK", 90.01).await;
    let active = client.wait_for_watch_status(id, "active").await;
    assert_eq!(active["last_total"], money(180.02, "EUR"));
    set_price(&server.sandbox_url, "OK", 50.0).await;
    client.wait_for_watch_status(id, "triggered").await;
    let events = client.watch_events().await;
    assert_eq!(events.len(), 2);
    assert_ne!(events[0]["id"], events[1]["id"]);
}

/// Members of an offer in an event.
const OFFER: [&str; 5] = ["total", "currency", "room_type", "board", "refundable"];

/// Checks an offer that is not refundable.
fn check_offer(offer: &Value) {
    assert_eq!(offer["currency"], "EUR");
    assert_eq!(offer["refundable"], false);
    assert!(offer["room_type"].is_string() && offer["board"].is_string());
}

async fn watch_of_hotel_without_offers_does_not_trigger(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let watch = client.watch_hotel("NO_OFFERS", 1000.0, json!({})).await;
    checks(&client, &watch["id"], 1).await;
    let watch = client.read_watch(&watch["id"]).await;
    assert_eq!(watch["status"], "active");
    assert_eq!(watch["last_total"], Value::Null);
    assert_eq!(client.watch_events().await, Vec::<Value>::new());
}

async fn watches_with_the_same_query_share_a_supplier_call(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let mut last = Value::Null;
    for number in 0..10 {
        let user = client.user(&format!("user-{number}"));
        let amount = f64::from(10 + number);
        last = user.watch_hotel("OK", amount, json!({})).await["id"].clone();
    }
    let ninth = client.user("user-9");
    checks(&ninth, &last, 1).await;
    let checked_before = count_checks(&server, "checked").await;
    let calls_before = count_calls(&server).await;
    checks(&ninth, &last, 3).await;
    let calls = count_calls(&server).await - calls_before;
    let seen = count_checks(&server, "checked").await - checked_before;
    assert!(seen >= 3, "{seen} checks");
    // One call may still be in progress.
    assert!((1..=seen + 1).contains(&calls), "{calls} for {seen} checks");
}

async fn count_checks(server: &Server, outcome: &str) -> u64 {
    let labels = [("outcome", outcome)];
    server.metric("stopover_watch_checks_total", &labels).await
}

async fn count_calls(server: &Server) -> u64 {
    let metric = "stopover_supplier_calls_total";
    let labels = [("operation", "hotel_pricing")];
    server.metric(metric, &labels).await
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
    let before = count_calls(&server).await;
    let began = std::time::Instant::now();
    for request in requests {
        client.post(WATCHES, &request).await.expect(201);
    }
    eventually("the other checks to be rate-limited", async || {
        (count_checks(&server, "failed").await >= 3).then_some(())
    })
    .await;
    let asked = count_calls(&server).await - before;
    // The limit allows one more call for each half minute.
    let most = 2 + began.elapsed().as_secs() / 30;
    assert!((2..=most).contains(&asked), "{asked} calls");
    let listed = client.get(WATCHES).await.expect(200);
    let mut listed = listed.list().iter();
    assert!(listed.all(|watch| watch["status"] == "active"));
}

/// Sets nightly prices, and returns a request of a trip watch for 2 nights that four hotels meet.
async fn affordable_trip_request(server: &Server, client: &Client) -> Value {
    for (hotel, nightly) in [
        ("OK", 40.0),
        ("MANY", 30.0),
        ("PRICE_UP", 35.0),
        ("PRICE_DOWN", 45.0),
    ] {
        set_price(&server.sandbox_url, hotel, nightly).await;
    }
    let mut request = trip_watch_request(96.0);
    request["place_id"] = client.find_place("Testville").await["id"].clone();
    request["filters"] = json!({"min_star_rating": 1, "board": ["ROOM_ONLY"]});
    request
}

async fn trip_watch_reports_the_cheapest_hotels(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    let mut request = affordable_trip_request(&server, &client).await;
    let made = client.post(TRIP_WATCHES, &request).await.expect(201);
    let watch = made.data();
    assert_eq!(watch["kind"], "TRIP");
    assert_eq!(watch["hotel_id"], Value::Null);
    assert_eq!(watch["place_id"], request["place_id"]);
    assert_eq!(watch["filters"]["board"], json!(["ROOM_ONLY"]));
    let id = &watch["id"];
    let triggered = client.wait_for_watch_status(id, "triggered").await;
    assert_eq!(triggered["last_total"], money(60.0, "EUR"));
    let trip_triggered = "travel.hotel.trip_watch.triggered";
    let data = client.only_watch_event(trip_triggered).await;
    check_names("data", &data, &["watch", "user_id", "matches"], &[]);
    assert_eq!(data["user_id"], "ada");
    assert_eq!(data["watch"]["id"], *id);
    let matches = data["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 3, "{data:#}");
    let expected = [("MANY", 60), ("PRICE_UP", 70), ("OK", 80)];
    for (found, (hotel, total)) in matches.iter().zip(expected) {
        assert_eq!(found["hotel_id"], client.hotel_id(hotel).await, "{hotel}");
        assert_eq!(found["total"], total, "{hotel}");
        assert!(found["name"].is_string() && found["star_rating"].is_number());
        check_offer(found);
        let members = ["hotel_id", "name", "guest_rating", "star_rating"];
        check_names(hotel, found, &members, &OFFER);
    }
    request["filters"] = json!({"refundable": true});
    let dearer = client.post(TRIP_WATCHES, &request).await.expect(201);
    let id = &dearer.data()["id"];
    checks(&client, id, 1).await;
    assert_eq!(client.read_watch(id).await["status"], "active");
}

/// Each check searches once. The first one prices three hotels and triggers the watch, so that the others
/// price none.
async fn trip_check_routes_its_search_once_and_its_prices_once(database: Database) {
    let debug_log = "[log]\nfilter = \"info,host_application=debug\"";
    let options = ServerOptions::on(database).config(OFTEN).config(debug_log);
    let server = Server::start_with(options).await;
    let client = server.client();
    let request = affordable_trip_request(&server, &client).await;
    client.post(TRIP_WATCHES, &request).await.expect(201);
    eventually("three checks to be made", async || {
        (count_checks(&server, "checked").await >= 3).then_some(())
    })
    .await;
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    let checks = usize::try_from(count_checks(&server, "checked").await).unwrap();
    // One check may still be in progress.
    for (operation, expected) in [("hotel_search", 3..=checks + 1), ("hotel_pricing", 1..=1)] {
        let lines = log.lines();
        let routed = lines.filter(|line| line.contains("a request was routed"));
        let routed = routed.filter(|line| line.contains("request_id=chk_"));
        let routed = routed.filter(|line| line.contains(operation)).count();
        assert!(
            expected.contains(&routed),
            "{operation}: {routed} routes of {checks} checks"
        );
    }
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
    let id = &watch["id"];
    client.wait_for_watch_status(id, "triggered").await;
    eventually("the event to be logged", async || {
        (client.watch_events().await.len() == 1).then_some(())
    })
    .await;
}
