//! Stripe's events: their authenticity and their subject.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Event, EventKind, Header, VerifyError, WebhookRequest};
use stopover_sdk::testing::Outcome::{InvalidSignature, Malformed};
use stopover_sdk::testing::{MockGateway, outcome};
use stripe_payments::StripePayments;

use crate::script::{PAYMENT_ID, PAYMENT_REF, REFUND_REF, edited, fixture};

const SECRET: &str = "whsec_made0up";
pub(crate) const SIGNED_AT: i64 = 1_795_257_990;

fn signature(secret: &str, time: &str, body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    let mac = mac.chain_update(format!("{time}.")).chain_update(body);
    let digest = mac.finalize().into_bytes();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn delivery(
    headers: &[(&str, &str)],
    body: impl AsRef<[u8]>,
    received_at: i64,
) -> WebhookRequest {
    let headers = headers.iter().map(|(name, value)| Header {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    });
    WebhookRequest {
        headers: headers.collect(),
        body: body.as_ref().to_vec(),
        received_at,
    }
}

pub(crate) fn verify(delivery: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
    let gateway = MockGateway::new().secret("webhook", SECRET);
    let events = gateway.run(|| StripePayments::verify(delivery));
    assert!(gateway.requests().is_empty());
    events
}

/// Returns the header that Stripe sends with a body.
pub(crate) fn header(body: &[u8]) -> String {
    let time = SIGNED_AT.to_string();
    format!("t={time},v1={}", signature(SECRET, &time, body))
}

/// Verifies a delivery in Stripe's form that arrives a second later.
pub(crate) fn delivered(body: impl AsRef<[u8]>) -> Result<Vec<Event>, VerifyError> {
    let body = body.as_ref();
    let header = header(body);
    let headers = [("Stripe-Signature", header.as_str())];
    verify(delivery(&headers, body, (SIGNED_AT + 1) * 1_000))
}

#[test]
fn delivery_is_authentic_if_one_signature_matches() {
    let body = fixture("event").to_string();
    let time = SIGNED_AT.to_string();
    let good = signature(SECRET, &time, body.as_bytes());
    let bad = signature("whsec_other", &time, body.as_bytes());
    let (t, upper) = (format!("t={time}"), good.to_uppercase());
    let half = &good[..32];
    let other_time = signature(SECRET, "1", body.as_bytes());
    let cases = [
        (format!("{t},v1={good}"), true),
        (format!("{t}, v1={good}"), true),
        (format!("v1={good},{t}"), true),
        // A secret is being replaced, so there are two signatures, and one of the older scheme.
        (format!("{t},v1={bad},v1={good},v0={bad}"), true),
        (format!("{t},v1={good},v1={bad}"), true),
        (format!("{t},v1={bad}"), false),
        (format!("{t},v0={good}"), false),
        (format!("{t},v1={half}"), false),
        (format!("{t},v1={good}00"), false),
        (format!("{t},v1={upper}"), false),
        (format!("{t},v1="), false),
        (format!("{t},v1={other_time}"), false),
        (t.clone(), false),
        (format!("v1={good}"), false),
        (format!("t=,v1={good}"), false),
        (format!("t=now,v1={good}"), false),
        (format!("t=-{time},v1={good}"), false),
        (String::new(), false),
    ];
    for (header, is_stripes) in cases {
        let headers = [("stripe-signature", header.as_str())];
        match verify(delivery(&headers, &body, SIGNED_AT * 1_000)) {
            Ok(_) => assert!(is_stripes, "{header}"),
            Err(VerifyError::InvalidSignature(_)) => assert!(!is_stripes, "{header}"),
            Err(other) => panic!("{header}: {other:?}"),
        }
    }
}

#[test]
fn signature_is_valid_within_five_minutes() {
    let body = fixture("event").to_string();
    let header = header(body.as_bytes());
    for (after_ms, is_fresh) in [
        (0, true),
        (300_000, true),
        (300_001, false),
        (-300_000, true),
        (-300_001, false),
        (i64::MAX - SIGNED_AT * 1_000, false),
    ] {
        let headers = [("Stripe-Signature", header.as_str())];
        let events = verify(delivery(&headers, &body, SIGNED_AT * 1_000 + after_ms));
        assert_eq!(events.is_ok(), is_fresh, "{after_ms}: {events:?}");
    }
}

#[test]
fn unverifiable_delivery_is_unauthentic() {
    let body = fixture("event").to_string();
    let header = header(body.as_bytes());
    let signed = [("Stripe-Signature", header.as_str())];
    let twice = [signed[0], signed[0]];
    let changed = body.replace(PAYMENT_ID, "pi_other");
    let now = SIGNED_AT * 1_000;
    for delivery in [
        delivery(&[], &body, now),
        delivery(&[("svc-signature", &header)], &body, now),
        delivery(&twice, &body, now),
        delivery(&signed, &changed, now),
        delivery(&signed, "", now),
    ] {
        let events = verify(delivery);
        assert_eq!(outcome(&events), InvalidSignature, "{events:?}");
    }
    // Without the secret no delivery is authentic.
    let events = MockGateway::new().run(|| StripePayments::verify(delivery(&signed, &body, now)));
    assert_eq!(outcome(&events), InvalidSignature, "{events:?}");
}

fn about(object: Value) -> Value {
    edited("event", &[("/data/object", object)])
}

#[test]
fn event_names_payment_to_read_again() {
    let metadata = json!({"client_reference": PAYMENT_REF, "made_for": "instrument"});
    let of_payment = |kind: &str, metadata: Value| {
        let payment = PAYMENT_ID;
        about(json!({"object": kind, "id": "x_1", "payment_intent": payment, "metadata": metadata}))
    };
    let of_refund = json!({"client_reference": REFUND_REF});
    let cases = [
        (fixture("event"), Some(PAYMENT_REF)),
        (of_payment("charge", metadata), Some(PAYMENT_REF)),
        (of_payment("refund", of_refund), Some(REFUND_REF)),
        // The refund was made by hand.
        (of_payment("refund", json!(null)), None),
        (of_payment("dispute", json!({})), None),
    ];
    for (event, client_reference) in cases {
        let expected = Event {
            id: "evt_3RkGateway0001".to_owned(),
            kind: EventKind::PaymentChanged,
            supplier_reference: Some(PAYMENT_ID.to_owned()),
            client_reference: client_reference.map(str::to_owned),
            supplier_offer: None,
            occurred_at: Some(1_795_257_983_000),
        };
        assert_eq!(delivered(event.to_string()), Ok(vec![expected]), "{event}");
    }
}

#[test]
fn event_without_payment_of_gateway_is_irrelevant() {
    let mut thin = fixture("event");
    thin["object"] = json!("v2.core.event");
    thin["created"] = json!("2026-11-21T12:00:00Z");
    let mut bare = thin.clone();
    bare.as_object_mut().unwrap().remove("data");
    for event in [
        edited("event", &[("/data/object/metadata", json!({}))]),
        about(json!({"object": "charge", "id": "ch_1", "payment_intent": null, "metadata": {}})),
        about(json!({"object": "customer", "id": "cus_1", "metadata": {}})),
        about(json!({"object": "balance", "available": []})),
        about(json!({"id": 7})),
        thin,
        bare,
    ] {
        let events = delivered(event.to_string()).unwrap();
        let kind = EventKind::Irrelevant("payment_intent.amount_capturable_updated".to_owned());
        assert_eq!(events.len(), 1, "{event}");
        assert_eq!(events[0].kind, kind, "{event}");
        assert_eq!(events[0].id, "evt_3RkGateway0001");
        assert_eq!(events[0].supplier_reference, None);
    }
}

#[test]
fn authentic_malformed_event_is_unreadable() {
    let mut without_time = fixture("event");
    without_time.as_object_mut().unwrap().remove("created");
    for body in ["", "{}", "[]", "<html>", &without_time.to_string()] {
        let events = delivered(body);
        assert_eq!(outcome(&events), Malformed, "{body}: {events:?}");
    }
}
