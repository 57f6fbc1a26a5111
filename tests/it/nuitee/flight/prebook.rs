//! Tests of verifying and prebooking an offer that has changed.

use crate::nuitee::flight::scene::Scene;
use crate::nuitee::mock::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, routes};

const VERIFY: &str = "POST /v3.0/flights/verify";
const PREBOOK: &str = "POST /v3.0/flights/prebooks";

type Case = (&'static str, &'static str, MockResponse, u16, &'static str);

/// Returns responses to the two calls, with the expected status and code. Verifying is a POST, so
/// the gateway treats it as a change: if it fails, the outcome is unknown.
fn cases(verify: &Value, prebook: &Value) -> [Case; 7] {
    let verified = |pointer: &str, value: Value| {
        let mut document = verify.clone();
        *document.pointer_mut(&format!("/data/0{pointer}")).unwrap() = value;
        MockResponse::json(200, &document)
    };
    let dearer = verified("/journey/pricing/display/total", json!(1310.4));
    let cabin = verified("/changes", json!({"cabinChanged": true}));
    let expired = refusal(404, 42_017, "offer expired");
    let limit = refusal(429, 4290, "").header("retry-after", "3");
    let failure = refusal(500, 52_099, "");
    let mut bound = prebook.clone();
    bound["data"][0]["price"] = json!(1310.4);
    let bound = MockResponse::json(200, &bound);
    let two = MockResponse::json(200, &json!({"data": [{}, {}]}));
    let price = "offer_price_changed";
    [
        ("more expensive", VERIFY, dearer, 409, price),
        ("another cabin", VERIFY, cabin, 422, "offer_unavailable"),
        ("expired", VERIFY, expired, 422, "offer_expired"),
        ("a limit", VERIFY, limit, 503, "supplier_rate_limited"),
        ("a failure", VERIFY, failure, 502, "supplier_error"),
        ("more expensive at prebook", PREBOOK, bound, 409, price),
        ("two prebooks", PREBOOK, two, 502, "supplier_error"),
    ]
}

#[tokio::test]
async fn prebook_of_changed_or_failing_offer_is_refused() {
    let scene = Scene::begin().await;
    let documents = &scene.story.documents;
    for (name, route, answer, status, code) in cases(&documents["verify"], &documents["prebook"]) {
        scene.flights.answer_with(route, answer, false);
        let reply = scene.prebook().await;
        assert_eq!(reply.outcome(), (status, code), "{name}");
        if code == "offer_price_changed" {
            assert_eq!(reply.body["offered"], scene.story.money(1210.4), "{name}");
            assert_eq!(reply.body["current"], scene.story.money(1310.4), "{name}");
        }
        let received = scene.flights.take_received();
        let last = routes(&received).pop().unwrap();
        assert_eq!(last, route, "{name}: no call follows it");
        scene.usual();
    }
}
