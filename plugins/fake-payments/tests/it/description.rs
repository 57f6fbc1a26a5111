//! The adapter's description.

use fake_payments::FakePayments;
use serde_json::{Value, json};
use stopover_sdk::Plugin;

#[test]
fn description_has_only_documented_guarantees() {
    let description = FakePayments::describe();
    assert_eq!(description.name, "fake-payments");
    assert_eq!(description.reads_consistent_after_ms, Some(1_000));
    assert!(description.supports_idempotent_resend);
    assert!(description.secrets.is_empty());
    let schema: Value = serde_json::from_str(&description.settings_schema).unwrap();
    assert_eq!(schema["required"], json!(["base_url"]));
    assert_eq!(schema["additionalProperties"], false);
}
