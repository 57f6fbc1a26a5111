//! The parts of an operation's description, and the traits of types that describe themselves.

use crate::error_code::ErrorCode;
use crate::validation::{Components, merge, reference_to, schema_with_components};
use host_domain::event::Product;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// The inputs of an operation.
#[derive(Debug, Default)]
pub(crate) struct OperationInputs {
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Value>,
    /// Bodies by product, if each product has its own.
    bodies: Vec<(Product, Value)>,
    pub(super) codes: BTreeSet<ErrorCode>,
    pub(super) components: Components,
}

/// The successful response of an operation.
#[derive(Debug, Default)]
pub(crate) struct OperationOutputs {
    whole: Option<Value>,
    data: Option<Value>,
    meta: Option<Value>,
    pub(super) components: Components,
}

pub(crate) trait DescribeResponse {
    fn describe_handler(outputs: &mut OperationOutputs);
}

/// A handler of the API: `async fn(State<S>, Context, Validated<I>) ->
/// Result<R, ApiError>`. The type parameter `Call` only distinguishes the implementations.
pub(crate) trait DescribeOperation<Call> {
    fn describe() -> (OperationInputs, OperationOutputs);
}

impl OperationInputs {
    pub(crate) fn body<T: ToSchema>(&mut self, required: bool) {
        self.body = Some(self.json_body::<T>(required));
    }

    /// Adds a JSON body that only applies to one product.
    pub(crate) fn product_body<T: ToSchema>(&mut self, product: Product) {
        let body = self.json_body::<T>(true);
        self.bodies.push((product, body));
    }

    pub(crate) fn select_product(&mut self, product: Product) {
        let mut bodies = std::mem::take(&mut self.bodies).into_iter();
        let own = bodies.find(|(of, _)| *of == product);
        self.body = own.map(|(_, body)| body).or(self.body.take());
    }

    pub(crate) fn add_code(&mut self, code: ErrorCode) {
        self.codes.insert(code);
    }

    fn json_body<T: ToSchema>(&mut self, required: bool) -> Value {
        self.codes.extend([
            ErrorCode::ValidationFailed,
            ErrorCode::MalformedJson,
            ErrorCode::BodyTooLarge,
            ErrorCode::UnsupportedMediaType,
        ]);
        let reference = schema_ref::<T>(&mut self.components);
        json!({
            "required": required,
            "content": { "application/json": { "schema": reference } },
        })
    }

    /// Sets a body whose form the gateway does not define.
    pub(super) fn raw_body(&mut self) {
        self.body = Some(json!({
            "required": true,
            "description": "The body as the supplier sends it, of any content type.",
            "content": { "application/json": { "schema": {} } },
        }));
        self.codes
            .extend([ErrorCode::ValidationFailed, ErrorCode::BodyTooLarge]);
    }

    /// Adds the query parameters, which are the members of `T`.
    pub(crate) fn query<T: ToSchema>(&mut self) {
        let (own, mut components) = schema_with_components::<T>();
        components.remove(T::name().as_ref());
        merge(&mut self.components, components);
        let required = own.get("required").and_then(Value::as_array);
        let required = required.cloned().unwrap_or_default();
        let properties = own.get("properties").and_then(Value::as_object).cloned();
        for (name, mut schema) in properties.unwrap_or_default() {
            remove_null(&mut schema);
            let members = schema.as_object_mut();
            let words = members.and_then(|members| members.remove("description"));
            self.parameters.push(json!({
                "name": name, "in": "query", "required": required.contains(&json!(name)),
                "description": words.unwrap_or_default(), "schema": schema,
            }));
        }
        self.codes.insert(ErrorCode::ValidationFailed);
    }

    /// Adds a path parameter, described by its name, meaning, pattern and maximum length.
    pub(crate) fn path_parameter(
        &mut self,
        name: &str,
        description: &str,
        pattern: &str,
        chars_max: usize,
    ) {
        self.parameters.push(json!({
            "name": name, "in": "path", "required": true, "description": description,
            "schema": { "type": "string", "pattern": pattern, "maxLength": chars_max },
        }));
        self.codes.insert(ErrorCode::ValidationFailed);
    }

    pub(crate) fn idempotency_key(&mut self, required: bool, chars_max: usize) {
        self.parameters.push(json!({
            "name": "x-idempotency-key", "in": "header", "required": required,
            "description": "Idempotency key. Repeating the same request with the same key returns what the first request created. Keys are kept for at least 30 days.",
            "schema": { "type": "string", "minLength": 1, "maxLength": chars_max, "pattern": "^[!-~]([ -~]*[!-~])?$" },
        }));
        self.codes.extend([
            ErrorCode::ValidationFailed,
            ErrorCode::IdempotencyInProgress,
            ErrorCode::IdempotencyKeyReused,
        ]);
    }
}

impl OperationOutputs {
    /// Sets the body of the response to a `T` without an envelope.
    pub(crate) fn set_body<T: ToSchema>(&mut self) {
        self.whole = Some(schema_ref::<T>(&mut self.components));
    }

    pub(crate) fn set_data<T: ToSchema>(&mut self) {
        self.data = Some(schema_ref::<T>(&mut self.components));
    }

    pub(crate) fn set_data_list<T: ToSchema>(&mut self) {
        let items = schema_ref::<T>(&mut self.components);
        self.data = Some(json!({ "type": "array", "items": items }));
    }

    /// Sets `meta` to an `M`, unless `M` is `NoMeta`.
    pub(crate) fn set_meta<M: ToSchema>(&mut self) {
        if M::name() != "NoMeta" {
            self.meta = Some(schema_ref::<M>(&mut self.components));
        }
    }

    /// Returns the schema of the response; `None` if it has no body.
    pub(super) fn schema(&self) -> Option<Value> {
        if self.whole.is_some() {
            return self.whole.clone();
        }
        let data = self.data.as_ref()?;
        let properties = match &self.meta {
            None => json!({ "data": data }),
            Some(meta) => json!({ "data": data, "meta": meta }),
        };
        Some(json!({ "type": "object", "required": ["data"], "properties": properties }))
    }
}

/// Removes `null` from a schema. An absent parameter is omitted, and `null` in a query would be
/// text.
fn remove_null(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    let branches = members.get_mut("oneOf").and_then(Value::as_array_mut);
    if let Some(branches) = branches {
        branches.retain(|branch| branch.get("type") != Some(&json!("null")));
        if let [only] = branches.as_slice() {
            let only = only.clone();
            members.remove("oneOf");
            let words = members.remove("description");
            *schema = only;
            if let (Some(words), Some(members)) = (words, schema.as_object_mut()) {
                members.insert("description".to_owned(), words);
            }
        }
    }
}

/// Returns a reference to the schema of `T`, and adds that schema to the components.
pub(super) fn schema_ref<T: ToSchema>(components: &mut Components) -> Value {
    let (_, described) = schema_with_components::<T>();
    merge(components, described);
    json!({ "$ref": reference_to::<T>() })
}
