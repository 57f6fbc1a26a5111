//! Tests of Duffel's webhooks: only authentic ones are accepted, each is stored once, and none
//! changes a booking by its contents alone.

use crate::duffel::service::{Duffel, FIND, ORDERS, READ, SECRET, refusal};
use crate::trip::{FlightSupplier, QUIET, REFUNDED, Scene, TAKEN, start_mock};
use serde_json::{Value, json};
use tests::{
    Client, Database, MockResponse, Reply, Server, concurrently, count, eventually,
    on_both_databases, sign_supplier_webhook,
};

const PATH: &str = "/v1/suppliers/DUFFEL/events";
const CANCELED: &str = "flight.booking.canceled";

/// Returns a webhook body in Duffel's format.
fn event(id: &str, kind: &str, object: Value) -> Value {
    json!({
        "id": id, "api_version": "v2", "type": kind, "data": {"object": object}, "live_mode": false,
        "idempotency_key": id, "created_at": "2026-05-01T10:05:01.642000Z", "identity_organisation_id": "org_1",
    })
}

/// Returns the order's part of an event that names the booking.
fn labeled(booking: &str) -> Value {
    json!({"id": "ord_own", "metadata": {"gateway_booking_id": booking}})
}

/// Returns the `X-Duffel-Signature` of a body that is signed `ahead_s` seconds from now.
fn signature(body: &[u8], ahead_s: i64) -> String {
    sign_supplier_webhook(SECRET, body, ahead_s)
}

impl Scene<Duffel> {
    /// Returns a client without an API key.
    fn stranger(&self) -> Client {
        self.client.without("x-api-key")
    }

    async fn deliver(&self, body: &[u8], signature: &str) -> Reply {
        let stranger = self.stranger().header("x-duffel-signature", signature);
        stranger.post_bytes(PATH, body.to_vec()).await
    }

    /// Delivers an event from Duffel and checks that it is accepted.
    async fn tell(&self, id: &str, kind: &str, object: Value) {
        let body = event(id, kind, object).to_string().into_bytes();
        let reply = self.deliver(&body, &signature(&body, 0)).await.expect(200);
        assert_eq!(reply.body, json!({"data": {"received": 1}}));
    }

    /// Waits until this many events have the outcome.
    async fn wait_for_events(&self, outcome: &str, times: u64) {
        eventually(&format!("{times} events to be {outcome}"), async || {
            (self.events(outcome).await == times).then_some(())
        })
        .await;
    }

    /// Counts the published events of a type about a booking.
    async fn published(&self, booking: &str, event_type: &str) -> usize {
        let published = self.server.outbox(booking).await;
        published.iter().filter(|kind| *kind == event_type).count()
    }

    /// Returns a booking whose order is made although Duffel responds that it is not yet.
    async fn pending(&self) -> String {
        let booking = self.ready().await;
        let accepted = MockResponse::json(202, &json!({"data": {}}));
        self.mock.answer_with(ORDERS, accepted, true);
        let reply = self.book(&booking).await;
        assert_eq!(reply.outcome(), (202, "COMPLETE_IN_PROGRESS"));
        let _made = self.mock.take_received();
        booking
    }
}

#[tokio::test]
async fn event_with_invalid_signature_is_refused_and_not_stored() {
    let scene = Scene::<Duffel>::on(Database::Sqlite, QUIET).await;
    let booking = scene.pending().await;
    let event = event("wev_1", "order.created", labeled(&booking));
    let body = event.to_string().into_bytes();
    let good = signature(&body, 0);
    let signatures = [
        String::new(),
        signature(b"another body", 0),
        signature(&body, -400),
        signature(&body, 400),
    ];
    for signature in signatures {
        let reply = scene.deliver(&body, &signature).await;
        let problem = reply.expect_problem(401, "invalid_signature");
        assert_eq!(problem.body["supplier"], "DUFFEL", "{signature}");
    }
    let unsigned = scene.stranger().post_bytes(PATH, body.clone()).await;
    unsigned.expect_problem(401, "invalid_signature");
    let with_a_key = scene.client.post_bytes(PATH, body.clone()).await;
    with_a_key.expect_problem(401, "invalid_signature");

    let nonsense = b"canary".as_slice();
    let unreadable = scene.deliver(nonsense, &signature(nonsense, 0)).await;
    unreadable.expect_problem(400, "validation_failed");
    let large = vec![b' '; (1 << 20) + 1];
    let too_large = scene.deliver(&large, &signature(&large, 0)).await;
    too_large.expect_problem(413, "body_too_large");

    for outcome in ["received", "duplicate", "ignored", "applied"] {
        assert_eq!(scene.events(outcome).await, 0, "{outcome}");
    }
    scene.expect_no_call();
    let of_text = scene.stranger().header("content-type", "text/plain");
    let signed = of_text.header("x-duffel-signature", &good);
    signed.post_bytes(PATH, body).await.expect(200);
    let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
    for secret in [SECRET, "canary", "org_1"] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
}

