//! Tests of quotes and cancellations at Duffel with unknown amounts or outcomes.

use crate::duffel::scene::{REFUNDED, Scene, TAKEN};
use crate::duffel::service::refusal;
use serde_json::json;
use tests::{Client, MockResponse, count, routes};

const QUOTE: &str = "POST /air/order_cancellations";
const CONFIRM: &str = "POST /air/order_cancellations/ore_own/actions/confirm";

/// The order is refundable for a fee of 50 dollars, so no estimate in euros is possible.
#[tokio::test]
async fn quote_without_airline_amounts_is_estimate_or_names_reason() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let mut another = scene.story.documents["quote"].clone();
    another["data"]["refund_currency"] = json!("USD");
    let path = format!("/v1/flight/bookings/{booking}/cancellation-quote");
    for (name, answer) in [
        ("unsupported by Duffel", refusal(422, "unsupported_action")),
        ("a failure", refusal(500, "internal_server_error")),
        ("in another currency", MockResponse::json(201, &another)),
    ] {
        scene.duffel.answer_with(QUOTE, answer, false);
        let quote = scene.client.get(&path).await.expect(200);
        let quote = quote.data();
        assert_eq!(quote["source"], "FARE_ESTIMATE", "{name}: {quote:#}");
        let reason = &quote["unavailable_reason"];
        assert_eq!(reason, "penalty_in_other_currency", "{name}");
        for absent in ["fee", "refund"] {
            assert_eq!(quote.get(absent), None, "{name}: {absent}");
        }
    }
    let received = scene.duffel.take_received();
    assert_eq!(count(&received, CONFIRM), 0, "a quote changes nothing");
    let limit = refusal(429, "rate_limit_exceeded");
    scene.duffel.answer_with(QUOTE, limit, false);
    let reply = scene.client.get(&path).await;
    reply.expect_problem(503, "supplier_rate_limited");
}

#[tokio::test]
async fn cancellation_with_lost_response_is_reconciled_with_amounts() {
    let scene = Scene::begin().await;
    for (name, answer) in [
        ("a failure", refusal(500, "internal_server_error")),
        ("cancelled already", refusal(422, "already_cancelled")),
    ] {
        let booking = scene.confirmed().await;
        scene.duffel.answer_with(CONFIRM, answer, true);
        let cancellation = &scene.canceled(&booking).await["cancellation"];
        let (refund, fee) = (&cancellation["refund_amount"], &cancellation["fee"]);
        assert_eq!(*refund, scene.story.money("310.40"), "{name}");
        assert_eq!(*fee, scene.story.money("50.00"), "{name}");
        scene.server.wait_for_ledger(&booking, REFUNDED).await;
        let received = scene.duffel.take_received();
        let read = "GET /air/orders/ord_own";
        let expected = [read, QUOTE, CONFIRM, read, "GET /air/order_cancellations"];
        assert_eq!(routes(&received), expected, "{name}");
        scene.usual();
    }
}

/// The order is refundable for a fee of 50 dollars, and Duffel refunds in dollars. How many of the
/// paid euros come back is therefore unknown.
#[tokio::test]
async fn undecided_refund_waits_for_the_operators_amount() {
    let scene = Scene::begin().await;
    scene.duffel.change(|story| {
        story.documents["quote"]["data"]["refund_currency"] = json!("USD");
    });
    let booking = scene.confirmed().await;
    let canceled = scene.canceled(&booking).await;
    let held =
        json!({"fee": null, "refunded_by": "SERVICE", "refund_amount": null, "refund_to": []});
    assert_eq!(canceled["cancellation"], held);
    let operator = Client::new(&scene.server.admin, "");
    let listed = async || operator.get("/unresolved").await.expect(200).data()["calls"].clone();
    let question = listed().await[0].clone();
    let asked = ["booking_id", "step", "target"].map(|member| &question[member]);
    assert_eq!(asked, [booking.as_str(), "decide_refund", "DUFFEL"]);
    let path = format!("/unresolved/{booking}");
    let refund = |amount: f64, currency: &str| json!({"outcome": "refund", "amount": amount, "currency": currency});
    let outcome = |outcome: &str| json!({ "outcome": outcome });
    for (verdict, status, code) in [
        (refund(360.41, "EUR"), 400, "validation_failed"),
        (refund(-1.0, "EUR"), 400, "validation_failed"),
        (refund(310.401, "EUR"), 400, "validation_failed"),
        (refund(310.4, "USD"), 400, "validation_failed"),
        (outcome("done"), 409, "booking_state_conflict"),
        (outcome("not_done"), 409, "booking_state_conflict"),
    ] {
        let reply = operator.post(&path, &verdict).await;
        reply.expect_problem(status, code);
    }
    scene.server.wait_for_ledger(&booking, TAKEN).await;
    let decided = operator.post(&path, &refund(310.4, "EUR")).await;
    assert_eq!(decided.outcome(), (200, "CANCELED"));
    scene.server.wait_for_ledger(&booking, REFUNDED).await;
    let refunded = scene.client.flight_booking(&booking).await;
    let expected = json!({
        "fee": scene.story.money("50.00"),
        "refunded_by": "SERVICE",
        "refund_amount": scene.story.money("310.40"),
        "refund_to": [{"payment_id": refunded["payments"][0]["id"]}],
    });
    assert_eq!(refunded["cancellation"], expected);
    assert_eq!(listed().await, json!([]));
    let again = operator.post(&path, &refund(310.4, "EUR")).await;
    again.expect_problem(409, "booking_state_conflict");
}

/// The cancellation was sent, and the order is still active. Duffel specifies no time after which
/// this proves that nothing happened.
#[tokio::test]
async fn cancellation_with_unknown_outcome_is_not_sent_again() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let lost = refusal(500, "internal_server_error");
    scene.duffel.answer_with(CONFIRM, lost, false);
    scene.client.cancel_flight(&booking).await;
    scene.wait_for_requests("GET /air/orders/ord_own", 4).await;
    scene.client.cancel_flight(&booking).await.expect(202);
    let now = scene.client.flight_booking(&booking).await;
    assert_eq!(now["status"], "CANCEL_IN_PROGRESS");
    assert_eq!(count(&scene.duffel.take_received(), CONFIRM), 1);
    scene.server.wait_for_ledger(&booking, TAKEN).await;
}
