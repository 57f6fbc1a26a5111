//! Requests that pages of other sites cause.

use reqwest::Method;
use tests::{DashboardClient, Database, PASSWORD, Server, on_both_databases};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

on_both_databases!(forms_of_other_sites_change_nothing);

/// A sign-in must not be possible from elsewhere either: it would sign a person in to the account
/// of an attacker.
async fn forms_of_other_sites_change_nothing(database: Database) {
    let server = Server::start(database).await;
    let client = DashboardClient::set_up(&server, "ada@example.com").await;
    let own = client.base.clone();
    let shapes: [&[(&str, &str)]; 6] = [
        &[],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", own.as_str())],
        &[
            ("sec-fetch-site", "same-origin"),
            ("origin", "https://evil.example"),
        ],
    ];
    for headers in shapes {
        for path in ["/login", "/sign-out", "/mode", "/keys"] {
            let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
            let reply = client.post_from(path, headers, &fields).await;
            assert_eq!(reply.status, 403, "{path} {headers:?}");
            assert_eq!(reply.heading(), "Request refused", "{path}");
            assert_eq!(reply.header("set-cookie"), "", "{path}");
        }
    }
    assert_eq!(client.get("/").await.status, 200, "the session goes on");
    let headers = [("sec-fetch-site", "same-origin")];
    let reply = client.post_from("/sign-out", &headers, &[]).await;
    assert_eq!(reply.status, 303, "a form of the dashboard works");
}

/// The client may send its next request on the connection, unless the response says otherwise.
#[tokio::test]
async fn refused_form_leaves_the_connection_open_or_announces_its_close() {
    let server = Server::start(Database::Sqlite).await;
    let listeners = [&server.dashboard, &server.api, &server.admin];
    for (url, length) in listeners
        .into_iter()
        .flat_map(|url| [(url, 9_000), (url, 900_000)])
    {
        let url = Url::parse(url).unwrap();
        let address = format!("127.0.0.1:{}", url.port().unwrap());
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST /unknown HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.into_split();
        let sending = tokio::spawn(async move {
            let _closed = writer.write_all(&vec![b'a'; length]).await;
            let next = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
            let _closed = writer.write_all(next.as_bytes()).await;
            writer
        });
        let mut answers = Vec::new();
        let _reset = reader.read_to_end(&mut answers).await;
        let answers = String::from_utf8_lossy(&answers).to_lowercase();
        sending.await.unwrap();
        let (first, _) = answers.split_once("\r\n\r\n").unwrap();
        assert!(first.starts_with("http/1.1 4"), "{first}");
        let says_close = first.contains("connection: close");
        assert_eq!(says_close, length > 64 * 1024, "{url} {length}: {first}");
        let responses = answers.matches("http/1.1 ").count();
        assert_eq!(
            responses,
            if says_close { 1 } else { 2 },
            "{url} {length}: {answers}"
        );
    }
}

#[tokio::test]
async fn foreign_host_gets_421() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::new(&server);
    for (host, status) in [
        ("evil.example", 421),
        ("127.0.0.1.evil.example:8082", 421),
        ("localhost:8082", 200),
    ] {
        let headers = [("host", host)];
        let reply = client.send(Method::GET, "/login", &headers, String::new());
        assert_eq!(reply.await.status, status, "{host}");
    }
}

#[tokio::test]
async fn page_may_not_be_framed_and_loads_nothing_from_elsewhere() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, "ada@example.com").await;
    for path in ["/login", "/", "/keys", "/unknown"] {
        let reply = client.get(path).await;
        let policy = reply.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert!(!policy.contains("http"), "{path}: {policy}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(reply.header(name), value, "{path}: {name}");
        }
    }
    assert_eq!(client.get("/").await.header("vary"), "accept-encoding");
    // The size of a compressed page would tell about its secret.
    let fields = [
        ("organization", "demo"),
        ("mode", "test"),
        ("scopes", "read"),
    ];
    let created = client.post("/keys", &fields).await;
    assert!(!created.test_id("new-key").is_empty());
    assert_eq!(created.header("vary"), "");
    let (first, second) = (client.get("/").await, client.get("/").await);
    let policy = |reply: &tests::PageReply| reply.header("content-security-policy").to_owned();
    assert_ne!(
        policy(&first),
        policy(&second),
        "each page has its own nonce"
    );
}

#[tokio::test]
async fn body_that_is_no_small_form_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::new(&server);
    let form = "application/x-www-form-urlencoded";
    for (content_type, bytes, status) in [
        ("text/plain", 10, 415),
        ("application/json", 10, 415),
        ("multipart/form-data; boundary=x", 10, 415),
        (form, 70_000, 413),
    ] {
        let headers = [
            ("origin", client.base.as_str()),
            ("content-type", content_type),
        ];
        let body = "a".repeat(bytes);
        let reply = client.send(Method::POST, "/login", &headers, body).await;
        assert_eq!(reply.status, status, "{content_type} {bytes}");
    }
}
