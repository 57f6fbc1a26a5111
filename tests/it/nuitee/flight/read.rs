//! Tests of airports, airlines and failing searches.

use crate::nuitee::flight::scene::Scene;
use crate::nuitee::flight::story::Story;
use crate::nuitee::service::refusal;
use serde_json::json;
use tests::{MockResponse, routes};

async fn reference(story: Story) {
    let scene = Scene::of(story).await;
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

#[tokio::test]
async fn airports_and_airlines_are_found() {
    reference(Story::own()).await;
    if let Some(story) = Story::vendor() {
        reference(story).await;
    }
}

#[tokio::test]
async fn failed_search_returns_no_fares_or_the_matching_problem() {
    let scene = Scene::begin().await;
    let route = "POST /v3.0/flights/rates";
    for (name, answer, status, code) in [
        ("nothing", refusal(200, 2001, ""), 200, None),
        ("no content", MockResponse::empty(204), 200, None),
        (
            "a wrong key",
            refusal(401, 41_004, ""),
            502,
            Some("supplier_error"),
        ),
        (
            "a limit",
            refusal(429, 4290, ""),
            503,
            Some("supplier_rate_limited"),
        ),
        (
            "down",
            refusal(503, 51_017, ""),
            503,
            Some("supplier_unavailable"),
        ),
        (
            "late",
            refusal(504, 51_018, ""),
            504,
            Some("supplier_timeout"),
        ),
        (
            "a proxy",
            MockResponse::new(502, "<html>"),
            502,
            Some("supplier_error"),
        ),
    ] {
        scene.flights.answer_with(route, answer, false);
        let reply = scene.offers().await;
        let ended = (reply.status, reply.body["code"].as_str());
        assert_eq!(ended, (status, code), "{name}: {:#}", reply.body);
        if code.is_none() {
            assert_eq!(*reply.data(), json!([]), "{name}");
        }
        scene.usual();
    }
}
