//! Tests of Nuitee's webhooks about hotels. A change by the hotel is read from Nuitee, reported and
//! refunded; the webhook's contents alone change nothing.

use crate::nuitee::service::{EVENTS_TOKEN, Scene};
use crate::trip::TAKEN;
use serde_json::{Value, json};
use tests::{Database, eventually, on_both_databases};

const CHANGED: &str = "hotel.booking.changed";

/// Returns a webhook body in Nuitee's format: documents as text.
fn event(id: &str, name: &str, booking: &str) -> Value {
    let request = json!({"prebookId": "p", "clientReference": booking}).to_string();
    json!({"event_id": id, "event_name": name, "request": request, "response": "{}", "sandbox": true})
}

impl Scene {
    /// Delivers an event from Nuitee and waits until it is applied.
    async fn tell(&self, id: &str, name: &str, booking: &str) {
        let stranger = self.client.without("x-api-key");
        let path = format!("/v1/suppliers/NUITEE/events/{EVENTS_TOKEN}");
        let before = self.applied().await;
        let event = event(id, name, booking);
        stranger.post(&path, &event).await.expect(200);
        eventually("the event to be applied", async || {
            (self.applied().await > before).then_some(())
        })
        .await;
    }

    async fn applied(&self) -> u64 {
        let labels = [("supplier", "NUITEE"), ("outcome", "applied")];
        let name = "stopover_supplier_events_total";
        self.server.metric(name, &labels).await
    }
}

async fn hotel_change_is_reported_and_hotel_cancellation_is_refunded(database: Database) {
    let scene = Scene::begin(database).await;
    let booking = scene.confirmed().await;

    // The webhook reports a cancellation. Nuitee's booking is still confirmed and has a
    // confirmation code.
    let code = json!({"hotelConfirmationCode": "HCN-7"});
    scene.change_booking("CONFIRMED", code);
    scene.tell("evt_1", "booking.cancel", &booking).await;
    let changed = eventually("the hotel's confirmation code to appear", async || {
        let booking = scene.client.hotel_booking(&booking).await;
        (booking["hotel_confirmation_code"] == "HCN-7").then_some(booking)
    })
    .await;
    assert_eq!(
        changed["status"], "CONFIRMED",
        "an event alone does not cancel the booking"
    );
    let events = scene.server.events().await;
    let told = events.iter().find(|event| event["type"] == CHANGED);
    assert_eq!(
        told.unwrap()["data"]["booking"],
        changed,
        "the event contains the booking as it is read"
    );

    // Nothing has changed since.
    let _earlier = scene.take_received();
    scene.tell("evt_2", "booking.amend", &booking).await;
    eventually("the booking to be read again", async || {
        (!scene.book.api.received().is_empty()).then_some(())
    })
    .await;
    assert_eq!(scene.server.ledger().await.kinds_of(&booking), TAKEN);

    // The hotel cancels, and Nuitee keeps a fee.
    let charged = json!({"hotelConfirmationCode": "HCN-7", "amountRefunded": 400.0});
    scene.change_booking("CANCELLED_WITH_CHARGES", charged);
    scene.tell("evt_3", "booking.cancel", &booking).await;
    let client = &scene.client;
    let canceled = client.wait_for_hotel_booking(&booking, "CANCELED").await;
    let [cancellation] = canceled["cancellations"].as_array().unwrap().as_slice() else {
        panic!("{canceled:#}");
    };
    assert_eq!(cancellation["status"], "SUCCEEDED");
    assert_eq!(cancellation["refund_amount"]["amount"], 400.0);
    assert_eq!(cancellation["fee"]["amount"], 60.5);
    let refunded = [TAKEN, &["refund"]].concat();
    scene.server.wait_for_ledger(&booking, &refunded).await;
    let told = scene.server.outbox(&booking).await;
    for once in [CHANGED, "hotel.booking.canceled", "payment.refunded"] {
        let times = told.iter().filter(|kind| *kind == once).count();
        assert_eq!(times, 1, "{once} in {told:?}");
    }
    let sent = scene.take_received();
    let mut sent = sent.iter().flatten();
    assert!(
        sent.all(|request| request.route.starts_with("GET ")),
        "the gateway only reads from Nuitee"
    );
}

on_both_databases!(hotel_change_is_reported_and_hotel_cancellation_is_refunded);
