//! Tests of conventions that hold for every route: problems, headers and limits. They also check
//! that no input makes the server fail.

use serde_json::json;
use std::io::{Read, Write};
use tests::{Database, Reply, Server, ServerOptions, offers_request};

fn is_problem(reply: &Reply) {
    assert_eq!(
        reply.header("content-type"),
        Some("application/problem+json"),
        "{:#}",
        reply.body
    );
    assert_eq!(reply.body["status"], reply.status);
    assert_eq!(
        reply.body["request_id"].as_str(),
        reply.header("x-request-id")
    );
    assert!(
        reply.body["type"]
            .as_str()
            .unwrap()
            .ends_with(reply.body["code"].as_str().unwrap())
    );
    for member in ["title", "detail"] {
        assert!(reply.body[member].is_string(), "{member}: {:#}", reply.body);
    }
    assert!(reply.body["retryable"].is_boolean());
}

#[tokio::test]
async fn unknown_path_and_wrong_method_return_problems() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let unknown = client
        .get("/v1/nothing")
        .await
        .expect_problem(404, "not_found");
    is_problem(&unknown);
    let method = client
        .get("/v1/hotel/offers")
        .await
        .expect_problem(405, "method_not_allowed");
    is_problem(&method);
    assert!(method.header("allow").unwrap().contains("POST"));
}

#[tokio::test]
async fn invalid_body_returns_a_problem() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for (body, status, code) in [
        (b"{".to_vec(), 400, "malformed_json"),
        (b"\xff\xfe".to_vec(), 400, "malformed_json"),
        (br#"{"currency": "\ud800"}"#.to_vec(), 400, "malformed_json"),
        (deep.into_bytes(), 400, "malformed_json"),
        (vec![b' '; (1 << 20) + 1], 413, "body_too_large"),
        (b"null".to_vec(), 400, "validation_failed"),
        (b"[]".to_vec(), 400, "validation_failed"),
        (
            br#"{"currency": "a\u0000b"}"#.to_vec(),
            400,
            "validation_failed",
        ),
        (
            br#"{"max_offers_per_hotel": 1e400}"#.to_vec(),
            400,
            "malformed_json",
        ),
        (
            br#"{"max_offers_per_hotel": 99999999999999999999999999}"#.to_vec(),
            400,
            "validation_failed",
        ),
    ] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        let reply = client.post_bytes("/v1/hotel/offers", body).await;
        assert_eq!(
            (reply.status, reply.body["code"].as_str()),
            (status, Some(code)),
            "{shown}: {:#}",
            reply.body
        );
        is_problem(&reply);
    }
    let text = client
        .header("content-type", "text/plain")
        .post("/v1/hotel/offers", &offers_request("OK"))
        .await;
    text.expect_problem(415, "unsupported_media_type");
    let picky = client
        .header("accept", "image/png")
        .get("/v1/suppliers")
        .await;
    picky.expect_problem(406, "not_acceptable");
}

#[tokio::test]
async fn invalid_query_returns_validation_problem() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for query in [
        "limit=0",
        "limit=101",
        "limit=x",
        "offset=-1",
        "offset=100001",
        "status=NOPE",
        "typo=1",
        "limit=1&limit=2",
        "reference_id=",
    ] {
        let reply = client.get(&format!("/v1/hotel/bookings?{query}")).await;
        let problem = reply.expect_problem(400, "validation_failed");
        assert_eq!(problem.body["errors"][0]["in"], "query", "{query}");
    }
    let many = "a=1&".repeat(10_000);
    let flood = client.get(&format!("/v1/hotel/bookings?{many}")).await;
    assert!((400..500).contains(&flood.status), "{}", flood.status);
}

#[tokio::test]
async fn request_id_is_echoed_or_generated() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let named = client
        .header("x-request-id", "my-request.1")
        .get("/v1/suppliers")
        .await
        .expect(200);
    assert_eq!(named.header("x-request-id"), Some("my-request.1"));
    for bad in ["", "white space", &"x".repeat(129)] {
        let made = client
            .header("x-request-id", bad)
            .get("/v1/suppliers")
            .await;
        let id = made.header("x-request-id").unwrap();
        let id = id.strip_prefix("req_").expect(bad);
        uuid::Uuid::parse_str(id).expect(bad);
    }
}

