//! The OpenAPI document: every operation with its parameters, responses and errors.

use crate::error_code::ErrorCode;
use crate::openapi::describe::{OperationInputs, OperationOutputs, schema_ref};
use crate::openapi::{example, links, webhook};
use crate::problem::{ApiError, PROBLEM_JSON, Problem};
use crate::validation::{COMPONENTS, Components, merge};
use host_domain::time::Date;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Extension of a handler's attribute that lists the handler's own error codes.
const ERROR_CODES: &str = "x-error-codes";

/// Specification of an operation, from the route table.
pub(crate) struct OperationSpec {
    pub(crate) path: String,
    /// Method in lower case.
    pub(crate) method: String,
    /// Content of the handler's attribute.
    pub(crate) annotation: Value,
    pub(crate) inputs: OperationInputs,
    pub(crate) outputs: OperationOutputs,
    /// Scope that the API key needs; `None` if the operation needs no key.
    pub(crate) scope: Option<&'static str>,
}

/// The complete document.
pub(crate) struct OpenApiDocument {
    paths: BTreeMap<String, Map<String, Value>>,
    /// Tags in the order of the route table.
    tags: Vec<String>,
    components: Components,
}

impl OpenApiDocument {
    pub(crate) fn new() -> Self {
        let mut components = Components::new();
        schema_ref::<Problem>(&mut components);
        Self {
            paths: BTreeMap::new(),
            tags: Vec::new(),
            components,
        }
    }

    pub(crate) fn add(&mut self, mut described: OperationSpec) {
        let (inputs, outputs) = (&mut described.inputs, &mut described.outputs);
        for components in [&mut inputs.components, &mut outputs.components] {
            merge(&mut self.components, std::mem::take(components));
        }
        let operation = operation(&described);
        let tag = operation.pointer("/tags/0").and_then(Value::as_str);
        if let Some(tag) = tag.filter(|tag| !self.tags.iter().any(|known| known == tag)) {
            self.tags.push(tag.to_owned());
        }
        let path = self.paths.entry(described.path).or_default();
        path.insert(described.method, operation);
    }

    /// Returns the OpenAPI 3.1 document. `server` is the address of the API. Examples use stays
    /// after `today`.
    pub(crate) fn finish(mut self, server: &str, today: Date) -> Value {
        example::add_examples(&mut self.paths, today);
        links::add_links(&mut self.paths, today);
        let webhooks = webhook::webhooks_section(&mut self.components);
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Stopover",
                "version": env!("CARGO_PKG_VERSION"),
                "description": include_str!("../introduction.md"),
                "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
            },
            "servers": [{ "url": server }],
            "security": [{ "api_key": [] }],
            "tags": self.tags.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
            "paths": self.paths,
            "webhooks": webhooks,
            "components": {
                "schemas": self.components,
                "securitySchemes": { "api_key": {
                    "type": "apiKey", "in": "header", "name": "x-api-key",
                    "description": "`sk_test_…` or `sk_live_…`: the key resolves to an organization and a mode.",
                } },
                "headers": headers(),
                "parameters": webhook::headers(),
                // Responses for requests that belong to no operation: with paths and methods that
                // are not in the document, or whose head cannot be read.
                "responses": {
                    "MalformedRequest": failure(ErrorCode::MalformedRequest.info().status, &[ErrorCode::MalformedRequest]),
                    "UriTooLong": failure(ErrorCode::UriTooLong.info().status, &[ErrorCode::UriTooLong]),
                    "HeadersTooLarge": failure(ErrorCode::HeadersTooLarge.info().status, &[ErrorCode::HeadersTooLarge]),
                    "UnknownPath": failure(ErrorCode::NotFound.info().status, &[ErrorCode::NotFound]),
                    "UnknownMethod": failure(ErrorCode::MethodNotAllowed.info().status, &[ErrorCode::MethodNotAllowed]),
                },
            },
        })
    }
}

fn headers() -> Value {
    let header = |description: &str, kind: &str| json!({ "description": description, "schema": { "type": kind } });
    json!({
        "RequestId": header("Id of the request: the client's x-request-id, or a generated one.", "string"),
        "Supplier": header("Supplier that responded, or that the error concerns.", "string"),
        "RateLimitPolicy": header("Rate limit of a key: `q` requests in `w` seconds.", "string"),
        "RateLimit": header("`r` requests are left; the full limit is available after `t` seconds.", "string"),
        "RetryAfter": header("Seconds to wait before the same request is sent again.", "integer"),
        "Allow": header("Methods of the path.", "string"),
    })
}

