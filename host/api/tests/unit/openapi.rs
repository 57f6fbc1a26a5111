use super::*;
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use crate::routes::route_table;
use host_domain::event::EventType;
use std::collections::BTreeSet;

pub(super) fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().unwrap().iter();
        item.map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    all.collect()
}

/// Resolves a reference within the document.
pub(super) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value["$ref"].as_str();
    reference.map_or(value, |reference| target(document, reference))
}

fn target<'a>(document: &'a Value, reference: &str) -> &'a Value {
    let target = document.pointer(reference.trim_start_matches('#'));
    target.unwrap_or_else(|| panic!("{reference} has no target"))
}

fn every_reference(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(value["$ref"].as_str().map(str::to_owned));
            members
                .values()
                .for_each(|member| every_reference(member, found));
        }
        Value::Array(elements) => elements.iter().for_each(|one| every_reference(one, found)),
        _ => {}
    }
}

#[tokio::test]
async fn document_has_no_dangling_references_or_missing_texts() {
    let server = Server::start().await;
    let document = &server.document;
    assert_eq!(document["openapi"], "3.1.0");
    let mut references = BTreeSet::new();
    every_reference(document, &mut references);
    for reference in references {
        target(document, &reference);
    }
    let has_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(document) {
        for member in ["operationId", "summary"] {
            assert!(has_text(&operation[member]), "{name} has no {member}");
        }
        let id = operation["operationId"].as_str().unwrap();
        assert!(ids.insert(id), "two operations are called as {name}");
        assert_eq!(operation["tags"].as_array().unwrap().len(), 1, "{name}");
        assert!(operation.get("x-error-codes").is_none());
        for (status, response) in operation["responses"].as_object().unwrap() {
            assert!(
                has_text(&response["description"]),
                "{name} {status} says nothing"
            );
            let has_body = response.get("content").is_some();
            assert_eq!(has_body, status != "204", "{name} {status}");
        }
    }
}

