//! Tests of quotes and cancellations at Duffel: the amount and form of refunds, and refusals.

use crate::duffel::scene::{Scene, TAKEN};
use crate::duffel::service::refusal;
use serde_json::{Value, json};
use tests::{Client, MockResponse, count, eventually, routes};

const QUOTE: &str = "POST /air/order_cancellations";
const CONFIRM: &str = "POST /air/order_cancellations/ore_own/actions/confirm";
const REFUNDED: &[&str] = &["authorization", "capture", "refund"];

async fn quote(scene: &Scene, booking: &str) -> Value {
    let path = format!("/v1/flight/bookings/{booking}/cancellation-quote");
    let reply = scene.client.get(&path).await.expect(200);
    reply.data().clone()
}

/// The order is refundable for a fee of 50 dollars, so no estimate in euros is possible.
#[tokio::test]
async fn quote_without_airline_amounts_is_estimate_or_names_reason() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let mut another = scene.story.documents.quote.clone();
    another["data"]["refund_currency"] = json!("USD");
    for (name, answer) in [
        ("the airline's failure", refusal(422, "airline_error")),
        ("unsupported by Duffel", refusal(422, "unsupported_action")),
        ("a failure", refusal(500, "internal_server_error")),
        ("in another currency", MockResponse::json(201, &another)),
    ] {
        scene.duffel.answer_with(QUOTE, answer, false);
        let quote = quote(&scene, &booking).await;
        assert_eq!(quote["source"], "FARE_ESTIMATE", "{name}: {quote:#}");
        assert_eq!(
            quote["unavailable_reason"], "penalty_in_other_currency",
            "{name}"
        );
        assert!(
            quote.get("fee").is_none() && quote.get("refund").is_none(),
            "{name}"
        );
    }
    let received = scene.duffel.take_received();
    assert_eq!(count(&received, CONFIRM), 0, "a quote changes nothing");
    let limit = refusal(429, "rate_limit_exceeded");
    scene.duffel.answer_with(QUOTE, limit, false);
    let path = format!("/v1/flight/bookings/{booking}/cancellation-quote");
    let reply = scene.client.get(&path).await;
    reply.expect_problem(503, "supplier_rate_limited");
}

#[tokio::test]
async fn airline_credits_count_as_no_refund() {
    let scene = Scene::begin().await;
    for refund_to in ["airline_credits", "voucher"] {
        scene.duffel.change(|story| {
            story.documents.quote["data"]["refund_to"] = json!(refund_to);
        });
        let booking = scene.confirmed().await;
        let quote = quote(&scene, &booking).await;
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["refund"], scene.story.money("0.00"));
        assert_eq!(quote["fee"], scene.story.money("360.40"));
        assert_eq!(quote["refund_to"], json!([]));
        scene.client.cancel_flight(&booking).await;
        let canceled = scene
            .client
            .wait_for_flight_booking(&booking, "CANCELED")
            .await;
        let cancellation = &canceled["cancellation"];
        assert_eq!(cancellation["refund_amount"], scene.story.money("0.00"));
        assert_eq!(cancellation["fee"], scene.story.money("360.40"));
        assert_eq!(cancellation["refund_to"], json!([]));
        scene.leaves(refund_to, &booking, TAKEN).await;
        scene.usual();
    }
}

