//! Tests of places and hotel search.

use super::shape::check_names;
use serde_json::json;
use tests::{Client, Database, Server, days_ahead, on_both_databases};

async fn testville(client: &Client) -> serde_json::Value {
    let found = client
        .post("/v1/hotel/places", &json!({"query": "Testville"}))
        .await
        .expect(200);
    assert_eq!(found.body["meta"]["supplier"], "SANDBOX_HOTELS");
    found.data()[0].clone()
}

async fn saved_place_is_read_without_a_supplier_call(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let place = testville(&client).await;
    let id = place["id"].as_str().unwrap();
    assert!(id.starts_with("plc_"));
    let members = [
        "id",
        "name",
        "address",
        "location",
        "suggested_radius",
        "country_code",
        "city",
        "types",
        "alternatives",
    ];
    check_names("place", &place, &members, &[]);
    let point = ["latitude", "longitude"];
    check_names("location", &place["location"], &point, &[]);
    let alternative = &place["alternatives"][0];
    check_names("alternative", alternative, &["name", "address"], &[]);
    let read = client
        .get(&format!("/v1/hotel/places/{id}"))
        .await
        .expect(200);
    assert_eq!(*read.data(), place);
    assert!(read.header("x-supplier").is_none());
    client
        .get("/v1/hotel/places/plc_unknown")
        .await
        .expect_problem(404, "place_not_found");
    client
        .get("/v1/hotel/places/nonsense")
        .await
        .expect_problem(400, "validation_failed");
}

async fn hotel_search_is_filtered_sorted_and_limited(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let place = testville(&client).await;
    let search = async |more: serde_json::Value| {
        let mut request = json!({
            "place_id": place["id"], "check_in": days_ahead(30), "check_out": days_ahead(31),
            "occupancy": [{"adults": 2, "children": []}], "guest_nationality": "DE", "currency": "EUR",
        });
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        client.post("/v1/hotel/search", &request).await
    };
    let all = search(json!({"limit": 100})).await.expect(200);
    let count = all.data().as_array().unwrap().len();
    assert!(count > 10, "{count} hotels");
    assert!(
        all.body["meta"]
            .get("truncated")
            .is_none_or(|truncated| truncated == false)
    );
    let few = search(json!({"limit": 3})).await.expect(200);
    assert_eq!(
        (
            few.data().as_array().unwrap().len(),
            few.body["meta"]["truncated"].as_bool()
        ),
        (3, Some(true))
    );
    let cheap = search(json!({"sort": "total", "filters": {"max_total": 100}, "limit": 100}))
        .await
        .expect(200);
    for hotel in cheap.data().as_array().unwrap() {
        assert!(
            hotel["lowest_total"]["amount"].as_f64().unwrap() <= 100.0,
            "{hotel:#}"
        );
    }
    let stars =
        search(json!({"sort": "star_rating", "filters": {"min_star_rating": 4}, "limit": 100}))
            .await
            .expect(200);
    let ratings: Vec<f64> = stars
        .data()
        .as_array()
        .unwrap()
        .iter()
        .map(|hotel| hotel["star_rating"].as_f64().unwrap())
        .collect();
    assert!(
        ratings.iter().all(|rating| *rating >= 4.0) && ratings.is_sorted_by(|a, b| a >= b),
        "{ratings:?}"
    );
    search(json!({"sort": "colour"}))
        .await
        .expect_problem(400, "validation_failed");
    search(json!({"location": {"latitude": 1, "longitude": 1, "radius": 10}}))
        .await
        .expect_problem(400, "validation_failed");
    search(json!({"place_id": "plc_unknown"}))
        .await
        .expect_problem(404, "place_not_found");
}

on_both_databases! {
    saved_place_is_read_without_a_supplier_call,
    hotel_search_is_filtered_sorted_and_limited,
}
