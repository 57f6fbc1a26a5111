//! Checks of a resource's fields, timestamps and local times, and of refused requests.

use serde_json::Value;
use tests::{Client, Reply};

/// Checks that an object has exactly the fields in `always` and `more`.
pub(super) fn check_names(what: &str, object: &Value, always: &[&str], more: &[&str]) {
    let Value::Object(members) = object else {
        panic!("{what} is not an object: {object}")
    };
    let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut expected = [always, more].concat();
    expected.sort_unstable();
    assert_eq!(names, expected, "{what}");
}

/// Checks that a value is a UTC timestamp with milliseconds: `2026-11-21T10:00:00.000Z`.
pub(super) fn check_instant(instant: &Value) {
    let text = instant.as_str().unwrap();
    assert!(text.len() == 24 && text.ends_with('Z'), "{text}");
    assert_eq!(&text[19..20], ".", "{text}");
    text.parse::<jiff::Timestamp>().unwrap();
}

/// Checks that a value is a local time without offset: `2026-11-21T10:00:00`.
pub(super) fn check_local(time: &Value) {
    let text = time.as_str().unwrap();
    assert_eq!(text.len(), 19, "{text}");
    text.parse::<jiff::civil::DateTime>().unwrap();
}

/// Returns the ids of a list's resources.
pub(super) fn ids(list: &Value) -> Vec<&str> {
    let ids = list.as_array().unwrap().iter();
    ids.map(|resource| resource["id"].as_str().unwrap())
        .collect()
}

/// Returns pointer and code of every violation, e.g. `/url required, /foo unknown_field`.
pub(super) fn violations(refused: Reply) -> String {
    let refused = refused.expect_problem(400, "validation_failed");
    let errors = refused.body["errors"].as_array().unwrap().iter();
    let violations = errors.map(|error| {
        let text = |name: &str| error[name].as_str().unwrap();
        format!("{} {}", text("pointer"), text("code"))
    });
    violations.collect::<Vec<_>>().join(", ")
}

/// Checks that a GET request is refused.
pub(super) async fn check_refused_get(client: &Client, path: &str, status: u16, code: &str) {
    let refused = client.get(path).await;
    refused.expect_problem(status, code);
}
