//! The API document, made from the handlers: what a handler's types say is what
//! the document says. A handler's attribute gives method, path, words, statuses
//! and its own error codes; the rest is derived here.

use crate::api::answer::Meta;
use crate::api::caller::Caller;
use crate::api::code::Code;
use crate::api::extract::{Part, PathValue, Valid};
use crate::api::problem::{ApiError, PROBLEM_JSON, Problem};
use crate::api::schema::{COMPONENTS, Components, described};
use crate::app::App;
use axum::extract::State;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use utoipa::ToSchema;

/// Extension of a handler's attribute that lists its own error codes.
const ERROR_CODES: &str = "x-error-codes";

/// What a handler takes.
#[derive(Debug, Default)]
pub struct Inputs {
    parameters: Vec<Value>,
    body: Option<Value>,
    codes: BTreeSet<Code>,
    components: Components,
}

/// What a handler answers when it succeeds.
#[derive(Debug, Default)]
pub struct Outputs {
    data: Option<Value>,
    meta: Option<Value>,
    components: Components,
}

/// The successful answer of a handler.
pub trait Reply {
    /// Adds it to the API document.
    fn describe(outputs: &mut Outputs);
}

/// A handler of the API: `async fn(State<Arc<App>>, Caller, Valid<I>) -> Result<R, ApiError>`.
/// `Call` is only there to tell the implementations apart.
pub trait Operation<Call> {
    /// What it takes and answers.
    fn describe() -> (Inputs, Outputs);
}

impl<F, I, R, Fut> Operation<(Caller, I, R, Fut)> for F
where
    F: Fn(State<Arc<App>>, Caller, Valid<I>) -> Fut,
    Fut: Future<Output = Result<R, ApiError>>,
    I: Part,
    R: Reply,
{
    fn describe() -> (Inputs, Outputs) {
        describe_types::<I, R>()
    }
}

/// The same without a caller: open to everyone.
impl<F, I, R, Fut> Operation<(I, R, Fut)> for F
where
    F: Fn(State<Arc<App>>, Valid<I>) -> Fut,
    Fut: Future<Output = Result<R, ApiError>>,
    I: Part,
    R: Reply,
{
    fn describe() -> (Inputs, Outputs) {
        describe_types::<I, R>()
    }
}

fn describe_types<I: Part, R: Reply>() -> (Inputs, Outputs) {
    let mut inputs = Inputs::default();
    let mut outputs = Outputs::default();
    I::describe(&mut inputs);
    R::describe(&mut outputs);
    (inputs, outputs)
}

/// What the types of a handler say.
pub(crate) fn describe<Call, F: Operation<Call>>(_: &F) -> (Inputs, Outputs) {
    F::describe()
}

impl Inputs {
    /// A JSON body.
    pub fn body<T: ToSchema>(&mut self) {
        let reference = refer::<T>(&mut self.components);
        self.body = Some(json!({
            "required": true,
            "content": { "application/json": { "schema": reference } },
        }));
        self.codes.extend([
            Code::ValidationFailed,
            Code::MalformedJson,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
        ]);
    }

    /// A query whose parameters are the members of `T`.
    pub fn query<T: ToSchema>(&mut self) {
        let (own, mut components) = described::<T>();
        components.remove(T::name().as_ref());
        self.components.append(&mut components);
        let required: Vec<&str> = own
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = own
            .get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        for (name, mut schema) in properties {
            forbid_null(&mut schema);
            let words = schema
                .as_object_mut()
                .and_then(|schema| schema.remove("description"));
            self.parameters.push(json!({
                "name": name, "in": "query", "required": required.contains(&name.as_str()),
                "description": words.unwrap_or_default(), "schema": schema,
            }));
        }
        self.codes.insert(Code::ValidationFailed);
    }

    /// A value in the path.
    pub fn path_value<T: PathValue>(&mut self) {
        self.parameters.push(json!({
            "name": T::NAME, "in": "path", "required": true, "description": T::MEANING,
            "schema": { "type": "string", "pattern": T::PATTERN, "maxLength": T::CHARS_MAX },
        }));
        self.codes.insert(Code::ValidationFailed);
    }

    /// `x-idempotency-key`.
    pub fn idempotency_key(&mut self, required: bool, chars_max: usize) {
        self.parameters.push(json!({
            "name": "x-idempotency-key", "in": "header", "required": required,
            "description": "Repeating it with the same request gives what the first one made; kept for 30 days at least.",
            "schema": { "type": "string", "minLength": 1, "maxLength": chars_max, "pattern": "^[!-~]([ -~]*[!-~])?$" },
        }));
        self.codes.extend([
            Code::ValidationFailed,
            Code::IdempotencyInProgress,
            Code::IdempotencyKeyReused,
        ]);
    }
}

