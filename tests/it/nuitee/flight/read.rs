//! Tests of airports and airlines.

use crate::nuitee::flight::scene::Scene;
use crate::nuitee::flight::story::Story;
use tests::routes;

#[tokio::test]
async fn airports_and_airlines_are_found() {
    for story in Story::all() {
        reference(Scene::of(story).await).await;
    }
}

async fn reference(scene: Scene) {
    let found = scene.client.get("/v1/flight/airports?q=london").await;
    let found = found.expect(200);
    assert_eq!(found.body["meta"]["supplier"], "NUITEE_FLIGHTS");
    let airport = &found.data()[0];
    assert_eq!(airport["iata_code"], scene.story.airport);
    for name in ["icao_code", "name", "city", "state", "country", "time_zone"] {
        assert!(airport[name].is_string(), "{name}: {airport:#}");
    }
    let path = format!("/v1/flight/airlines/iatas/{}", scene.story.airline);
    for _ in 0..2 {
        let airline = scene.client.get(&path).await.expect(200);
        assert_eq!(airline.data()["iata_code"], scene.story.airline);
        assert_eq!(airline.data()["is_active"], scene.story.is_active);
        let logo = airline.data()["logo_url"].as_str().unwrap();
        assert!(
            logo.starts_with("https://production.nuitee.flights/static/"),
            "{logo}"
        );
    }
    let unknown = scene.client.get("/v1/flight/airlines/iatas/O9").await;
    unknown.expect_problem(404, "airline_not_found");
    let received = scene.flights.take_received();
    let airlines = "GET /v3.0/data/flights/airlines/iatas";
    let airline = format!("{airlines}/{}", scene.story.airline);
    let unknown = format!("{airlines}/O9");
    let expected = ["GET /v3.0/data/flights/airports", &airline, &unknown];
    assert_eq!(routes(&received), expected, "an airline is cached");
    assert_eq!(received[0].query, "q=london");
}
