//! Tests of conventions that hold for every route: problems, headers and limits. They also check
//! that no input makes the server fail.

use super::resource_assertions::check_refused_get;
use serde_json::json;
use std::io::{Read, Write};
use std::process::Stdio;
use tests::{Client, Database, Reply, Server, ServerOptions, binary, eventually, offers_request};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

const OFFERS: &str = "/v1/hotel/offers";

/// Checks status, code and all members of a problem.
fn check_problem(reply: Reply, status: u16, code: &str) {
    let reply = reply.expect_problem(status, code);
    let problem = &reply.body;
    assert_eq!(problem["status"], status);
    let request_id = reply.header("x-request-id");
    assert_eq!(problem["request_id"].as_str(), request_id);
    assert!(problem["type"].as_str().unwrap().ends_with(code));
    for member in ["title", "detail"] {
        assert!(problem[member].is_string(), "{member}: {problem:#}");
    }
    assert!(problem["retryable"].is_boolean());
}

#[tokio::test]
async fn unknown_path_and_wrong_method_return_problems() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    check_problem(client.get("/v1/nothing").await, 404, "not_found");
    let method = client.get(OFFERS).await;
    assert!(method.header("allow").unwrap().contains("POST"));
    check_problem(method, 405, "method_not_allowed");
}

#[tokio::test]
async fn invalid_body_returns_a_problem() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let huge = r#"{"max_offers_per_hotel": 99999999999999999999999999}"#;
    for (body, status, code) in [
        ("{", 400, "malformed_json"),
        (r#"{"currency": "\ud800"}"#, 400, "malformed_json"),
        (&deep, 400, "malformed_json"),
        (r#"{"max_offers_per_hotel": 1e400}"#, 400, "malformed_json"),
        (&" ".repeat((1 << 20) + 1), 413, "body_too_large"),
        ("null", 400, "validation_failed"),
        ("[]", 400, "validation_failed"),
        (r#"{"currency": "a\u0000b"}"#, 400, "validation_failed"),
        (huge, 400, "validation_failed"),
    ] {
        let reply = client.post_bytes(OFFERS, body.into()).await;
        check_problem(reply, status, code);
    }
    let no_text = client.post_bytes(OFFERS, b"\xff\xfe".to_vec()).await;
    check_problem(no_text, 400, "malformed_json");
    let text = client.header("content-type", "text/plain");
    let refused = text.post(OFFERS, &offers_request("OK")).await;
    refused.expect_problem(415, "unsupported_media_type");
    let images = client.header("accept", "image/png");
    check_refused_get(&images, "/v1/suppliers", 406, "not_acceptable").await;
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
    let many = format!("/v1/hotel/bookings?{}", "a=1&".repeat(10_000));
    let flood = client.get(&many).await;
    assert!((400..500).contains(&flood.status), "{}", flood.status);
}

#[tokio::test]
async fn request_id_is_echoed_or_generated() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let echoed = async |id: &str| {
        let client = client.header("x-request-id", id);
        client.get("/v1/suppliers").await.expect(200)
    };
    let named = echoed("my-request.1").await;
    assert_eq!(named.header("x-request-id"), Some("my-request.1"));
    for bad in ["", "white space", &"x".repeat(129)] {
        let made = echoed(bad).await;
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
    let refused = eventually("the rate limit to be reached", async || {
        Some(client.get("/v1/suppliers").await).filter(|reply| reply.status == 429)
    })
    .await;
    let refused = refused.expect_problem(429, "rate_limited");
    let retry_after_s: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(retry_after_s >= 1);
    assert!(refused.header("ratelimit").is_some());
    let stranger = client.without("x-api-key");
    eventually("the rate limit of an address to be reached", async || {
        (stranger.get("/v1/suppliers").await.status == 429).then_some(())
    })
    .await;
    for probe in ["/healthz", "/readyz"] {
        stranger.get(probe).await.expect(200);
    }
}

#[tokio::test]
async fn openapi_document_and_error_pages_are_served() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client().without("x-api-key");
    let document = client.get("/openapi.json").await.expect(200);
    let version = document.body["openapi"].as_str().unwrap();
    assert!(version.starts_with("3.1"));
    assert!(client.get("/docs").await.status < 400);
    let problem = client.get("/v1/suppliers").await;
    let problem = problem.expect_problem(401, "missing_api_key");
    let page = problem.body["type"].as_str().unwrap();
    let path = page.strip_prefix(&server.api).expect(page);
    client.get(path).await.expect(200);
}

#[tokio::test]
async fn start_page_links_to_the_dashboard() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client().without("x-api-key");
    let start = client.get("/").await.expect(200);
    let link = start.data()["links"]["dashboard"].as_str().unwrap();
    assert!(server.dashboard.starts_with(link), "{link}");
    let browser = client.header("accept", "text/html");
    let page = browser.get("/").await.expect(200);
    let html = page.body.as_str().unwrap();
    assert!(html.contains(&format!("<a href=\"{link}\">")), "{html}");
    let dashboard = browser.at(link.trim_end_matches('/'));
    dashboard.get("/login").await.expect(200);
}

