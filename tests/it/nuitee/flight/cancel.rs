//! Tests of flight quotes and cancellations at Nuitee, decided at once or later by the airline.

use crate::nuitee::flight::scene::Scene;
use crate::nuitee::service::refusal;
use serde_json::{Value, json};
use tests::{MockResponse, count, eventually};

/// Returns responses to a quote, with the expected source of the amounts.
fn quotes(usual: &Value) -> [(&'static str, MockResponse, &'static str); 9] {
    let changed = |name: &str, value: Value| {
        let mut document = usual.clone();
        document["data"][0][name] = value;
        MockResponse::json(200, &document)
    };
    let confidence = |word: &str| changed("confidence", json!(word));
    let (airline, terms) = ("SUPPLIER_QUOTE", "FARE_ESTIMATE");
    [
        ("confirmed", confidence("confirmed"), airline),
        ("estimated", confidence("estimated"), airline),
        ("guessed", confidence("heuristic"), terms),
        ("unknown", confidence("unknown"), terms),
        ("a voucher", changed("destination", json!("voucher")), terms),
        ("without a refund", changed("refund", Value::Null), terms),
        ("a failure", refusal(500, 59_099, ""), terms),
        ("a cancellation runs", refusal(409, 49_007, ""), terms),
        (
            "a truncated response",
            MockResponse::new(200, r#"{"data": ["#),
            terms,
        ),
    ]
}

#[tokio::test]
async fn quote_uses_airline_amounts_or_fare_terms() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let path = format!("/v1/flight/bookings/{booking}/cancellation-quote");
    for (name, answer, source) in quotes(&scene.story.documents.quote) {
        let route = scene.cancellations("GET");
        scene.flights.answer_with(&route, answer, false);
        let quote = scene.client.get(&path).await.expect(200);
        let quote = quote.data();
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
        scene
            .flights
            .answer_with(&route, MockResponse::json(202, &accepted), false);
        let asked_at = json!("2026-01-01T00:00:00Z");
        scene
            .flights
            .change(|world| world.set("cancelIntentAt", asked_at));
        scene.client.cancel_flight(&booking).await.expect(202);
        let read = format!("GET /v3.0/flights/bookings/{id}");
        eventually("two reconciliations to be made", async || {
            (count(&scene.flights.api.received(), &read) >= 2).then_some(())
        })
        .await;
        let waiting = scene.client.flight_booking(&booking).await;
        assert_eq!(waiting["status"], "CANCEL_IN_PROGRESS");
        scene.flights.change(|world| {
            if is_granted {
                world.set("status", json!("CANCELLED"));
            } else {
                world.set("cancelIntentAt", Value::Null);
            }
        });
        let end = if is_granted { "CANCELED" } else { "CONFIRMED" };
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        if is_granted {
            let cancellation = &ended["cancellation"];
            assert_eq!(cancellation["refunded_by"], "SUPPLIER");
            assert_eq!(cancellation["fee"], scene.story.money(120.0));
            assert_eq!(cancellation["refund_amount"], scene.story.money(1070.4));
        } else {
            assert_eq!(ended["failure"]["code"], "cancel_refused");
        }
        let received = scene.flights.take_received();
        assert_eq!(
            count(&received, &route),
            1,
            "the cancellation is sent only once"
        );
        scene.leaves_nothing(end, &booking).await;
        scene.usual();
    }
}

#[tokio::test]
async fn cancellation_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::begin().await;
    let route = scene.cancellations("POST");
    for (name, answer, works, end) in [
        ("a failure", refusal(500, 56_015, ""), true, "CANCELED"),
        (
            "truncated",
            MockResponse::new(200, r#"{"data": {"#),
            true,
            "CANCELED",
        ),
        (
            "cancelled already",
            refusal(409, 46_004, ""),
            true,
            "CANCELED",
        ),
        ("not final", refusal(409, 46_006, ""), true, "CANCELED"),
        (
            "no such booking",
            refusal(404, 46_002, ""),
            false,
            "CONFIRMED",
        ),
    ] {
        let booking = scene.confirmed().await;
        scene.flights.answer_with(&route, answer, works);
        scene.client.cancel_flight(&booking).await;
        let ended = eventually(name, async || {
            let booking = scene.client.flight_booking(&booking).await;
            Some(booking).filter(|booking| booking["status"] != "CANCEL_IN_PROGRESS")
        })
        .await;
        assert_eq!(ended["status"], end, "{name}");
        assert_eq!(ended.get("failure").is_some(), !works, "{name}");
        let received = scene.flights.take_received();
        assert_eq!(
            count(&received, &route),
            1,
            "{name}: the cancellation is sent only once"
        );
        scene.leaves_nothing(name, &booking).await;
        scene.usual();
    }
}

#[tokio::test]
async fn vouchers_count_as_no_refund() {
    let scene = Scene::begin().await;
    scene.flights.change(|world| {
        world.story.documents.cancel["data"]["destination"] = json!("voucher");
    });
    let booking = scene.confirmed().await;
    scene.client.cancel_flight(&booking).await;
    let canceled = scene
        .client
        .wait_for_flight_booking(&booking, "CANCELED")
        .await;
    let cancellation = &canceled["cancellation"];
    assert_eq!(cancellation["refund_amount"], scene.story.money(0.0));
    assert_eq!(cancellation["refund_to"], json!([]));
    assert_eq!(canceled["payments"][0]["status"], "CAPTURED");
}