fn operation(described: &OperationSpec) -> Value {
    let annotation = described.annotation.as_object().cloned();
    let mut operation = annotation.unwrap_or_default();
    let mut codes = declared_codes(operation.remove(ERROR_CODES));
    codes.extend(&described.inputs.codes);
    codes.extend([
        ErrorCode::RateLimited,
        ErrorCode::InternalError,
        ErrorCode::Overloaded,
        ErrorCode::ValidationFailed,
    ]);
    let mut parameters = described.inputs.parameters.clone();
    // There is no pattern, because an invalid id is replaced and is not a violation.
    parameters.push(json!({
        "name": "x-request-id", "in": "header", "required": false, "schema": { "type": "string" },
        "description": "1 to 128 characters of `[A-Za-z0-9._-]`, returned in the response. If it is missing or invalid, the gateway generates an id.",
    }));
    if let Some(scope) = described.scope {
        codes.extend([
            ErrorCode::MissingApiKey,
            ErrorCode::InvalidApiKey,
            ErrorCode::OrganizationMismatch,
            ErrorCode::InsufficientScope,
            ErrorCode::NotAcceptable,
        ]);
        parameters.push(json!({
            "name": "x-user-id", "in": "header", "required": false,
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._:@-]{1,128}$" },
            "description": "End user of the organization; default is `org`.",
        }));
        parameters.push(json!({
            "name": "x-organization-id", "in": "header", "required": false, "schema": { "type": "string" },
            "description": "Optional. Must be the organization of the key.",
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

/// Returns the codes that a handler's attribute lists. A test detects codes that do not exist.
fn declared_codes(listed: Option<Value>) -> BTreeSet<ErrorCode> {
    let listed = listed.as_ref().and_then(Value::as_array).into_iter();
    let names = listed.flatten().filter_map(Value::as_str);
    names.filter_map(ErrorCode::from_name).collect()
}

/// The headers of every response.
const COMMON_HEADERS: [(&str, &str); 3] = [
    ("x-request-id", "RequestId"),
    ("RateLimit-Policy", "RateLimitPolicy"),
    ("RateLimit", "RateLimit"),
];

/// Returns references to the common headers and others, by name and component.
fn header_refs<'a>(others: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let refs = COMMON_HEADERS
        .into_iter()
        .chain(others)
        .map(|(name, component)| {
            let reference = json!({ "$ref": format!("#/components/headers/{component}") });
            (name.to_owned(), reference)
        });
    refs.collect()
}

/// Returns the successful responses: the statuses of the attribute with the schemas of the
/// handler's type.
fn successes(responses: Value, outputs: &OperationOutputs) -> Map<String, Value> {
    let mut responses = responses.as_object().cloned().unwrap_or_default();
    for (status, response) in &mut responses {
        let Some(members) = response.as_object_mut() else {
            continue;
        };
        let has_body = status != "204" && !members.contains_key("content");
        members.insert(
            "headers".to_owned(),
            header_refs([("x-supplier", "Supplier")]),
        );
        if let Some(schema) = outputs.schema().filter(|_| has_body) {
            let content = json!({ "application/json": { "schema": schema } });
            members.insert("content".to_owned(), content);
        }
    }
    responses
}

fn failures(codes: &BTreeSet<ErrorCode>) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.info().status).or_default().push(*code);
    }
    let failures = by_status.into_iter();
    failures
        .map(|(status, codes)| (status.to_string(), failure(status, &codes)))
        .collect()
}

fn failure(status: u16, codes: &[ErrorCode]) -> Value {
    let line = |code: &ErrorCode| format!("- `{}`: {}", code.as_str(), code.info().description);
    let lines: Vec<String> = codes.iter().map(line).collect();
    let mut examples = Map::new();
    for code in codes {
        let problem = ApiError::from(*code).to_problem(
            "https://api.example.com/docs/errors/",
            "req_01976f3e-1111-7abc-8def-000000000000",
        );
        let example = json!({ "summary": code.info().title, "value": problem });
        examples.insert(code.as_str().to_owned(), example);
    }
    let may_repeat =
        status == 429 || status == 503 || codes.contains(&ErrorCode::IdempotencyInProgress);
    let others = [
        (may_repeat, "Retry-After", "RetryAfter"),
        (
            codes.contains(&ErrorCode::MethodNotAllowed),
            "Allow",
            "Allow",
        ),
        (
            status == 409 || status == 422 || status >= 500,
            "x-supplier",
            "Supplier",
        ),
    ];
    let others = others.into_iter().filter(|(has_it, ..)| *has_it);
    json!({
        "description": lines.join("\n"),
        "headers": header_refs(others.map(|(_, name, component)| (name, component))),
        "content": { PROBLEM_JSON: {
            "schema": { "$ref": format!("{COMPONENTS}Problem") },
            "examples": examples,
        } },
    })
}
