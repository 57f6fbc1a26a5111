//! The form of a request as its schema describes it. A reader of JSON uses it to skip what cannot be
//! part of a valid request, and to replace values that are not valid.

use crate::validation::{COMPONENTS, Components};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum number of characters of a text whose schema sets no length: dates, and texts whose
/// pattern or list of values bounds them.
const TEXT_CHARS_MAX: usize = 1_000;

/// Maximum depth of a request. It ends schemas that refer to themselves; no request has one.
const DEPTH_MAX: usize = 32;

/// Form of a value.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) kind: ShapeKind,
    /// Value that has this form. It replaces an invalid value, so that the rules about the other
    /// values of the request can be checked.
    pub(crate) stand_in: Value,
}

/// Kind of a value, with the limits that are checked while it is read.
#[derive(Debug)]
pub(crate) enum ShapeKind {
    /// An object with these members and no others.
    Object(BTreeMap<String, Shape>),
    Array {
        items: Box<Shape>,
        items_max: usize,
    },
    Text {
        chars_max: usize,
        /// Whether the schema sets the length, so that the validator reports a longer text.
        is_length_in_schema: bool,
    },
    /// A number, a boolean or null.
    Scalar,
}

impl Shape {
    /// Returns the form that a schema describes. `components` are the schemas that it refers to.
    pub(crate) fn of(schema: &Value, components: &Components) -> Self {
        Self::at_depth(schema, components, DEPTH_MAX)
    }

    fn at_depth(schema: &Value, components: &Components, depth: usize) -> Self {
        let schema = resolve(schema, components);
        let types = types_of(schema);
        let depth = depth.saturating_sub(1);
        let is = |kind: &str| types.contains(&kind);
        if is("object") && depth > 0 {
            return Self::object(schema, components, depth);
        }
        let kind = match schema.get("items").filter(|_| is("array") && depth > 0) {
            Some(items) => ShapeKind::Array {
                items: Box::new(Self::at_depth(items, components, depth)),
                items_max: limit(schema, "maxItems").unwrap_or(usize::MAX),
            },
            None if is("string") => {
                let chars_max = limit(schema, "maxLength");
                ShapeKind::Text {
                    chars_max: chars_max.unwrap_or(TEXT_CHARS_MAX),
                    is_length_in_schema: chars_max.is_some(),
                }
            }
            None => ShapeKind::Scalar,
        };
        let stand_in = leaf_stand_in(schema, &types);
        Self { kind, stand_in }
    }

    fn object(schema: &Value, components: &Components, depth: usize) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let members = properties.into_iter().flatten();
        let members: BTreeMap<String, Self> = members
            .map(|(name, member)| (name.clone(), Self::at_depth(member, components, depth)))
            .collect();
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let stand_in: Map<String, Value> = required
            .filter_map(|name| Some((name.to_owned(), members.get(name)?.stand_in.clone())))
            .collect();
        Self {
            kind: ShapeKind::Object(members),
            stand_in: Value::Object(stand_in),
        }
    }

    /// Returns the form of the value at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Self> {
        let mut segments = pointer.split('/').skip(1);
        segments.try_fold(self, |shape, segment| match &shape.kind {
            ShapeKind::Object(members) => members.get(segment),
            ShapeKind::Array { items, .. } => Some(&**items),
            ShapeKind::Text { .. } | ShapeKind::Scalar => None,
        })
    }
}

/// Returns the schema that a reference names. Of several forms it returns the first that is not
/// null: requests have no other alternatives, apart from formats of the same text.
fn resolve<'a>(schema: &'a Value, components: &'a Components) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEPTH_MAX {
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|reference| reference.strip_prefix(COMPONENTS));
        let branch = || {
            let choices = ["oneOf", "anyOf"].into_iter();
            let mut branches = choices
                .filter_map(|name| schema.get(name)?.as_array())
                .flatten();
            branches.find(|branch| branch.get("type") != Some(&json!("null")))
        };
        match target.and_then(|name| components.get(name)).or_else(branch) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn limit(schema: &Value, name: &str) -> Option<usize> {
    let limit = schema.get(name)?.as_u64()?;
    usize::try_from(limit).ok()
}

fn leaf_stand_in(schema: &Value, types: &[&str]) -> Value {
    let first = |name: &str| schema.get(name)?.as_array()?.first();
    let listed = first("enum").or_else(|| schema.get("const"));
    if let Some(value) = listed {
        return value.clone();
    }
    let example = schema.get("example").or_else(|| first("examples"));
    let is = |kind: &str| types.contains(&kind);
    if is("array") {
        return json!([]);
    }
    if is("string") {
        return match schema.get("format").and_then(Value::as_str) {
            Some("date") => json!("2000-01-01"),
            Some("date-time") => json!("2000-01-01T00:00:00Z"),
            _ => example
                .filter(|example| example.is_string())
                .cloned()
                .unwrap_or_else(|| json!("x")),
        };
    }
    if is("integer") || is("number") {
        let number = example.filter(|example| example.is_number());
        let number = number.or_else(|| schema.get("minimum"));
        return number.cloned().unwrap_or_else(|| json!(1));
    }
    if is("boolean") {
        return json!(false);
    }
    Value::Null
}
