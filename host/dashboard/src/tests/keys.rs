//! The pages of API keys.

use super::server::{NOW, Reply, Server, member};
use host_application::api_key::service::NewApiKey;
use host_application::context::ApiKeyScope;
use host_application::deadline::Deadline;
use host_domain::account::{AccountRole, OrganizationRole};
use host_domain::audit::Actor;
use host_domain::id::KeyId;
use host_domain::owner::{Mode, Tenant};
use host_domain::time::Timestamp;
use std::time::Duration;

const HOUR_MS: i64 = 60 * 60 * 1000;

async fn make_key(server: &Server, organization: &str, mode: Mode, name: &str) -> KeyId {
    make_expiring(server, organization, mode, name, None).await
}

async fn make_expiring(
    server: &Server,
    organization: &str,
    mode: Mode,
    name: &str,
    expires_at: Option<Timestamp>,
) -> KeyId {
    let new = NewApiKey {
        tenant: Tenant {
            organization: organization.to_owned(),
            mode,
        },
        name: name.to_owned(),
        scopes: vec![ApiKeyScope::Read],
        expires_at,
    };
    server
        .app
        .api_key_service
        .create(&Actor::system(), new)
        .await
        .unwrap()
        .id
}

async fn is_accepted(server: &Server, key: &str) -> bool {
    let deadline = Deadline::from_now(Duration::from_secs(60));
    let context = server
        .app
        .api_keys
        .authenticate(key, "req_1".into(), deadline, None);
    context.await.is_ok()
}

/// Posts the form of a new key.
async fn create(server: &Server, cookie: &str, fields: &[(&str, &str)]) -> Reply {
    let given = |name: &str| fields.iter().any(|(known, _)| *known == name);
    let defaults = [("name", "checkout"), ("mode", "test"), ("scopes", "read")];
    let mut all: Vec<_> = defaults
        .into_iter()
        .filter(|(name, _)| !given(name))
        .collect();
    all.extend(fields);
    server.post("/keys", cookie, &all).await
}

#[tokio::test]
async fn role_decides_what_may_be_done_with_keys() {
    use OrganizationRole::{Admin, Developer, Viewer};
    let server = Server::start().await;
    let operator = vec![AccountRole::Operator];
    let of = |role| vec![member("acme", role)];
    // Read the list, open the form, create a test and a live key, revoke a test and a live key.
    for (email, roles, expected) in [
        (
            "operator@example.com",
            operator,
            [200, 200, 200, 200, 303, 303],
        ),
        (
            "admin@example.com",
            of(Admin),
            [200, 200, 200, 200, 303, 303],
        ),
        (
            "developer@example.com",
            of(Developer),
            [200, 200, 200, 403, 303, 403],
        ),
        (
            "viewer@example.com",
            of(Viewer),
            [200, 403, 403, 403, 403, 403],
        ),
        (
            "stranger@example.com",
            vec![member("other", Admin)],
            [200, 200, 404, 404, 404, 404],
        ),
        ("nobody@example.com", vec![], [200, 403, 403, 403, 404, 404]),
    ] {
        let cookie = server.sign_up(email, &roles).await;
        let test_key = make_key(&server, "acme", Mode::Test, "a").await;
        let live_key = make_key(&server, "acme", Mode::Live, "b").await;
        let organization = ("organization", "acme");
        let mut found = vec![
            server.get("/keys", &cookie).await.status,
            server.get("/keys?create=1", &cookie).await.status,
            create(&server, &cookie, &[organization]).await.status,
            create(&server, &cookie, &[organization, ("mode", "live")])
                .await
                .status,
        ];
        for (key, mode) in [(&test_key, "test"), (&live_key, "live")] {
            server.switch(&cookie, mode).await;
            let path = format!("/keys/{key}/revoke");
            let status = server.post(&path, &cookie, &[]).await.status;
            found.push(status);
            let stored = server.app.api_key_service.find_unscoped(key).await;
            let stored = stored.unwrap().unwrap().key;
            assert_eq!(stored.revoked_at.is_some(), status == 303, "{email}");
        }
        assert_eq!(found, expected, "{email}");
    }
}

