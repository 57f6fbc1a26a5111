//! JSON encoding and decoding. Error messages contain no values of the document.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
pub use serde_json::Value;

use crate::lenient;

/// An error of decoding a supplier's response. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct DecodeError {
    text: Arc<str>,
    is_missing: bool,
}

impl DecodeError {
    /// Creates an error from one sentence, which must not contain values of the response.
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self {
            text: reason.into(),
            is_missing: false,
        }
    }

    /// Creates an error about a value that is needed and missing.
    pub fn missing(reason: impl Into<Arc<str>>) -> Self {
        Self {
            is_missing: true,
            ..Self::new(reason)
        }
    }

    /// Returns whether a value that is needed is missing.
    pub const fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// Describes where and why a document cannot be decoded.
    pub(crate) fn from_json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let lacks_value = ["missing field", "invalid type: null"];
        Self {
            is_missing: lacks_value.iter().any(|start| text.starts_with(start)),
            ..Self::new(explain(error))
        }
    }
}

/// Checks a condition that a usable response satisfies.
///
/// # Errors
/// Fails with the reason if the condition is false.
pub fn ensure(condition: bool, reason: &str) -> Result<(), DecodeError> {
    if condition {
        Ok(())
    } else {
        Err(DecodeError::new(reason))
    }
}

/// Returns the only item found under a reference, or `None` if there is none.
///
/// # Errors
/// Fails if there are several items.
pub fn single<T>(found: impl IntoIterator<Item = T>) -> Result<Option<T>, DecodeError> {
    let mut found = found.into_iter();
    let first = found.next();
    ensure(found.next().is_none(), "several have the same reference")?;
    Ok(first)
}

/// Returns the text unless it is empty.
pub fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// An error of encoding a request as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the request cannot be encoded as JSON: {0}")]
pub struct EncodeError(String);

/// Decodes a JSON document. Text may be borrowed from it. Unreadable items of each
/// [`LenientList`](crate::lenient::LenientList) are left out. Bytes that are not UTF-8 are decoded as
/// U+FFFD, because some suppliers send names in older encodings.
///
/// # Errors
/// Fails if the document is not JSON or does not have the expected form.
pub fn decode<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Result<T, DecodeError> {
    let document = match std::str::from_utf8(document) {
        Ok(document) => document,
        Err(_) => repaired(document),
    };
    let decoded = match serde_json::from_str(document) {
        // A number that is out of range and half of a surrogate pair count as syntax errors too,
        // although the document is JSON. Each list is checked to be JSON before its items are read.
        Err(error) if !error.is_eof() => lenient::item_by_item(|| serde_json::from_str(document)),
        decoded => decoded,
    };
    decoded.map_err(|error| {
        let cause = DecodeError::from_json(&error);
        let text = format!("the response does not have the expected form: {cause}");
        DecodeError {
            text: text.into(),
            ..cause
        }
    })
}

/// Returns a copy of the document in which U+FFFD replaces what is not UTF-8. Each call of a plugin has an
/// instance of its own, so the copy is freed at the end of the call.
fn repaired(document: &[u8]) -> &'static str {
    Box::leak(
        String::from_utf8_lossy(document)
            .into_owned()
            .into_boxed_str(),
    )
}

/// Encodes a value as a JSON document.
///
/// # Errors
/// Fails if a map has keys that are not text.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, EncodeError> {
    serde_json::to_vec(value).map_err(|error| EncodeError(error.to_string()))
}

/// Encodes a value as the text of a JSON document.
///
/// # Errors
/// Fails if a map has keys that are not text.
pub fn encode_text<T: Serialize + ?Sized>(value: &T) -> Result<String, EncodeError> {
    serde_json::to_string(value).map_err(|error| EncodeError(error.to_string()))
}

/// Returns a document without the members of objects that are `null`, which stand for fields that
/// are not sent. An object without other members counts as `null`.
pub fn without_nulls(mut document: Value) -> Value {
    remove_nulls(&mut document);
    document
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(remove_nulls);
            let is_empty =
                |member: &Value| member.as_object().is_some_and(|object| object.is_empty());
            members.retain(|_, member| !member.is_null() && !is_empty(member));
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Describes where and why a document cannot be decoded. Values are omitted, because they may be
/// personal data.
pub(crate) fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // A quoted value may contain these words, and the expectation follows it.
    let reason = match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None if text.starts_with("missing field") || text.starts_with("duplicate field") => text,
        None => match error.classify() {
            serde_json::error::Category::Eof => "it ends too early".to_owned(),
            serde_json::error::Category::Syntax => "it is not JSON".to_owned(),
            _ => "a value is not allowed".to_owned(),
        },
    };
    if reason.contains(" at line ") {
        reason
    } else {
        format!(
            "{reason} at line {} column {}",
            error.line(),
            error.column()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Guest {
        #[expect(dead_code, reason = "the test only needs the field to be required")]
        age: u8,
    }

    #[test]
    fn null_members_and_objects_of_nulls_are_removed() {
        let document = r#"{"a":null,"b":{"c":null},"d":[null,{"e":null,"f":0}],"g":[],"h":""}"#;
        let document = without_nulls(decode(document.as_bytes()).unwrap());
        assert_eq!(
            document.to_string(),
            r#"{"d":[null,{"f":0}],"g":[],"h":""}"#
        );
    }

    #[test]
    fn bytes_that_are_not_utf_8_cost_only_their_characters() {
        let names: Vec<String> = decode(b"[\"Caf\xe9\", \"Bar\"]").unwrap();
        assert_eq!(names, ["Caf\u{fffd}", "Bar"]);
    }

    #[test]
    fn decode_error_describes_cause_without_values() {
        let cases = [
            (
                r#"{"age": "Ann Example"}"#,
                "expected u8 at line 1 column 21",
            ),
            (
                r#"{"age": "a, expected Ann Example"}"#,
                "expected u8 at line 1 column 33",
            ),
            (r#"{}"#, "missing field `age` at line 1 column 2"),
            (r#"{"age": 300}"#, "expected u8 at line 1 column 11"),
            (r#"{"age": "#, "it ends too early at line 1 column 8"),
            (r#"<html>Ann</html>"#, "it is not JSON at line 1 column 1"),
        ];
        for (document, expected) in cases {
            let error = decode::<Guest>(document.as_bytes()).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the response does not have the expected form: {expected}")
            );
        }
    }

    #[test]
    fn missing_value_is_distinguished_from_invalid_one() {
        for (document, is_missing) in [
            ("{}", true),
            (r#"{"age": null}"#, true),
            (r#"{"age": "null"}"#, false),
            (r#"{"age": 300}"#, false),
            ("nul", false),
        ] {
            let error = decode::<Guest>(document.as_bytes()).unwrap_err();
            assert_eq!(error.is_missing(), is_missing, "{document}: {error}");
        }
    }
}
