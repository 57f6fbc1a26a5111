//! Tests of purchases of bags and of cancellations at Duffel with unknown amounts or outcomes.

use crate::duffel::service::{ADD, CONFIRM, Duffel, QUOTE, READ, refusal};
use crate::trip::{FlightSupplier, REFUNDED, Scene, TAKEN};
use serde_json::json;
use tests::{Client, DashboardClient, admin_command, count, money, routes};

const KEY: &str = "bags-1";

/// Duffel specifies no time after which an order must show its services. A service that is missing
/// from the order therefore proves nothing.
#[tokio::test]
async fn bag_purchase_missing_from_the_order_stays_unknown() {
    let scene = Scene::<Duffel>::begin().await;
    let client = &scene.client;
    let booking = scene.confirmed().await;
    let request = client.bag_request(&booking, "tok_visa").await;
    let lost = refusal(500, "internal_server_error");
    scene.mock.answer_with(ADD, lost, false);
    let _offered = scene.mock.take_received();
    let purchase = async || {
        let reply = client.purchase_bags(&booking, KEY, &request).await;
        reply.expect_problem(500, "result_unknown");
    };
    purchase().await;
    scene.mock.wait_for_requests(READ, 3).await;
    purchase().await;
    let reply = client.cancel_flight(&booking).await;
    reply.expect_problem(409, "booking_state_conflict");
    let now = client.flight_booking(&booking).await;
    assert_eq!(now["services"][0]["status"], "PENDING");
    let held = [TAKEN, &["authorization"]].concat();
    scene.server.wait_for_ledger(&booking, &held).await;
    assert_eq!(count(&scene.mock.take_received(), ADD), 1);
}

#[tokio::test]
async fn cancellation_with_lost_response_is_reconciled_with_amounts() {
    let scene = Scene::<Duffel>::begin().await;
    for (name, answer) in [
        ("a failure", refusal(500, "internal_server_error")),
        ("cancelled already", refusal(422, "already_cancelled")),
    ] {
        let booking = scene.confirmed().await;
        scene.mock.answer_with(CONFIRM, answer, true);
        let cancellation = &scene.canceled(&booking).await["cancellation"];
        let amounts = ["refund_amount", "fee"].map(|name| &cancellation[name]);
        let expected = [&money(310.4, "EUR"), &money(50.0, "EUR")];
        assert_eq!(amounts, expected, "{name}");
        scene.server.wait_for_ledger(&booking, REFUNDED).await;
        let received = scene.mock.take_received();
        let expected = [READ, QUOTE, CONFIRM, READ, "GET /air/order_cancellations"];
        assert_eq!(routes(&received), expected, "{name}");
        scene.usual();
    }
}

/// The token is rotated while a cancellation is made. Duffel refuses the gateway and not the
/// cancellation, which is sent again.
#[tokio::test]
async fn cancellation_refused_for_the_account_is_sent_again() {
    let scene = Scene::<Duffel>::begin().await;
    let booking = scene.confirmed().await;
    let _booked = scene.mock.take_received();
    let expired = refusal(401, "invalid_authorization_header");
    scene.mock.respond_with(READ, expired, None);
    scene.client.cancel_flight(&booking).await.expect(202);
    scene.mock.wait_for_requests(READ, 2).await;
    let waiting = scene.client.flight_booking(&booking).await;
    assert_eq!(waiting["status"], "CANCEL_IN_PROGRESS");
    Duffel::serve(&scene.mock);
    let canceled = scene.client.wait_for_flight_booking(&booking, "CANCELED");
    assert!(canceled.await.get("failure").is_none());
    scene.server.wait_for_ledger(&booking, REFUNDED).await;
}

/// The order is refundable for a fee of 50 dollars, and Duffel refunds in dollars. How many of the
/// paid euros come back is therefore unknown.
#[tokio::test]
async fn undecided_refund_waits_for_the_operators_amount() {
    let scene = Scene::<Duffel>::begin().await;
    scene.mock.change(|duffel| {
        duffel.documents["quote"]["data"]["refund_currency"] = json!("USD");
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
        "fee": money(50.0, "EUR"),
        "refunded_by": "SERVICE",
        "refund_amount": money(310.4, "EUR"),
        "refund_to": [{"payment_id": refunded["payments"][0]["id"]}],
    });
    assert_eq!(refunded["cancellation"], expected);
    assert_eq!(listed().await, json!([]));
    let again = operator.post(&path, &refund(310.4, "EUR")).await;
    again.expect_problem(409, "booking_state_conflict");
}