#[tokio::test]
async fn key_of_another_organization_or_mode_is_not_found() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Admin)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    let foreign = make_key(&server, "other", Mode::Test, "secret plan").await;
    let foreign_live = make_key(&server, "other", Mode::Live, "secret plan").await;
    let live = make_key(&server, "acme", Mode::Live, "b").await;
    let own = make_key(&server, "acme", Mode::Test, "a").await;
    let unknown = KeyId::from_bits(7);
    for (path, status, is_of_other_mode) in [
        (format!("/keys/{own}"), 200, false),
        (format!("/keys/{foreign}"), 404, false),
        (format!("/keys/{foreign_live}"), 404, false),
        (format!("/keys/{unknown}"), 404, false),
        ("/keys/nonsense".to_owned(), 404, false),
        (format!("/keys/{live}"), 404, true),
        ("/keys?organization=acme".to_owned(), 200, false),
        ("/keys?organization=other".to_owned(), 404, false),
        ("/keys?organization=unknown".to_owned(), 404, false),
    ] {
        let reply = server.get(&path, &cookie).await;
        assert_eq!(reply.status, status, "{path}");
        assert!(!reply.body.contains("secret plan"), "{path}");
        let says_mode = reply.body.contains("This page exists in live mode.");
        assert_eq!(says_mode, is_of_other_mode, "{path}");
        assert_eq!(reply.count("Switch to live mode"), 1, "{path}");
        assert_eq!(reply.next_path(), path);
    }
    // The switch does not return to the path of the form, which no GET opens.
    let path = format!("/keys/{live}");
    let reply = server.post(&format!("{path}/revoke"), &cookie, &[]).await;
    assert_eq!((reply.status.as_u16(), reply.next_path()), (404, path));
    let list = server.get("/keys", &cookie).await;
    assert!(list.body.contains(own.as_str()));
    for other in [&foreign, &foreign_live, &live] {
        assert!(!list.body.contains(other.as_str()));
    }
    server.switch(&cookie, "live").await;
    let list = server.get("/keys", &cookie).await;
    assert!(list.body.contains(live.as_str()) && !list.body.contains(own.as_str()));
}

#[tokio::test]
async fn new_key_is_shown_once_and_works_until_it_is_revoked() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Developer)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    let fields = [
        ("scopes", "read"),
        ("scopes", "book"),
        ("expires", "2026-12-31"),
    ];
    let reply = create(&server, &cookie, &fields).await;
    assert_eq!(reply.status, 200);
    let key = reply.test_id("new-key").unwrap().to_owned();
    assert!(key.starts_with("sk_test_"), "{key}");
    assert_eq!(reply.header("cache-control"), "no-store");

    let list = server.get("/keys", &cookie).await;
    assert_eq!(list.test_id("new-key"), None);
    assert!(!list.body.contains(&key));
    let end = &key[key.len() - 4..];
    for text in [
        "checkout",
        &format!("sk_test_…{end}"),
        "<span class=\"tag\">read</span>",
        "<span class=\"tag\">book</span>",
        "datetime=\"2026-12-31T23:59:59.999Z\"",
        "never",
        "Active",
        "1 key",
    ] {
        assert!(list.body.contains(text), "{text}");
    }
    assert!(is_accepted(&server, &key).await);
    let keys = server.app.api_key_service.list(Some("acme")).await.unwrap();
    let path = format!("/keys/{}", keys[0].id);
    let page = server.get(&path, &cookie).await;
    assert!(page.body.contains("API key checkout"));
    let question = server.get(&format!("{path}?confirm=revoke"), &cookie).await;
    assert!(question.body.contains("Revoke this key?"));
    assert!(question.body.contains("Revoke key"));

    let revoke = format!("{path}/revoke");
    for _ in 0..2 {
        let reply = server.post(&revoke, &cookie, &[]).await;
        assert_eq!(reply.header("location"), "/keys?done=key-revoked");
    }
    let list = server.get("/keys?done=key-revoked", &cookie).await;
    assert!(list.body.contains("The key is revoked."));
    assert!(list.body.contains("Revoked"));
    assert!(!list.body.contains(&format!("action=\"{path}\"")));
}

