//! Fuzz tests with invalid requests: the examples of the document, changed at random. No supplier
//! is loaded, so every request is answered at once.

use super::openapi::{operations, resolve};
use super::*;
use crate::error_code::ErrorCode;
use jsonschema::Validator;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

const TOKENS: &[&str] = &[
    "\"check_in\"",
    "\"amount\"",
    "{\"amount\":1e-9,\"currency\":\"EUR\"}",
    "POST ",
    "PATCH ",
    "PUT ",
    "DELETE ",
    "GET ",
    "/v1/hotel/",
    "?limit=",
    "&after=",
    "?x=",
    "%",
    "%00",
    "%c3%28",
    "+",
    "hwebsub_",
    "2026-12-01",
    "EUR",
    "htl_01976f3e4a5b7c8d9e0f112233445566",
];

/// The responses that the document allows for each operation: by status, with the schema of the
/// body.
struct Published {
    /// Method and path segments; a parameter is `{…}`.
    paths: Vec<(String, Vec<String>)>,
    /// Validators, each compiled on first use.
    bodies: RefCell<HashMap<(String, u16), Option<Validator>>>,
    document: Value,
    codes: HashSet<&'static str>,
}

impl Published {
    fn of(document: &Value) -> Self {
        let mut published = Self {
            paths: Vec::new(),
            bodies: RefCell::default(),
            document: document.clone(),
            codes: ErrorCode::ALL.iter().map(|code| code.as_str()).collect(),
        };
        for (name, _) in operations(document) {
            let (method, path) = name.split_once(' ').unwrap();
            let parts = path.split('/').map(str::to_owned).collect();
            published.paths.push((method.to_uppercase(), parts));
        }
        published
    }

    /// Returns whether the body matches the operation's schema for the status. Returns `None` if
    /// the document has no body for it.
    fn fits(&self, operation: &str, reply: &Reply) -> Option<bool> {
        let status = reply.status.as_u16();
        let mut bodies = self.bodies.borrow_mut();
        let body = bodies
            .entry((operation.to_owned(), status))
            .or_insert_with(|| {
                let all = operations(&self.document);
                let (_, found) = all.iter().find(|(name, _)| name == operation)?;
                let response = found.pointer(&format!("/responses/{status}"))?;
                let contents = resolve(&self.document, response)["content"].as_object()?;
                let mut schema = contents.values().next()?["schema"].clone();
                schema["components"] = self.document["components"].clone();
                Some(jsonschema::validator_for(&schema).unwrap())
            });
        body.as_ref().map(|body| body.is_valid(&reply.body))
    }

    /// Returns the operation of a request, as named in the document.
    fn operation(&self, method: &Method, path: &str) -> Option<String> {
        let given: Vec<&str> = path.split('/').collect();
        let fits = |parts: &Vec<String>| {
            parts.len() == given.len()
                && parts.iter().zip(&given).all(|(part, given)| {
                    part == given || part.starts_with('{') && !given.is_empty()
                })
        };
        let paths = self.paths.iter();
        let fitting = paths.filter(|(name, parts)| name == method.as_str() && fits(parts));
        // A path without parameters takes precedence over one with parameters.
        let best = fitting
            .min_by_key(|(_, parts)| parts.iter().filter(|part| part.starts_with('{')).count());
        best.map(|(method, parts)| format!("{} {}", method.to_lowercase(), parts.join("/")))
    }

    fn judge(&self, operation: Option<&str>, reply: &Reply) {
        let status = reply.status.as_u16();
        // No supplier is loaded, so a 5xx status is an error of the gateway.
        assert!(status < 500, "{status} {}", reply.body);
        let fits = operation.and_then(|operation| self.fits(operation, reply));
        if reply.status.is_success() {
            let is_empty = status == 204 && reply.body.is_null();
            // The documentation pages are not operations.
            let fits = fits.unwrap_or(is_empty || operation.is_none());
            assert!(fits, "{operation:?} {}", reply.body);
            return;
        }
        assert_eq!(reply.header("content-type"), "application/problem+json");
        assert_eq!(reply.body["status"], status);
        assert!(self.codes.contains(reply.code()), "{}", reply.body);
        let fits = fits.unwrap_or(operation.is_none());
        assert!(fits, "{operation:?} {}", reply.body);
    }
}

/// Parses a request: `POST /v1/…` in the first line, the body after it.
fn request(document: &[u8]) -> Option<(Method, String, Vec<u8>)> {
    let (head, body) = fuzz::lines(document);
    let (method, path) = std::str::from_utf8(head).ok()?.split_once(' ')?;
    let method: Method = method.parse().ok()?;
    let uri: http::Uri = path.parse().ok()?;
    // No client would send a target with another authority here.
    let is_path = uri.authority().is_none() && path.starts_with('/');
    // Clients do not send the fragment after a `#`.
    let path = uri.path_and_query()?.to_string();
    is_path.then(|| (method, path, body.to_vec()))
}

/// Returns a request for each operation: its example, or one with any id.
fn seeds(document: &Value) -> Vec<String> {
    let seed = |(name, operation): (String, &Value)| {
        let (method, path) = name.split_once(' ').unwrap();
        let parts = path.split('/').map(|part| match part.starts_with('{') {
            true => "evt_01976f3e4a5b7c8d9e0f112233445566",
            false => part,
        });
        let path = parts.collect::<Vec<_>>().join("/");
        let example = operation.pointer("/requestBody/content/application~1json/example");
        let body = example.map(Value::to_string).unwrap_or_default();
        let is_of_tests = path.starts_with("/test/");
        (!is_of_tests).then(|| format!("{} {path}\n{body}", method.to_uppercase()))
    };
    operations(document).into_iter().filter_map(seed).collect()
}

#[test]
fn every_request_is_answered_as_the_document_says() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let limits = [("requests_per_s", 1_000_000), ("burst", 1_000_000)];
    let server = runtime.block_on(Server::with(&limits));
    let published = Published::of(&server.document);
    let documents = fuzz::documents("http-request").tokens(TOKENS);
    let seeds = seeds(&server.document);
    let documents = seeds.into_iter().fold(documents, fuzz::Documents::seed);
    documents.check(500, |document| {
        let Some((method, path, body)) = request(document) else {
            return;
        };
        let route = path.split('?').next().unwrap_or_default();
        if route.starts_with("/test/") {
            return;
        }
        let operation = published.operation(&method, route);
        let key = crc32fast::hash(document).to_string();
        let headers = [
            ("x-api-key", server.key.as_str()),
            ("content-type", "application/json"),
            ("x-idempotency-key", key.as_str()),
        ];
        let reply = runtime.block_on(server.send(method, &path, &headers, body));
        published.judge(operation.as_deref(), &reply);
    });
}