#[tokio::test]
async fn cancellation_with_lost_response_is_reconciled_with_amounts() {
    let scene = Scene::begin().await;
    for (name, answer) in [
        ("a failure", refusal(500, "internal_server_error")),
        ("the airline's failure", refusal(502, "airline_unknown")),
        (
            "truncated",
            MockResponse::new(200, r#"{"data": {"id": "ore"#),
        ),
        ("cancelled already", refusal(422, "already_cancelled")),
        (
            "not confirmed",
            MockResponse::json(200, &scene.story.documents.quote),
        ),
    ] {
        let booking = scene.confirmed().await;
        scene.duffel.answer_with(CONFIRM, answer, true);
        scene.client.cancel_flight(&booking).await;
        let canceled = scene
            .client
            .wait_for_flight_booking(&booking, "CANCELED")
            .await;
        let cancellation = &canceled["cancellation"];
        assert_eq!(
            cancellation["refund_amount"],
            scene.story.money("310.40"),
            "{name}"
        );
        assert_eq!(cancellation["fee"], scene.story.money("50.00"), "{name}");
        scene.leaves(name, &booking, REFUNDED).await;
        let received = scene.duffel.take_received();
        let read = "GET /air/orders/ord_own";
        let expected = [read, QUOTE, CONFIRM, read, "GET /air/order_cancellations"];
        assert_eq!(routes(&received), expected, "{name}");
        scene.usual();
    }
}

#[tokio::test]
async fn cancellation_refused_by_duffel_leaves_ticket_confirmed() {
    let scene = Scene::begin().await;
    let unsupported = || refusal(422, "unsupported_action");
    for (name, route, answer) in [
        ("no quote", QUOTE, unsupported()),
        ("no confirmation", CONFIRM, unsupported()),
        ("an unknown operation", QUOTE, refusal(400, "400")),
    ] {
        let booking = scene.confirmed().await;
        scene.duffel.answer_with(route, answer, false);
        scene.client.cancel_flight(&booking).await;
        refused(&scene, name, &booking).await;
        scene.usual();
    }
    scene.duffel.change(|story| {
        story.documents.order["data"]["available_actions"] = json!(["update"]);
    });
    let booking = scene.confirmed().await;
    scene.client.cancel_flight(&booking).await;
    refused(&scene, "unsupported by Duffel", &booking).await;
    assert_eq!(count(&scene.duffel.take_received(), QUOTE), 0);
}

/// The order is refundable for a fee of 50 dollars, and Duffel refunds in dollars. How many of the
/// paid euros come back is therefore unknown.
#[tokio::test]
async fn undecided_refund_waits_for_the_operators_amount() {
    let scene = Scene::begin().await;
    scene.duffel.change(|story| {
        story.documents.quote["data"]["refund_currency"] = json!("USD");
    });
    let booking = scene.confirmed().await;
    scene.client.cancel_flight(&booking).await;
    let canceled = scene
        .client
        .wait_for_flight_booking(&booking, "CANCELED")
        .await;
    let held =
        json!({"fee": null, "refunded_by": "SERVICE", "refund_amount": null, "refund_to": []});
    assert_eq!(canceled["cancellation"], held);
    let operator = Client::new(&scene.server.admin, "");
    let listed = async || operator.get("/unresolved").await.expect(200).data()["calls"].clone();
    let question = listed().await[0].clone();
    for (member, value) in [
        ("booking_id", booking.as_str()),
        ("step", "decide_refund"),
        ("target", "DUFFEL"),
    ] {
        assert_eq!(question[member], value, "{question:#}");
    }
    let path = format!("/unresolved/{booking}");
    let refund = |amount: f64, currency: &str| json!({"outcome": "refund", "amount": amount, "currency": currency});
    for (verdict, status, code) in [
        (refund(360.41, "EUR"), 400, "validation_failed"),
        (refund(-1.0, "EUR"), 400, "validation_failed"),
        (refund(310.401, "EUR"), 400, "validation_failed"),
        (refund(310.4, "USD"), 400, "validation_failed"),
        (json!({"outcome": "done"}), 409, "booking_state_conflict"),
        (
            json!({"outcome": "not_done"}),
            409,
            "booking_state_conflict",
        ),
    ] {
        let reply = operator.post(&path, &verdict).await;
        reply.expect_problem(status, code);
    }
    scene.leaves("an undecided refund", &booking, TAKEN).await;
    let decided = operator
        .post(&path, &refund(310.4, "EUR"))
        .await
        .expect(200);
    assert_eq!(decided.data()["status"], "CANCELED");
    scene.leaves("a decision", &booking, REFUNDED).await;
    let refunded = scene.client.flight_booking(&booking).await;
    let cancellation = &refunded["cancellation"];
    assert_eq!(cancellation["refund_amount"], scene.story.money("310.40"));
    assert_eq!(cancellation["fee"], scene.story.money("50.00"));
    let paid_back = &refunded["payments"][0]["id"];
    assert_eq!(
        cancellation["refund_to"],
        json!([{"payment_id": paid_back}])
    );
    assert_eq!(listed().await, json!([]));
    let again = operator.post(&path, &refund(310.4, "EUR")).await;
    again.expect_problem(409, "booking_state_conflict");
}

async fn refused(scene: &Scene, name: &str, booking: &str) {
    let ended = eventually(name, async || {
        Some(scene.client.flight_booking(booking).await)
            .filter(|booking| booking["failure"]["code"] == "cancel_refused")
    })
    .await;
    assert_eq!(ended["status"], "CONFIRMED", "{name}");
    assert!(ended.get("cancellation").is_none(), "{name}");
    scene.leaves(name, booking, TAKEN).await;
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
    eventually("three reconciliations to be made", async || {
        let received = scene.duffel.api.received();
        (count(&received, "GET /air/orders/ord_own") >= 4).then_some(())
    })
    .await;
    scene.client.cancel_flight(&booking).await.expect(202);
    let now = scene.client.flight_booking(&booking).await;
    assert_eq!(now["status"], "CANCEL_IN_PROGRESS");
    assert_eq!(count(&scene.duffel.take_received(), CONFIRM), 1);
    scene
        .leaves("an unknown cancellation", &booking, TAKEN)
        .await;
}
