//! Validation of requests against the published JSON Schemas, so that the OpenAPI document always
//! matches it. All violations are found at once. The module does not depend on HTTP or on a
//! particular request.

pub(crate) mod shape;

use crate::problem::{Violation, ViolationList, ViolationLocation};
use crate::validation::shape::Shape;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use utoipa::ToSchema;

pub(crate) const COMPONENTS: &str = "#/components/schemas/";

/// Schemas by name, as in the components of the document.
pub(crate) type Components = BTreeMap<String, Value>;

const WRONG_TYPE: &str = "type";

/// Returns the schema of a type, and all schemas that it refers to, including its own.
pub(crate) fn schema_with_components<T: ToSchema>() -> (Value, Components) {
    let mut referred = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut referred);
    let mut components = Components::new();
    for (name, schema) in referred {
        let mut schema = serde_json::to_value(schema).unwrap_or_default();
        complete_schema(&mut schema);
        let name = published_name(&name).to_owned();
        merge(&mut components, Components::from([(name, schema)]));
    }
    let own = components.get(published_name(&T::name())).cloned();
    (own.unwrap_or_default(), components)
}

/// Returns the name of a schema in the document. The types of resources have a suffix.
fn published_name(name: &str) -> &str {
    name.strip_suffix("Resource").unwrap_or(name)
}

/// Returns the reference to the schema of a type.
pub(crate) fn reference_to<T: ToSchema>() -> String {
    format!("{COMPONENTS}{}", published_name(&T::name()))
}

/// Merges schemas into others. Each name must stand for one schema: two types of the same name
/// would share a description.
pub(crate) fn merge(into: &mut Components, from: Components) {
    for (name, schema) in from {
        let known = into.get(&name);
        debug_assert!(
            known.is_none_or(|known| *known == schema),
            "two schemas are called {name}"
        );
        into.insert(name, schema);
    }
}

/// Adds what follows from a schema: the range of integer formats, so that a number out of range is a
/// violation, examples of ids, and the published names of the schemas that it refers to.
fn complete_schema(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = published_name(reference).to_owned();
            }
            let pattern = members.get("pattern").and_then(Value::as_str);
            if let Some(prefix) = pattern.and_then(id_prefix) {
                let example = format!("{prefix}01976f3e4a5b7c8d9e0f112233445566");
                members.entry("example").or_insert(example.into());
            }
            let range = match members.get("format").and_then(Value::as_str) {
                Some("int32") => Some((json!(i32::MIN), json!(i32::MAX))),
                Some("int64") => Some((json!(i64::MIN), json!(i64::MAX))),
                _ => None,
            };
            if let Some((least, greatest)) = range {
                members.entry("minimum").or_insert(least);
                members.entry("maximum").or_insert(greatest);
            }
            members.values_mut().for_each(complete_schema);
        }
        Value::Array(elements) => elements.iter_mut().for_each(complete_schema),
        _ => {}
    }
}

/// Returns the prefix of the ids that a pattern describes, e.g. `htl_`.
fn id_prefix(pattern: &str) -> Option<&str> {
    let prefix = pattern.strip_prefix('^');
    prefix?.strip_suffix("[a-zA-Z0-9-]+$")
}

/// Cache of compiled schemas, each compiled on first use.
#[derive(Default)]
pub(crate) struct ValidatorCache {
    compiled: RwLock<HashMap<TypeId, Arc<CompiledSchema>>>,
}

/// A compiled schema of a type.
pub(crate) struct CompiledSchema {
    validator: Validator,
    shape: Shape,
    /// Schemas of query parameters, by name.
    properties: Map<String, Value>,
    components: Components,
}

impl ValidatorCache {
    pub(crate) fn get<T: ToSchema + 'static>(&self) -> Result<Arc<CompiledSchema>, InvalidSchema> {
        let key = TypeId::of::<T>();
        let known = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = known.get(&key) {
            return Ok(Arc::clone(compiled));
        }
        drop(known);
        let compiled = Arc::new(CompiledSchema::new::<T>()?);
        let known = self.compiled.write();
        known
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }
}

/// The published schema of a type is not a valid JSON Schema, which is a programming error.
#[derive(Debug, thiserror::Error)]
#[error("the schema of {name} is not a valid JSON Schema: {reason}")]
pub(crate) struct InvalidSchema {
    name: String,
    reason: String,
}

