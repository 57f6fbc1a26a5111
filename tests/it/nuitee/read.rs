//! Tests of each Nuitee response to reads as tables of cases, with the resulting response of the
//! gateway.

use crate::nuitee::scene::Scene;
use crate::nuitee::service::{KEY, Nuitee, refusal};
use crate::nuitee::story::Story;
use serde_json::{Value, json};
use tests::{Database, MockResponse, Server, ServerOptions, routes};

/// A response to rates, with the expected status and code. The code is empty for a response without
/// offers.
type Case = (&'static str, MockResponse, u16, &'static str);

fn cases(story: &Story) -> [Case; 10] {
    let dollars = story
        .documents
        .rates
        .to_string()
        .replace("\"EUR\"", "\"USD\"");
    let limited = refusal(429, 4290, "too many requests").header("retry-after", "3");
    let elsewhere = MockResponse::empty(302).header("location", "http://127.0.0.1:1/");
    let failed = "supplier_error";
    [
        (
            "nothing free, in a 200",
            refusal(200, 2001, "no availability found"),
            200,
            "",
        ),
        ("no content", MockResponse::empty(204), 200, ""),
        (
            "another currency",
            MockResponse::new(200, dollars),
            502,
            failed,
        ),
        ("not our key", refusal(401, 401, ""), 502, failed),
        ("not our key, in a 200", refusal(200, 401, ""), 502, failed),
        ("no JSON", MockResponse::new(200, "<html>"), 502, failed),
        ("elsewhere", elsewhere, 502, failed),
        (
            "internal error",
            refusal(500, 5000, "internal error"),
            502,
            failed,
        ),
        (
            "down",
            MockResponse::new(503, "<html>"),
            503,
            "supplier_unavailable",
        ),
        ("limit", limited, 503, "supplier_rate_limited"),
    ]
}

#[tokio::test]
async fn invalid_rates_give_no_offers_or_a_supplier_problem() {
    let scene = Scene::begin().await;
    for (name, answer, status, code) in cases(&scene.story) {
        scene
            .nuitee
            .data
            .on("POST /v3.0/hotels/rates", move |_| answer.clone());
        let reply = scene.offers().await;
        assert_eq!(reply.status, status, "{name}: {:#}", reply.body);
        if status == 200 {
            let row = &reply.data()[0];
            assert_eq!(row["supplier_hotel_id"], scene.story.hotel, "{name}");
            assert_eq!(row["offers"], json!([]), "{name}");
        } else {
            let wait = reply.header("retry-after").map(str::to_owned);
            let problem = reply.expect_problem(status, code);
            assert_eq!(problem.body["supplier"], "NUITEE", "{name}");
            assert!(
                code != "supplier_rate_limited" || wait.as_deref() == Some("3"),
                "{wait:?}"
            );
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
    let [data, _] = nuitee.take_received();
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
    let prices = scene
        .client
        .post("/v1/hotel/price-calendar", &request)
        .await
        .expect(200);
    let days = prices.data()[0]["prices"].as_array().unwrap();
    let days: Vec<&Value> = days
        .iter()
        .map(|day| &day["average_nightly_price"])
        .collect();
    let dollars = |amount: Value| json!({"amount": amount, "currency": "USD"});
    assert_eq!(days, [&dollars(json!(107)), &dollars(json!(131.5))]);
    for (status, code) in [(429, 429), (429, 4290), (200, 4291)] {
        let answer = refusal(status, code, "too many requests").header("retry-after", "7");
        scene
            .nuitee
            .data
            .on("GET /v3.0/prices/hotels", move |_| answer.clone());
        let reply = scene
            .client
            .post("/v1/hotel/price-calendar", &request)
            .await;
        let limited = reply.expect_problem(503, "supplier_rate_limited");
        assert_eq!(limited.header("retry-after"), Some("7"), "{status} {code}");
    }
}
