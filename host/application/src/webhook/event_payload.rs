//! Payloads of events and responses of receivers, without personal data.

use crate::recording::redact::{BodyKind, redact_body};
use host_domain::webhook::DeliveryAttempt;
use serde_json::Value;

/// Returns a payload as indented JSON without personal data.
pub(crate) fn masked_payload(payload: &str) -> String {
    masked(payload, BodyKind::Written)
}

fn masked(payload: &str, kind: BodyKind) -> String {
    match redact_body(payload.as_bytes(), kind) {
        Some(redacted) => pretty_payload(&redacted),
        None => size_of(payload),
    }
}

/// Returns a payload as indented JSON.
pub(crate) fn pretty_payload(payload: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(payload);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|_| payload.to_owned())
}

/// Returns an attempt without personal data in the response. Receivers may send back what they
/// received.
pub(crate) fn masked_attempt(
    (generation, attempt): (i64, DeliveryAttempt),
) -> (i64, DeliveryAttempt) {
    let response = attempt.response_body.as_deref();
    let attempt = DeliveryAttempt {
        response_body: response.map(|body| masked(body, BodyKind::Content)),
        ..attempt
    };
    (generation, attempt)
}

fn size_of(text: &str) -> String {
    match text.chars().count() {
        0 => String::new(),
        characters => format!("[text, {characters}]"),
    }
}
