//! Webhooks with random bodies. Nuitee signs none, so a body is only a hint.

use stopover_sdk::supplier_events::{EventKind, VerifyError};

use crate::ask;
use crate::events::verify;

#[test]
fn fuzzed_webhook_names_booking_or_is_irrelevant_or_unreadable() {
    let documents = fuzz::documents("nuitee-event")
        .tokens(&["bookingId", "prebookId", "GW_REF", "event_name", "\\\""])
        .seed(ask::fixture("webhook.json"));
    documents.check(1_500, |body| match verify(body) {
        Ok(events) => {
            assert!(serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok());
            let [event] = events.as_slice() else {
                panic!("{events:?}");
            };
            assert!(!event.id.is_empty());
            let named = [
                &event.supplier_reference,
                &event.client_reference,
                &event.supplier_offer,
            ];
            let is_named = named.into_iter().flatten().any(|name| !name.is_empty());
            assert!(is_named || matches!(event.kind, EventKind::Irrelevant(_)));
        }
        Err(VerifyError::Malformed(_)) => {}
        Err(other) => panic!("an unsigned delivery returned {other:?}"),
    });
}
