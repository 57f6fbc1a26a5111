//! Deliveries with random signatures, and signed deliveries with random bodies.

use stopover_sdk::supplier_events::{VerifyError, WebhookRequest};

use crate::ask;
use crate::events::{SIGNATURE, delivery, gateway, signed, verify};

const TOKENS: &[&str] = &["t=", "v1=", ",", "t=1809252301", "-", "v0=", " ", "+"];

#[test]
fn fuzzed_delivery_is_authentic_only_with_matching_signature() {
    let body = ask::fixture("event.json");
    let (time, digest) = SIGNATURE.split_once(',').unwrap();
    let documents = fuzz::documents("duffel-delivery").tokens(TOKENS);
    documents
        .seed(format!("{SIGNATURE}\n{body}"))
        .check(1_500, |document| {
            let (header, sent) = fuzz::lines(document);
            let header = String::from_utf8_lossy(header);
            let delivery = WebhookRequest {
                body: sent.to_vec(),
                ..delivery(&header)
            };
            match verify(&gateway(), delivery) {
                Ok(_) => {
                    assert!(header.contains(time) && header.contains(digest));
                    assert_eq!(sent, body.as_bytes());
                }
                Err(VerifyError::InvalidSignature(_)) => {
                    assert!(header != SIGNATURE || sent != body.as_bytes());
                }
                Err(other) => panic!("a signed delivery returned {other:?}"),
            }
        });
}

#[test]
fn fuzzed_signed_body_is_event_or_unreadable() {
    let documents = fuzz::documents("duffel-event").seed(ask::fixture("event.json"));
    documents.check(1_500, |body| {
        match verify(&gateway(), signed(body.to_vec())) {
            Ok(events) => {
                assert!(serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok());
                let [event] = events.as_slice() else {
                    panic!("{events:?}");
                };
                assert!(!event.id.is_empty());
                let is_order = |id: &String| id.starts_with("ord_");
                assert!(event.supplier_reference.as_ref().is_none_or(is_order));
                assert_ne!(event.supplier_offer.as_deref(), Some(""));
            }
            Err(VerifyError::Malformed(_)) => {}
            Err(other) => panic!("a signed delivery returned {other:?}"),
        }
    });
}
