//! Reads JSON as far as the form of a request permits it. What cannot be part of a valid request is
//! read over without being kept: items above the limit of their array, unknown members, the content
//! of values of the wrong type, and the end of too long texts. Time is linear in the length of the
//! text, and memory is bounded by the form.

use crate::problem::{Violation, ViolationList, ViolationLocation};
use crate::validation::escape;
use crate::validation::shape::{Shape, ShapeKind};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::collections::HashSet;
use std::fmt::{self, Write};

/// Maximum number of unknown names of members that are compared with each other, and of those that
/// are reported. A body with more is refused anyway, because they are unknown.
const UNKNOWN_NAMES_MAX: usize = 10_000;

/// Largest number up to which a float represents every integer exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Parses JSON text. No object may have two members of the same name, because it is unclear which
/// value is intended, e.g. of two prices. Adds a violation for each array with too many items, each
/// unknown member, and each text that was cut although its schema sets no length.
///
/// # Errors
/// The text is not JSON. For two members of the same name the category of the error is "data".
pub(super) fn read(
    text: &[u8],
    shape: &Shape,
    found: &mut ViolationList,
) -> Result<Value, serde_json::Error> {
    let mut position = ReadPosition {
        pointer: String::new(),
        unknown_names_left: UNKNOWN_NAMES_MAX,
        reports_left: UNKNOWN_NAMES_MAX,
        found,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let root = ValueReader {
        shape: Some(shape),
        position: &mut position,
    };
    let value = root.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// The place of the value that is read.
struct ReadPosition<'a> {
    /// JSON pointer of the value.
    pointer: String,
    unknown_names_left: usize,
    /// Number of unknown names that may still be reported. Names that differ only behind the part
    /// that is shown are one violation, so they do not fill the list.
    reports_left: usize,
    found: &'a mut ViolationList,
}

impl ReadPosition<'_> {
    fn push(&mut self, pointer: String, code: &str, detail: impl Into<String>) {
        self.found.push(Violation::at(
            ViolationLocation::Body,
            pointer,
            code,
            detail,
        ));
    }

    fn push_unknown(&mut self, name: &str) {
        // The pointer is only built while it may be kept.
        if self.reports_left > 0 && !self.found.is_full() {
            self.reports_left -= 1;
            let pointer = format!("{}/{}", self.pointer, escape(name));
            self.push(pointer, "unknown_field", "there is no such field");
        }
    }

    /// Appends a segment to the pointer. Returns the length to restore.
    fn enter(&mut self, segment: impl fmt::Display) -> usize {
        let length = self.pointer.len();
        let _infallible = write!(self.pointer, "/{segment}");
        length
    }

    fn leave(&mut self, length: usize) {
        self.pointer.truncate(length);
    }
}

/// Reads a value of a form. Without a form the value is checked for syntax only, and null is
/// returned.
struct ValueReader<'s, 'p, 'f> {
    shape: Option<&'s Shape>,
    position: &'p mut ReadPosition<'f>,
}

