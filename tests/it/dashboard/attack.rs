//! Texts and cookies of attackers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::json;
use sha2::{Digest, Sha256};
use tests::{
    DashboardClient, Database, HotelBookingBuilder, PASSWORD, Server, eventually, link_path,
};

const EMAIL: &str = "ada@example.com";

/// A text that ends attributes and elements, and begins scripts.
const MARKUP: &str = "\"'><script>x1()</script><img src=x1 onerror=x1()>";

/// Checks that a page shows [`MARKUP`] as text, if at all.
fn check_inert(body: &str, place: &str) {
    for sign in ["<script>x1", "<img src=x1", "\"'>"] {
        assert!(!body.contains(sign), "{place}: {body}");
    }
}

#[tokio::test]
async fn markup_that_was_sent_is_shown_as_text() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let key = |name, expires, organization| {
        [
            ("name", name),
            ("expires", expires),
            ("organization", organization),
            ("mode", "test"),
            ("scopes", "read"),
        ]
    };
    for (path, fields, status) in [
        ("/keys", &key(MARKUP, "", "demo")[..], 200),
        ("/keys", &key("", MARKUP, "demo"), 422),
        ("/keys", &key("", "", MARKUP), 422),
        ("/keys", &[("mode", MARKUP), ("scopes", MARKUP)], 422),
        (
            "/login",
            &[("email", MARKUP), ("password", "a"), ("next", MARKUP)],
            401,
        ),
        (
            "/login/code",
            &[
                ("challenge", MARKUP),
                ("next", MARKUP),
                ("use_recovery_code", "1"),
            ],
            200,
        ),
        ("/members", &[("email", MARKUP), ("role", MARKUP)], 422),
        (
            "/members",
            &[
                ("email", "\"'><script>x1()</script>@example.com"),
                ("role", "viewer"),
                ("organization", "demo"),
            ],
            200,
        ),
    ] {
        let reply = client.post(path, fields).await;
        assert_eq!(reply.status, status, "{path} {fields:?}: {}", reply.body);
        check_inert(&reply.body, &format!("{path} {fields:?}"));
    }
    let markup = "%22%27%3E%3Cscript%3Ex1()%3C%2Fscript%3E%3Cimg%20src=x1%20onerror=x1()%3E";
    for path in [
        "/keys",
        "/keys?q=",
        "/keys?status=",
        "/keys?organization=",
        "/keys?after=",
        "/keys/",
        "/?done=",
        "/setup/",
        "/unknown/",
        "/login?next=",
        "/members?organization=",
        "/members/demo/",
    ] {
        let reply = client.get(&format!("{path}{markup}")).await;
        check_inert(&reply.body, path);
    }
    for path in ["/keys", "/members"] {
        let list = client.get(path).await.body;
        check_inert(&list, path);
        assert!(list.contains("x1()"), "the text is listed: {list}");
    }
}

#[tokio::test]
async fn markup_of_programs_and_suppliers_is_shown_as_text() {
    let server = Server::start(Database::Sqlite).await;
    let person = DashboardClient::set_up(&server, EMAIL).await;
    let client = server.client();
    let refused = client.user(MARKUP).header("x-request-id", "req-refused");
    refused.get("/v1/suppliers").await.expect(400);
    let builder = HotelBookingBuilder::at("OK");
    let mut request = builder.request(&builder.offer(&client).await);
    request["reference_id"] = json!(MARKUP);
    let reply = client.prebook_hotel("key-1", &request).await.expect(201);
    let booking = reply.data()["id"].as_str().unwrap().to_owned();
    // A supplier chooses the names of hotels.
    let quoted = MARKUP.replace('\'', "''");
    let rename = format!(
        "UPDATE hotel_booking SET document = json_set(document, '$.details.hotel.name', '{quoted}')"
    );
    server.try_edit(&rename).await.unwrap();
    eventually("the refused call", async || {
        let page = person.get("/requests").await;
        page.body.contains("req-refused").then_some(())
    })
    .await;
    let details = format!("/bookings/{booking}");
    for path in [
        "/",
        "/bookings",
        &details,
        "/requests",
        "/requests/req-refused",
    ] {
        let page = person.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        check_inert(&page.body, path);
        let is_shown = path.starts_with("/bookings");
        assert_eq!(page.body.contains("x1()"), is_shown, "{path}");
    }
}

