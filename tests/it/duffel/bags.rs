//! Tests of purchases of bags for a ticket whose response from Duffel is lost.

use crate::duffel::scene::{Scene, TAKEN};
use crate::duffel::service::refusal;
use tests::count;

const ADD: &str = "POST /air/orders/ord_own/services";
const KEY: &str = "bags-1";

#[tokio::test]
async fn bag_purchase_with_lost_response_is_found_on_the_order() {
    let scene = Scene::begin().await;
    let client = &scene.client;
    let booking = scene.confirmed().await;
    let request = client.bag_request(&booking, "tok_visa").await;
    let lost = refusal(500, "internal_server_error");
    scene.duffel.answer_with(ADD, lost, true);
    let reply = client.purchase_bags(&booking, KEY, &request).await;
    reply.expect_problem(500, "result_unknown");
    let ledger = [TAKEN, TAKEN].concat();
    scene.server.wait_for_ledger(&booking, &ledger).await;
    let again = client.purchase_bags(&booking, KEY, &request).await;
    let now = again.expect(200).data().clone();
    assert_eq!(now["status"], "CONFIRMED");
    assert_eq!(now["services"][0]["status"], "CONFIRMED");
    assert_eq!(now["total_amount"], scene.story.money("387.89"));
    assert_eq!(count(&scene.duffel.take_received(), ADD), 1);
}

/// Duffel specifies no time after which an order must show its services. A service that is missing
/// from the order therefore proves nothing.
#[tokio::test]
async fn bag_purchase_missing_from_the_order_stays_unknown() {
    let scene = Scene::begin().await;
    let client = &scene.client;
    let booking = scene.confirmed().await;
    let request = client.bag_request(&booking, "tok_visa").await;
    let lost = refusal(500, "internal_server_error");
    scene.duffel.answer_with(ADD, lost, false);
    let _offered = scene.duffel.take_received();
    let purchase = async || {
        let reply = client.purchase_bags(&booking, KEY, &request).await;
        reply.expect_problem(500, "result_unknown");
    };
    purchase().await;
    scene.wait_for_requests("GET /air/orders/ord_own", 3).await;
    purchase().await;
    let reply = client.cancel_flight(&booking).await;
    reply.expect_problem(409, "booking_state_conflict");
    let now = client.flight_booking(&booking).await;
    assert_eq!(now["services"][0]["status"], "PENDING");
    let held = [TAKEN, &["authorization"]].concat();
    scene.server.wait_for_ledger(&booking, &held).await;
    assert_eq!(count(&scene.duffel.take_received(), ADD), 1);
}