#[tokio::test]
async fn event_path_of_unknown_supplier_returns_404() {
    let scene = Scene::<Duffel>::on(Database::Sqlite, QUIET).await;
    let long = "0123456789abcdef".repeat(2);
    for path in [
        "/v1/suppliers/NOBODY/events".to_owned(),
        "/v1/suppliers/nobody/events".to_owned(),
        "/v1/suppliers/SANDBOX_HOTELS/events".to_owned(),
        format!("{PATH}/{long}"),
        format!("{PATH}/x"),
        format!("{PATH}/{}", "x".repeat(300)),
    ] {
        let reply = scene.stranger().post(&path, &json!({})).await;
        reply.expect_problem(404, "not_found");
    }
    let read = scene.stranger().get(PATH).await;
    read.expect_problem(405, "method_not_allowed");
}

/// The event names the booking by our label or by the offer alone.
async fn event_completes_pending_order(database: Database) {
    let scene = Scene::<Duffel>::on(database, QUIET).await;
    for (id, by) in [("wev_label", "label"), ("wev_offer", "offer")] {
        let booking = scene.pending().await;
        let object = match by {
            "label" => labeled(&booking),
            _ => json!({"offer_id": "off_flex"}),
        };
        scene.tell(id, "order.created", object).await;
        let client = &scene.client;
        let ended = client.wait_for_flight_booking(&booking, "CONFIRMED").await;
        assert_eq!(ended["supplier_reference"], "ord_own", "{by}");
        scene.server.wait_for_ledger(&booking, TAKEN).await;
        let received = scene.mock.take_received();
        let times = [FIND, ORDERS].map(|route| count(&received, route));
        assert_eq!(
            times,
            [1, 0],
            "{by}: the order is read once and not sent again"
        );
        scene.usual();
    }
    assert_eq!(scene.events("applied").await, 2);
}

/// The same event arrives repeatedly and then another one. Exactly two reconciliations follow.
async fn duplicate_event_is_stored_once(database: Database) {
    let scene = Scene::<Duffel>::on(database, QUIET).await;
    let booking = scene.confirmed().await;
    let kind = "order.updated";
    for _ in 0..3 {
        scene.tell("wev_1", kind, labeled(&booking)).await;
    }
    let first = event("wev_1", kind, labeled(&booking));
    let body = first.to_string().into_bytes();
    let stranger = scene.stranger();
    let signed = stranger.header("x-duffel-signature", &signature(&body, 0));
    let calls = std::iter::repeat_n((signed, body), 8);
    let calls = calls.map(|(client, body)| async move { client.post_bytes(PATH, body).await });
    for reply in concurrently(calls).await {
        reply.expect(200);
    }
    scene.wait_for_events("applied", 1).await;
    scene.mock.wait_for_requests(READ, 1).await;
    scene.tell("wev_2", kind, labeled(&booking)).await;
    scene.wait_for_events("applied", 2).await;
    scene.mock.wait_for_requests(READ, 2).await;
    assert_eq!(scene.events("received").await, 2);
    assert_eq!(scene.events("duplicate").await, 10);
    assert_eq!(count(&scene.mock.take_received(), READ), 2);
}

async fn only_duffels_order_changes_a_ticket_not_the_event(database: Database) {
    let scene = Scene::<Duffel>::on(database, QUIET).await;
    scene.mock.change(|duffel| {
        duffel.documents["order"]["data"]["airline_initiated_changes"] = json!([]);
    });
    let booking = scene.confirmed().await;
    let canceled = "order_cancellation.confirmed";
    let object = json!({"id": "ore_1", "order_id": "ord_own", "status": "cancelled",
        "cancelled_at": "2026-05-01T10:05:00Z", "metadata": {"gateway_booking_id": booking}});
    let client = &scene.client;
    scene.tell("wev_1", canceled, object.clone()).await;
    scene.mock.wait_for_requests(READ, 1).await;

    // The airline changes a flight. The ticket stays confirmed.
    let moved = Duffel::new().documents["order"]["data"]["airline_initiated_changes"].clone();
    scene
        .mock
        .change(|duffel| duffel.order()["airline_initiated_changes"] = moved);
    let changed = "order.airline_initiated_change_detected";
    scene.tell("wev_2", changed, object.clone()).await;
    let shown = client
        .wait_for_flight_booking_where(&booking, "the airline's change", |booking| {
            booking["airline_initiated_changes"][0]["type"] == "SCHEDULE_CHANGE"
        })
        .await;
    assert_eq!(
        shown["status"], "CONFIRMED",
        "an event alone does not cancel the ticket"
    );
    assert_eq!(scene.server.ledger().await.kinds_of(&booking), TAKEN);
    let change = "flight.booking.airline_change";
    assert_eq!(scene.published(&booking, change).await, 1);
    assert_eq!(scene.published(&booking, CANCELED).await, 0);

    // The airline cancels, and Duffel's order shows it.
    scene.mock.change(Duffel::cancel_by_airline);
    scene.tell("wev_3", canceled, object).await;
    client.wait_for_flight_booking(&booking, "CANCELED").await;
    scene.server.wait_for_ledger(&booking, REFUNDED).await;
    assert_eq!(scene.published(&booking, CANCELED).await, 1);
}

