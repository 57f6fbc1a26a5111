//! Tests of bags for a ticket: the available ones, and each Duffel response to a purchase.

use crate::duffel::scene::{RELEASED, Scene, TAKEN};
use crate::duffel::service::refusal;
use serde_json::{Value, json};
use tests::{Client, MockResponse, Reply, count};

const ADD: &str = "POST /air/orders/ord_own/services";

/// A ticket and a request to purchase a bag for it.
struct Wish {
    path: String,
    body: Value,
    client: Client,
}

impl Wish {
    async fn make(scene: &Scene, booking: &str) -> Self {
        let path = format!("/v1/flight/bookings/{booking}/services");
        let bags = scene.client.get(&path).await.expect(200);
        let card = scene.client.store_card("tok_visa").await;
        let key = uuid::Uuid::now_v7().to_string();
        Self {
            path,
            body: json!({"services": [{"id": bags.data()[0]["id"], "quantity": 1}], "payment_instrument_id": card}),
            client: scene.client.header("x-idempotency-key", &key),
        }
    }

    async fn buy(&self) -> Reply {
        self.client.post(&self.path, &self.body).await
    }
}

#[tokio::test]
async fn available_bags_are_for_one_passenger_and_in_the_tickets_currency() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let path = format!("/v1/flight/bookings/{booking}/services");
    let bags = scene.client.get(&path).await.expect(200);
    assert_eq!(bags.body["meta"]["supplier"], "DUFFEL");
    let booking = scene.client.flight_booking(&booking).await;
    let segments = booking["journeys"][0]["segments"].as_array().unwrap();
    let segments: Vec<&Value> = segments.iter().map(|segment| &segment["id"]).collect();
    let [adults, childs] = bags.data().as_array().unwrap().as_slice() else {
        panic!(
            "seats and services for several passengers must be omitted: {:#}",
            bags.body
        );
    };
    assert_eq!(adults["segment_ids"], json!(segments));
    assert_eq!(adults["passenger_id"], booking["passengers"][0]["id"]);
    assert_eq!(childs["passenger_id"], booking["passengers"][1]["id"]);
    assert_eq!(
        childs["baggage"],
        json!({"type": "CARRY_ON", "max_weight_kg": null})
    );
    assert_eq!(childs["unit_amount"], scene.story.money("10.00"));
}

/// A response to the purchase, whether the purchase was made, and its outcome: the problem's code
/// and the ledger entries.
struct Case {
    name: &'static str,
    answer: MockResponse,
    is_made: bool,
    code: &'static str,
    ledger: &'static [&'static str],
}

fn cases() -> [Case; 9] {
    let unknown = |name, answer| Case {
        name,
        answer,
        is_made: true,
        code: "result_unknown",
        ledger: TAKEN,
    };
    let refused = |name, status, code: &str| Case {
        name,
        answer: refusal(status, code),
        is_made: false,
        code: "supplier_rejected",
        ledger: RELEASED,
    };
    let price = "payment_amount_does_not_match_order_amount";
    [
        unknown("a failure", refusal(500, "internal_server_error")),
        unknown("the airline's failure", refusal(502, "airline_internal")),
        unknown(
            "a truncated response",
            MockResponse::new(200, r#"{"data": {"#),
        ),
        unknown("a proxy's failure", MockResponse::new(503, "<html>")),
        refused("sold out", 422, "ancillary_service_not_available"),
        refused("another price", 422, price),
        refused("out of balance", 422, "insufficient_balance"),
        refused("not supported", 400, "400"),
        refused("held", 422, "pay_later_order_no_payment_for_ancillaries"),
    ]
}

#[tokio::test]
async fn bag_purchase_after_each_response_ends_as_the_order_shows() {
    let scene = Scene::begin().await;
    for case in cases() {
        let name = case.name;
        let booking = scene.confirmed().await;
        let wish = Wish::make(&scene, &booking).await;
        scene.duffel.answer_with(ADD, case.answer, case.is_made);
        let reply = wish.buy().await;
        assert_eq!(reply.body["code"], case.code, "{name}: {:#}", reply.body);
        let ledger = [TAKEN, case.ledger].concat();
        scene.leaves(name, &booking, &ledger).await;
        let again = wish.buy().await;
        let now = scene.client.flight_booking(&booking).await;
        assert_eq!(now["status"], "CONFIRMED", "{name}");
        if case.is_made {
            assert_eq!(again.status, 200, "{name}: {:#}", again.body);
            assert_eq!(now["services"][0]["status"], "CONFIRMED", "{name}");
            assert_eq!(now["total_amount"], scene.story.money("387.89"), "{name}");
        } else {
            assert_eq!(again.body["code"], case.code, "{name}: {:#}", again.body);
            assert_eq!(now["services"][0]["status"], "FAILED", "{name}");
            assert_eq!(now["total_amount"], scene.story.money("360.40"), "{name}");
        }
        scene.leaves(name, &booking, &ledger).await;
        let received = scene.duffel.take_received();
        assert_eq!(
            count(&received, ADD),
            1,
            "{name}: the purchase is sent only once"
        );
        scene.usual();
    }
}

/// Duffel specifies no time after which an order must show its services. A service that is missing
/// from the order therefore proves nothing.
#[tokio::test]
async fn bag_purchase_missing_from_the_order_stays_unknown() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let wish = Wish::make(&scene, &booking).await;
    let lost = refusal(500, "internal_server_error");
    scene.duffel.answer_with(ADD, lost, false);
    let _offered = scene.duffel.take_received();
    wish.buy().await.expect_problem(500, "result_unknown");
    tests::eventually("three reconciliations to be made", async || {
        let received = scene.duffel.api.received();
        (count(&received, "GET /air/orders/ord_own") >= 3).then_some(())
    })
    .await;
    wish.buy().await.expect_problem(500, "result_unknown");
    let reply = scene.client.cancel_flight(&booking).await;
    reply.expect_problem(409, "booking_state_conflict");
    let now = scene.client.flight_booking(&booking).await;
    assert_eq!(now["services"][0]["status"], "PENDING");
    let held = [TAKEN, &["authorization"]].concat();
    scene.leaves("an unknown purchase", &booking, &held).await;
    assert_eq!(count(&scene.duffel.take_received(), ADD), 1);
}

#[tokio::test]
async fn declined_card_buys_no_bag() {
    let scene = Scene::begin().await;
    let booking = scene.confirmed().await;
    let mut wish = Wish::make(&scene, &booking).await;
    let card = scene.client.store_card("tok_declined").await;
    wish.body["payment_instrument_id"] = json!(card);
    for _ in 0..2 {
        wish.buy().await.expect_problem(422, "payment_failed");
    }
    assert_eq!(count(&scene.duffel.take_received(), ADD), 0);
}
