//! Nuitee's webhooks.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Event, EventKind, VerifyError, WebhookRequest};
use stopover_sdk::testing::Outcome::Malformed;
use stopover_sdk::testing::outcome;

use crate::ask;

pub(crate) fn verify(body: impl AsRef<[u8]>) -> Result<Vec<Event>, VerifyError> {
    let delivery = WebhookRequest {
        headers: Vec::new(),
        body: body.as_ref().to_vec(),
        received_at: 0,
    };
    ask::gateway().run(|| NuiteeFlights::verify(delivery))
}

fn read(body: &Value) -> Event {
    let events = verify(body.to_string()).unwrap();
    let [event] = <[Event; 1]>::try_from(events).unwrap();
    event
}

#[test]
fn webhook_event_names_its_booking() {
    let events = verify(ask::fixture("webhook.json")).unwrap();
    assert_eq!(
        events,
        [Event {
            id: "evt_own_1".to_owned(),
            kind: EventKind::BookingChanged,
            supplier_reference: Some(ask::BOOKING_ID.to_owned()),
            client_reference: Some("bkg_own_1".to_owned()),
            supplier_offer: Some("019d0000-aaaa-7000-8000-0000000000aa".to_owned()),
            occurred_at: None,
        }]
    );
}

#[test]
fn booking_is_found_anywhere_in_webhook() {
    let text =
        |value: Value| json!({"event_name": "e", "request": "", "response": value.to_string()});
    let found = [
        text(json!({"bookingId": "B-1"})),
        text(json!({"data": [{"deep": [[{"booking": {"bookingId": "B-1"}}]]}]})),
        text(json!([1, null, {"a": true, "bookingId": "B-1", "bookingId2": 2.5}])),
        json!({"event_name": "e", "request": "not JSON", "response": {"bookingId": "B-1"}}),
    ];
    for body in found {
        let event = read(&body);
        assert_eq!(event.supplier_reference.as_deref(), Some("B-1"), "{body}");
        assert_eq!(event.kind, EventKind::BookingChanged, "{body}");
    }
    let event = read(&text(json!({"customTags": {"GW_REF": "bkg_own_1"}})));
    assert_eq!(event.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!(event.supplier_reference, None);
}

#[test]
fn event_name_determines_kind() {
    let cases = [
        ("booking.book", EventKind::BookingChanged),
        ("flights.booking.cancelled", EventKind::CancellationChanged),
        ("booking.cancel", EventKind::CancellationChanged),
        ("flight.payment.updated", EventKind::PaymentChanged),
        ("flight.schedule_change", EventKind::ItineraryChanged),
        ("anything", EventKind::BookingChanged),
    ];
    for (name, expected) in cases {
        let body = json!({"event_name": name, "response": "{\"bookingId\": \"B-1\"}"});
        assert_eq!(read(&body).kind, expected, "{name}");
    }
}

#[test]
fn event_without_booking_is_irrelevant() {
    let bodies = [
        json!({"event_name": "booking.book", "request": "<xml>", "response": ""}),
        json!({"event_name": "booking.book"}),
        json!({"event_name": "booking.prebook", "response": "{\"prebookId\": \"P-1\"}"}),
    ];
    for body in bodies {
        let kind = read(&body).kind;
        assert!(matches!(kind, EventKind::Irrelevant(_)), "{body}: {kind:?}");
    }
}

#[test]
fn event_without_id_gets_digest_of_body() {
    let body = json!({"event_name": "booking.book", "response": "{}"});
    let id = read(&body).id;
    assert_eq!(id.len(), "sha256-".len() + 64);
    assert_eq!(read(&body).id, id);
    let other = json!({"event_name": "booking.book", "response": "{ }"});
    assert_ne!(read(&other).id, id);
}

#[test]
fn body_without_event_is_unreadable() {
    let unnamed = r#"{"event_name": ""}"#;
    for body in [
        "",
        "<html>",
        "[]",
        "7",
        "{}",
        unnamed,
        "{\"event_name\": \"e\"",
    ] {
        assert_eq!(outcome(&verify(body)), Malformed, "{body}");
    }
    assert_eq!(outcome(&verify([0xff, 0xfe])), Malformed);
}
