//! JSON fixtures of supplier responses: read from a folder and moved to other dates. They are
//! independent of any supplier.

use jiff::civil::Date;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Reads a JSON document.
///
/// # Panics
/// Panics if the file is missing or is not JSON.
pub fn read_fixture(path: &Path) -> Value {
    assert!(path.is_file(), "{} does not exist", path.display());
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Calls `change` with every string in a document and the name of its field.
pub fn for_each_string(value: &mut Value, change: &mut impl FnMut(&str, &mut String)) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| for_each_string(item, change)),
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

/// Shifts every date and time in a document by whole days, so that `from` becomes `to`.
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

/// Returns the time so many minutes from now in RFC 3339, UTC.
pub fn minutes_ahead(minutes: i64) -> String {
    let instant = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
    instant.to_string()
}

/// Prints a line past the test harness, which shows only the output of failed tests.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
