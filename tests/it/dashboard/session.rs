//! Sessions: cookies, and what ends them.

use tests::{
    DashboardClient, Database, PASSWORD, Server, accounts, eventually, link_path, on_both_databases,
};

const EMAIL: &str = "ada@example.com";

on_both_databases!(
    first_link_makes_an_operator_and_works_once,
    session_ends_with_sign_out_and_with_the_account,
    cookie_is_dead_after_whatever_ends_its_session,
    changed_password_ends_all_other_sessions,
);

async fn first_link_makes_an_operator_and_works_once(database: Database) {
    let server = Server::start(database).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let overview = client.get("/").await;
    assert_eq!((overview.status, overview.heading()), (200, "Overview"));
    assert!(accounts(&server, &["list"]).await.contains(EMAIL));
    let path = link_path(&server.dashboard);
    let other = DashboardClient::new(&server);
    let fields = [
        ("email", "eve@example.com"),
        ("password", PASSWORD),
        ("repeat_password", PASSWORD),
    ];
    let reply = other.post(path, &fields).await;
    assert_eq!(reply.status, 404, "{}", reply.body);
    assert_eq!(other.cookie(), None);
}

async fn session_ends_with_sign_out_and_with_the_account(database: Database) {
    let server = Server::start(database).await;
    let first = DashboardClient::set_up(&server, EMAIL).await;
    let old = first.cookie().unwrap();
    let second = DashboardClient::new(&server);
    assert_eq!(second.sign_in(EMAIL, PASSWORD).await.status, 303);
    assert_eq!(second.get("/").await.status, 200);

    assert_eq!(first.post("/sign-out", &[]).await.status, 303);
    assert_eq!(first.cookie(), None);
    first.set_cookie(Some(&old));
    let reply = first.get("/").await;
    assert_eq!((reply.status, reply.header("location")), (303, "/login"));
    assert_eq!(second.get("/").await.status, 200, "other sessions go on");

    accounts(&server, &["disable", EMAIL]).await;
    eventually("the end of a disabled account's session", async || {
        (second.get("/").await.status == 303).then_some(())
    })
    .await;
    assert_eq!(second.sign_in(EMAIL, PASSWORD).await.status, 401);
}

async fn cookie_is_dead_after_whatever_ends_its_session(database: Database) {
    let server = Server::start(database).await;
    for ending in ["sign-out", "disable", "reset", "revoke"] {
        let email = format!("{ending}@example.com");
        let options = ["--role", "operator"];
        let client = DashboardClient::with_account(&server, &email, &options).await;
        let cookie = client.cookie().unwrap();
        assert_eq!(client.get("/").await.status, 200, "{ending}");
        match ending {
            "sign-out" => assert_eq!(client.post("/sign-out", &[]).await.status, 303),
            "revoke" => revoke_other_session(&server, &email, &client).await,
            command => assert_ne!(accounts(&server, &[command, &email]).await, "-"),
        }
        client.set_cookie(Some(&cookie));
        for path in ["/", "/keys", "/account"] {
            assert_eq!(client.get(path).await.status, 303, "{ending} {path}");
        }
        let reply = client.post("/keys", &[("mode", "test")]).await;
        assert_eq!((reply.status, reply.header("location")), (303, "/login"));
    }
}

/// Signs in elsewhere and ends the first session from there.
async fn revoke_other_session(server: &Server, email: &str, first: &DashboardClient) {
    let second = DashboardClient::new(server);
    assert_eq!(second.sign_in(email, PASSWORD).await.status, 303);
    let account = second.get("/account").await.body;
    let (_, rest) = account.split_once("action=\"/account/sessions/").unwrap();
    let path = rest.split('"').next().unwrap();
    let path = format!("/account/sessions/{path}");
    assert_eq!(first.get("/").await.status, 200);
    assert_eq!(second.post(&path, &[]).await.status, 303);
    assert_eq!(second.get("/").await.status, 200, "only the other one ends");
}

