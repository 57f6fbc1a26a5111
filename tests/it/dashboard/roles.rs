//! Statuses of each path and form for each role.

mod table;

use reqwest::Method;
use std::fs;
use std::path::Path;
use table::{IN_LIVE_MODE, IN_TEST_MODE};
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
            let row = format!("{method} {path} {fields:?} by {name}");
            if path.starts_with("/stream/") {
                let opened = client.open_stream(&filled, None).await;
                assert_eq!(
                    opened.map_or_else(|status| status, |_| 200),
                    status,
                    "{row}"
                );
                continue;
            }
            let reply = match method {
                "GET" => client.get(&filled).await,
                _ => client.post(&filled, fields).await,
            };
            assert_eq!(reply.status, status, "{row}: {}", reply.body);
        }
    }
    assert_eq!(
        bystander.get("/").await.status,
        200,
        "nobody ended this session"
    );
}

/// The routes of the dashboard, each as method and path, read from its source.
fn routes() -> Vec<(&'static str, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/dashboard/src");
    let pages = fs::read_dir(source.join("pages")).unwrap();
    let files = pages.map(|file| file.unwrap().path());
    let files = files.chain([source.join("router.rs")]);
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    let mut routes = Vec::new();
    for text in texts {
        for route in text.split(".route(").skip(1) {
            let (route, _) = route.split_once(")\n").unwrap();
            let path = route.split('"').nth(1).unwrap();
            let methods = [("get(", "GET"), ("post(", "POST")];
            let own = methods.into_iter().filter(|(call, _)| route.contains(call));
            routes.extend(own.map(|(_, method)| (method, path.to_owned())));
        }
    }
    routes
}

/// Returns whether a path is one of a route.
fn is_path_of(route: &str, path: &str) -> bool {
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    let (route, path) = (route.split('/'), path.split('/'));
    let is_equal = |(expected, part): (&str, &str)| expected.starts_with('{') || expected == part;
    route.clone().count() == path.clone().count() && route.zip(path).all(is_equal)
}

#[test]
fn table_has_a_row_for_each_route() {
    let routes = routes();
    assert!(routes.len() > 50, "{routes:?}");
    let rows = [IN_TEST_MODE, IN_LIVE_MODE].concat();
    let has_no_row = |(method, route): &&(&str, String)| {
        let mut rows = rows.iter();
        !rows.any(|(known, path, ..)| known == method && is_path_of(route, path))
    };
    let missing: Vec<_> = routes.iter().filter(has_no_row).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Creates a key of organization `acme` and returns its id.
async fn key_id(server: &Server, operator: &DashboardClient, mode: &str) -> String {
    let options = ["--mode", mode, "--name", "of acme"];
    let _key: Client = server.client_with("acme", &options).await;
    operator.post("/mode", &[("mode", mode)]).await;
    let list = operator.get("/keys?organization=acme").await;
    text_after(&list.body, "href=\"/keys/")
}

/// Returns what is between a text and the next quotation mark, or the query of a link.
fn text_after(body: &str, text: &str) -> String {
    let (_, rest) = body.split_once(text).unwrap();
    rest.split(['"', '?']).next().unwrap().to_owned()
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
