//! Tests of searches with filters, airports, airlines, and the example configuration.

use crate::duffel::scene::Scene;
use crate::duffel::story::Story;
use serde_json::{Value, json};
use tests::{check_example, routes};

#[tokio::test]
async fn offers_are_returned_cheapest_first_up_to_the_limit() {
    let scene = Scene::begin().await;
    let search = scene.story.search(json!({"limit": 2}));
    let reply = scene.client.post("/v1/flight/offers", &search).await;
    let reply = reply.expect(200);
    assert_eq!(reply.header("x-supplier"), Some("DUFFEL"));
    assert_eq!(reply.body["meta"]["truncated"], true);
    let [cheap, flex] = reply.list() else {
        panic!("{:#}", reply.body);
    };
    assert_eq!(cheap["total_amount"], scene.story.money("210.50"));
    // The airline does not state whether the fare is refundable.
    assert_eq!(cheap["refundable"], Value::Null);
    assert_eq!(flex["fare_family"], "Own Flex");
    assert_eq!(flex["documents_required"], true);
    let refund = json!({"allowed": true, "penalty": {"amount": 50, "currency": "USD"}});
    assert_eq!(flex["fare_conditions"]["refund"], refund);
    let directions = flex["journeys"].as_array().unwrap().iter();
    let directions: Vec<&Value> = directions.map(|journey| &journey["direction"]).collect();
    assert_eq!(directions, ["OUTBOUND", "INBOUND"]);
    let received = scene.duffel.take_received();
    let expected = ["POST /air/offer_requests", "GET /air/offers"];
    assert_eq!(routes(&received), expected, "only one page is read");
}

#[tokio::test]
async fn filters_that_duffel_lacks_are_reported_and_applied() {
    let scene = Scene::begin().await;
    let filters = json!({"max_stops": 2, "cabin_class": "ECONOMY", "departure_after": "06:30",
        "airlines": ["OW"], "max_total": 400});
    let search = scene
        .story
        .search(json!({"filters": filters, "currency": "EUR"}));
    let reply = scene.client.post("/v1/flight/offers", &search).await;
    let reply = reply.expect(200);
    let told = &reply.body["meta"]["unsupported_filters"];
    let told = told.as_array().unwrap();
    for (name, is_told) in [
        ("airlines", true),
        ("max_total", true),
        ("max_stops", false),
        ("cabin_class", false),
        ("departure_after", false),
    ] {
        assert_eq!(told.contains(&json!(name)), is_told, "{name}: {told:?}");
    }
    let totals = reply.list().iter();
    let totals = totals.map(|offer| &offer["total_amount"]["amount"]);
    let totals: Vec<&Value> = totals.collect();
    assert_eq!(totals, [360.4], "fares of the airline below the maximum");
    let sent = &scene.duffel.take_received()[0].body["data"];
    assert_eq!(sent["cabin_class"], "economy");
    assert_eq!(sent["max_connections"], 2);
    let times = json!({"from": "06:30", "to": "23:59"});
    assert_eq!(sent["slices"][0]["departure_time"], times);
}

#[tokio::test]
async fn airports_and_airlines_are_found() {
    for story in Story::all() {
        reference(Scene::of(story).await).await;
    }
}

async fn reference(scene: Scene) {
    let (text, codes) = scene.story.airports;
    let path = format!("/v1/flight/airports?q={text}");
    let found = scene.client.get(&path).await.expect(200);
    let meta = json!({"supplier": "DUFFEL", "truncated": false});
    assert_eq!(found.body["meta"], meta);
    let airports = found.list().iter().map(|one| &one["iata_code"]);
    let airports: Vec<&Value> = airports.collect();
    assert_eq!(airports, codes, "a city is replaced by its airports");
    let code = scene.story.airline;
    for code in [code, &code.to_lowercase(), code] {
        let path = format!("/v1/flight/airlines/iatas/{code}");
        let airline = scene.client.get(&path).await.expect(200);
        assert_eq!(airline.data()["iata_code"], scene.story.airline);
        assert_eq!(airline.data()["is_active"], true);
    }
    let unknown = scene.client.get("/v1/flight/airlines/iatas/O9").await;
    unknown.expect_problem(404, "airline_not_found");
    let received = scene.duffel.take_received();
    assert_eq!(received[0].route, "GET /places/suggestions");
    assert_eq!(received[0].query, format!("query={text}"));
    let pages = scene.story.documents["airlines"].as_array().unwrap().len();
    assert_eq!(received.len(), 1 + pages, "airlines are read once");
    assert_eq!(received[1].query, "limit=200");
}

#[test]
fn duffel_example_config_requires_token_and_secret_in_environment() {
    let token = ("DUFFEL_TOKEN", Some("duffel_test_canary"));
    let secret = ("DUFFEL_WEBHOOK_SECRET", Some("whsec-canary"));
    let (is_valid, said) = check_example("duffel.toml", &[token, secret]);
    assert!(is_valid, "{said}");
    for missing in ["DUFFEL_TOKEN", "DUFFEL_WEBHOOK_SECRET"] {
        let (is_valid, said) = check_example("duffel.toml", &[token, secret, (missing, None)]);
        assert!(!is_valid && said.contains(missing), "{said}");
    }
}
