//! What the plugin says of itself.

use fake_hotels::FakeHotels;
use serde_json::Value;
use stopover_sdk::Plugin;

#[test]
fn it_promises_what_lodge_documents_and_no_more() {
    let description = FakeHotels::describe();
    assert_eq!(
        description.name,
        if cfg!(feature = "full") {
            "fake-hotels"
        } else {
            "fake-hotels-mini"
        }
    );
    assert_eq!(description.reads_consistent_after_ms, Some(1_000));
    assert!(!description.repeats_are_safe);
    assert!(!description.collects_payment);
    assert!(!description.one_booking_per_offer);
    assert!(description.cancels_single_rooms);
    assert!(description.secrets.is_empty());
}

#[test]
fn its_settings_are_described_by_a_json_schema() {
    let schema: Value = serde_json::from_str(&FakeHotels::describe().settings_schema).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["base_url"]));
    assert_eq!(schema["additionalProperties"], false);
}
