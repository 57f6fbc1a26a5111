//! Examples of all operations. Each is a recorded request with its response. Only the dates are
//! shifted, so that the request is valid today.

use host_domain::time::Date;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The files of the recorded examples: `<operation>.json` for each operation.
#[derive(rust_embed::RustEmbed)]
#[folder = "src/openapi/example"]
struct ExampleFiles;

/// A recorded example, one file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedExample {
    recorded: Date,
    request: Option<Value>,
    /// Response with status 200 or 201; a repeat gets the response of the first request.
    response: Option<Value>,
    /// Response with status 202.
    accepted: Option<Value>,
}

/// Adds the examples to their operations.
pub(super) fn add_examples(paths: &mut BTreeMap<String, Map<String, Value>>, today: Date) {
    for operation in paths.values_mut().flat_map(Map::values_mut) {
        let name = operation.get("operationId").and_then(Value::as_str);
        let file = name.and_then(|name| ExampleFiles::get(&format!("{name}.json")));
        let Some(recording) = file.and_then(|file| RecordedExample::read(&file.data, today)) else {
            continue;
        };
        let places = [
            ("/requestBody", &recording.request),
            ("/responses/200", &recording.response),
            ("/responses/201", &recording.response),
            ("/responses/202", &recording.accepted),
        ];
        for (place, example) in places {
            let json = operation.pointer_mut(&format!("{place}/content/application~1json"));
            if let (Some(Value::Object(json)), Some(example)) = (json, example) {
                json.insert("example".to_owned(), example.clone());
            }
        }
    }
}

impl RecordedExample {
    /// Parses an example and shifts its dates. Returns `None` if the file is invalid; a test then
    /// finds the missing example.
    fn read(json: &[u8], today: Date) -> Option<Self> {
        let mut recording: Self = serde_json::from_slice(json).ok()?;
        let recorded = recording.recorded;
        let responses = [&mut recording.response, &mut recording.accepted];
        let parts = responses.into_iter().chain([&mut recording.request]);
        for part in parts.flatten() {
            shift_dates(part, recorded, today);
        }
        Some(recording)
    }
}

/// Shifts dates and instants by the number of days from the recording to today.
fn shift_dates(value: &mut Value, recorded: Date, today: Date) {
    match value {
        Value::Object(members) => {
            let members = members.values_mut();
            members.for_each(|member| shift_dates(member, recorded, today));
        }
        Value::Array(elements) => {
            let elements = elements.iter_mut();
            elements.for_each(|element| shift_dates(element, recorded, today));
        }
        Value::String(text) => {
            if let Some(moved) = shift_date(text, recorded, today) {
                *text = moved;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Shifts a date. Returns `None` for text that is not a date, and for dates in the distant past,
/// such as dates of birth.
fn shift_date(text: &str, recorded: Date, today: Date) -> Option<String> {
    let (day, time) = text.split_at_checked("YYYY-MM-DD".len())?;
    let day: Date = day.parse().ok()?;
    let is_whole = time.is_empty() || time.starts_with('T');
    if !is_whole || day.year() < recorded.year() - 1 {
        return None;
    }
    let moved = day.saturating_add(recorded.duration_until(today));
    Some(format!("{moved}{time}"))
}