impl Outputs {
    /// `data` is one `T`.
    pub fn data_is<T: ToSchema>(&mut self) {
        self.data = Some(refer::<T>(&mut self.components));
    }

    /// `data` is an array of `T`.
    pub fn data_is_list_of<T: ToSchema>(&mut self) {
        self.data = Some(json!({ "type": "array", "items": refer::<T>(&mut self.components) }));
    }

    /// `meta` is an `M`, unless that says nothing.
    pub fn meta_is<M: Meta>(&mut self) {
        if M::name() != "NoMeta" {
            self.meta = Some(refer::<M>(&mut self.components));
        }
    }

    fn schema(&self) -> Option<Value> {
        let data = self.data.as_ref()?;
        Some(match &self.meta {
            None => {
                json!({ "type": "object", "required": ["data"], "properties": { "data": data } })
            }
            Some(meta) => {
                json!({ "type": "object", "required": ["data"], "properties": { "data": data, "meta": meta } })
            }
        })
    }
}

/// A parameter that is absent is not sent; `null` is not a text that says so.
fn forbid_null(schema: &mut Value) {
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

fn refer<T: ToSchema>(components: &mut Components) -> Value {
    let (_, mut described) = described::<T>();
    components.append(&mut described);
    json!({ "$ref": format!("{COMPONENTS}{}", T::name()) })
}

/// One operation, as the route table gives it to the document.
pub(crate) struct Described {
    /// Path template.
    pub(crate) path: String,
    /// Method in lower case.
    pub(crate) method: String,
    /// What the handler's attribute says.
    pub(crate) attribute: Value,
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    /// The scope that its key needs; none: open to everyone.
    pub(crate) scope: Option<&'static str>,
}

/// The whole document.
pub(crate) struct Document {
    paths: BTreeMap<String, Map<String, Value>>,
    components: Components,
}

impl Document {
    pub(crate) fn new() -> Self {
        let mut components = Components::new();
        refer::<Problem>(&mut components);
        Self {
            paths: BTreeMap::new(),
            components,
        }
    }

    pub(crate) fn add(&mut self, mut described: Described) {
        self.components.append(&mut described.inputs.components);
        self.components.append(&mut described.outputs.components);
        let operation = operation(&described);
        self.paths
            .entry(described.path)
            .or_default()
            .insert(described.method, operation);
    }

    /// OpenAPI 3.1. `server` is the address of the API.
    pub(crate) fn finish(self, server: &str) -> Value {
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Stopover",
                "version": env!("CARGO_PKG_VERSION"),
                "description": include_str!("introduction.md"),
                "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
            },
            "servers": [{ "url": server }],
            "security": [{ "api_key": [] }],
            "tags": tags(&self.paths),
            "paths": self.paths,
            "components": {
                "schemas": self.components,
                "securitySchemes": { "api_key": {
                    "type": "apiKey", "in": "header", "name": "x-api-key",
                    "description": "`sk_test_…` or `sk_live_…`: the key resolves to an organization and a mode.",
                } },
                "headers": headers(),
            },
        })
    }
}

/// The tags in use, in the order of the paths.
fn tags(paths: &BTreeMap<String, Map<String, Value>>) -> Vec<Value> {
    let used = paths
        .values()
        .flat_map(Map::values)
        .filter_map(|operation| operation.pointer("/tags/0")?.as_str());
    let unique: BTreeSet<&str> = used.collect();
    unique
        .into_iter()
        .map(|name| json!({ "name": name }))
        .collect()
}

fn headers() -> Value {
    let header =
        |description: &str, schema: Value| json!({ "description": description, "schema": schema });
    json!({
        "RequestId": header("The request's id: the caller's x-request-id, or ours.", json!({"type": "string"})),
        "Supplier": header("The supplier that answered.", json!({"type": "string"})),
        "RateLimitPolicy": header("The limit of a key: `q` requests in `w` seconds.", json!({"type": "string"})),
        "RateLimit": header("`r` requests are left; all of them again after `t` seconds.", json!({"type": "string"})),
        "RetryAfter": header("Seconds to wait before the same request is sent again.", json!({"type": "integer"})),
        "Allow": header("The methods that the path has.", json!({"type": "string"})),
    })
}

