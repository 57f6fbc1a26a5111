//! The adapter's description.

use serde_json::{Value, json};
use stopover_sdk::testing::{MockGateway, Outcome::Misconfigured, outcome};
use stopover_sdk::{PaymentProcessor, Plugin};
use stripe_payments::StripePayments;

use crate::script::find_request;

#[test]
fn description_has_only_documented_guarantees() {
    let description = MockGateway::new().run(StripePayments::describe);
    assert_eq!(description.name, "stripe-payments");
    assert_eq!(description.reads_consistent_after_ms, None);
    assert!(description.supports_idempotent_resend);
    assert_eq!(description.hosts, ["api.stripe.com"]);
    assert_eq!(description.secrets, ["webhook"]);
}

#[test]
fn settings_schema_matches_defaults() {
    let description = MockGateway::new().run(StripePayments::describe);
    let schema: Value = serde_json::from_str(&description.settings_schema).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let base_url = &schema["properties"]["base_url"]["default"];
    let settings = json!({"base_url": base_url}).to_string();
    let gateway = MockGateway::new().settings(&settings);
    let as_written = gateway.run(StripePayments::describe);
    assert_eq!(as_written.hosts, description.hosts);
}

#[test]
fn settings_change_host() {
    let gateway = MockGateway::new().settings(r#"{"base_url": "http://127.0.0.1:9001/"}"#);
    let description = gateway.run(StripePayments::describe);
    assert_eq!(description.hosts, ["127.0.0.1:9001"]);
    let _ending = gateway.run(|| StripePayments::find(find_request(Some("pi_1"))));
    let url = &gateway.requests()[0].url;
    let expected = "http://127.0.0.1:9001/v1/payment_intents/pi_1?";
    assert!(url.starts_with(expected), "{url}");
}

#[test]
fn invalid_settings_fail_read_before_any_request() {
    let gateway = MockGateway::new().settings(r#"{"base_url": 7}"#);
    let response = gateway.run(|| StripePayments::find(find_request(None)));
    assert_eq!(outcome(&response), Misconfigured, "{response:?}");
    assert!(gateway.requests().is_empty());
}
