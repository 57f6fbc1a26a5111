//! Checks of a resource's fields, timestamps and local times.

use serde_json::Value;

/// Checks that an object has exactly the fields in `always` and `more`.
pub(super) fn check_names(what: &str, object: &Value, always: &[&str], more: &[&str]) {
    let mut names: Vec<&str> = object
        .as_object()
        .unwrap_or_else(|| panic!("{what} is not an object: {object}"))
        .keys()
        .map(String::as_str)
        .collect();
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