#[tokio::test]
async fn webhooks_section_lists_every_event_type() {
    let server = Server::start().await;
    let webhooks = server.document["webhooks"].as_object().unwrap();
    let listed: BTreeSet<&str> = webhooks.keys().map(String::as_str).collect();
    let all: BTreeSet<&str> = EventType::ALL.iter().map(|one| one.as_str()).collect();
    assert_eq!(listed, all);
    for (name, webhook) in webhooks {
        let schema = &webhook["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(schema["properties"]["type"]["const"], name.as_str());
        assert!(
            schema["properties"]["data"]["required"].is_array(),
            "{name}"
        );
    }
}

/// Returns the schemas of each request body and those that they refer to, with the operation's name.
fn request_schemas(document: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (name, operation) in operations(document) {
        let Some(body) = operation.pointer("/requestBody/content/application~1json/schema") else {
            continue;
        };
        let mut open = vec![resolve(document, body)];
        let mut seen = BTreeSet::new();
        while let Some(schema) = open.pop() {
            found.push((name.clone(), schema));
            let mut references = BTreeSet::new();
            every_reference(schema, &mut references);
            let new = references
                .into_iter()
                .filter(|one| seen.insert(one.clone()));
            open.extend(new.map(|reference| target(document, &reference)));
        }
    }
    found
}

#[tokio::test]
async fn every_request_schema_rejects_unknown_fields() {
    let server = Server::start().await;
    let document = &server.document;
    for (name, schema) in request_schemas(document) {
        if schema["properties"].is_object() {
            let additional = &schema["additionalProperties"];
            assert_eq!(*additional, false, "{name} takes unknown fields: {schema}");
        }
    }
}

/// Without a limit, what is kept of an invalid body would depend on the length of the body.
#[tokio::test]
async fn every_list_in_a_request_has_a_limit() {
    fn check(schema: &Value, name: &str) {
        match schema {
            Value::Object(members) => {
                let is_list = schema["type"] == "array"
                    || schema["type"]
                        .as_array()
                        .is_some_and(|types| types.contains(&json!("array")));
                assert!(
                    !is_list || schema["maxItems"].is_u64(),
                    "{name} has a list without limit: {schema}"
                );
                members.values().for_each(|member| check(member, name));
            }
            Value::Array(branches) => branches.iter().for_each(|branch| check(branch, name)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let server = Server::start().await;
    let document = &server.document;
    for (name, schema) in request_schemas(document) {
        check(schema, &name);
    }
}

#[tokio::test]
async fn error_codes_of_handler_attributes_exist() {
    for (scope, routes) in table_of_tests() {
        for operation in routes.into_iter().map(|route| route.into_operation(scope)) {
            let codes = operation.annotation["x-error-codes"].as_array();
            for code in codes.into_iter().flatten() {
                let known = ErrorCode::from_name(code.as_str().unwrap());
                assert!(known.is_some(), "{} lists {code}", operation.path);
            }
        }
    }
}

#[tokio::test]
async fn document_contains_handler_types() {
    let server = Server::start().await;
    let booking = &server.document["paths"]["/test/{id}/stays"]["post"];
    let parameters = booking["parameters"].as_array().unwrap().iter();
    let names = parameters.map(|one| {
        ["in", "name"]
            .map(|member| one[member].as_str().unwrap())
            .join(" ")
    });
    let expected = [
        "path id",
        "header x-idempotency-key",
        "header x-request-id",
        "header x-user-id",
        "header x-organization-id",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let statuses = "201 400 401 403 406 409 413 415 422 429 500 503";
    assert_eq!(keys(&booking["responses"]).join(" "), statuses);
    let unprocessable = &booking["responses"]["422"]["content"]["application/problem+json"];
    let codes = keys(&unprocessable["examples"]);
    assert_eq!(codes, ["idempotency_key_reused", "offer_expired"]);
    let limit = &server.document["paths"]["/test/stays"]["get"]["parameters"][1];
    assert_eq!(limit["name"], "limit");
    assert_eq!(limit["required"], false);
    assert_eq!(limit["schema"]["maximum"], 100);
    assert_eq!(limit["schema"]["default"], 25);
    assert_eq!(limit["description"], "Page size.");
    let board = &server.document["paths"]["/test/stays"]["get"]["parameters"][0]["schema"];
    assert_eq!(*board, json!({ "$ref": "#/components/schemas/TestBoard" }));
}

/// A value that the supplier does not state is absent, never null.
#[tokio::test]
async fn details_that_suppliers_may_not_state_are_never_null() {
    fn properties<'a>(schema: &'a Value, found: &mut Vec<(&'a String, &'a Value)>) {
        let own = schema["properties"].as_object();
        found.extend(own.into_iter().flatten());
        let parts = schema["allOf"].as_array().into_iter().flatten();
        parts.for_each(|part| properties(part, found));
    }
    let server = Server::start().await;
    let document = server.openapi(route_table());
    for (schema, details) in [
        ("PaymentTerms", "payment_required_by price_guaranteed_until"),
        (
            "TicketPaymentStatus",
            "payment_required_by price_guaranteed_until",
        ),
        ("SegmentPassengerDetails", "fare_basis_code seat"),
        ("RecordLocator", "carrier_code carrier"),
        ("AttachableService", "name baggage seat max_quantity"),
        ("Seat", "name position"),
        ("TechnicalStop", "arrival_time departure_time"),
        (
            "SegmentDetails",
            "origin_terminal destination_terminal operating_carrier_code operating_flight aircraft \
             aircraft_code",
        ),
        ("OfferPassenger", "cabin_name checked_bags carry_on_bags"),
        (
            "FlightOffer",
            "fare_amount fare_tax_amount fee_amount payment_terms",
        ),
        ("FlightBooking", "fee_amount payment_terms payment_status"),
        ("JourneyTimes", "fare_conditions"),
        ("Baggage", "pieces max_length_cm max_width_cm max_height_cm"),
        ("FlightService", "name seat"),
        ("RoomDetails", "max_occupancy remarks"),
        ("RoomPerk", "value"),
        ("HotelOffer", "package_only"),
        ("Penalty", "percent time_zone"),
        ("CancellationPolicy", "refund_type"),
    ] {
        let mut known = Vec::new();
        properties(&document["components"]["schemas"][schema], &mut known);
        for name in details.split_whitespace() {
            let (_, detail) = known.iter().find(|(known, _)| *known == name).unwrap();
            let is_nullable = detail.to_string().contains("\"null\"");
            assert!(!is_nullable, "{schema} {name}: {detail}");
        }
    }
}

#[tokio::test]
async fn document_and_pages_load_without_key_and_network() {
    let server = Server::start().await;
    let reply = server.get_with("/openapi.json", &[]).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, server.document);
    // A later request on another day.
    server.clock.advance_ms(86_400_000);
    let later = server.get_with("/openapi.json", &[]).await;
    assert_eq!(later.body, server.openapi(table_of_tests()));
    assert_ne!(later.body, server.document);
    for (path, kind) in [
        ("/docs", "text/html"),
        ("/docs/scalar.js", "text/javascript"),
        ("/docs/start.js", "text/javascript"),
        ("/docs/errors", "text/html"),
    ] {
        let reply = server.get_with(path, &[]).await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(reply.header("content-type").starts_with(kind), "{path}");
        let policy = reply.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'") && !policy.contains("http"),
            "{policy}"
        );
    }
    let reply = server.get_with("/docs/errors/nonsense", &[]).await;
    assert_eq!(reply.code(), "not_found");
}

#[tokio::test]
async fn start_page_links_to_pages_for_browsers_and_programs() {
    let server = Server::start().await;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let reply = server.get_with("/", &[("accept", browser)]).await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").starts_with("text/html"));
    assert_eq!(reply.header("vary"), "accept");
    for headers in [vec![], vec![("accept", "application/json")]] {
        let reply = server.get_with("/", &headers).await;
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.body["data"]["name"], "Stopover");
        let links = reply.body["data"]["links"].as_object().unwrap();
        assert!(links.contains_key("documentation"), "{links:?}");
        for link in links.values() {
            let link = link.as_str().unwrap();
            let path = link.strip_prefix("http://api.test").unwrap();
            assert_eq!(server.get_with(path, &[]).await.status, 200, "{path}");
        }
    }
    let reply = server.send(Method::POST, "/", &[], "").await;
    assert_eq!(reply.problem(), (405, "method_not_allowed"));
}

#[tokio::test]
async fn start_page_links_to_the_dashboard_if_it_is_served() {
    let mut server = Server::start().await;
    let html = ("accept", "text/html");
    for url in [None, Some("https://dash.example.com")] {
        server.state.dashboard_url = url.map(Into::into);
        server.router = build_router(&server.state, table_of_tests);
        let reply = server.get_with("/", &[]).await;
        let link = reply.body["data"]["links"].get("dashboard").cloned();
        assert_eq!(link, url.map(|url| json!(format!("{url}/"))));
        let page = server.text("/", &[html]).await;
        assert_eq!(page.contains("Dashboard"), url.is_some(), "{page}");
        if let Some(url) = url {
            let link = format!("<a href=\"{url}/\">Dashboard</a>");
            assert!(page.contains(&link), "{page}");
        }
    }
}

#[tokio::test]
async fn every_error_code_has_the_page_in_its_problem_type() {
    let server = Server::start().await;
    for code in ErrorCode::ALL {
        let problem =
            ApiError::from(*code).to_problem(&state::error_docs_url(&server.app.base_url), "r");
        let path = problem.kind.strip_prefix("http://api.test").unwrap();
        assert_eq!(server.get_with(path, &[]).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn readiness_fails_and_health_succeeds_during_shutdown() {
    let server = Server::start().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(
            server.get_with(path, &[]).await.body["data"]["status"],
            "ok"
        );
    }
    server.app.tasks.begin_shutdown();
    assert_eq!(server.get_with("/healthz", &[]).await.status, 200);
    let reply = server.get_with("/readyz", &[]).await;
    assert_eq!(reply.problem(), (503, "overloaded"));
    assert_eq!(reply.header("retry-after"), "1");
}

/// Clients have these names in generated code. Types and handlers may get other names; the published
/// ones are pinned by `#[schema(as = …)]` and `operation_id`.
#[tokio::test]
async fn published_schema_names_and_operation_ids_stay() {
    let server = Server::start().await;
    let document = server.openapi(route_table());
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let schemas = schemas.keys().map(|name| format!("schema {name}"));
    let operations = operations(&document).into_iter();
    let operations =
        operations.map(|(_, one)| format!("operation {}", one["operationId"].as_str().unwrap()));
    let mut names: Vec<String> = schemas.chain(operations).collect();
    names.sort();
    let published: Vec<&str> = include_str!("openapi_names.txt").lines().collect();
    assert_eq!(names, published);
}