#[tokio::test]
async fn markup_in_a_set_up_form_and_in_the_user_agent_is_text() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::new(&server);
    let path = link_path(&server.dashboard);
    let fields = [
        ("email", MARKUP),
        ("password", PASSWORD),
        ("repeat_password", PASSWORD),
    ];
    let reply = client.post(path, &fields).await;
    assert_eq!(reply.status, 422);
    check_inert(&reply.body, "set-up");
    client.use_link(path, EMAIL).await;
    let origin = client.base.clone();
    let headers = [("origin", origin.as_str()), ("user-agent", MARKUP)];
    let fields = [("email", EMAIL), ("password", PASSWORD)];
    let reply = client.post_from("/login", &headers, &fields).await;
    assert_eq!(reply.status, 303);
    let account = client.get("/account").await.body;
    check_inert(&account, "account");
    assert!(account.contains("x1()"), "the program is shown: {account}");
}

#[tokio::test]
async fn next_page_is_always_a_page_of_the_dashboard() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    for next in [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\r\nLocation: https://evil.example",
        "/\r\nSet-Cookie: stopover=a",
        " //evil.example",
        "https://evil.example",
        "https:evil.example",
        "javascript:x1()",
        "data:text/html,x1",
        "@evil.example",
        ".evil.example",
    ] {
        let fields = [
            ("email", EMAIL),
            ("password", PASSWORD),
            ("mode", "test"),
            ("next", next),
        ];
        let by_sign_in = client.post("/login", &fields).await;
        let by_mode = client.post("/mode", &fields).await;
        let query: String = next.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let by_query = client.get(&format!("/login?next={query}")).await;
        for reply in [by_sign_in, by_mode, by_query] {
            assert_eq!(
                (reply.status, reply.header("location")),
                (303, "/"),
                "{next:?}"
            );
            assert!(
                !reply.header("set-cookie").contains("stopover=a;"),
                "{next:?}"
            );
        }
    }
}

/// The path of a request is shown to people without a session as the next page.
#[tokio::test]
async fn path_of_a_request_leads_to_no_other_host() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::new(&server);
    for path in ["//evil.example", "/%5cevil.example"] {
        for headers in [&[][..], &[("sec-fetch-site", "cross-site")]] {
            let reply = client.send(Method::GET, path, headers, String::new()).await;
            let location = reply.header("location");
            assert!(!location.contains("next=%2F%2F"), "{path}: {location}");
            assert!(!reply.body.contains("//evil"), "{path}: {}", reply.body);
        }
    }
}

#[tokio::test]
async fn cookie_that_was_not_given_opens_nothing() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let own = client.cookie().unwrap();
    let (name, token) = own.split_once('=').unwrap();
    // The digest is stored, so a reader of the database has it.
    let digest = Sha256::digest(token);
    let shorter = &token[..token.len() - 1];
    for value in [
        String::new(),
        "a".repeat(token.len()),
        "a".repeat(7000),
        shorter.to_owned(),
        format!("{token}a"),
        token.to_ascii_uppercase(),
        format!("\"{token}\""),
        hex::encode(digest),
        URL_SAFE_NO_PAD.encode(digest),
        "' OR '1'='1".to_owned(),
    ] {
        client.set_cookie(Some(&format!("{name}={value}")));
        let reply = client.get("/").await;
        assert_eq!(
            (reply.status, reply.header("location")),
            (303, "/login"),
            "{value}"
        );
    }
    client.set_cookie(Some(&own));
    assert_eq!(client.get("/").await.status, 200);
}

/// An attacker who has set the cookie of a browser must not share the session of a set-up link that
/// is used in it.
#[tokio::test]
async fn set_up_replaces_the_cookie_of_the_request() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::new(&server);
    let chosen = format!("stopover={}", "a".repeat(43));
    client.set_cookie(Some(&chosen));
    let path = link_path(&server.dashboard);
    client.use_link(path, EMAIL).await;
    assert_ne!(client.cookie().unwrap(), chosen);
    client.set_cookie(Some(&chosen));
    assert_eq!(client.get("/").await.status, 303);
}
