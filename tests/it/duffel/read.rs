//! Tests of searches with filters, airports, airlines, and the example configuration.

use crate::duffel::scene::Scene;
use crate::duffel::service::refusal;
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
    let [cheap, flex] = reply.data().as_array().unwrap().as_slice() else {
        panic!("{:#}", reply.body);
    };
    assert_eq!(cheap["total_amount"], scene.story.money("210.50"));
    assert_eq!(
        cheap["refundable"],
        Value::Null,
        "the airline does not state whether the fare is refundable"
    );
    assert_eq!(flex["fare_family"], "Own Flex");
    assert_eq!(flex["documents_required"], true);
    let penalty = json!({"amount": 50, "currency": "USD"});
    assert_eq!(
        flex["fare_conditions"]["refund"],
        json!({"allowed": true, "penalty": penalty})
    );
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
    let told = reply.body["meta"]["unsupported_filters"]
        .as_array()
        .unwrap();
    for name in ["airlines", "max_total"] {
        assert!(told.contains(&json!(name)), "{name}: {told:?}");
    }
    for name in ["max_stops", "cabin_class", "departure_after"] {
        assert!(!told.contains(&json!(name)), "{name}: {told:?}");
    }
    let totals = reply.data().as_array().unwrap().iter();
    let totals: Vec<&Value> = totals
        .map(|offer| &offer["total_amount"]["amount"])
        .collect();
    assert_eq!(
        totals,
        [&json!(360.4)],
        "only fares of the airline below the maximum remain"
    );
    let sent = &scene.duffel.take_received()[0].body["data"];
    assert_eq!(
        (&sent["cabin_class"], &sent["max_connections"]),
        (&json!("economy"), &json!(2))
    );
    let times = json!({"from": "06:30", "to": "23:59"});
    assert_eq!(sent["slices"][0]["departure_time"], times);
}

#[tokio::test]
async fn failed_search_returns_the_matching_problem() {
    let scene = Scene::begin().await;
    for (name, answer, status, code) in [
        (
            "late",
            refusal(504, "gateway_timeout_error"),
            504,
            "supplier_timeout",
        ),
        (
            "failed",
            refusal(500, "internal_server_error"),
            502,
            "supplier_error",
        ),
        (
            "down",
            refusal(503, "service_unavailable"),
            503,
            "supplier_unavailable",
        ),
        (
            "a limit",
            refusal(429, "rate_limit_exceeded"),
            503,
            "supplier_rate_limited",
        ),
        (
            "a wrong token",
            refusal(401, "access_token_not_found"),
            502,
            "supplier_error",
        ),
    ] {
        scene
            .duffel
            .answer_with("POST /air/offer_requests", answer, false);
        let search = scene.story.search(json!({}));
        let reply = scene.client.post("/v1/flight/offers", &search).await;
        let ended = (reply.status, reply.body["code"].as_str());
        assert_eq!(ended, (status, Some(code)), "{name}: {:#}", reply.body);
        let said = reply.body.to_string();
        assert!(
            !said.contains("ada@example.org"),
            "{name}: the supplier's message is not passed on"
        );
        scene.usual();
    }
}

async fn reference(story: Story) {
    let scene = Scene::of(story).await;
    let (text, codes) = scene.story.airports;
    let path = format!("/v1/flight/airports?q={text}");
    let found = scene.client.get(&path).await.expect(200);
    assert_eq!(
        found.body["meta"],
        json!({"supplier": "DUFFEL", "truncated": false})
    );
    let airports = found.data().as_array().unwrap().iter();
    let airports: Vec<&str> = airports
        .map(|one| one["iata_code"].as_str().unwrap())
        .collect();
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
    let query = format!("query={text}");
    assert_eq!(
        (received[0].route.as_str(), received[0].query.as_str()),
        ("GET /places/suggestions", query.as_str())
    );
    let pages = scene.story.documents.airlines.len();
    assert_eq!(
        received.len(),
        1 + pages,
        "all airlines are read once and cached"
    );
    assert_eq!(received[1].query, "limit=200");
}

#[tokio::test]
async fn airports_and_airlines_are_found() {
    reference(Story::own()).await;
    if let Some(story) = Story::vendor() {
        reference(story).await;
    }
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
