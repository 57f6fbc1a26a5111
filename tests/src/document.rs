//! Documents that a supplier answers with: read from a folder, and moved to other
//! days. Knows nothing of any supplier.

use jiff::civil::Date;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// A JSON document.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn read_fixture(path: &Path) -> Value {
    assert!(path.is_file(), "there is no {}", path.display());
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every text in a document, with the name of the member that it stands in.
pub fn for_each_string(value: &mut Value, change: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_string(item, change)),
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) => change(key, text),
                    other => for_each_string(other, change),
                }
            }
        }
        _ => {}
    }
}

/// Moves every date in a document, and every time by whole days, so that what was
/// on `from` is on `to`.
pub fn shift_dates(document: &mut Value, from: &str, to: &str) {
    let day = |text: &str| text.parse::<Date>().unwrap();
    let shift = day(from).until(day(to)).unwrap();
    for_each_string(document, &mut |_, text| {
        let date = text.get(..10).and_then(|date| date.parse::<Date>().ok());
        if let Some(date) = date {
            let moved = date.checked_add(shift).unwrap();
            text.replace_range(..10, &moved.to_string());
        }
    });
}

/// An instant so many minutes from now, RFC 3339 in UTC.
#[must_use]
pub fn minutes_ahead(minutes: i64) -> String {
    let instant = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
    instant.to_string()
}

/// Past the test harness, which shows output of failed tests only.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
