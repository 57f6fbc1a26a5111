//! Links from a card to a mandate and its revocation.

use crate::openapi::links::{Link, with_id};
use serde_json::{Value, json};

pub(super) fn links() -> Vec<Link> {
    let mut all = Vec::new();
    for status in ["200", "201"] {
        all.push(Link {
            from: "add_payment_instrument",
            status,
            to: "issue_mandate",
            parameters: json!({}),
            body: Some(request("$response.body#/data/id")),
        });
        all.push(with_id("issue_mandate", status, "read_mandate"));
        all.push(with_id("issue_mandate", status, "revoke_mandate"));
    }
    all
}

/// Returns a request for a mandate, sent without `x-user-id`.
fn request(instrument: &str) -> Value {
    json!({
        "user_id": "org",
        "payment_amount": { "currency": "EUR", "amount": 250.0 },
        "payment_instrument": { "id": instrument, "type": "CARD" },
    })
}
