//! Statuses of each path and form for each role.

use reqwest::Method;
use tests::{Client, DashboardClient, Database, Server, on_both_databases};

on_both_databases!(each_role_gets_the_status_of_the_table);

/// People, in the order of the statuses of a row: nobody, an organization's viewer, developer and
/// admin, an operator, and the admin of another organization.
const PEOPLE: [(&str, &[&str]); 5] = [
    (
        "viewer",
        &["--organization", "acme", "--org-role", "viewer"],
    ),
    (
        "developer",
        &["--organization", "acme", "--org-role", "developer"],
    ),
    ("admin", &["--organization", "acme", "--org-role", "admin"]),
    ("operator", &["--role", "operator"]),
    (
        "stranger",
        &["--organization", "other", "--org-role", "admin"],
    ),
];

/// Method, path, fields of the form, and the statuses. `{test}` and `{live}` are keys of the
/// organization, `{session}` is a session of nobody in the table.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    [u16; 6],
);

const TEST_KEY: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("mode", "test"),
    ("scopes", "read"),
];
const LIVE_KEY: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("mode", "live"),
    ("scopes", "read"),
];

const GUEST: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("email", "guest@example.com"),
    ("role", "viewer"),
];

/// A webhook whose URL is refused, so that nothing is stored.
const WEBHOOK: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("product", "hotel"),
    ("url", "ftp://shop.example"),
    ("events", "*"),
];

