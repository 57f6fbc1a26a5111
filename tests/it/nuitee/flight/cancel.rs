//! Tests of flight quotes and cancellations at Nuitee, decided at once or later by the airline.

use crate::nuitee::flight::scene::Scene;
use crate::nuitee::mock::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, count, eventually};

/// Returns responses to a quote, with the expected source of the amounts.
fn quotes(usual: &Value) -> [(&'static str, MockResponse, &'static str); 4] {
    let confidence = |word: &str| {
        let mut document = usual.clone();
        document["data"][0]["confidence"] = json!(word);
        MockResponse::json(200, &document)
    };
    let conflict = refusal(409, 49_007, "");
    let truncated = MockResponse::new(200, r#"{"data": ["#);
    [
        ("estimated", confidence("estimated"), "SUPPLIER_QUOTE"),
        ("guessed", confidence("heuristic"), "FARE_ESTIMATE"),
        ("a cancellation runs", conflict, "FARE_ESTIMATE"),
        ("a truncated response", truncated, "FARE_ESTIMATE"),
    ]
}

#[tokio::test]
async fn quote_uses_airline_amounts_or_fare_terms() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    for (name, answer, source) in quotes(&scene.story.documents["quote"]) {
        let route = scene.cancellations("GET");
        scene.flights.answer_with(&route, answer, false);
        let quote = scene.quote(&booking).await;
        assert_eq!(quote["source"], source, "{name}");
        assert_eq!(quote["fee"], scene.story.money(120.0), "{name}");
        assert_eq!(quote["refund"], scene.story.money(1070.4), "{name}");
        assert_eq!(quote["unavailable_reason"], Value::Null, "{name}");
    }
    let received = scene.flights.take_received();
    assert_eq!(count(&received, &scene.cancellations("POST")), 0);
}

#[tokio::test]
async fn pending_cancellation_is_reconciled_until_the_airline_decides() {
    let scene = Scene::begin().await;
    for is_granted in [true, false] {
        let booking = scene.confirmed().await;
        let id = &scene.story.booking_id;
        let accepted = json!({"data": {"bookingId": id, "status": "CONFIRMED"}});
        let route = scene.cancellations("POST");
        let flights = &scene.flights;
        flights.answer_with(&route, MockResponse::json(202, &accepted), false);
        let asked_at = json!("2026-01-01T00:00:00Z");
        flights.change(|world| world.set("cancelIntentAt", asked_at));
        scene.client.cancel_flight(&booking).await.expect(202);
        let read = format!("GET /v3.0/flights/bookings/{id}");
        eventually("two reconciliations to be made", async || {
            (count(&flights.api.received(), &read) >= 2).then_some(())
        })
        .await;
        let waiting = scene.client.flight_booking(&booking).await;
        assert_eq!(waiting["status"], "CANCEL_IN_PROGRESS");
        let (end, field, value) = match is_granted {
            true => ("CANCELED", "status", json!("CANCELLED")),
            false => ("CONFIRMED", "cancelIntentAt", Value::Null),
        };
        flights.change(|world| world.set(field, value));
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        if is_granted {
            let cancellation = &ended["cancellation"];
            assert_eq!(cancellation["refunded_by"], "SUPPLIER");
            assert_eq!(cancellation["fee"], scene.story.money(120.0));
            assert_eq!(cancellation["refund_amount"], scene.story.money(1070.4));
        } else {
            assert_eq!(ended["failure"]["code"], "cancel_refused");
        }
        let received = flights.take_received();
        assert_eq!(count(&received, &route), 1, "it is sent only once");
        scene.leaves_nothing(end, &booking).await;
        scene.usual();
    }
}