fn operation(described: &Described) -> Value {
    let mut operation = described.attribute.as_object().cloned().unwrap_or_default();
    let mut codes = own_codes(operation.remove(ERROR_CODES));
    codes.extend(&described.inputs.codes);
    codes.extend([
        Code::RateLimited,
        Code::InternalError,
        Code::Overloaded,
        Code::ValidationFailed,
    ]);
    let mut parameters = described.inputs.parameters.clone();
    parameters.push(parameter(
        "x-request-id",
        "^[A-Za-z0-9._-]{1,128}$",
        "Echoed on the answer; made when it is missing or of another form.",
    ));
    if let Some(scope) = described.scope {
        codes.extend([
            Code::MissingApiKey,
            Code::InvalidApiKey,
            Code::OrganizationMismatch,
            Code::InsufficientScope,
            Code::NotAcceptable,
        ]);
        parameters.push(parameter(
            "x-user-id",
            "^[A-Za-z0-9._:@-]{1,128}$",
            "The organization's end user; `org` without it.",
        ));
        parameters.push(json!({
            "name": "x-organization-id", "in": "header", "required": false, "schema": { "type": "string" },
            "description": "When sent it must be the key's organization.",
        }));
        operation.insert("x-required-scope".to_owned(), json!(scope));
    } else {
        operation.insert("security".to_owned(), json!([{}]));
    }
    operation.insert("parameters".to_owned(), json!(parameters));
    if let Some(body) = &described.inputs.body {
        operation.insert("requestBody".to_owned(), body.clone());
    }
    let responses = operation.remove("responses").unwrap_or_default();
    let mut responses = successes(responses, &described.outputs);
    responses.append(&mut failures(&codes));
    operation.insert("responses".to_owned(), json!(responses));
    Value::Object(operation)
}

fn parameter(name: &str, pattern: &str, description: &str) -> Value {
    json!({
        "name": name, "in": "header", "required": false, "description": description,
        "schema": { "type": "string", "pattern": pattern },
    })
}

/// The codes that a handler's attribute lists. One that does not exist is shown
/// as it is, and a test of the document finds it.
fn own_codes(listed: Option<Value>) -> BTreeSet<Code> {
    let listed = listed
        .as_ref()
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    listed
        .iter()
        .filter_map(Value::as_str)
        .filter_map(Code::named)
        .collect()
}

fn common_headers() -> Map<String, Value> {
    let mut headers = Map::new();
    for (name, component) in [
        ("x-request-id", "RequestId"),
        ("RateLimit-Policy", "RateLimitPolicy"),
        ("RateLimit", "RateLimit"),
    ] {
        headers.insert(
            name.to_owned(),
            json!({ "$ref": format!("#/components/headers/{component}") }),
        );
    }
    headers
}

/// The statuses that the attribute names, with what the handler's type says.
fn successes(responses: Value, outputs: &Outputs) -> Map<String, Value> {
    let mut responses = responses.as_object().cloned().unwrap_or_default();
    for (status, response) in &mut responses {
        let Some(members) = response.as_object_mut() else {
            continue;
        };
        let mut headers = common_headers();
        headers.insert(
            "x-supplier".to_owned(),
            json!({ "$ref": "#/components/headers/Supplier" }),
        );
        members.insert("headers".to_owned(), Value::Object(headers));
        if let (Some(schema), false) = (
            outputs.schema(),
            status == "204" || members.contains_key("content"),
        ) {
            members.insert(
                "content".to_owned(),
                json!({ "application/json": { "schema": schema } }),
            );
        }
    }
    responses
}

fn failures(codes: &BTreeSet<Code>) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        by_status
            .entry(code.facts().status)
            .or_default()
            .push(*code);
    }
    by_status
        .into_iter()
        .map(|(status, codes)| (status.to_string(), failure(status, &codes)))
        .collect()
}

fn failure(status: u16, codes: &[Code]) -> Value {
    let lines: Vec<String> = codes
        .iter()
        .map(|code| format!("- `{}`: {}", code.name(), code.facts().meaning))
        .collect();
    let examples: Map<String, Value> = codes
        .iter()
        .map(|code| {
            let problem = ApiError::from(*code).problem(
                "https://api.example.com/docs/errors/",
                "req_01976f3e-1111-7abc-8def-000000000000",
            );
            (
                code.name().to_owned(),
                json!({ "summary": code.facts().title, "value": problem }),
            )
        })
        .collect();
    let mut headers = common_headers();
    if status == 429 || status == 503 || codes.contains(&Code::IdempotencyInProgress) {
        headers.insert(
            "Retry-After".to_owned(),
            json!({ "$ref": "#/components/headers/RetryAfter" }),
        );
    }
    json!({
        "description": lines.join("\n"),
        "headers": headers,
        "content": { PROBLEM_JSON: {
            "schema": { "$ref": format!("{COMPONENTS}Problem") },
            "examples": examples,
        } },
    })
}