#[tokio::test]
async fn rate_limited_request_returns_429_with_retry_after() {
    let options =
        ServerOptions::on(Database::Sqlite).config("[limits]\nrequests_per_s = 1\nburst = 3\n");
    let server = Server::start_with(options).await;
    let client = server.client();
    let first = client.get("/v1/suppliers").await.expect(200);
    assert!(first.header("ratelimit").is_some() && first.header("ratelimit-policy").is_some());
    let refused = tests::eventually("the rate limit to be reached", async || {
        Some(client.get("/v1/suppliers").await).filter(|reply| reply.status == 429)
    })
    .await;
    let refused = refused.expect_problem(429, "rate_limited");
    assert!(
        refused
            .header("retry-after")
            .unwrap()
            .parse::<u64>()
            .unwrap()
            >= 1
    );
    assert!(refused.header("ratelimit").is_some());
    let stranger = client.without("x-api-key");
    tests::eventually("the rate limit of an address to be reached", async || {
        (stranger.get("/v1/suppliers").await.status == 429).then_some(())
    })
    .await;
    for probe in ["/healthz", "/readyz"] {
        let _works = stranger.get(probe).await.expect(200);
    }
}

#[tokio::test]
async fn openapi_document_and_error_pages_are_served() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client().without("x-api-key");
    let document = client.get("/openapi.json").await.expect(200);
    assert!(
        document.body["openapi"]
            .as_str()
            .unwrap()
            .starts_with("3.1")
    );
    let docs = client.get("/docs").await;
    assert!(docs.status < 400);
    let problem = client
        .get("/v1/suppliers")
        .await
        .expect_problem(401, "missing_api_key");
    let page = problem.body["type"].as_str().unwrap();
    let path = &page[server.api.len()..];
    assert!(page.starts_with(&server.api), "{page}");
    let _page = client.get(path).await.expect(200);
}

#[tokio::test]
async fn supplier_list_contains_no_secrets() {
    let server = Server::start(Database::Sqlite).await;
    let reply = server.client().get("/v1/suppliers").await.expect(200);
    let rows = reply.data().as_array().unwrap();
    let mini = rows.iter().find(|row| row["id"] == "SANDBOX_MINI").unwrap();
    assert_eq!(mini["health"], "up");
    let operations: Vec<&str> = mini["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation.as_str().unwrap())
        .collect();
    assert_eq!(
        operations,
        ["hotel_pricing", "hotel_booking", "hotel_cancellation"]
    );
    assert!(
        !reply
            .body
            .to_string()
            .to_lowercase()
            .contains("x-lodge-key")
    );
}

#[tokio::test]
async fn body_with_card_number_is_refused_and_not_logged() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let card = "4242 4242 4242 4242";
    let reply = client
        .post(
            "/v1/payment-instruments",
            &json!({"type": "CARD", "token": card}),
        )
        .await;
    let problem = reply.expect_problem(400, "validation_failed");
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    for text in [problem.body.to_string(), log] {
        // The texts contain no group of the card number. Longer words (ports, identifiers) may
        // contain its digits.
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        assert!(words.all(|word| word != "4242"), "{text}");
        assert!(!text.contains("42424242"), "{text}");
    }
}

#[tokio::test]
async fn oversized_body_gets_413_even_if_client_sends_everything_first() {
    let server = Server::start(Database::Sqlite).await;
    let address = server.api.trim_start_matches("http://").to_owned();
    let length = 3 << 20;
    let head = format!(
        "POST /v1/hotel/offers HTTP/1.1\r\nhost: {address}\r\nx-api-key: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n",
        server.key
    );
    // The client is simple: it reads nothing until it has sent everything.
    let answer = tokio::task::spawn_blocking(move || {
        let mut connection = std::net::TcpStream::connect(address).unwrap();
        connection.write_all(head.as_bytes()).unwrap();
        connection.write_all(&vec![b' '; length]).unwrap();
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    })
    .await
    .unwrap();
    assert_eq!(answer, "HTTP/1.1 413");
}