impl CompiledSchema {
    fn new<T: ToSchema>() -> Result<Self, InvalidSchema> {
        let (own, components) = schema_with_components::<T>();
        let document = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": reference_to::<T>(),
            "components": { "schemas": &components },
        });
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options.build(&document).map_err(|error| InvalidSchema {
            name: T::name().into_owned(),
            reason: error.to_string(),
        })?;
        let shape = Shape::of(&own, &components);
        let properties = own.get("properties").and_then(Value::as_object).cloned();
        Ok(Self {
            validator,
            shape,
            properties: properties.unwrap_or_default(),
            components,
        })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Collects the violations of the schema. Returns the value without unknown members, so that
    /// its other errors can be found too. The value must be small, or read with its form: the
    /// validator collects all violations before the first is returned.
    pub(crate) fn validate(
        &self,
        location: ViolationLocation,
        value: &Value,
        found: &mut ViolationList,
    ) -> Value {
        // This list is not limited, because some of its violations are left out below.
        let mut broken: Vec<Violation> = Vec::new();
        let mut controlled = ViolationList::default();
        control_characters(location, value, String::new(), &mut controlled);
        let mut known = value.clone();
        for error in self.validator.iter_errors(value) {
            // The published pattern of such a text forbids control characters too, so the same
            // violation is reported once.
            let at = error.instance_path().as_str();
            let is_said = matches!(error.kind(), Kind::Pattern { .. })
                && controlled.as_slice().iter().any(|one| one.pointer == at);
            if !is_said {
                push_violations(location, &error, &mut broken, Some(&mut known));
            }
        }
        // A value of the wrong type also violates the other constraints, so only its type is
        // reported.
        let of_wrong_type = broken.iter();
        let of_wrong_type = of_wrong_type.filter(|one| one.code == WRONG_TYPE);
        let of_wrong_type: HashSet<String> = of_wrong_type.map(|one| one.pointer.clone()).collect();
        broken.retain(|one| one.code == WRONG_TYPE || !of_wrong_type.contains(&one.pointer));
        found.extend(broken);
        found.append(controlled);
        known
    }

    /// Converts query text to the type that its schema requires. Text that does not have this form
    /// remains text and violates the schema.
    pub(crate) fn parse_parameter(&self, name: &str, text: String) -> Value {
        let schema = self.properties.get(name);
        let wanted = schema
            .map(|schema| self.types_of(schema))
            .unwrap_or_default();
        let wants = |kind: &str| wanted.iter().any(|wanted| wanted == kind);
        if wants("string") {
            return Value::String(text);
        }
        if (wants("integer") && is_integer(&text)) || (wants("number") && is_number(&text)) {
            return serde_json::from_str(&text).unwrap_or(Value::String(text));
        }
        match text.as_str() {
            "true" if wants("boolean") => Value::Bool(true),
            "false" if wants("boolean") => Value::Bool(false),
            _ => Value::String(text),
        }
    }

    fn types_of(&self, schema: &Value) -> Vec<String> {
        let reference = schema["$ref"]
            .as_str()
            .and_then(|to| to.strip_prefix(COMPONENTS));
        if let Some(target) = reference.and_then(|name| self.components.get(name)) {
            return self.types_of(target);
        }
        let mut types: Vec<String> = match &schema["type"] {
            Value::String(one) => vec![one.clone()],
            Value::Array(many) => many
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        for choice in ["oneOf", "anyOf", "allOf"] {
            let branches = schema[choice].as_array().into_iter().flatten();
            types.extend(branches.flat_map(|branch| self.types_of(branch)));
        }
        types
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Reports text with control characters, such as NUL, so that none reaches a database, log or
/// supplier.
fn control_characters(
    location: ViolationLocation,
    value: &Value,
    pointer: String,
    found: &mut ViolationList,
) {
    match value {
        Value::String(text) if text.chars().any(char::is_control) => {
            let detail = "control characters are not allowed";
            found.push(Violation::at(
                location,
                pointer,
                "control_character",
                detail,
            ));
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                control_characters(location, element, format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                control_characters(
                    location,
                    member,
                    format!("{pointer}/{}", escape(name)),
                    found,
                );
            }
        }
        _ => {}
    }
}

/// Returns a name as a segment of a JSON pointer. It is truncated, because it may be client input.
pub(crate) fn escape(name: &str) -> String {
    let short = name.chars().take(200);
    let short: String = short.filter(|character| !character.is_control()).collect();
    short.replace('~', "~0").replace('/', "~1")
}

fn push_violations(
    location: ViolationLocation,
    error: &ValidationError<'_>,
    found: &mut Vec<Violation>,
    known: Option<&mut Value>,
) {
    let at = error.instance_path().as_str();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown_fields(location, at, unexpected, found);
            if let Some(members) = members_at(known, at) {
                members.retain(|name, _| !unexpected.contains(name));
            }
        }
        // The schema allows no fields; the error does not name the ones that were sent.
        Kind::FalseSchema => match members_at(known, at).map(std::mem::take) {
            Some(members) => {
                let unexpected: Vec<String> = members.into_iter().map(|(name, _)| name).collect();
                unknown_fields(location, at, &unexpected, found);
            }
            None => found.push(Violation::at(location, at, "not_allowed", "must be absent")),
        },
        Kind::Required { property } => {
            let pointer = format!("{at}/{}", escape(property.as_str().unwrap_or_default()));
            let detail = "the field is required";
            found.push(Violation::at(location, pointer, "required", detail));
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            report_branch(location, error, context, found)
        }
        kind => {
            let (code, detail) = explain(kind);
            found.push(Violation::at(location, at, code, detail));
        }
    }
}

