//! The adapters' descriptions.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::Plugin;

#[test]
fn descriptions_have_only_documented_guarantees() {
    let (skylane, jetbridge) = (Skylane::describe(), Jetbridge::describe());
    assert_eq!(skylane.name, "fake-flights-skylane");
    assert!(!skylane.collects_payment && skylane.one_booking_per_offer);
    assert_eq!(jetbridge.name, "fake-flights-jetbridge");
    assert!(jetbridge.collects_payment && !jetbridge.one_booking_per_offer);
    assert!(jetbridge.supports_idempotent_resend && !skylane.supports_idempotent_resend);
    for description in [skylane, jetbridge] {
        assert_eq!(description.reads_consistent_after_ms, Some(1_000));
        assert!(!description.supports_partial_cancellation);
        assert!(description.secrets.is_empty());
        let schema: Value = serde_json::from_str(&description.settings_schema).unwrap();
        assert_eq!(schema["required"], json!(["base_url"]));
        assert_eq!(schema["additionalProperties"], false);
    }
}
