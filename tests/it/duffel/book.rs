//! Tests of each kind of Duffel response to an order as a table of cases, with the final status of
//! the ticket and of the payment.

use crate::duffel::service::{Duffel, FIND, ORDERS, refusal};
use crate::trip::{RELEASED, Scene, TAKEN};
use serde_json::json;
use tests::{MockResponse, count, money};

#[tokio::test]
async fn booking_after_each_response_ends_as_duffel_shows() {
    let scene = Scene::<Duffel>::begin().await;
    let accepted = MockResponse::json(202, &json!({}));
    let ours = refusal(422, "offer_request_already_booked");
    let failure = refusal(500, "internal_server_error");
    let not_made = refusal(502, "order_not_created");
    let price = refusal(422, "payment_amount_does_not_match_order_amount");
    let rejected = (422, "supplier_rejected");
    // Name, answer, whether the order is made, and the gateway's response.
    for (name, answer, is_made, outcome) in [
        ("accepted", accepted, true, (202, "COMPLETE_IN_PROGRESS")),
        ("already booked by us", ours, true, (200, "CONFIRMED")),
        ("a failure", failure, true, (500, "result_unknown")),
        ("not made", not_made, false, rejected),
        ("another price", price, false, rejected),
    ] {
        let booking = scene.ready().await;
        scene.mock.answer_with(ORDERS, answer, is_made);
        assert_eq!(scene.book(&booking).await.outcome(), outcome, "{name}");
        let (end, ledger) = match is_made {
            true => ("CONFIRMED", TAKEN),
            false => ("FAILED", RELEASED),
        };
        let ended = scene.client.wait_for_flight_booking(&booking, end).await;
        scene.server.wait_for_ledger(&booking, ledger).await;
        let received = scene.mock.take_received();
        assert_eq!(count(&received, ORDERS), 1, "{name}: it is sent once");
        assert_eq!(ended["total_amount"], money(360.4, "EUR"), "{name}");
        if is_made {
            assert_eq!(ended["supplier_reference"], "ord_own", "{name}");
            assert_eq!(ended["airline_pnr"], "OWNPNR", "{name}");
            assert_eq!(received[1].route, FIND, "{name}: the order is reconciled");
            assert_eq!(received[1].query, "offer_id=off_flex", "{name}");
        } else {
            assert_eq!(count(&received, FIND), 0, "{name}: the outcome is known");
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
        }
        scene.usual();
    }
}

/// An order with another booking's label does not prove anything about our order.
#[tokio::test]
async fn order_with_another_label_is_not_adopted() {
    let scene = Scene::<Duffel>::begin().await;
    let booking = scene.ready().await;
    scene.mock.change(Duffel::book_for_another);
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    scene.mock.wait_for_requests(FIND, 3).await;
    let held = ["authorization"];
    scene.server.wait_for_ledger(&booking, &held).await;
    let booking = scene.client.flight_booking(&booking).await;
    assert_eq!(booking["status"], "COMPLETE_IN_PROGRESS");
    assert!(booking["supplier_reference"].is_null());
    assert_eq!(count(&scene.mock.take_received(), ORDERS), 1);
}

#[tokio::test]
async fn rate_limited_order_can_be_booked_again() {
    let scene = Scene::<Duffel>::begin().await;
    let booking = scene.ready().await;
    let limit = refusal(429, "rate_limit_exceeded").header("retry-after", "3600");
    scene.mock.answer_with(ORDERS, limit, false);
    let reply = scene.book(&booking).await;
    let reply = reply.expect_problem(503, "supplier_rate_limited");
    assert_eq!(reply.body["retryable"], true);
    assert_eq!(reply.header("retry-after"), Some("3600"));
    scene.server.wait_for_ledger(&booking, RELEASED).await;
    scene.usual();
    assert_eq!(scene.book(&booking).await.outcome(), (200, "CONFIRMED"));
    assert_eq!(count(&scene.mock.take_received(), ORDERS), 1);
}
