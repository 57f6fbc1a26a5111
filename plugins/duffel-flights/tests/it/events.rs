//! Webhooks: signature verification and the meaning of events.

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::supplier_events::{Event, EventKind, Header, VerifyError, WebhookRequest};
use stopover_sdk::testing::Outcome::{InvalidSignature, Malformed};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::{SupplierEvents, secret};

use crate::ask;

/// A secret that looks like base64 and is used as it is.
const SECRET: &str = "QKfUULLQh+8Own+key==";
/// Signature of the fixture, computed with another tool.
pub(crate) const SIGNATURE: &str =
    "t=1809252301,v1=17948ff2ee684a01ce3e8dcff8873f0c7712c995bdc600d1fbfd7073a2fba0b7";
const SENT_MS: i64 = 1_809_252_301_000;

pub(crate) fn gateway() -> MockGateway {
    MockGateway::new().secret("webhook_secret", SECRET)
}

pub(crate) fn delivery(signature: &str) -> WebhookRequest {
    WebhookRequest {
        headers: vec![
            Header {
                name: "content-type".to_owned(),
                value: "application/json".to_owned(),
            },
            Header {
                name: "X-Duffel-Signature".to_owned(),
                value: signature.to_owned(),
            },
        ],
        body: ask::fixture("event.json").into_bytes(),
        received_at: SENT_MS,
    }
}

pub(crate) fn verify(
    gateway: &MockGateway,
    delivery: WebhookRequest,
) -> Result<Vec<Event>, VerifyError> {
    gateway.run(|| DuffelFlights::verify(delivery))
}

/// Returns a delivery of this body, signed as Duffel signs.
pub(crate) fn signed(body: Vec<u8>) -> WebhookRequest {
    let gateway = gateway();
    let message = [b"1809252301.".as_slice(), &body].concat();
    let digest = gateway
        .run(|| secret::hmac_sha256("webhook_secret", &message))
        .unwrap();
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    WebhookRequest {
        body,
        ..delivery(&format!("t=1809252301,v1={digest}"))
    }
}

/// Verifies a signed delivery of this event.
fn read(event: &Value) -> Result<Event, VerifyError> {
    let delivery = signed(event.to_string().into_bytes());
    verify(&gateway(), delivery).map(|mut events| events.remove(0))
}

#[test]
fn authentic_delivery_is_parsed() {
    let events = verify(&gateway(), delivery(SIGNATURE)).unwrap();
    assert_eq!(
        events,
        [Event {
            id: "wev_own".to_owned(),
            kind: EventKind::BookingChanged,
            supplier_reference: Some("ord_own".to_owned()),
            client_reference: Some("bkg_own_1".to_owned()),
            supplier_offer: Some("off_flex".to_owned()),
            occurred_at: Some(1_809_165_901_642),
        }]
    );
}

#[test]
fn delivery_with_invalid_signature_is_unauthentic() {
    let digest = SIGNATURE.split_once("v1=").unwrap().1;
    let cases = [
        String::new(),
        digest.to_owned(),
        format!("v1={digest}"),
        "t=1809252301".to_owned(),
        format!("t=,v1={digest}"),
        format!("t=x,v1={digest}"),
        format!("t=1809252302,v1={digest}"),
        format!("t=1809252301,v1={}", &digest[..63]),
        format!("t=1809252301,v1={}", digest.to_uppercase()),
        format!("t=1809252301,v1={}b8", &digest[..62]),
    ];
    for signature in cases {
        let result = verify(&gateway(), delivery(&signature));
        assert_eq!(
            outcome(&result),
            InvalidSignature,
            "{signature}: {result:?}"
        );
    }
    let mut unsigned = delivery(SIGNATURE);
    unsigned.headers.pop();
    assert_eq!(outcome(&verify(&gateway(), unsigned)), InvalidSignature);
    let mut changed = delivery(SIGNATURE);
    changed.body.push(b' ');
    assert_eq!(outcome(&verify(&gateway(), changed)), InvalidSignature);
    assert_eq!(
        outcome(&verify(&MockGateway::new(), delivery(SIGNATURE))),
        InvalidSignature
    );
}

#[test]
fn signature_is_valid_within_five_minutes() {
    for (late_s, is_authentic) in [
        (0, true),
        (300, true),
        (-300, true),
        (301, false),
        (-301, false),
    ] {
        let delivery = WebhookRequest {
            received_at: SENT_MS + late_s * 1000,
            ..delivery(SIGNATURE)
        };
        assert_eq!(
            verify(&gateway(), delivery).is_ok(),
            is_authentic,
            "{late_s}"
        );
    }
}

#[test]
fn event_type_determines_kind() {
    let kind = |name: &str| read(&json!({ "id": "wev_1", "type": name })).unwrap().kind;
    let cases = [
        ("order.created", EventKind::BookingChanged),
        ("order.creation_failed", EventKind::BookingChanged),
        ("order.updated", EventKind::BookingChanged),
        ("air.order.changed", EventKind::ItineraryChanged),
        ("air.payment.succeeded", EventKind::PaymentChanged),
        ("air.payment.cancelled", EventKind::PaymentChanged),
        ("payment.created", EventKind::PaymentChanged),
    ];
    for (name, expected) in cases {
        assert_eq!(kind(name), expected, "{name}");
    }
    let name = "order.airline_initiated_change_detected";
    assert_eq!(kind(name), EventKind::ItineraryChanged);
    let name = "order_cancellation.confirmed";
    assert_eq!(kind(name), EventKind::CancellationChanged);
    for name in [
        "order_cancellation.created",
        "air.airline_credit.created",
        "stays.booking.created",
        "ping.triggered",
        "something.new",
    ] {
        assert_eq!(kind(name), EventKind::Irrelevant(name.to_owned()));
    }
}

#[test]
fn order_reference_is_found_in_every_position() {
    let event = |object: Value, about: &str| json!({ "id": "wev_1", "type": "x", "data": { "object": object }, "idempotency_key": about });
    let cases = [
        (
            event(json!({ "id": "ord_1" }), "zmFpbGVk"),
            Some("ord_1"),
            None,
        ),
        (
            event(json!({ "id": "ore_1", "order_id": "ord_2" }), "ore_1"),
            Some("ord_2"),
            None,
        ),
        (event(json!(null), "ord_3"), Some("ord_3"), None),
        (
            event(json!({ "offer_id": "off_1" }), "ZmFpbGVk"),
            None,
            Some("off_1"),
        ),
        (
            json!({ "id": "wev_1", "type": "x", "data": null }),
            None,
            None,
        ),
    ];
    for (event, reference, offer) in cases {
        let read = read(&event).unwrap();
        assert_eq!(read.supplier_reference.as_deref(), reference, "{event}");
        assert_eq!(read.supplier_offer.as_deref(), offer, "{event}");
        assert_eq!((read.client_reference, read.occurred_at), (None, None));
    }
}

#[test]
fn signed_body_without_event_is_unreadable() {
    for event in [json!([]), json!({ "type": "order.created" })] {
        assert_eq!(outcome(&read(&event)), Malformed, "{event}");
    }
}
