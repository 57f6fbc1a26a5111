//! Tests of verifying and prebooking an offer that has changed.

use crate::nuitee::flight::scene::Scene;
use crate::nuitee::service::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, routes};

const VERIFY: &str = "POST /v3.0/flights/verify";
const PREBOOK: &str = "POST /v3.0/flights/prebooks";

type Case = (&'static str, &'static str, MockResponse, u16, &'static str);

/// Returns responses to the two calls, with the expected status and code. Verifying is a POST, so
/// the gateway treats it as a change: if it fails, the outcome is unknown.
#[expect(clippy::too_many_lines, reason = "most lines are a table of cases")]
fn cases(verify: &Value, prebook: &Value) -> [Case; 13] {
    let verified = |pointer: &str, value: Value| {
        let mut document = verify.clone();
        *document.pointer_mut(&format!("/data/0{pointer}")).unwrap() = value;
        MockResponse::json(200, &document)
    };
    let bound = |name: &str, value: Value| {
        let mut document = prebook.clone();
        document["data"][0][name] = value;
        MockResponse::json(200, &document)
    };
    let total = "/journey/pricing/display/total";
    let departure = "/journey/segments/0/departureTime";
    let changed = |what: &str| verified("/changes", json!({ what: true }));
    let limit = || refusal(429, 4290, "").header("retry-after", "3");
    let (unavailable, unknown) = ("offer_unavailable", "supplier_error");
    [
        (
            "more expensive",
            VERIFY,
            verified(total, json!(1310.4)),
            409,
            "offer_price_changed",
        ),
        (
            "other flights",
            VERIFY,
            verified(departure, json!("2027-06-01T06:00:00")),
            422,
            unavailable,
        ),
        (
            "another cabin",
            VERIFY,
            changed("cabinChanged"),
            422,
            unavailable,
        ),
        (
            "not found",
            VERIFY,
            refusal(502, 52_019, "offer not found"),
            422,
            unavailable,
        ),
        (
            "expired",
            VERIFY,
            refusal(404, 42_017, "offer expired"),
            422,
            "offer_expired",
        ),
        ("a limit", VERIFY, limit(), 503, "supplier_rate_limited"),
        ("a failure", VERIFY, refusal(500, 52_099, ""), 502, unknown),
        (
            "more expensive at prebook",
            PREBOOK,
            bound("price", json!(1310.4)),
            409,
            "offer_price_changed",
        ),
        (
            "expired at prebook",
            PREBOOK,
            refusal(404, 43_019, ""),
            422,
            "offer_expired",
        ),
        (
            "changed at prebook",
            PREBOOK,
            refusal(502, 53_001, ""),
            422,
            unavailable,
        ),
        (
            "in another currency",
            PREBOOK,
            bound("currency", json!("USD")),
            502,
            unknown,
        ),
        (
            "a failure at prebook",
            PREBOOK,
            refusal(500, 53_099, ""),
            502,
            unknown,
        ),
        (
            "two prebooks",
            PREBOOK,
            MockResponse::json(200, &json!({"data": [{}, {}]})),
            502,
            unknown,
        ),
    ]
}

#[tokio::test]
async fn prebook_of_changed_or_failing_offer_is_refused() {
    let scene = Scene::begin().await;
    let documents = &scene.story.documents;
    for (name, route, answer, status, code) in cases(&documents.verify, &documents.prebook) {
        scene.flights.answer_with(route, answer, false);
        let reply = scene.prebook().await;
        let ended = (reply.status, reply.body["code"].as_str());
        assert_eq!(ended, (status, Some(code)), "{name}: {:#}", reply.body);
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
