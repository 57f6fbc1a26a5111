//! Mutated documents, each with one invalid value.

use serde_json::{Value, json};

/// Invalid values as JSON: other types, empty values, texts with unusual characters, and numbers
/// outside the usual JSON types.
const INVALID_VALUES: [&str; 15] = [
    "null",
    r#""""#,
    r#""\u0000 <b>\ud83d\ude00</b> &#x110000;""#,
    r#""-1.5""#,
    r#""99999999999999999999.99""#,
    "-1",
    "18446744073709551615",
    "1e300",
    "1e400",
    "-1e-400",
    "99999999999999999999999.999",
    "true",
    "[]",
    "[[1]]",
    "{}",
];

/// The placeholder that an invalid value replaces.
const PLACEHOLDER: &str = "\"@invalid\"";

/// Calls `check` with every mutation of a document in which one value is invalid. Each value is
/// replaced by each of fifteen invalid ones.
///
/// # Panics
/// Panics if the document is not JSON or has too few values.
pub fn for_each_mutation(document: &str, mut check: impl FnMut(&str)) {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let pointers = json_pointers(&document);
    assert!(pointers.len() > 5, "not JSON, or too few values");
    for pointer in pointers {
        let mut mutated = document.clone();
        if let Some(value) = mutated.pointer_mut(&pointer) {
            *value = json!("@invalid");
        }
        let mutated = mutated.to_string();
        for invalid in INVALID_VALUES {
            check(&mutated.replace(PLACEHOLDER, invalid));
        }
    }
}

/// Returns JSON pointers to all values, the whole document first.
fn json_pointers(document: &Value) -> Vec<String> {
    let mut pointers = vec![String::new()];
    let mut pending = vec![(String::new(), document)];
    while let Some((parent, value)) = pending.pop() {
        let members: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, field)| (format!("{parent}/{name}"), field))
                .collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| (format!("{parent}/{index}"), item))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        };
        pointers.extend(members.iter().map(|(pointer, _)| pointer.clone()));
        pending.extend(members);
    }
    pointers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_replaced_by_each_invalid_value() {
        let document = r#"{"a": [1, {"b": "x"}], "c": null, "d": true}"#;
        let mut seen = Vec::new();
        for_each_mutation(document, |mutation| seen.push(mutation.to_owned()));
        assert_eq!(seen.len(), 7 * INVALID_VALUES.len());
        for expected in [
            "[]",
            r#"{"a":1e400,"c":null,"d":true}"#,
            r#"{"a":[1,{"b":{}}],"c":null,"d":true}"#,
        ] {
            assert!(
                seen.iter().any(|mutation| mutation == expected),
                "{expected}"
            );
        }
    }
}
