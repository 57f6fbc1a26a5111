//! The overview.

use super::server::{NOW, Server, member};
use host_application::api_key::service::NewApiKey;
use host_application::context::ApiKeyScope;
use host_domain::account::{AccountRole, OrganizationRole};
use host_domain::audit::Actor;
use host_domain::owner::{Mode, Tenant};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

async fn make_key(server: &Server, organization: &str, name: &str, days: i64) {
    let new = NewApiKey {
        tenant: Tenant {
            organization: organization.to_owned(),
            mode: Mode::Test,
        },
        name: name.to_owned(),
        scopes: vec![ApiKeyScope::Read],
        expires_at: Some(NOW.plus_ms(days * DAY_MS)),
    };
    server
        .app
        .api_key_service
        .create(&Actor::system(), new)
        .await
        .unwrap();
}

#[tokio::test]
async fn overview_names_the_keys_that_expire_soon() {
    let server = Server::start().await;
    make_key(&server, "acme", "checkout", 6).await;
    make_key(&server, "acme", "reporting", 15).await;
    make_key(&server, "other", "foreign", 6).await;
    let roles = [member("acme", OrganizationRole::Viewer)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    let page = server.get("/", &cookie).await;
    assert!(page.body.contains("Key checkout expires in 6 days"));
    let key = &server.app.api_key_service.list(Some("acme")).await.unwrap()[0];
    assert!(page.body.contains(&format!("href=\"/keys/{}\"", key.id)));
    for absent in ["reporting", "foreign"] {
        assert!(!page.body.contains(absent), "{absent}");
    }
    server.switch(&cookie, "live").await;
    let page = server.get("/", &cookie).await;
    assert!(!page.body.contains("checkout"));
    assert!(page.body.contains("Nothing waits for you"));
}

#[tokio::test]
async fn figures_lead_to_the_lists_behind_them() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Viewer)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    for (path, since) in [
        ("/", "2026-11-26T01:41:00.000Z"),
        ("/?window=day", "2026-11-25T03:00:00.000Z"),
    ] {
        let page = server.get(path, &cookie).await;
        let since = since.replace(':', "%3A");
        for link in [
            "/deliveries?status=waiting".to_owned(),
            format!("/requests?from={since}"),
            format!("/requests?status=5xx&#38;from={since}"),
        ] {
            let link = format!("href=\"{link}\"");
            assert!(page.body.contains(&link), "{link}: {}", page.body);
        }
    }
    let page = server.get("/deliveries?status=waiting", &cookie).await;
    assert!(
        page.body
            .contains("Status: <b>Waiting: pending or published</b>"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn parked_jobs_are_shown_to_operators_only() {
    let server = Server::start().await;
    for (email, role, is_shown) in [
        ("operator@example.com", AccountRole::Operator, true),
        (
            "admin@example.com",
            member("acme", OrganizationRole::Admin),
            false,
        ),
    ] {
        let cookie = server.sign_up(email, &[role]).await;
        let page = server.get("/", &cookie).await;
        assert_eq!(page.body.contains("Parked jobs"), is_shown, "{email}");
    }
}

#[tokio::test]
async fn first_steps_are_ticked_from_what_happened() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Developer)];
    let cookie = server.sign_up("ada@example.com", &roles).await;
    let done = async || {
        let page = server.get("/", &cookie).await;
        let states = page.body.split("data-state=\"").skip(1);
        states
            .map(|rest| rest.starts_with("done\""))
            .collect::<Vec<_>>()
    };
    assert_eq!(done().await, [true, false, false, false]);
    make_key(&server, "other", "foreign", 30).await;
    assert_eq!(done().await, [true, false, false, false]);
    make_key(&server, "acme", "checkout", 30).await;
    assert_eq!(done().await, [true, true, false, false]);
    let page = server.get("/", &cookie).await;
    assert!(page.body.contains("http://api.test/v1/suppliers"));
    assert!(!page.body.contains("/keys?create=1"));
}
