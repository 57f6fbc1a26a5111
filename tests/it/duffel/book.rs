//! Tests of each Duffel response to an order as a table of cases, with the final status of the
//! ticket and of the payment.

use crate::duffel::scene::{RELEASED, Scene, TAKEN};
use crate::duffel::service::refusal;
use serde_json::{Value, json};
use tests::{Database, MockResponse, count, on_both_databases, routes};

const ORDERS: &str = "POST /air/orders";

/// A response to the order, whether the order was made, and the outcome.
struct Case {
    name: &'static str,
    answer: MockResponse,
    is_made: bool,
    reply: (u16, &'static str),
    end: &'static str,
    ledger: &'static [&'static str],
}

fn refused(name: &'static str, status: u16, code: &str) -> Case {
    Case {
        name,
        answer: refusal(status, code),
        is_made: false,
        reply: (422, "supplier_rejected"),
        end: "FAILED",
        ledger: RELEASED,
    }
}

fn unknown(name: &'static str, answer: MockResponse) -> Case {
    Case {
        name,
        answer,
        is_made: true,
        reply: (500, "result_unknown"),
        end: "CONFIRMED",
        ledger: TAKEN,
    }
}

fn accepted(name: &'static str, data: &Value) -> Case {
    Case {
        reply: (202, "COMPLETE_IN_PROGRESS"),
        ..unknown(name, MockResponse::json(202, data))
    }
}

fn cases() -> [Case; 17] {
    let ours = Case {
        reply: (200, "CONFIRMED"),
        ..unknown(
            "already booked by us",
            refusal(422, "offer_request_already_booked"),
        )
    };
    [
        accepted("accepted", &json!({"data": {"message": "accepted"}})),
        accepted("accepted, with an id", &json!({"data": {"id": "ord_own"}})),
        accepted("accepted, with nothing", &json!({})),
        ours,
        unknown("a failure", refusal(500, "internal_server_error")),
        unknown("the airline's failure", refusal(502, "airline_unknown")),
        unknown("too late", refusal(504, "gateway_timeout_error")),
        unknown("a proxy's failure", MockResponse::new(502, "<html>")),
        unknown(
            "a truncated response",
            MockResponse::new(201, r#"{"data": {"id": "ord"#),
        ),
        unknown("an unknown code", refusal(422, "something_new")),
        unknown("a conflict", refusal(409, "offer_expired")),
        refused("not made", 502, "order_not_created"),
        refused("out of balance", 422, "insufficient_balance"),
        refused("no longer available", 422, "offer_no_longer_available"),
        refused("expired", 422, "offer_expired"),
        refused("a wrong number", 422, "invalid_phone_number"),
        refused("not allowed", 403, "unavailable_feature"),
    ]
}

#[tokio::test]
async fn booking_after_each_response_ends_as_duffel_shows() {
    let scene = Scene::begin().await;
    for case in cases() {
        let name = case.name;
        let booking = scene.ready().await;
        let _prebooked = scene.duffel.take_received();
        scene.duffel.answer_with(ORDERS, case.answer, case.is_made);
        let reply = scene.book(&booking).await;
        let pointer = if reply.status < 300 {
            "/data/status"
        } else {
            "/code"
        };
        let word = reply.body.pointer(pointer).and_then(Value::as_str).unwrap();
        assert_eq!((reply.status, word), case.reply, "{name}: {:#}", reply.body);
        let ended = scene
            .client
            .wait_for_flight_booking(&booking, case.end)
            .await;
        scene.leaves(name, &booking, case.ledger).await;
        let received = scene.duffel.take_received();
        assert_eq!(
            count(&received, ORDERS),
            1,
            "{name}: the order is sent only once"
        );
        if case.is_made {
            assert_eq!(ended["supplier_reference"], scene.story.order, "{name}");
            assert_eq!(ended["airline_pnr"], scene.story.pnr, "{name}");
            assert!(received.len() > 1, "{name}: the order is reconciled");
        } else {
            assert_eq!(routes(&received), [ORDERS], "{name}");
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
        }
        scene.usual();
    }
}

#[tokio::test]
async fn order_with_lost_response_is_found_by_offer_and_label() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let _prebooked = scene.duffel.take_received();
    let lost = refusal(500, "internal_server_error");
    scene.duffel.answer_with(ORDERS, lost, true);
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    scene
        .client
        .wait_for_flight_booking(&booking, "CONFIRMED")
        .await;
    let received = scene.duffel.take_received();
    assert_eq!(routes(&received), [ORDERS, "GET /air/orders"]);
    assert_eq!(received[1].query, "offer_id=off_flex");
    let again = scene.book(&booking).await.expect(200);
    assert_eq!(again.data()["status"], "CONFIRMED");
    assert!(scene.duffel.take_received().is_empty());
}

