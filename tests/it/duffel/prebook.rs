//! Tests of reading an offer again at prebook, when it is unchanged or has changed.

use crate::duffel::scene::Scene;
use crate::duffel::service::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, routes};

#[tokio::test]
async fn loyalty_programmes_are_set_before_the_offer_is_priced() {
    let scene = Scene::begin().await;
    let accounts = json!([{"airline_iata_code": "OW", "membership_number": "OW-1234567"}]);
    let bound = scene.prebook(json!({"loyalty_accounts": accounts})).await;
    let bound = bound.expect(201);
    assert_eq!(bound.data()["total_amount"], scene.story.money("324.36"));
    let shown = &bound.data()["passengers"][0]["loyalty_accounts"][0];
    assert_eq!(shown["membership_number"], "******4567");
    let received = scene.duffel.take_received();
    let patch = "PATCH /air/offers/off_flex/passengers/pas_adult";
    let read = "GET /air/offers/off_flex";
    assert_eq!(routes(&received[3..]), [read, patch, read]);
    let sent = json!([{"airline_iata_code": "OW", "account_number": "OW-1234567"}]);
    let data =
        json!({"given_name": "Ada", "family_name": "Lovelace", "loyalty_programme_accounts": sent});
    assert_eq!(received[4].body, json!({ "data": data }));

    let booking = bound.data()["id"].as_str().unwrap();
    let reply = scene.book(booking).await.expect(200);
    assert_eq!(reply.data()["total_amount"], scene.story.money("324.36"));
    let received = scene.duffel.take_received();
    assert_eq!(received[0].body["data"]["payments"][0]["amount"], "324.36");
}

/// Returns responses to reading the offer, with the expected status and code.
fn offers(usual: &Value) -> [(&'static str, MockResponse, u16, &'static str); 6] {
    let changed = |name: &str, value: Value| {
        let mut document = usual.clone();
        document["data"][name] = value;
        MockResponse::json(200, &document)
    };
    let dearer = changed("total_amount", json!("370.40"));
    let dollars = changed("total_currency", json!("USD"));
    let others = changed("passengers", json!([]));
    let expired = refusal(422, "offer_expired");
    let proxy = MockResponse::new(502, "<html>");
    let limit = refusal(429, "rate_limit_exceeded").header("retry-after", "7");
    [
        ("more expensive", dearer, 409, "offer_price_changed"),
        ("in another currency", dollars, 422, "offer_unavailable"),
        ("for other passengers", others, 422, "supplier_rejected"),
        ("expired", expired, 422, "offer_expired"),
        ("a proxy's failure", proxy, 503, "supplier_unavailable"),
        ("limit", limit, 503, "supplier_rate_limited"),
    ]
}

#[tokio::test]
async fn prebook_of_changed_or_failing_offer_is_refused() {
    let scene = Scene::begin().await;
    for (name, answer, status, code) in offers(&scene.story.documents["offer"]) {
        let route = "GET /air/offers/off_flex";
        scene.duffel.answer_with(route, answer, false);
        let reply = scene.prebook(json!({})).await;
        assert_eq!(reply.outcome(), (status, code), "{name}");
        if code == "offer_price_changed" {
            assert_eq!(reply.body["offered"], scene.story.money("360.40"));
            assert_eq!(reply.body["current"], scene.story.money("370.40"));
        }
        scene.usual();
    }
}