/// Test and live data never appear on one page, and the person chooses the mode.
#[tokio::test]
async fn new_key_of_the_other_mode_is_shown_but_not_listed() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Admin)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    make_key(&server, "acme", Mode::Test, "rehearsal").await;
    let soon = ("expires", "soon");
    let hint = "the list shows it in live mode";
    for (fields, status, is_hinted, listed) in [
        (&[("mode", "live"), soon][..], 422, false, 1),
        (&[("mode", "live")], 200, true, 1),
        (&[("mode", "test")], 200, false, 2),
    ] {
        let reply = create(&server, &cookie, fields).await;
        assert_eq!(reply.status, status, "{fields:?}");
        assert_eq!(reply.test_id("mode"), Some("Test mode"), "{fields:?}");
        assert_eq!(
            reply.body.matches(" data-row>").count(),
            listed,
            "{fields:?}"
        );
        assert_eq!(reply.body.contains(hint), is_hinted, "{fields:?}");
    }
}

#[tokio::test]
async fn wrong_field_is_marked_and_nothing_is_created() {
    let server = Server::start().await;
    let operator = server
        .sign_up("ada@example.com", &[AccountRole::Operator])
        .await;
    let long = "a".repeat(101);
    for (field, value, problem) in [
        ("name", long.as_str(), "Use at most 100 characters"),
        ("name", "a\u{7}b", "Use at most 100 characters"),
        ("mode", "both", "Choose a mode."),
        ("scopes", "all", "Choose scopes of the list."),
        ("expires", "soon", "Enter a date"),
        ("expires", "2026-11-25", "The date is in the past."),
        ("organization", "", "Enter 1 to 64 letters"),
        ("organization", "a b", "Enter 1 to 64 letters"),
    ] {
        let organization = ("organization", "acme");
        let fields = match field {
            "organization" => vec![(field, value)],
            _ => vec![organization, (field, value)],
        };
        let reply = create(&server, &operator, &fields).await;
        assert_eq!(reply.status, 422, "{field}={value}");
        assert!(reply.body.contains(problem), "{field}={value}");
        assert!(reply.body.contains("role=\"alert\""), "{field}={value}");
        assert_eq!(reply.test_id("new-key"), None);
    }
    let fields = [("organization", "acme"), ("name", "x"), ("mode", "test")];
    let reply = server.post("/keys", &operator, &fields).await;
    assert!(reply.body.contains("Choose at least one scope."));
    let keys = server.app.api_key_service.list(None).await.unwrap();
    assert!(keys.is_empty());
}

#[tokio::test]
async fn form_proposes_the_organization_of_the_filter_then_of_the_role() {
    let server = Server::start().await;
    let demo = member("demo", OrganizationRole::Admin);
    let roles = [AccountRole::Operator, demo];
    let operator = server.sign_up("ada@example.com", &roles).await;
    for (path, organization) in [
        ("/keys?create=1", "demo"),
        ("/keys?create=1&organization=acme", "acme"),
    ] {
        let reply = server.get(path, &operator).await;
        let field = format!("name=\"organization\" type=\"text\" value=\"{organization}\"");
        assert!(reply.body.contains(&field), "{path}");
    }
    let list = server.get("/keys?organization=acme", &operator).await;
    let button =
        "name=\"create\" value=\"1\"><input type=\"hidden\" name=\"organization\" value=\"acme\">";
    assert!(list.body.contains(button), "{}", list.body);
    // A person with one organization need not name it.
    let roles = [member("acme", OrganizationRole::Admin)];
    let admin = server.sign_up("bob@example.com", &roles).await;
    assert_eq!(create(&server, &admin, &[]).await.status, 200);
    let keys = server.app.api_key_service.list(Some("acme")).await.unwrap();
    assert_eq!(keys.len(), 1);
}