/// The requests while the session shows test data.
const IN_TEST_MODE: &[Row] = &[
    ("GET", "/", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/keys", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/requests", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/requests?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/requests/req_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "GET",
        "/keys?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    ("GET", "/keys?create=1", &[], [303, 403, 200, 200, 200, 200]),
    ("GET", "/keys/{test}", &[], [303, 200, 200, 200, 200, 404]),
    (
        "GET",
        "/keys/{test}?confirm=revoke",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    ("GET", "/keys/{live}", &[], [303, 404, 404, 404, 404, 404]),
    ("GET", "/keys/unknown", &[], [303, 404, 404, 404, 404, 404]),
    ("GET", "/webhooks", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/webhooks?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/webhooks?create=1",
        &[],
        [303, 403, 403, 200, 200, 200],
    ),
    (
        "GET",
        "/webhooks/whs_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/deliveries", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/deliveries?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/deliveries/dlv_1-1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/events/evt_1", &[], [303, 404, 404, 404, 404, 404]),
    ("POST", "/webhooks", WEBHOOK, [303, 403, 403, 422, 422, 404]),
    (
        "POST",
        "/webhooks/whs_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/rotate",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/test",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/deliveries/replay",
        &[("status", "FAILED")],
        [303, 403, 409, 409, 409, 409],
    ),
    (
        "POST",
        "/deliveries/replays/blk_1/stop",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/deliveries/dlv_1-1/replay",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/events/evt_1/reveal",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/account", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/audit", &[], [303, 403, 403, 200, 200, 200]),
    (
        "GET",
        "/audit?organization=acme",
        &[],
        [303, 403, 403, 200, 200, 404],
    ),
    (
        "GET",
        "/audit/export?organization=acme",
        &[],
        [303, 403, 403, 200, 200, 404],
    ),
    ("POST", "/audit/verify", &[], [303, 403, 403, 200, 200, 200]),
    ("GET", "/unresolved", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/unresolved?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "POST",
        "/unresolved/settle",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/unresolved/withdraw",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/unresolved/retry",
        &[("kind", "hotel_booking"), ("subject", "bkg_1")],
        [303, 403, 403, 403, 303, 403],
    ),
    // The operator's call fills the demo, which changes no status of the table.
    ("POST", "/sample-data", &[], [303, 403, 403, 403, 303, 403]),
    ("GET", "/suppliers", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/suppliers/SANDBOX_HOTELS",
        &[],
        [303, 200, 200, 200, 200, 200],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/reload",
        &[],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/drain",
        &[],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/undrain",
        &[],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/rank",
        &[("reset", "1")],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/UNKNOWN/drain",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/unknown", &[], [303, 404, 404, 404, 404, 404]),
    ("GET", "/login", &[], [200, 303, 303, 303, 303, 303]),
    ("GET", "/setup/unknown", &[], [404, 404, 404, 404, 404, 404]),
    (
        "GET",
        "/assets/unknown",
        &[],
        [404, 404, 404, 404, 404, 404],
    ),
    ("POST", "/keys", TEST_KEY, [303, 403, 200, 200, 200, 404]),
    (
        "POST",
        "/keys/{live}/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/keys/unknown/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/keys/{test}/revoke",
        &[],
        [303, 403, 303, 303, 303, 404],
    ),
    (
        "POST",
        "/account/sessions/{session}/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/account/password",
        &[("new_password", "a")],
        [303, 422, 422, 422, 422, 422],
    ),
    (
        "POST",
        "/setup/unknown",
        &[],
        [404, 404, 404, 404, 404, 404],
    ),
    ("GET", "/members", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/members?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/members/acme/unknown",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("POST", "/members", GUEST, [303, 403, 403, 200, 200, 404]),
    (
        "POST",
        "/members/invitations/revoke",
        GUEST,
        [303, 403, 403, 303, 303, 404],
    ),
    (
        "POST",
        "/account/two-factor",
        &[],
        [303, 200, 200, 200, 200, 200],
    ),
    (
        "POST",
        "/account/two-factor/confirm",
        &[],
        [303, 303, 303, 303, 303, 303],
    ),
    ("POST", "/login/code", &[], [401, 401, 401, 401, 401, 401]),
    (
        "POST",
        "/setup/unknown/accept",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    // A live key switches the session of its creator to live data.
    ("POST", "/keys", LIVE_KEY, [303, 403, 403, 200, 200, 404]),
    (
        "POST",
        "/mode",
        &[("mode", "live")],
        [303, 303, 303, 303, 303, 303],
    ),
];

/// The requests while the session shows live data, to which the last row above has switched.
const IN_LIVE_MODE: &[Row] = &[
    ("GET", "/", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/keys", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/keys/{live}", &[], [303, 200, 200, 200, 200, 404]),
    ("GET", "/keys/{test}", &[], [303, 404, 404, 404, 404, 404]),
    (
        "POST",
        "/keys/{live}/revoke",
        &[],
        [303, 403, 403, 303, 303, 404],
    ),
    ("POST", "/sign-out", &[], [303, 303, 303, 303, 303, 303]),
    ("GET", "/", &[], [303, 303, 303, 303, 303, 303]),
];

async fn each_role_gets_the_status_of_the_table(database: Database) {
    let server = Server::start(database).await;
    let mut people = vec![("nobody", DashboardClient::new(&server))];
    for (name, options) in PEOPLE {
        let email = format!("{name}@example.com");
        let client = DashboardClient::with_account(&server, &email, options).await;
        people.push((name, client));
    }
    let email = "bystander@example.com";
    let bystander = DashboardClient::with_account(&server, email, &["--role", "operator"]).await;
    let account = bystander.get("/account").await;
    let ids = [
        ("{test}", key_id(&server, &bystander, "test").await),
        ("{live}", key_id(&server, &bystander, "live").await),
        ("{session}", text_after(&account.body, "id=\"device-")),
    ];
    for (method, path, fields, statuses) in [IN_TEST_MODE, IN_LIVE_MODE].concat() {
        let filled = ids
            .iter()
            .fold(path.to_owned(), |path, (name, id)| path.replace(name, id));
        for ((name, client), status) in people.iter().zip(statuses) {
            let reply = match method {
                "GET" => client.get(&filled).await,
                _ => client.post(&filled, fields).await,
            };
            let row = format!("{method} {path} {fields:?} by {name}");
            assert_eq!(reply.status, status, "{row}: {}", reply.body);
        }
    }
    assert_eq!(
        bystander.get("/").await.status,
        200,
        "nobody ended this session"
    );
}

/// Creates a key of organization `acme` and returns its id.
async fn key_id(server: &Server, operator: &DashboardClient, mode: &str) -> String {
    let options = ["--mode", mode, "--name", "of acme"];
    let _key: Client = server.client_with("acme", &options).await;
    operator.post("/mode", &[("mode", mode)]).await;
    let list = operator.get("/keys?organization=acme").await;
    text_after(&list.body, "href=\"/keys/")
}

/// Returns what is between a text and the next quotation mark.
fn text_after(body: &str, text: &str) -> String {
    let (_, rest) = body.split_once(text).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Navigation and buttons show only what is open.
#[tokio::test]
async fn page_offers_only_what_the_role_may_do() {
    let server = Server::start(Database::Sqlite).await;
    server.client_with("acme", &["--mode", "test"]).await;
    for (name, options) in PEOPLE {
        let email = format!("{name}@example.com");
        let client = DashboardClient::with_account(&server, &email, options).await;
        let list = client.get("/keys").await.body;
        let (creates, revokes) = match name {
            "viewer" => (false, false),
            "stranger" => (true, false),
            _ => (true, true),
        };
        assert_eq!(list.contains("name=\"create\""), creates, "{name}");
        assert_eq!(list.contains("data-confirm=\"revoke\""), revokes, "{name}");
    }
}

#[tokio::test]
async fn method_that_a_path_does_not_have_changes_nothing() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, "ada@example.com").await;
    let origin = client.base.clone();
    let headers = [("origin", origin.as_str())];
    for (method, path) in [
        (Method::GET, "/sign-out"),
        (Method::GET, "/mode"),
        (Method::GET, "/account/password"),
        (Method::DELETE, "/keys"),
        (Method::PUT, "/"),
    ] {
        let reply = client.send(method.clone(), path, &headers, String::new());
        assert_eq!(reply.await.status, 405, "{method} {path}");
    }
    assert_eq!(client.get("/").await.status, 200, "the session goes on");
}
