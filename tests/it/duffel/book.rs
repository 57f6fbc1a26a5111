//! Tests of each Duffel response to an order as a table of cases, with the final status of the
//! ticket and of the payment.

use crate::duffel::scene::{RELEASED, Scene, TAKEN};
use crate::duffel::service::refusal;
use serde_json::json;
use tests::{MockResponse, count};

const ORDERS: &str = "POST /air/orders";
const FIND: &str = "GET /air/orders";

/// A response to the order, whether the order was made, and the outcome.
struct Case {
    name: &'static str,
    answer: MockResponse,
    is_made: bool,
    reply: (u16, &'static str),
    end: &'static str,
    ledger: &'static [&'static str],
}

/// Returns one response for each outcome of the adapter.
fn cases() -> [Case; 9] {
    let made = |name, answer, reply| Case {
        name,
        answer,
        is_made: true,
        reply,
        end: "CONFIRMED",
        ledger: TAKEN,
    };
    let refused = |name, status, code| Case {
        name,
        answer: refusal(status, code),
        is_made: false,
        reply: (422, "supplier_rejected"),
        end: "FAILED",
        ledger: RELEASED,
    };
    let accepted = MockResponse::json(202, &json!({}));
    let ours = refusal(422, "offer_request_already_booked");
    let failure = refusal(500, "internal_server_error");
    let price = "payment_amount_does_not_match_order_amount";
    [
        made("accepted", accepted, (202, "COMPLETE_IN_PROGRESS")),
        made("already booked by us", ours, (200, "CONFIRMED")),
        made("a failure", failure, (500, "result_unknown")),
        refused("not made", 502, "order_not_created"),
        refused("another price", 422, price),
        refused("out of balance", 422, "insufficient_balance"),
        refused("no longer available", 422, "offer_no_longer_available"),
        refused("expired", 422, "offer_expired"),
        refused("a wrong number", 422, "invalid_phone_number"),
    ]
}

#[tokio::test]
async fn booking_after_each_response_ends_as_duffel_shows() {
    let scene = Scene::begin().await;
    for case in cases() {
        let name = case.name;
        let booking = scene.ready().await;
        scene.duffel.answer_with(ORDERS, case.answer, case.is_made);
        let reply = scene.book(&booking).await;
        assert_eq!(reply.outcome(), case.reply, "{name}");
        let client = &scene.client;
        let ended = client.wait_for_flight_booking(&booking, case.end).await;
        scene.server.wait_for_ledger(&booking, case.ledger).await;
        let received = scene.duffel.take_received();
        assert_eq!(
            count(&received, ORDERS),
            1,
            "{name}: the order is sent once"
        );
        assert_eq!(ended["total_amount"], scene.story.money("360.40"), "{name}");
        if case.is_made {
            assert_eq!(ended["supplier_reference"], scene.story.order, "{name}");
            assert_eq!(ended["airline_pnr"], scene.story.pnr, "{name}");
            assert_eq!(received[1].route, FIND, "{name}: the order is reconciled");
            assert_eq!(received[1].query, "offer_id=off_flex", "{name}");
        } else {
            assert_eq!(count(&received, FIND), 0, "{name}: the outcome is known");
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
        }
        scene.usual();
    }
}

#[tokio::test]
async fn order_that_duffel_accepted_is_not_sent_again() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let accepted = MockResponse::json(202, &json!({"data": {}}));
    scene.duffel.answer_with(ORDERS, accepted, false);
    for _ in 0..2 {
        let reply = scene.book(&booking).await;
        assert_eq!(reply.outcome(), (202, "COMPLETE_IN_PROGRESS"));
    }
    let ledger = scene.server.ledger().await;
    assert_eq!(ledger.kinds_of(&booking), ["authorization"]);
    assert_eq!(count(&scene.duffel.take_received(), ORDERS), 1);
}

/// An order with another booking's label does not prove anything about our order.
#[tokio::test]
async fn order_with_another_label_is_not_adopted() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    scene.duffel.book_for_another();
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    scene.wait_for_requests(FIND, 3).await;
    let held = ["authorization"];
    scene.server.wait_for_ledger(&booking, &held).await;
    let booking = scene.client.flight_booking(&booking).await;
    assert_eq!(booking["status"], "COMPLETE_IN_PROGRESS");
    assert!(booking["supplier_reference"].is_null());
    assert_eq!(count(&scene.duffel.take_received(), ORDERS), 1);
}

#[tokio::test]
async fn rate_limited_order_can_be_booked_again() {
    let scene = Scene::begin().await;
    let booking = scene.ready().await;
    let limit = refusal(429, "rate_limit_exceeded");
    scene.duffel.answer_with(ORDERS, limit, false);
    let reply = scene.book(&booking).await;
    assert_eq!(reply.status, 503, "{:#}", reply.body);
    scene.server.wait_for_ledger(&booking, RELEASED).await;
    scene.usual();
    assert_eq!(scene.book(&booking).await.outcome(), (200, "CONFIRMED"));
    assert_eq!(count(&scene.duffel.take_received(), ORDERS), 1);
}
