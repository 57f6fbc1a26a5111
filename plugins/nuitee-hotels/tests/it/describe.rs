//! The adapter's description.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::Plugin;
use stopover_sdk::testing::Outcome::Misconfigured;
use stopover_sdk::testing::{MockGateway, outcome};

use crate::ask;

#[test]
fn description_has_both_hosts_and_no_guarantees() {
    let description = MockGateway::new().run(NuiteeHotels::describe);
    assert_eq!(description.name, "nuitee-hotels");
    let hosts = ["api.liteapi.travel", "book.liteapi.travel"];
    assert_eq!(description.hosts, hosts);
    assert_eq!(description.reads_consistent_after_ms, None);
    assert!(!description.supports_idempotent_resend);
    assert!(!description.supports_partial_cancellation);
    assert!(!description.one_booking_per_offer);
    assert!(!description.collects_payment);
    assert!(description.secrets.is_empty());
}

#[test]
fn settings_change_hosts_and_payment_collection() {
    let settings = r#"{"data_url": "http://127.0.0.1:9001/v3.0", "book_url": "http://127.0.0.1:9002",
        "payment_method": "PAYMENT_SDK"}"#;
    let description = MockGateway::new()
        .settings(settings)
        .run(NuiteeHotels::describe);
    assert_eq!(description.hosts, ["127.0.0.1:9001", "127.0.0.1:9002"]);
    assert!(description.collects_payment);
    let settings = settings.replace("9002", "9001");
    let gateway = MockGateway::new().settings(&settings);
    assert_eq!(
        gateway.run(NuiteeHotels::describe).hosts,
        ["127.0.0.1:9001"]
    );
}

#[test]
fn invalid_settings_fail_calls_before_any_request() {
    let gateway = MockGateway::new().settings(r#"{"payment_method": "CASH"}"#);
    assert_eq!(outcome(&ask::price(&gateway)), Misconfigured);
    assert!(gateway.requests().is_empty());
}
