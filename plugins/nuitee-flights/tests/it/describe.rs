//! The adapter's description.

use nuitee_flights::NuiteeFlights;
use stopover_sdk::Plugin;
use stopover_sdk::testing::Outcome::Misconfigured;
use stopover_sdk::testing::outcome;

use crate::ask;

#[test]
fn description_has_host_and_collects_payment_by_default() {
    let description = ask::gateway().run(NuiteeFlights::describe);
    assert_eq!(description.name, "nuitee-flights");
    assert_eq!(description.hosts, ["api.liteapi.travel"]);
    assert!(description.collects_payment);
    assert!(description.supports_idempotent_resend);
    assert_eq!(description.reads_consistent_after_ms, None);
    assert!(!description.one_booking_per_offer);
    assert!(!description.supports_partial_cancellation);
    assert!(description.secrets.is_empty());
}

#[test]
fn settings_change_host_and_payment_collection() {
    let settings = r#"{"base_url": "http://127.0.0.1:9001/v3.0", "payment_method": "CREDIT"}"#;
    let gateway = ask::gateway().settings(settings);
    let description = gateway.run(NuiteeFlights::describe);
    assert_eq!(description.hosts, ["127.0.0.1:9001"]);
    assert!(!description.collects_payment);
}

#[test]
fn invalid_settings_fail_calls_before_any_request() {
    let gateway = ask::gateway().settings(r#"{"payment_method": "CASH"}"#);
    assert_eq!(outcome(&ask::price(&gateway)), Misconfigured);
    assert!(gateway.requests().is_empty());
}