#[tokio::test]
async fn start_page_does_not_link_to_a_dashboard_that_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("stopover.toml");
    let settings = "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n\
                    master_key = \"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\"\n\
                    [dashboard]\nlisten = \"\"\n";
    std::fs::write(&config, settings).unwrap();
    let mut gateway = Command::new(binary())
        .args(["serve", "--data-dir"])
        .arg(folder.path())
        .arg("--config")
        .arg(&config)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(gateway.stdout.take().unwrap()).lines();
    let mut api = String::new();
    while let Some(line) = lines.next_line().await.unwrap()
        && line != "ready"
    {
        if let Some(url) = line.strip_prefix("api  ") {
            url.clone_into(&mut api);
        }
    }
    let start = Client::new(&api, "").get("/").await.expect(200);
    let links = start.data()["links"].as_object().unwrap();
    assert!(links.contains_key("documentation") && !links.contains_key("dashboard"));
}

/// Sends the head of a request, and returns the status and the headers of the response.
async fn exchange_heads(server: &Server, head: String) -> (u16, Vec<String>) {
    let address = server.api.trim_start_matches("http://").to_owned();
    let exchange = tokio::task::spawn_blocking(move || {
        let mut connection = std::net::TcpStream::connect(address).unwrap();
        connection.write_all(head.as_bytes()).unwrap();
        let mut response = String::new();
        connection.read_to_string(&mut response).unwrap();
        response
    });
    let response = exchange.await.unwrap();
    let (head, _) = response.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n").map(str::to_lowercase);
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse();
    (status.unwrap(), lines.collect())
}

#[tokio::test]
async fn request_whose_head_is_refused_gets_the_rate_limit_of_its_address() {
    let options =
        ServerOptions::on(Database::Sqlite).config("[limits]\nrequests_per_s = 1\nburst = 50\n");
    let server = Server::start_with(options).await;
    let headers: String = (0..120).map(|at| format!("x-{at}: 1\r\n")).collect();
    let long = "a".repeat(70_000);
    for (head, expected) in [
        ("GET /a b HTTP/1.1\r\n\r\n".to_owned(), 400),
        (format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n"), 414),
        (format!("GET / HTTP/1.1\r\n{headers}\r\n"), 431),
    ] {
        let (status, headers) = exchange_heads(&server, head).await;
        assert_eq!(status, expected);
        let has = |begin: &str| headers.iter().any(|header| header.starts_with(begin));
        assert!(
            has("ratelimit-policy: \"default\";q=50;w=50"),
            "{headers:?}"
        );
        assert!(has("ratelimit: \"default\";r="), "{headers:?}");
    }
}

#[tokio::test]
async fn supplier_list_contains_no_secrets() {
    let server = Server::start(Database::Sqlite).await;
    let reply = server.client().get("/v1/suppliers").await.expect(200);
    let rows = reply.list();
    let mini = rows.iter().find(|row| row["id"] == "SANDBOX_MINI").unwrap();
    assert_eq!(mini["health"], "up");
    let operations = json!(["hotel_pricing", "hotel_booking", "hotel_cancellation"]);
    assert_eq!(mini["operations"], operations);
    let shown = reply.body.to_string().to_lowercase();
    assert!(!shown.contains("x-lodge-key"));
}

#[tokio::test]
async fn body_with_card_number_is_refused_and_not_logged() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let card = json!({"type": "CARD", "token": "4242 4242 4242 4242"});
    let reply = client.post("/v1/payment-instruments", &card).await;
    let problem = reply.expect_problem(400, "validation_failed");
    // Other members do not pass for codes or identifiers.
    let hidden = json!({
        "type": "x4242424242424242", "token": "tok_visa", "id": "pay_4242424242424242", "code": "X4242-4242-4242-4242",
    });
    let refused = client.post("/v1/payment-instruments", &hidden).await;
    refused.expect_problem(400, "validation_failed");
    let recorded = eventually("both requests to be recorded", async || {
        let tables = ["request_log", "request_log_body"];
        let rows = server.dump_tables(&tables).await;
        let requests = rows.matches("POST").count();
        (requests == 2 && rows.contains("[text, 20]")).then_some(rows)
    })
    .await;
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    for text in [problem.body.to_string(), log, recorded] {
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