#[tokio::test]
async fn list_is_filtered_and_paged() {
    let server = Server::start().await;
    let roles = [AccountRole::Operator];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    for number in 0..51 {
        make_key(&server, "acme", Mode::Test, &format!("worker {number}")).await;
    }
    make_key(&server, "zoo", Mode::Test, "other").await;
    let soon = Some(NOW.plus_ms(HOUR_MS));
    make_expiring(&server, "zoo", Mode::Test, "old", soon).await;
    // The session ends after twelve hours, so the key must expire before.
    server.advance(HOUR_MS);
    for (query, rows, total) in [
        ("", 50, "53 keys"),
        ("?q=WORKER", 50, "51 keys"),
        ("?q=worker+1", 11, "11 keys"),
        ("?organization=zoo", 2, "2 keys"),
        ("?status=active&organization=zoo", 1, "1 key"),
        ("?status=expired", 1, "1 key"),
        ("?status=revoked", 0, "0 keys"),
        ("?status=nonsense", 0, "0 keys"),
        ("?q=%00", 50, "53 keys"),
        ("?q=%00wor%01ker+1", 11, "11 keys"),
    ] {
        let page = server.get(&format!("/keys{query}"), &cookie).await;
        assert_eq!(page.count("data-label=\"Name\""), rows, "{query}");
        assert!(page.body.contains(total), "{query}");
    }
    // SQLite refuses patterns of more than 50,000 bytes.
    let long = format!("/keys?q={}", "_".repeat(30_000));
    let page = server.get(&long, &cookie).await;
    let field = format!("name=\"q\" value=\"{}\"", "_".repeat(128));
    assert_eq!(page.status, 200);
    assert!(page.body.contains(&field));
    for organization in ["%00", "a%20b", "a%2Fb", &"a".repeat(65)] {
        let path = format!("/keys?organization={organization}");
        assert_eq!(server.get(&path, &cookie).await.status, 404, "{path}");
    }
    let first = server.get("/keys?q=worker", &cookie).await;
    let (_, rest) = first.body.split_once("href=\"/keys?q=worker&").unwrap();
    let next = format!("/keys?q=worker&{}", rest.split('"').next().unwrap());
    let second = server
        .get(&next.replace("amp;", "").replace("#38;", ""), &cookie)
        .await;
    assert_eq!(second.count("data-label=\"Name\""), 1);
    assert!(second.body.contains("worker 0<"));
    assert_eq!(second.count("rel=\"next\""), 0);
}

#[tokio::test]
async fn text_of_people_is_escaped() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Admin)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    let script = "<script>alert(1)</script>\"'><img src=x>";
    let fields = [("name", script), ("expires", script)];
    let refused = create(&server, &cookie, &fields).await;
    let created = create(&server, &cookie, &[("name", script)]).await;
    let keys = server.app.api_key_service.list(None).await.unwrap();
    let path = format!("/keys/{}", keys[0].id);
    let query = "%3Cscript%3Ealert(1)%3C/script%3E%22'%3E%3Cimg%20src=x%3E";
    for (name, page) in [
        ("refused", refused),
        ("created", created),
        ("list", server.get("/keys", &cookie).await),
        ("key", server.get(&path, &cookie).await),
        (
            "filter",
            server.get(&format!("/keys?q={query}"), &cookie).await,
        ),
        (
            "done",
            server.get(&format!("/keys?done={query}"), &cookie).await,
        ),
        ("overview", server.get("/", &cookie).await),
        (
            "login",
            server.get(&format!("/login?next={query}"), "").await,
        ),
    ] {
        assert!(!page.body.contains("<script>alert"), "{name}");
        assert!(!page.body.contains("<img"), "{name}");
    }
}
