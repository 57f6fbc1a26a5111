//! Tests of each Nuitee response to reads as tables of cases, with the resulting response of the
//! gateway.

use crate::nuitee::mock::{KEY, refusal};
use crate::nuitee::scene::Scene;
use crate::nuitee::service::Nuitee;
use crate::nuitee::story::Story;
use serde_json::{Value, json};
use tests::{Database, MockResponse, Server, ServerOptions, check_example, routes};

/// Returns responses to rates, with the expected status and code. The code is empty for a response
/// without offers.
fn cases(story: &Story) -> [(&'static str, MockResponse, u16, &'static str); 6] {
    let rates = story.documents["rates"].to_string();
    let dollars = MockResponse::new(200, rates.replace("\"EUR\"", "\"USD\""));
    let nothing = refusal(200, 2001, "no availability found");
    let no_key = refusal(401, 401, "");
    let elsewhere = MockResponse::empty(302).header("location", "http://127.0.0.1:1/");
    let down = MockResponse::new(503, "<html>");
    let limited = refusal(429, 4290, "too many requests").header("retry-after", "3");
    [
        ("nothing free, in a 200", nothing, 200, ""),
        ("another currency", dollars, 502, "supplier_error"),
        ("not our key", no_key, 502, "supplier_error"),
        ("elsewhere", elsewhere, 502, "supplier_error"),
        ("down", down, 503, "supplier_unavailable"),
        ("limit", limited, 503, "supplier_rate_limited"),
    ]
}

#[tokio::test]
async fn invalid_rates_give_no_offers_or_a_supplier_problem() {
    let scene = Scene::begin().await;
    for (name, answer, status, code) in cases(&scene.story) {
        let data = &scene.nuitee.data;
        data.respond_with("POST /v3.0/hotels/rates", answer, None);
        let reply = scene.offers().await;
        assert_eq!(reply.status, status, "{name}: {:#}", reply.body);
        if status == 200 {
            let row = &reply.data()[0];
            assert_eq!(row["supplier_hotel_id"], scene.story.hotel, "{name}");
            assert_eq!(row["offers"], json!([]), "{name}");
        } else {
            let problem = reply.expect_problem(status, code);
            assert_eq!(problem.body["supplier"], "NUITEE", "{name}");
            let wait = problem.header("retry-after");
            assert!(name != "limit" || wait == Some("3"), "{wait:?}");
        }
        scene.usual();
    }
}

#[tokio::test]
async fn missing_nuitee_credentials_return_supplier_error() {
    let story = Story::own();
    let nuitee = Nuitee::start(&story).await;
    let config = nuitee.config();
    let (begin, rest) = config.split_once("credentials = [").unwrap();
    let (_, end) = rest.split_once("\n]").unwrap();
    // The credentials of the flights remain.
    let options = ServerOptions::on(Database::Sqlite)
        .config(&format!("{begin}{end}"))
        .environment("LITEAPI_KEY", KEY);
    let server = Server::start_with(options).await;
    let request = story.stay(json!({"supplier_hotel_ids": [story.hotel]}));
    let reply = server.client().post("/v1/hotel/offers", &request).await;
    let _problem = reply.expect_problem(502, "supplier_error");
    let data = nuitee.data.api.take_received();
    assert_eq!(routes(&data), ["POST /v3.0/hotels/rates"]);
    assert!(
        data[0].header("x-api-key").is_none(),
        "the adapter has no key of its own"
    );
}

#[tokio::test]
async fn rate_limited_price_calendar_returns_retry_after() {
    let scene = Scene::begin().await;
    let offers = scene.offers().await.expect(200);
    let (check_in, check_out) = (&scene.story.check_in, &scene.story.check_out);
    let request =
        json!({"hotel_ids": [offers.data()[0]["hotel_id"]], "from": check_in, "to": check_out});
    let read = async || {
        scene
            .client
            .post("/v1/hotel/price-calendar", &request)
            .await
    };
    let prices = read().await.expect(200);
    let days = prices.data()[0]["prices"].as_array().unwrap().iter();
    let days: Vec<&Value> = days.map(|day| &day["average_nightly_price"]).collect();
    let dollars = |amount: Value| json!({"amount": amount, "currency": "USD"});
    assert_eq!(days, [&dollars(json!(107)), &dollars(json!(131.5))]);
    for (status, code) in [(429, 429), (429, 4290), (200, 4291)] {
        let answer = refusal(status, code, "too many requests").header("retry-after", "7");
        let data = &scene.nuitee.data;
        data.respond_with("GET /v3.0/prices/hotels", answer, None);
        let limited = read().await.expect_problem(503, "supplier_rate_limited");
        assert_eq!(limited.header("retry-after"), Some("7"), "{status} {code}");
    }
}

#[test]
fn nuitee_example_config_requires_key_in_environment() {
    let (is_valid, said) = check_example("nuitee.toml", &[("LITEAPI_KEY", Some(KEY))]);
    assert!(is_valid, "{said}");
    let (is_valid, said) = check_example("nuitee.toml", &[("LITEAPI_KEY", None)]);
    assert!(!is_valid);
    assert!(said.contains("credentials of NUITEE"), "{said}");
    assert!(said.contains("LITEAPI_KEY"), "{said}");
}
