//! API keys that people create and revoke.

use std::time::{Duration, Instant};
use tests::{Client, DashboardClient, Database, PageReply, Server, eventually, on_both_databases};

on_both_databases!(
    key_works_until_a_person_revokes_it,
    refused_calls_do_not_use_a_key,
    organizations_see_and_change_only_their_own_keys,
    filter_of_any_text_is_answered,
    nul_character_is_no_part_of_any_text,
);

/// Time within which a revoked key must be refused.
const REVOCATION_TIME_MAX: Duration = Duration::from_secs(5);

/// Returns the key that a page shows.
fn new_key(reply: &PageReply) -> &str {
    let (_, rest) = reply.body.split_once("data-testid=\"new-key\">").unwrap();
    rest.split('<').next().unwrap()
}

/// Returns the path of the first key of a list.
fn first_key(list: &PageReply) -> String {
    let (_, rest) = list.body.split_once("href=\"/keys/key_").unwrap();
    format!("/keys/key_{}", rest.split('"').next().unwrap())
}

async fn key_works_until_a_person_revokes_it(database: Database) {
    let server = Server::start(database).await;
    let options = ["--organization", "acme", "--org-role", "developer"];
    let ada = DashboardClient::with_account(&server, "ada@example.com", &options).await;
    let fields = [("name", "checkout"), ("mode", "test"), ("scopes", "read")];
    let created = ada.post("/keys", &fields).await;
    assert_eq!(created.status, 200, "{}", created.body);
    let key = new_key(&created);
    assert!(!server.dump_database().await.contains(key));

    let program = Client::new(&server.api, key);
    program.get("/v1/suppliers").await.expect(200);
    let path = first_key(&ada.get("/keys").await);
    wait_for_use(&ada, &path).await;

    let revoked = ada.post(&format!("{path}/revoke"), &[]).await;
    assert_eq!(revoked.status, 303, "{}", revoked.body);
    let begin = Instant::now();
    eventually("the refusal of the revoked key", async || {
        (program.get("/v1/suppliers").await.status == 401).then_some(())
    })
    .await;
    assert!(begin.elapsed() < REVOCATION_TIME_MAX);
}

/// Returns when a key was used last, as its page says.
async fn last_use(client: &DashboardClient, path: &str) -> String {
    let page = client.get(path).await;
    let (_, rest) = page.body.split_once("<dt>Last used</dt>").unwrap();
    rest.split_once("</dd>").unwrap().0.to_owned()
}

async fn wait_for_use(client: &DashboardClient, path: &str) {
    eventually("the last use of the key", async || {
        let used = last_use(client, path).await;
        used.contains("just now").then_some(())
    })
    .await;
}

async fn refused_calls_do_not_use_a_key(database: Database) {
    let server = Server::start(database).await;
    let options = ["--organization", "acme", "--org-role", "developer"];
    let ada = DashboardClient::with_account(&server, "ada@example.com", &options).await;
    let expired = ["--mode", "test", "--expires", "2020-01-31"];
    let expired = server.client_with("acme", &expired).await;
    let expired_path = first_key(&ada.get("/keys").await);
    expired.get("/v1/suppliers").await.expect(401);
    // The use of another key, which is recorded in the same way.
    let program = server.client_with("acme", &["--mode", "test"]).await;
    program.get("/v1/suppliers").await.expect(200);
    let path = first_key(&ada.get("/keys").await);
    assert_ne!(path, expired_path);
    wait_for_use(&ada, &path).await;
    let used = last_use(&ada, &expired_path).await;
    assert!(used.contains("never"), "{used}");
}

async fn organizations_see_and_change_only_their_own_keys(database: Database) {
    let server = Server::start(database).await;
    let account = async |name: &str, options: &[&str]| {
        let email = format!("{name}@example.com");
        DashboardClient::with_account(&server, &email, options).await
    };
    let of = |organization, role| ["--organization", organization, "--org-role", role];
    let operator = account("operator", &["--role", "operator"]).await;
    let admin = account("admin", &of("acme", "admin")).await;
    let viewer = account("viewer", &of("acme", "viewer")).await;
    let stranger = account("stranger", &of("other", "admin")).await;
    server
        .client_with("acme", &["--mode", "test", "--name", "of acme"])
        .await;
    let path = first_key(&admin.get("/keys").await);
    for (client, read, revoke) in [
        (&stranger, 404, 404),
        (&viewer, 200, 403),
        (&admin, 200, 303),
        (&operator, 200, 303),
    ] {
        assert_eq!(client.get(&path).await.status, read);
        let reply = client.post(&format!("{path}/revoke"), &[]).await;
        assert_eq!(reply.status, revoke, "{}", reply.body);
    }
    for (client, sees_acme, sees_demo) in [
        (&stranger, false, false),
        (&viewer, true, false),
        (&operator, true, true),
    ] {
        let list = client.get("/keys").await;
        assert_eq!(list.body.contains("of acme"), sees_acme);
        assert_eq!(
            list.body.contains("data-label=\"Organization\">demo"),
            sees_demo
        );
        let overview = client.get("/").await;
        assert_eq!((overview.status, overview.heading()), (200, "Overview"));
    }
}

async fn filter_of_any_text_is_answered(database: Database) {
    let server = Server::start(database).await;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let long = "_".repeat(1000);
    for (query, status) in [
        ("q=%00", 200),
        ("q=a%00b%1F", 200),
        (&format!("q={long}"), 200),
        ("organization=%00", 404),
        ("organization=a%20b", 404),
        ("organization=unknown", 200),
    ] {
        let reply = operator.get(&format!("/keys?{query}")).await;
        assert_eq!(reply.status, status, "{query}: {}", reply.body);
    }
}

/// PostgreSQL fails on a text with this character, and SQLite does not.
async fn nul_character_is_no_part_of_any_text(database: Database) {
    let server = Server::start(database).await;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    for (path, status) in [
        ("/requests/%00", 404),
        ("/requests/a%00b", 404),
        ("/members/%00/acc_1", 404),
        ("/keys/%00", 404),
        ("/suppliers/%00", 404),
        ("/keys?after=1.%00", 200),
        ("/requests?route=%00&user=a%00b", 200),
        ("/search?q=bkg_%00", 200),
    ] {
        let reply = operator.get(path).await;
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
    }
    for (path, fields) in [
        ("/unresolved/settle", &[("note", "a\0b")][..]),
        ("/unresolved/settle", &[("reference", "\0")]),
        ("/unresolved/retry", &[("kind", "mail"), ("subject", "\0")]),
        ("/keys", &[("name", "a\0"), ("mode", "test")]),
        ("/members", &[("email", "\0@example.com")]),
        ("/account/password", &[("current_password", "\0")]),
    ] {
        let reply = operator.post(path, fields).await;
        assert_eq!(reply.status, 422, "{path} {fields:?}: {}", reply.body);
        assert!(reply.body.contains("NUL character"), "{}", reply.body);
    }
}
