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
    let headers = [
        ("content-type", "application/json"),
        ("X-Duffel-Signature", signature),
    ];
    let headers = headers.map(|(name, value)| Header {
        name: name.to_owned(),
        value: value.to_owned(),
    });
    WebhookRequest {
        headers: headers.to_vec(),
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
    let signature = format!("t=1809252301,v1={}", secret::to_hex(&digest));
    WebhookRequest {
        body,
        ..delivery(&signature)
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
        assert_eq!(outcome(&result), InvalidSignature, "{signature}");
    }
    let mut unsigned = delivery(SIGNATURE);
    unsigned.headers.pop();
    let mut changed = delivery(SIGNATURE);
    changed.body.push(b' ');
    for (gateway, delivery) in [
        (gateway(), unsigned),
        (gateway(), changed),
        (MockGateway::new(), delivery(SIGNATURE)),
    ] {
        assert_eq!(outcome(&verify(&gateway, delivery)), InvalidSignature);
    }
}

#[test]
fn signature_is_valid_within_five_minutes() {
    let cases = [
        (0, true),
        (300, true),
        (-300, true),
        (301, false),
        (-301, false),
    ];
    for (late_s, is_authentic) in cases {
        let mut delivery = delivery(SIGNATURE);
        delivery.received_at += late_s * 1000;
        let is_ok = verify(&gateway(), delivery).is_ok();
        assert_eq!(is_ok, is_authentic, "{late_s}");
    }
}

#[test]
fn event_type_determines_kind() {
    use EventKind::{BookingChanged, CancellationChanged, ItineraryChanged, PaymentChanged};
    let kind = |name: &str| read(&json!({ "id": "wev_1", "type": name })).unwrap().kind;
    let cases = [
        ("order.created", BookingChanged),
        ("order.creation_failed", BookingChanged),
        ("order.updated", BookingChanged),
        ("air.order.changed", ItineraryChanged),
        ("order.airline_initiated_change_detected", ItineraryChanged),
        ("air.payment.succeeded", PaymentChanged),
        ("air.payment.cancelled", PaymentChanged),
        ("payment.created", PaymentChanged),
        ("order_cancellation.confirmed", CancellationChanged),
    ];
    for (name, expected) in cases {
        assert_eq!(kind(name), expected, "{name}");
    }
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
    let object = |object: Value| json!({ "object": object });
    let order = object(json!({ "id": "ord_1" }));
    let cancellation = object(json!({ "id": "ore_1", "order_id": "ord_2" }));
    let offer = object(json!({ "offer_id": "off_1" }));
    let cases = [
        (order, "zmFpbGVk", Some("ord_1"), None),
        (cancellation, "ore_1", Some("ord_2"), None),
        (object(json!(null)), "ord_3", Some("ord_3"), None),
        (offer, "zmFpbGVk", None, Some("off_1")),
        (json!(null), "", None, None),
    ];
    for (data, about, reference, offer) in cases {
        let event = json!({ "id": "wev_1", "type": "x", "data": data, "idempotency_key": about });
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