#[tokio::test]
async fn order_that_duffel_accepted_is_not_sent_again() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let _prebooked = scene.duffel.take_received();
    scene
        .duffel
        .answer_with(ORDERS, MockResponse::json(202, &json!({"data": {}})), false);
    for _ in 0..2 {
        let reply = scene.book(&booking).await.expect(202);
        assert_eq!(reply.data()["status"], "COMPLETE_IN_PROGRESS");
    }
    let card = scene.server.ledger().await;
    assert_eq!(
        card.kinds_of(&booking),
        ["authorization"],
        "the card is authorized once"
    );
    assert_eq!(count(&scene.duffel.take_received(), ORDERS), 1);
}

/// An order with another booking's label does not prove anything about our order.
#[tokio::test]
async fn order_with_another_label_is_not_adopted() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let _prebooked = scene.duffel.take_received();
    scene.duffel.book_for_another();
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    tests::eventually("two reconciliations to be made", async || {
        let read = scene.server.ledger().await.kinds_of(&booking) == ["authorization"];
        let received = scene.duffel.api.received();
        (read && count(&received, "GET /air/orders") >= 3).then_some(())
    })
    .await;
    let booking = scene.client.flight_booking(&booking).await;
    assert_eq!(booking["status"], "COMPLETE_IN_PROGRESS");
    assert!(booking["supplier_reference"].is_null());
    assert_eq!(count(&scene.duffel.take_received(), ORDERS), 1);
}

/// Duffel accepts exactly its current price. The adapter reads that price and reports it to
/// operators, but does not pay it.
#[tokio::test]
async fn offer_with_price_increase_after_prebook_is_not_booked() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let _prebooked = scene.duffel.take_received();
    scene.duffel.change(|story| {
        story.documents.offer["data"]["total_amount"] = json!("370.40");
    });
    let reply = scene.book(&booking).await;
    reply.expect_problem(422, "supplier_rejected");
    let ended = scene
        .client
        .wait_for_flight_booking(&booking, "FAILED")
        .await;
    assert_eq!(ended["failure"]["code"], "book_failed");
    assert_eq!(ended["total_amount"], scene.story.money("360.40"));
    scene
        .leaves("a more expensive offer", &booking, RELEASED)
        .await;
    let received = scene.duffel.take_received();
    assert_eq!(routes(&received), [ORDERS, "GET /air/offers/off_flex"]);
}

#[tokio::test]
async fn rate_limited_order_can_be_booked_again() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let _prebooked = scene.duffel.take_received();
    let limit = refusal(429, "rate_limit_exceeded");
    scene.duffel.answer_with(ORDERS, limit, false);
    let reply = scene.book(&booking).await;
    assert_eq!(reply.status, 503, "{:#}", reply.body);
    scene.leaves("a limit", &booking, RELEASED).await;
    scene.usual();
    let reply = scene.book(&booking).await.expect(200);
    assert_eq!(reply.data()["status"], "CONFIRMED");
    assert_eq!(count(&scene.duffel.take_received(), ORDERS), 1);
}

/// At the moment an offer expires, the booking is either made or expired. Only a made booking has
/// an order and a charge.
async fn book_at_offer_expiry_either_confirms_or_expires(database: Database) {
    let scene = Scene::quiet(database).await;
    let card = json!({"payment_instrument_id": scene.client.store_card("tok_visa").await});
    for early_ms in [300, 60, 30, 10, 0, -30] {
        let end = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(1500);
        scene.duffel.change(|story| {
            story.documents.offer["data"]["expires_at"] = json!(end.to_string());
        });
        let booking = scene.ready().await;
        let ready = scene.client.flight_booking(&booking).await;
        let expires: jiff::Timestamp = ready["expires_at"].as_str().unwrap().parse().unwrap();
        assert!(expires <= end, "{expires} is later than Duffel said");
        let begin = expires - jiff::SignedDuration::from_millis(early_ms);
        // The loop waits for the offer's expiry.
        #[expect(
            clippy::disallowed_methods,
            reason = "the gateway in the other process reads the same clock"
        )]
        while jiff::Timestamp::now() < begin {
            tokio::task::yield_now().await;
        }
        let reply = scene.client.book_flight(&booking, &card).await;
        let (end, effects, orders) = match reply.status {
            200 => ("CONFIRMED", TAKEN, 1),
            _ => {
                let late = reply.expect_problem(409, "booking_state_conflict");
                assert_eq!(late.body["booking_status"], "EXPIRED");
                ("EXPIRED", &[][..], 0)
            }
        };
        let _ended = scene.client.wait_for_flight_booking(&booking, end).await;
        scene.leaves(end, &booking, effects).await;
        assert_eq!(count(&scene.duffel.take_received(), ORDERS), orders);
        scene.usual();
    }
}

on_both_databases! {
    book_at_offer_expiry_either_confirms_or_expires,
}