/// The event contains only Duffel's id of the order, which the gateway does not have yet.
async fn event_waits_until_its_order_id_is_known(database: Database) {
    let scene = Scene::<Duffel>::on(database, QUIET).await;
    let booking = scene.ready().await;
    let lost = refusal(500, "internal_server_error");
    scene.mock.answer_with(ORDERS, lost, true);
    let reply = scene.book(&booking).await;
    reply.expect_problem(500, "result_unknown");
    let about = json!({"id": "ord_own"});
    scene.tell("wev_early", "air.order.changed", about).await;
    let about = json!({"offer_id": "off_flex"});
    scene.tell("wev_2", "order.created", about).await;
    let client = &scene.client;
    client.wait_for_flight_booking(&booking, "CONFIRMED").await;
    scene.wait_for_events("applied", 2).await;
    scene.mock.wait_for_requests(READ, 1).await;
    assert_eq!(count(&scene.mock.take_received(), READ), 1);
}

/// Events about the order arrive while the response to the booking is in transit. Whichever is
/// stored first, the other one sees its result.
async fn event_before_book_response_changes_nothing_twice(database: Database) {
    let scene = Scene::<Duffel>::on(database, QUIET).await;
    for round in 0..8 {
        let booking = scene.ready().await;
        let tell = async |number: u64| {
            let id = format!("wev_{round}_{number}");
            scene.tell(&id, "order.created", labeled(&booking)).await;
        };
        let (reply, ..) = tokio::join!(scene.book(&booking), tell(1), tell(2), tell(3));
        assert_eq!(reply.expect(200).data()["status"], "CONFIRMED");
        scene.server.wait_for_ledger(&booking, TAKEN).await;
        scene.wait_for_events("applied", 3 * (round + 1)).await;
        assert_eq!(count(&scene.mock.take_received(), ORDERS), 1);
        for once in ["flight.booking.confirmed", "payment.captured"] {
            assert_eq!(scene.published(&booking, once).await, 1, "{once}");
        }
        scene.usual();
    }
}

/// The process stops after it read the order or after it stored the result. The airline's
/// cancellation is reported once, and its refund is made once.
async fn reconciliation_survives_a_crash(database: Database) {
    let config = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[jobs]\nlease_s = 1";
    for (point, readings) in [
        ("refresh:response_received", 2),
        ("refresh:outcome_committed", 1),
    ] {
        let mock = start_mock().await;
        let plain = Duffel::options(&mock, database, config);
        let armed = plain.clone().with_failpoint(point);
        let server = Server::start_with_own_sandbox(armed).await;
        let mut scene = Scene::<Duffel>::at(mock, server);
        let booking = scene.confirmed().await;
        scene.mock.change(Duffel::cancel_by_airline);
        let order = labeled(&booking);
        scene.tell("wev_1", "order.updated", order).await;
        let status = scene.server.wait_for_exit().await;
        assert!(!status.success(), "{point}: the process ended by itself");
        scene.server = scene.server.restart(plain).await;
        scene.client = scene.server.client();
        scene
            .client
            .wait_for_flight_booking(&booking, "CANCELED")
            .await;
        scene.server.wait_for_ledger(&booking, REFUNDED).await;
        let received = scene.mock.take_received();
        assert_eq!(count(&received, READ), readings, "{point}");
        assert_eq!(scene.published(&booking, CANCELED).await, 1, "{point}");
    }
}

/// Events that name no booking are stored and ignored.
#[tokio::test]
async fn event_without_known_booking_is_stored_and_ignored() {
    let scene = Scene::<Duffel>::on(Database::Sqlite, QUIET).await;
    scene.tell("wev_1", "ping.triggered", json!({})).await;
    assert_eq!(scene.events("ignored").await, 1);
    let another =
        json!({"offer_id": "off_of_another", "metadata": {"gateway_booking_id": "bkg_0"}});
    scene.tell("wev_2", "order.created", another).await;
    scene.wait_for_events("ignored", 2).await;
    scene.expect_no_call();
}

on_both_databases! {
    event_completes_pending_order,
    duplicate_event_is_stored_once,
    only_duffels_order_changes_a_ticket_not_the_event,
    event_waits_until_its_order_id_is_known,
    event_before_book_response_changes_nothing_twice,
    reconciliation_survives_a_crash,
}