#[tokio::test]
async fn undecided_refund_is_decided_on_the_dashboard() {
    let scene = Scene::<Duffel>::begin().await;
    scene.mock.change(|duffel| {
        duffel.documents["quote"]["data"]["refund_currency"] = json!("USD");
    });
    let booking = scene.confirmed().await;
    scene.canceled(&booking).await;
    let options = ["--role", "operator"];
    let ada = DashboardClient::with_account(&scene.server, "ada@example.com", &options).await;
    let page = ada.get("/unresolved").await.body;
    assert!(page.contains("<dt>Undecided since</dt>"), "{page}");
    let of_booking = ada.get(&format!("/bookings/{booking}")).await.body;
    assert!(of_booking.contains("Amount of the refund undecided"));
    let button = format!("href=\"/unresolved?booking={booking}\">Decide the refund</a>");
    assert!(of_booking.contains(&button), "{of_booking}");
    let (_, rest) = page.split_once("name=\"call\" value=\"").unwrap();
    let call = rest.split('"').next().unwrap();
    let settle = async |amount: &str| {
        let fields = [
            ("booking", booking.as_str()),
            ("call", call),
            ("seen_state", "CANCELED"),
            ("choice", "refund"),
            ("amount", amount),
            ("currency", "EUR"),
            ("note", "As agreed by mail"),
        ];
        ada.post("/unresolved/settle", &fields).await
    };
    for amount in ["", "much", "360.41", "-1", "310.401"] {
        let refused = settle(amount).await;
        assert_eq!(refused.status, 422, "{amount}: {}", refused.body);
        assert!(refused.body.contains("amount-problem"), "{amount}");
    }
    assert_eq!(settle("310.40").await.status, 303);
    scene.server.wait_for_ledger(&booking, REFUNDED).await;
    let of_booking = ada.get(&format!("/bookings/{booking}")).await.body;
    assert!(of_booking.contains("Amount of the refund decided"));
    assert!(!of_booking.contains("/unresolved?booking="), "{of_booking}");
}

#[tokio::test]
async fn undecided_refund_is_decided_by_a_command() {
    let scene = Scene::<Duffel>::begin().await;
    scene.mock.change(|duffel| {
        duffel.documents["quote"]["data"]["refund_currency"] = json!("USD");
    });
    let booking = scene.confirmed().await;
    scene.canceled(&booking).await;
    let settle = ["unresolved", "settle", "refund", &booking];
    for (amount, is_done, says) in [
        ("360.41", false, "the refund must be between"),
        ("310.401", false, "the refund must be between"),
        ("310.40", true, "  CANCELED\n"),
        ("310.40", false, "has no unresolved call"),
    ] {
        let refund = ["--amount", amount, "--currency", "EUR", "--note", "Agreed"];
        let result = admin_command(&scene.server, &[&settle[..], &refund].concat()).await;
        assert_eq!(result.0, is_done, "{amount}: {}", result.1);
        assert!(result.1.contains(says), "{amount}: {}", result.1);
    }
    scene.server.wait_for_ledger(&booking, REFUNDED).await;
}

/// The cancellation was sent, and the order is still active. Duffel specifies no time after which
/// this proves that nothing happened.
#[tokio::test]
async fn cancellation_with_unknown_outcome_is_not_sent_again() {
    let scene = Scene::<Duffel>::begin().await;
    let booking = scene.confirmed().await;
    let lost = refusal(500, "internal_server_error");
    scene.mock.answer_with(CONFIRM, lost, false);
    scene.client.cancel_flight(&booking).await;
    scene.mock.wait_for_requests(READ, 4).await;
    scene.client.cancel_flight(&booking).await.expect(202);
    let now = scene.client.flight_booking(&booking).await;
    assert_eq!(now["status"], "CANCEL_IN_PROGRESS");
    assert_eq!(count(&scene.mock.take_received(), CONFIRM), 1);
    scene.server.wait_for_ledger(&booking, TAKEN).await;
}
