//! One request tells all its violations: an invalid value neither hides the rules about the other
//! values nor breaks one of them. The requests are the examples of the document, each with one
//! change.

use super::openapi::operations;
use super::*;

/// A request of an operation with a JSON body.
struct Example {
    method: Method,
    path: String,
    body: Value,
}

fn examples(document: &Value) -> Vec<Example> {
    let example = |(name, operation): (String, &Value)| {
        let body = operation.pointer("/requestBody/content/application~1json/example")?;
        let (method, path) = name.split_once(' ')?;
        // The id is of no resource, so a request without violations changes nothing.
        let parts = path.split('/').map(|part| match part.starts_with('{') {
            true => "no_id",
            false => part,
        });
        Some(Example {
            method: method.to_uppercase().parse().ok()?,
            path: parts.collect::<Vec<_>>().join("/"),
            body: body.clone(),
        })
    };
    let all = operations(document).into_iter().filter_map(example);
    // The bodies of suppliers' events have no schema.
    all.filter(|example| {
        example.path.starts_with("/v1/") && !example.path.starts_with("/v1/suppliers/")
    })
    .collect()
}

/// Adds the pointers of all values in a value.
fn pointers(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{here}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, &format!("{here}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Sends a body to an operation. Returns the violations in the body.
async fn violations(server: &Server, example: &Example, body: &Value, key: usize) -> Vec<String> {
    let key = format!("one-pass-{key}");
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("content-type", "application/json"),
        ("x-idempotency-key", key.as_str()),
    ];
    let method = example.method.clone();
    let reply = server.send(method, &example.path, &headers, body.to_string());
    let all = reply.await.violations().into_iter();
    all.filter_map(|one| one.strip_prefix("body ").map(str::to_owned))
        .collect()
}

async fn server() -> Server {
    Server::with(&[("requests_per_s", 1_000_000), ("burst", 1_000_000)]).await
}

#[tokio::test]
async fn value_of_a_wrong_type_is_the_only_violation_of_a_valid_request() {
    let server = server().await;
    let (mut checked, mut key) = (0, 0);
    for example in examples(&server.document) {
        let mut places = Vec::new();
        pointers(&example.body, "", &mut places);
        for place in places {
            let mut body = example.body.clone();
            let value = body.pointer_mut(&place).unwrap();
            *value = match value {
                Value::Object(_) | Value::Array(_) => json!(true),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json!({}),
            };
            key += 1;
            let found = violations(&server, &example, &body, key).await;
            assert_eq!(found, [format!("{place} type")], "{} {body}", example.path);
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked}");
}

#[tokio::test]
async fn missing_value_is_the_only_violation_of_a_valid_request() {
    let server = server().await;
    let (mut checked, mut key) = (0, 1_000_000);
    for example in examples(&server.document) {
        let mut places = Vec::new();
        pointers(&example.body, "", &mut places);
        for place in places {
            let Some((parent, name)) = place.rsplit_once('/') else {
                continue;
            };
            let mut body = example.body.clone();
            let Some(Value::Object(members)) = body.pointer_mut(parent) else {
                continue;
            };
            members.remove(name);
            key += 1;
            let found = violations(&server, &example, &body, key).await;
            let required = format!("{place} required");
            // A value that is not required may be needed by a rule, such as the lead of a room.
            if found.contains(&required) {
                assert_eq!(found, [required], "{} {body}", example.path);
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "{checked}");
}

/// A value of a wrong type breaks several keywords of its schema, and is one violation.
#[tokio::test]
async fn values_of_wrong_types_do_not_hide_others() {
    const PASSENGERS_MAX: usize = 18;
    let server = server().await;
    let mut all = examples(&server.document).into_iter();
    let example = all.find(|one| one.path == "/v1/flight/prebook").unwrap();
    let mut body = example.body.clone();
    let mut passenger = body["passengers"][0].take();
    passenger["type"] = json!(1);
    passenger["gender"] = json!(1);
    let document =
        json!({ "type": 1, "number": "X1", "issuing_country": "GB", "expires_on": "2034-05-31" });
    passenger["document"] = document;
    body["passengers"] = json!(vec![passenger; PASSENGERS_MAX]);
    body["use_payment_sdk"] = json!(1);
    let found = violations(&server, &example, &body, 0).await;
    // Each passenger has three wrong types, and a number that is too short.
    assert_eq!(found.len(), 4 * PASSENGERS_MAX + 1, "{found:?}");
    assert_eq!(found.last().unwrap(), "/use_payment_sdk type");
}
