//! What a resource looks like: its members, its instants and its times.

use serde_json::Value;

/// The members of an object are these, no more and no fewer.
pub(super) fn check_names(what: &str, object: &Value, always: &[&str], more: &[&str]) {
    let mut names: Vec<&str> = object
        .as_object()
        .unwrap_or_else(|| panic!("{what} is no object: {object}"))
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    let mut expected = [always, more].concat();
    expected.sort_unstable();
    assert_eq!(names, expected, "{what}");
}

/// UTC with milliseconds: `2026-11-21T10:00:00.000Z`.
pub(super) fn check_instant(instant: &Value) {
    let text = instant.as_str().unwrap();
    assert!(text.len() == 24 && text.ends_with('Z'), "{text}");
    assert_eq!(&text[19..20], ".", "{text}");
    text.parse::<jiff::Timestamp>().unwrap();
}

/// Local, without offset: `2026-11-21T10:00:00`.
pub(super) fn check_local(time: &Value) {
    let text = time.as_str().unwrap();
    assert_eq!(text.len(), 19, "{text}");
    text.parse::<jiff::civil::DateTime>().unwrap();
}