fn unknown_fields(
    location: ViolationLocation,
    at: &str,
    unexpected: &[String],
    found: &mut Vec<Violation>,
) {
    for name in unexpected {
        let pointer = format!("{at}/{}", escape(name));
        let detail = "there is no such field";
        found.push(Violation::at(location, pointer, "unknown_field", detail));
    }
}

fn members_at<'a>(known: Option<&'a mut Value>, at: &str) -> Option<&'a mut Map<String, Value>> {
    known?.pointer_mut(at)?.as_object_mut()
}

/// Reports the violations of a value that has several allowed forms. The intended form is the one
/// with the right type and the fewest violations.
fn report_branch(
    location: ViolationLocation,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    found: &mut Vec<Violation>,
) {
    let here = error.instance_path().as_str();
    let is_other_type = |errors: &&Vec<ValidationError<'static>>| {
        errors.iter().any(|error| {
            error.instance_path().as_str() == here
                && matches!(error.kind(), Kind::Type { .. } | Kind::Constant { .. })
        })
    };
    let meant = context.iter().filter(|errors| !is_other_type(errors));
    match meant.min_by_key(|errors| errors.len()) {
        Some(errors) => errors
            .iter()
            .for_each(|error| push_violations(location, error, found, None)),
        None => found.push(Violation::at(
            location,
            here,
            WRONG_TYPE,
            wrong_type(context),
        )),
    }
}

fn wrong_type(context: &[Vec<ValidationError<'static>>]) -> String {
    let names = context
        .iter()
        .flatten()
        .filter_map(|error| match error.kind() {
            Kind::Type { kind } => Some(type_names(kind)),
            _ => None,
        });
    format!("must be {}", names.collect::<Vec<_>>().join(" or "))
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(many) => many
            .iter()
            .map(|one| one.to_string())
            .collect::<Vec<_>>()
            .join(" or "),
    }
}

fn explain(kind: &Kind) -> (&'static str, String) {
    match kind {
        Kind::Type { kind } => (WRONG_TYPE, format!("must be {}", type_names(kind))),
        Kind::Enum { options } => (
            "not_allowed",
            format!("must be one of {}", shortened(options)),
        ),
        Kind::Constant { expected_value } => ("not_allowed", format!("must be {expected_value}")),
        Kind::Format { format } => ("format", format!("must have the format {format}")),
        Kind::Pattern { pattern } => ("pattern", format!("must match {pattern}")),
        Kind::MinLength { limit } => (
            "too_short",
            format!("must have at least {limit} characters"),
        ),
        Kind::MaxLength { limit } => ("too_long", format!("must have at most {limit} characters")),
        Kind::MinItems { limit } => ("too_few", format!("must have at least {limit} items")),
        Kind::MaxItems { limit } => ("too_many", format!("must have at most {limit} items")),
        Kind::MinProperties { limit } => ("too_few", format!("must have at least {limit} members")),
        Kind::MaxProperties { limit } => ("too_many", format!("must have at most {limit} members")),
        Kind::Minimum { limit } => ("too_small", format!("must be at least {limit}")),
        Kind::ExclusiveMinimum { limit } => ("too_small", format!("must be more than {limit}")),
        Kind::Maximum { limit } => ("too_large", format!("must be at most {limit}")),
        Kind::ExclusiveMaximum { limit } => ("too_large", format!("must be less than {limit}")),
        Kind::MultipleOf { multiple_of } => (
            "not_allowed",
            format!("must be a multiple of {multiple_of}"),
        ),
        Kind::UniqueItems => ("duplicate", "must not hold the same item twice".to_owned()),
        Kind::OneOfMultipleValid { .. } => ("ambiguous", "matches more than one form".to_owned()),
        _ => ("invalid", "is not valid".to_owned()),
    }
}

/// Returns the allowed values as text. Long lists, such as that of the currencies, are in the
/// documentation.
fn shortened(options: &Value) -> String {
    const SHOWN_MAX: usize = 20;
    match options.as_array() {
        Some(all) if all.len() > SHOWN_MAX => "the documented codes".to_owned(),
        _ => options.to_string(),
    }
}
