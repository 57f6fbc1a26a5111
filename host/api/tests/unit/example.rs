//! Tests of the document's examples: every body has a valid one.

use super::openapi::operations;
use super::*;
use jsonschema::Validator;
use std::collections::BTreeSet;

/// Returns every request body and every successful response body, by operation and position in it.
fn shown(document: &Value) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (_, operation) in operations(document) {
        let operation_id = operation["operationId"].as_str().unwrap();
        let request = operation.get("requestBody").map(|body| ("request", body));
        let responses = operation["responses"].as_object().unwrap();
        let successes = responses
            .iter()
            .filter(|(status, _)| status.starts_with('2'));
        let successes = successes.map(|(status, response)| (status.as_str(), response));
        for (place, body) in request.into_iter().chain(successes) {
            if let Some(content) = body.pointer("/content/application~1json") {
                all.push((format!("{operation_id} {place}"), content));
            }
        }
    }
    all
}

/// Builds the same validator that requests are validated with.
fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["components"] = json!({ "schemas": document["components"]["schemas"] });
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

#[tokio::test]
async fn every_body_has_an_example_that_matches_its_schema() {
    let server = Server::start().await;
    let document = server.openapi(route_table());
    let mut wrong = Vec::new();
    for (name, content) in shown(&document) {
        let Some(example) = content.get("example") else {
            wrong.push(format!("{name} has no example"));
            continue;
        };
        let validator = validator(&document, &content["schema"]);
        let errors = validator.iter_errors(example);
        wrong.extend(errors.map(|error| format!("{name} {}: {error}", error.instance_path())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_recorded_example_is_in_the_document() {
    let server = Server::start().await;
    let document = server.openapi(route_table());
    let shown: BTreeSet<String> = shown(&document).into_iter().map(|(name, _)| name).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/openapi/example");
    let mut others = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap();
        let recording: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for part in recording.as_object().unwrap().keys() {
            let places: &[&str] = match part.as_str() {
                "response" => &["200", "201"],
                "accepted" => &["202"],
                "request" => &["request"],
                _ => continue,
            };
            let is_shown = |place| shown.contains(&format!("{name} {place}"));
            if !places.iter().any(is_shown) {
                others.push(format!("{name} {part}"));
            }
        }
    }
    assert!(others.is_empty(), "{others:?}");
}

/// Returns the ids of the bookings in a document, each with the ids of its payments.
fn payments_by_booking(document: &Value) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    let id = document["id"].as_str().filter(|id| id.starts_with("bkg_"));
    if let (Some(booking), Some(payments)) = (id, document["payments"].as_array()) {
        let payments = payments.iter().filter_map(|payment| payment["id"].as_str());
        found.push((booking, payments.collect()));
    }
    let parts: Vec<&Value> = match document {
        Value::Object(members) => members.values().collect(),
        Value::Array(elements) => elements.iter().collect(),
        _ => Vec::new(),
    };
    found.extend(parts.into_iter().flat_map(payments_by_booking));
    found
}

#[tokio::test]
async fn payments_in_examples_are_named_after_their_booking() {
    let server = Server::start().await;
    let document = server.openapi(route_table());
    let mut count = 0;
    for (name, content) in shown(&document) {
        for (booking, payments) in payments_by_booking(&content["example"]) {
            for (place, payment) in payments.into_iter().enumerate() {
                let expected = format!("{}-{}", booking.replace("bkg_", "pay_"), place + 1);
                assert_eq!(payment, expected, "{name}");
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}

/// Examples must be valid on any day: requests for a past stay are rejected, however old the
/// recording is.
#[tokio::test]
async fn request_examples_are_valid_on_any_day() {
    const FIVE_YEARS_MS: i64 = 5 * 365 * 24 * 3_600_000;
    let server = Server::with(&[("burst", 1000)]).await;
    server.clock.advance_ms(FIVE_YEARS_MS);
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("content-type", "application/json"),
        ("x-idempotency-key", "k"),
    ];
    let document = server.openapi(route_table());
    for (name, operation) in operations(&document) {
        let body = operation.pointer("/requestBody/content/application~1json/example");
        let Some(body) = body else { continue };
        let (method, path) = name.split_once(' ').unwrap();
        let method: Method = method.to_uppercase().parse().unwrap();
        // An invalid path id is reported together with the violations in the body.
        let path = path.replace(['{', '}'], "");
        let reply = server.send(method, &path, &headers, body.to_string()).await;
        let violations = reply.violations();
        assert!(
            violations.iter().all(|one| !one.starts_with("body")),
            "{name} {violations:?}"
        );
        // A request that is rejected earlier was not validated.
        let status = reply.status.as_u16();
        assert!(
            ![401, 403, 405, 406, 413, 415, 429].contains(&status),
            "{name} {status}"
        );
    }
}
