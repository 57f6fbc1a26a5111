//! Deliveries with random signatures, and signed deliveries with random bodies.

use stopover_sdk::supplier_events::{EventKind, VerifyError};

use crate::script::fixture;
use crate::webhook::{SIGNED_AT, delivered, delivery, header, verify};

const TOKENS: &[&str] = &["t=", "v1=", ",", "t=1795257990", "-", "v0=", " ", "+"];

#[test]
fn fuzzed_delivery_is_authentic_only_with_matching_signature() {
    let body = fixture("event").to_string();
    let genuine = header(body.as_bytes());
    let (time, digest) = genuine.split_once(',').unwrap();
    let documents = fuzz::documents("stripe-delivery").tokens(TOKENS);
    documents
        .seed(format!("{genuine}\n{body}"))
        .check(1_500, |document| {
            let (header, sent) = fuzz::lines(document);
            let header = String::from_utf8_lossy(header);
            let headers = [("Stripe-Signature", header.as_ref())];
            match verify(delivery(&headers, sent, SIGNED_AT * 1_000)) {
                Ok(_) => {
                    let digits = time.trim_start_matches("t=");
                    assert!(header.contains(digits) && header.contains(&digest[3..]));
                    assert_eq!(sent, body.as_bytes());
                }
                Err(VerifyError::InvalidSignature(_)) => {
                    assert!(header != genuine || sent != body.as_bytes());
                }
                Err(other) => panic!("a signed delivery returned {other:?}"),
            }
        });
}

#[test]
fn fuzzed_signed_body_is_event_or_unreadable() {
    let documents = fuzz::documents("stripe-event").seed(fixture("event").to_string());
    documents.check(1_500, |body| match delivered(body) {
        Ok(events) => {
            assert!(serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok());
            let [event] = events.as_slice() else {
                panic!("{events:?}");
            };
            let is_relevant = !matches!(event.kind, EventKind::Irrelevant(_));
            assert_eq!(is_relevant, event.supplier_reference.is_some());
            assert!(is_relevant || event.client_reference.is_none());
        }
        Err(VerifyError::Malformed(_)) => {}
        Err(other) => panic!("a signed delivery returned {other:?}"),
    });
}