impl ValueReader<'_, '_, '_> {
    fn scalar(&self, value: impl Into<Value>) -> Value {
        self.shape.map_or(Value::Null, |_| value.into())
    }
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_, '_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader<'_, '_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(self.scalar(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(self.scalar(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(self.scalar(value))
    }

    /// Converts whole floats such as `2.0` to integers, because JSON Schema treats them as
    /// integers.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if self.shape.is_none() {
            return Ok(Value::Null);
        }
        let is_whole = value.fract() == 0.0 && value.abs() <= EXACT_MAX;
        let whole = is_whole.then(|| format!("{value:.0}").parse::<i64>());
        match whole {
            Some(Ok(whole)) => Ok(whole.into()),
            _ => Ok(Number::from_f64(value).map_or(Value::Null, Value::Number)),
        }
    }

    /// Keeps one character more than the form permits, so that the validator sees that the text is
    /// too long.
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        let (chars_max, is_length_in_schema) = match self.shape.map(|shape| &shape.kind) {
            Some(ShapeKind::Text {
                chars_max,
                is_length_in_schema,
            }) => (*chars_max, *is_length_in_schema),
            // A text in the place of another type: the validator only needs its type.
            Some(ShapeKind::Object(_) | ShapeKind::Array { .. } | ShapeKind::Scalar) => (0, true),
            None => return Ok(Value::Null),
        };
        let end = text.char_indices().nth(chars_max.saturating_add(1));
        let kept = end.and_then(|(end, _)| text.get(..end));
        if kept.is_some() && !is_length_in_schema {
            let detail = format!("must have at most {chars_max} characters");
            self.position
                .push(self.position.pointer.clone(), "too_long", detail);
        }
        Ok(kept.unwrap_or(text).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let (items, items_max) = match self.shape.map(|shape| &shape.kind) {
            Some(ShapeKind::Array { items, items_max }) => (Some(&**items), *items_max),
            Some(ShapeKind::Object(_) | ShapeKind::Text { .. } | ShapeKind::Scalar) | None => {
                (None, 0)
            }
        };
        let position = self.position;
        let mut elements = Vec::new();
        let mut is_too_long = false;
        loop {
            let shape = items.filter(|_| elements.len() < items_max);
            let outer = shape.map(|_| position.enter(elements.len()));
            let element = sequence.next_element_seed(ValueReader {
                shape,
                position: &mut *position,
            });
            if let Some(outer) = outer {
                position.leave(outer);
            }
            match (element?, shape) {
                (None, _) => break,
                (Some(element), Some(_)) => elements.push(element),
                (Some(_), None) => is_too_long = true,
            }
        }
        if is_too_long && items.is_some() {
            let detail = format!("must have at most {items_max} items");
            position.push(position.pointer.clone(), "too_many", detail);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let fields = match self.shape.map(|shape| &shape.kind) {
            Some(ShapeKind::Object(fields)) => Some(fields),
            Some(ShapeKind::Array { .. } | ShapeKind::Text { .. } | ShapeKind::Scalar) | None => {
                None
            }
        };
        let position = self.position;
        let (mut members, mut unknown) = (Map::new(), HashSet::new());
        while let Some(name) = map.next_key::<String>()? {
            let Some(shape) = fields.and_then(|fields| fields.get(&name)) else {
                if fields.is_some() {
                    position.push_unknown(&name);
                }
                if position.unknown_names_left > 0 {
                    position.unknown_names_left -= 1;
                    if !unknown.insert(name) {
                        return Err(A::Error::custom("twice"));
                    }
                }
                map.next_value_seed(ValueReader {
                    shape: None,
                    position: &mut *position,
                })?;
                continue;
            };
            let outer = position.enter(&name);
            let shape = Some(shape);
            let member = map.next_value_seed(ValueReader {
                shape,
                position: &mut *position,
            })?;
            position.leave(outer);
            if members.insert(name, member).is_some() {
                return Err(A::Error::custom("twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ROOMS_MAX: u64 = 3;

    fn shape() -> Shape {
        let schema = json!({
            "type": "object",
            "required": ["rooms"],
            "properties": {
                "rooms": { "type": "array", "maxItems": ROOMS_MAX, "items": {
                    "type": "object", "properties": { "name": { "type": "string", "maxLength": 2 } },
                } },
                "code": { "type": "string", "pattern": "^[A-Z]+$" },
            },
        });
        Shape::of(&schema, &crate::validation::Components::new())
    }

    /// Reads a text. Returns what is kept, and the violations as `pointer code`.
    fn read_text(text: &str) -> (Value, Vec<String>) {
        let mut found = ViolationList::default();
        let value = read(text.as_bytes(), &shape(), &mut found).unwrap();
        let found = found.as_slice().iter();
        let found = found.map(|one| format!("{} {}", one.pointer, one.code));
        (value, found.collect())
    }

    /// Returns the number of values and of characters of texts.
    fn size(value: &Value) -> usize {
        match value {
            Value::String(text) => 1 + text.len(),
            Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
            Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        }
    }

    #[test]
    fn value_within_its_form_is_kept_unchanged() {
        let text = r#"{"rooms":[{"name":"ab"},{}],"code":"AB"}"#;
        assert_eq!(
            read_text(text),
            (serde_json::from_str(text).unwrap(), vec![])
        );
    }

    #[test]
    fn items_above_their_limit_are_not_kept() {
        let (value, found) = read_text(r#"{"rooms":[{},{},{},{"name":"a","x":1},5]}"#);
        assert_eq!(value, json!({ "rooms": [{}, {}, {}] }));
        assert_eq!(found, ["/rooms too_many"]);
    }

    #[test]
    fn unknown_members_and_contents_of_a_wrong_type_are_not_kept() {
        let (value, found) =
            read_text(r#"{"rooms":{"a":[1]},"code":[[1]],"x":{"y":[1]},"a/b":"c"}"#);
        assert_eq!(value, json!({ "rooms": {}, "code": [] }));
        assert_eq!(found, ["/a~1b unknown_field", "/x unknown_field"]);
    }

    #[test]
    fn texts_are_kept_up_to_one_character_above_their_limit() {
        let long = "É".repeat(5_000);
        let text = json!({ "rooms": [{ "name": long }], "code": long }).to_string();
        let (value, found) = read_text(&text);
        assert_eq!(value["rooms"][0]["name"], "ÉÉÉ");
        assert_eq!(value["code"].as_str().unwrap().chars().count(), 1_001);
        assert_eq!(found, ["/code too_long"]);
    }

    #[test]
    fn size_of_what_is_kept_does_not_depend_on_the_length_of_the_text() {
        let many = |part: &str| vec![part; 100_000].join(",");
        let names = (0..100_000).map(|number| format!("\"u{number}\":0"));
        let names = names.collect::<Vec<_>>().join(",");
        for text in [
            format!("{{\"rooms\":[{}]}}", many("{}")),
            format!("{{\"rooms\":[{}]}}", many("{\"name\":[]}")),
            format!("{{\"rooms\":[[{}]]}}", many("1")),
            format!("{{\"code\":[{}]}}", many("\"A\"")),
            format!("{{\"x\":[{}]}}", many("[[]]")),
            format!("{{{names}}}"),
            format!("{{\"rooms\":[{{{names}}}]}}"),
            format!("[{}]", many("null")),
            format!("{{\"rooms\":\"{}\"}}", many("a")),
        ] {
            let (value, found) = read_text(&text);
            assert!(size(&value) < 20, "{text:.40} keeps {value:.200}");
            // One more than a response names.
            assert!(found.len() <= 101, "{text:.40} has {}", found.len());
        }
    }

    #[test]
    fn members_of_the_same_name_are_an_error_also_where_nothing_is_kept() {
        for text in [
            r#"{"code":"A","code":"B"}"#,
            r#"{"x":1,"x":2}"#,
            r#"{"x":{"y":1,"y":2}}"#,
        ] {
            let error = read(text.as_bytes(), &shape(), &mut ViolationList::default());
            assert!(error.unwrap_err().is_data(), "{text}");
        }
        for text in [r#"{"x":1e999}"#, r#"{"x":"\ud800"}"#, "{} {}"] {
            let error = read(text.as_bytes(), &shape(), &mut ViolationList::default());
            assert!(error.unwrap_err().is_syntax(), "{text}");
        }
        let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(read(deep.as_bytes(), &shape(), &mut ViolationList::default()).is_err());
    }
}