async fn changed_password_ends_all_other_sessions(database: Database) {
    let server = Server::start(database).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let other = DashboardClient::new(&server);
    assert_eq!(other.sign_in(EMAIL, PASSWORD).await.status, 303);
    let before = client.cookie().unwrap();
    let new = "another horse battery staple";
    let fields = [
        ("current_password", PASSWORD),
        ("new_password", new),
        ("repeat_password", new),
    ];
    assert_eq!(client.post("/account/password", &fields).await.status, 303);
    assert_eq!(client.get("/").await.status, 200, "this browser goes on");
    assert_eq!(other.get("/").await.status, 303);
    client.set_cookie(Some(&before));
    assert_eq!(client.get("/").await.status, 303, "the old cookie is dead");
    assert_eq!(other.sign_in(EMAIL, PASSWORD).await.status, 401);
    assert_eq!(other.sign_in(EMAIL, new).await.status, 303);
}

/// A link that replaces a password is as good as the password, until it is used.
#[tokio::test]
async fn reset_link_sets_a_password_once() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let link = accounts(&server, &["reset", EMAIL]).await;
    let path = link_path(&link);
    assert_eq!(client.get("/").await.status, 303);
    let visitor = DashboardClient::new(&server);
    assert_eq!(visitor.sign_in(EMAIL, PASSWORD).await.status, 401);
    visitor.use_link(path, EMAIL).await;
    assert_eq!(visitor.get("/").await.status, 200);
    assert_eq!(visitor.get(path).await.status, 404);
}

#[tokio::test]
async fn sign_in_replaces_the_cookie_of_the_request() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let before = client.cookie().unwrap();
    let name = before.split('=').next().unwrap();
    client.set_cookie(Some(&format!("{name}=chosen-by-an-attacker")));
    assert_eq!(client.sign_in(EMAIL, PASSWORD).await.status, 303);
    let after = client.cookie().unwrap();
    assert!(after.len() > 40 && after != before, "{after}");
    assert!(!after.contains("attacker"), "{after}");
}

#[tokio::test]
async fn cookie_is_out_of_reach_of_scripts_and_other_sites() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let reply = client.sign_in(EMAIL, PASSWORD).await;
    let cookie = reply.header("set-cookie");
    for part in ["stopover=", "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let token = client.cookie().unwrap();
    let token = token.split_once('=').unwrap().1;
    let dump = server.dump_database().await;
    assert!(!dump.contains(token), "only the digest is stored");
    assert!(!dump.contains(PASSWORD), "only the hash is stored");
}

#[tokio::test]
async fn person_without_session_gets_to_the_page_by_the_sign_in() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    client.set_cookie(None);
    for (path, location) in [
        ("/", "/login"),
        ("/keys?mode=test", "/login?next=%2Fkeys%3Fmode%3Dtest"),
        ("/unknown", "/login?next=%2Funknown"),
    ] {
        let reply = client.get(path).await;
        assert_eq!((reply.status, reply.header("location")), (303, location));
    }
    let fields = [("email", EMAIL), ("password", PASSWORD)];
    for (next, location) in [
        ("/keys?mode=test", "/keys?mode=test"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
    ] {
        let fields = [&fields[..], &[("next", next)]].concat();
        let reply = client.post("/login", &fields).await;
        assert_eq!((reply.status, reply.header("location")), (303, location));
    }
}

/// A strict cookie is not sent with a link in a mail. The page that the browser gets opens itself
/// again, and this time the cookie is sent.
#[tokio::test]
async fn link_from_another_site_opens_the_page_again() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::new(&server);
    let headers = [("sec-fetch-site", "cross-site")];
    let method = reqwest::Method::GET;
    let reply = client.send(method, "/keys?mode=test", &headers, String::new());
    let reply = reply.await;
    assert_eq!(reply.status, 200);
    let refresh = "content=\"0;url=/keys?mode=test\"";
    assert!(reply.body.contains(refresh), "{}", reply.body);
}
