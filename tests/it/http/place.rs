//! Tests of places and hotel search.

use super::resource_assertions::{check_names, check_refused_get};
use serde_json::{Value, json};
use tests::{Database, Server, ServerOptions, days_ahead, merged, on_both_databases, supplier_at};

async fn saved_place_is_read_without_a_supplier_call(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let query = json!({"query": "Testville"});
    let found = client.post("/v1/hotel/places", &query).await.expect(200);
    assert_eq!(found.body["meta"]["supplier"], "SANDBOX_HOTELS");
    let place = &found.data()[0];
    let id = place["id"].as_str().unwrap();
    assert!(id.starts_with("plc_"));
    let members = ["id", "name", "types", "suggested_radius", "alternatives"];
    let address = ["address", "location", "city", "country_code"];
    check_names("place", place, &members, &address);
    let point = ["latitude", "longitude"];
    check_names("location", &place["location"], &point, &[]);
    let alternative = &place["alternatives"][0];
    check_names("alternative", alternative, &["name", "address"], &[]);
    let read = client.get(&format!("/v1/hotel/places/{id}")).await;
    let read = read.expect(200);
    assert_eq!(read.data(), place);
    assert!(read.header("x-supplier").is_none());
    let unknown = "/v1/hotel/places/plc_unknown";
    check_refused_get(&client, unknown, 404, "place_not_found").await;
    let nonsense = "/v1/hotel/places/nonsense";
    check_refused_get(&client, nonsense, 400, "validation_failed").await;
}

async fn hotel_search_is_filtered_sorted_and_limited(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let place = client.find_place("Testville").await;
    let search = async |more: Value| {
        let request = json!({
            "place_id": place["id"], "check_in": days_ahead(30), "check_out": days_ahead(31),
            "occupancy": [{"adults": 2, "children": []}], "guest_nationality": "DE", "currency": "EUR",
        });
        client
            .post("/v1/hotel/search", &merged(request, more))
            .await
    };
    let all = search(json!({"limit": 100})).await.expect(200);
    let count = all.list().len();
    assert!(count > 10, "{count} hotels");
    assert_ne!(all.body["meta"]["truncated"], true);
    let few = search(json!({"limit": 3})).await.expect(200);
    assert_eq!(few.list().len(), 3);
    assert_eq!(few.body["meta"]["truncated"], true);
    let cheap = json!({"sort": "total", "filters": {"max_total": 100}, "limit": 100});
    let cheap = search(cheap).await.expect(200);
    for hotel in cheap.list() {
        let total = hotel["lowest_total"]["amount"].as_f64().unwrap();
        assert!(total <= 100.0, "{hotel:#}");
    }
    let stars = json!({"sort": "star_rating", "filters": {"min_star_rating": 4}, "limit": 100});
    let stars = search(stars).await.expect(200);
    let hotels = stars.list().iter();
    let ratings: Vec<f64> = hotels
        .map(|hotel| hotel["star_rating"].as_f64().unwrap())
        .collect();
    assert!(ratings.is_sorted_by(|a, b| a >= b), "{ratings:?}");
    assert!(ratings.last() >= Some(&4.0), "{ratings:?}");
    let point = json!({"latitude": 1, "longitude": 1, "radius": 10});
    for (more, status, code) in [
        (json!({"sort": "colour"}), 400, "validation_failed"),
        (json!({"location": point}), 400, "validation_failed"),
        (json!({"place_id": "plc_unknown"}), 404, "place_not_found"),
    ] {
        search(more).await.expect_problem(status, code);
    }
}

#[tokio::test]
async fn panic_of_a_plugin_is_logged_with_message_and_place() {
    let supplier = supplier_at(
        "http://127.0.0.1:1",
        "PANICS",
        "hotel",
        "bench-supplier.wasm",
        &[],
    );
    let supplier = supplier.replace("settings = { base_url = \"http://127.0.0.1:1\" }", "");
    let options = ServerOptions::on(Database::Sqlite).config(&supplier);
    let server = Server::start_with(options).await;
    let query = json!({"query": "PANIC", "supplier": "PANICS"});
    let reply = server.client().post("/v1/hotel/places", &query).await;
    let reply = reply.expect_problem(502, "supplier_error");
    assert_eq!(reply.body["retryable"], false);
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    let panics = log.lines().filter(|line| line.contains("panic at "));
    let panics: Vec<&str> = panics.collect();
    let message = "tests/guests/bench-supplier/src/lib.rs:20: a panic as requested";
    assert!(!panics.is_empty(), "{log}");
    assert!(
        panics.iter().all(|line| line.contains(message)),
        "{panics:#?}"
    );
}

on_both_databases! {
    saved_place_is_read_without_a_supplier_call,
    hotel_search_is_filtered_sorted_and_limited,
}
