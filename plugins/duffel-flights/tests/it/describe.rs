//! The adapter's description, and the headers of every request.

use duffel_flights::DuffelFlights;
use stopover_sdk::Plugin;
use stopover_sdk::testing::Outcome::{Misconfigured, Unavailable};
use stopover_sdk::testing::{MockGateway, outcome};

use crate::ask;

#[test]
fn description_allows_one_booking_per_offer_without_guarantees() {
    let description = MockGateway::new().run(DuffelFlights::describe);
    assert_eq!(description.name, "duffel-flights");
    assert_eq!(description.hosts, ["api.duffel.com"]);
    assert_eq!(description.secrets, ["webhook_secret"]);
    assert!(description.one_booking_per_offer);
    assert!(!description.collects_payment);
    assert!(!description.supports_partial_cancellation);
    assert!(!description.supports_idempotent_resend);
    assert_eq!(description.reads_consistent_after_ms, None);
}

#[test]
fn settings_change_host_and_search_timeout() {
    let gateway = MockGateway::new()
        .settings(r#"{"base_url": "http://127.0.0.1:9001/d/", "search_timeout_ms": 4000}"#)
        .respond_with(503, "");
    let description = gateway.run(DuffelFlights::describe);
    assert_eq!(description.hosts, ["127.0.0.1:9001"]);
    assert_eq!(outcome(&ask::price(&gateway)), Unavailable);
    let request = &gateway.requests()[0];
    assert_eq!(
        request.url,
        "http://127.0.0.1:9001/d/air/offer_requests?return_offers=false&supplier_timeout=4000"
    );
    assert_eq!(request.timeout_ms, Some(9000));
    assert_eq!(request.header_value("duffel-version"), Some("v2"));
    assert_eq!(request.header_value("accept"), Some("application/json"));
    assert_eq!(request.header_value("authorization"), None);
}

#[test]
fn invalid_settings_fail_calls_before_any_request() {
    let gateway = MockGateway::new().settings(r#"{"token": "x"}"#);
    assert_eq!(outcome(&ask::price(&gateway)), Misconfigured);
    assert!(gateway.requests().is_empty());
}
