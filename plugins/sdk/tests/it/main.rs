//! Examples of the SDK's README, compiled and run.

mod essential_fields;

use stopover_sdk::http::Response;
use stopover_sdk::testing::{Outcome, outcome};

const README: &str = include_str!("../../README.md");

#[test]
fn readme_shows_the_example_of_essential_fields() {
    let example = include_str!("essential_fields.rs");
    assert!(README.contains(&format!("```rust\n{example}```")));
}

#[test]
fn change_without_an_essential_field_has_an_unknown_outcome() {
    for (body, expected) in [
        (
            r#"{"bookingId": "B1", "status": "CONFIRMED"}"#,
            Outcome::Done,
        ),
        (r#"{"bookingId": 17, "status": "CONFIRMED"}"#, Outcome::Done),
        (r#"{"bookingId": "B1"}"#, Outcome::Unknown),
        (r#"{"status": "CONFIRMED"}"#, Outcome::Unknown),
        (
            r#"{"bookingId": "", "status": "CONFIRMED"}"#,
            Outcome::Unknown,
        ),
        (
            r#"{"bookingId": null, "status": "CONFIRMED"}"#,
            Outcome::Unknown,
        ),
        (
            r#"{"bookingId": {}, "status": "CONFIRMED"}"#,
            Outcome::Unknown,
        ),
        (
            r#"{"bookingId": "B1", "status": "CONFIRMED", "status": "FAILED"}"#,
            Outcome::Unknown,
        ),
        ("{}", Outcome::Unknown),
        (r#""""#, Outcome::Unknown),
        ("", Outcome::Unknown),
    ] {
        let response = Response::new(200, body);
        let booked = essential_fields::booking_id(&response);
        assert_eq!(outcome(&booked), expected, "{body}");
    }
}
