//! Sign-in, set-up, mode, and the person's own account.

use super::server::{PASSWORD, Reply, Server, member};
use crate::asset::url;
use host_application::account::sign_in::SignInStep;
use host_application::account::viewer::ClientInfo;
use host_domain::account::{AccountRole, OrganizationRole};
use secrecy::ExposeSecret;
use std::net::{IpAddr, Ipv4Addr};

const EMAIL: &str = "ada@example.com";
const HOUR_MS: i64 = 60 * 60 * 1000;
const NEW_PASSWORD: &str = "staple battery horse correct";

async fn sign_in(server: &Server, email: &str, password: &str, next: &str) -> Reply {
    let fields = [("email", email), ("password", password), ("next", next)];
    server.post("/login", "", &fields).await
}

#[tokio::test]
async fn sign_in_opens_the_page_and_sign_out_ends_the_session() {
    let server = Server::start().await;
    server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    for (next, location) in [
        ("/keys?q=a", "/keys?q=a"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("", "/"),
    ] {
        let reply = sign_in(&server, EMAIL, PASSWORD, next).await;
        assert_eq!(reply.status, 303);
        assert_eq!(reply.header("location"), location, "{next}");
    }
    let cookie = sign_in(&server, EMAIL, PASSWORD, "/").await.cookie();
    assert_eq!(server.get("/", &cookie).await.status, 200);
    // A person who has signed in need not do it again.
    let reply = server.get("/login?next=/keys", &cookie).await;
    assert_eq!(reply.header("location"), "/keys");

    let reply = server.post("/sign-out", &cookie, &[]).await;
    assert_eq!(reply.header("location"), "/login");
    assert!(reply.header("set-cookie").contains("Max-Age=0"));
    let reply = server.get("/", &cookie).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("location")),
        (303, "/login")
    );
}

#[tokio::test]
async fn refused_and_locked_sign_in_say_the_same() {
    let server = Server::start().await;
    server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    let mut alerts = Vec::new();
    for (status, retry_after) in [(401, ""); 5].into_iter().chain([(429, "900")]) {
        let reply = sign_in(&server, EMAIL, "a wrong password", "/keys").await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("retry-after"), retry_after);
        assert_eq!(reply.cookie(), "");
        assert!(reply.body.contains("value=\"ada@example.com\""));
        assert!(reply.body.contains("name=\"next\" value=\"/keys\""));
        assert!(!reply.body.contains("a wrong password"));
        let (_, alert) = reply.body.split_once("role=\"alert\"").unwrap();
        alerts.push(alert.split_once("</div>").unwrap().0.to_owned());
    }
    alerts.dedup();
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    let reply = sign_in(&server, EMAIL, PASSWORD, "/").await;
    assert_eq!(reply.status, 429);
}

#[tokio::test]
async fn sign_in_over_an_open_session_ends_it() {
    let server = Server::start().await;
    let first = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    for (password, status, first_status) in [("a wrong password", 401, 200), (PASSWORD, 303, 303)] {
        let fields = [("email", EMAIL), ("password", password)];
        let reply = server.post("/login", &first, &fields).await;
        assert_eq!(reply.status, status);
        let kept = server.get("/account", &first).await.status;
        assert_eq!(kept, first_status, "{password}");
        if status == 303 {
            assert_eq!(server.get("/account", &reply.cookie()).await.status, 200);
        }
    }
}

#[tokio::test]
async fn asset_does_not_keep_a_session_alive() {
    let server = Server::start().await;
    let cookie = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    server.advance(11 * HOUR_MS);
    let reply = server.get(url("app.js"), &cookie).await;
    assert_eq!(reply.status, 200);
    server.advance(2 * HOUR_MS);
    assert_eq!(server.get("/account", &cookie).await.status, 303);
}

/// The path to which a form is sent need not be a page.
#[tokio::test]
async fn change_of_mode_returns_to_a_page_without_its_notice() {
    let server = Server::start().await;
    let cookie = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    for (path, next) in [
        ("/account?done=password-changed", "/account"),
        ("/keys?done=key-revoked", "/keys"),
        (
            "/keys?q=a&done=key-revoked&status=active",
            "/keys?q=a&status=active",
        ),
    ] {
        let page = server.get(path, &cookie).await;
        assert_eq!(page.next_path(), next, "{path}");
        assert!(!page.body.contains("data-page="), "{path}");
    }
    for (path, next) in [("/account/password", "/account"), ("/keys", "/keys")] {
        let page = server.post(path, &cookie, &[("new_password", "a")]).await;
        assert_eq!(page.status, 422, "{path}");
        assert_eq!(page.next_path(), next, "{path}");
        // The script reloads this page instead of sending the form again.
        let mark = format!("data-page=\"{next}\"");
        assert!(page.body.contains(&mark), "{path}");
        assert_eq!(server.get(next, &cookie).await.status, 200);
    }
}

#[tokio::test]
async fn path_that_is_not_utf_8_is_not_found() {
    let server = Server::start().await;
    let cookie = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    for path in ["/keys/%ff", "/setup/%ff", "/assets/%ff", "/%ff"] {
        let reply = server.get(path, &cookie).await;
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.body.contains("Page not found"), "{path}");
    }
    for path in [
        "/keys/%ff/revoke",
        "/setup/%ff",
        "/account/sessions/%ff/revoke",
    ] {
        let reply = server.post(path, &cookie, &[]).await;
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.body.contains("Page not found"), "{path}");
    }
}

#[tokio::test]
async fn setup_shows_what_is_wrong_and_works_once() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Admin)];
    let link = server.invite(EMAIL, &roles).await;
    let path = format!("/setup/{}", link.expose_secret());
    let page = server.get(&path, "").await;
    assert_eq!(page.status, 200);
    for text in [
        "Set up your account",
        "value=\"ada@example.com\"",
        "readonly",
        "Admin of acme",
    ] {
        assert!(page.body.contains(text), "{text}");
    }
    for (password, repeated, problem) in [
        (PASSWORD, "another", "The two passwords differ."),
        ("short", "short", "Use at least 12 characters."),
        (EMAIL, EMAIL, "Use something else than your address."),
    ] {
        let fields = [("password", password), ("repeat_password", repeated)];
        let reply = server.post(&path, "", &fields).await;
        assert_eq!(reply.status, 422, "{problem}");
        assert!(reply.body.contains(problem), "{problem}");
        assert_eq!(reply.cookie(), "");
    }
    let fields = [("password", PASSWORD), ("repeat_password", PASSWORD)];
    let reply = server.post(&path, "", &fields).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("location")),
        (303, "/")
    );
    assert_eq!(server.get("/", &reply.cookie()).await.status, 200);
    assert_eq!(server.get(&path, "").await.status, 404);
    assert_eq!(server.post(&path, "", &fields).await.status, 404);
    assert_eq!(server.get("/setup/unknown", "").await.status, 404);
}

#[tokio::test]
async fn mode_is_kept_in_the_session() {
    let server = Server::start().await;
    let cookie = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    let other = sign_in(&server, EMAIL, PASSWORD, "/").await.cookie();
    let mode = async |cookie: &str| {
        let page = server.get("/", cookie).await;
        page.test_id("mode").unwrap().to_owned()
    };
    assert_eq!(mode(&cookie).await, "Test mode");
    let fields = [("mode", "live"), ("next", "/keys")];
    let reply = server.post("/mode", &cookie, &fields).await;
    assert_eq!(reply.header("location"), "/keys");
    assert_eq!(mode(&cookie).await, "Live mode");
    assert_eq!(mode(&other).await, "Test mode");
    let fields = [("mode", "nonsense"), ("next", "//evil.example")];
    let reply = server.post("/mode", &cookie, &fields).await;
    assert_eq!(reply.header("location"), "/");
    assert_eq!(mode(&cookie).await, "Live mode");
}

#[tokio::test]
async fn password_change_ends_all_other_sessions() {
    let server = Server::start().await;
    let cookie = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    let other = sign_in(&server, EMAIL, PASSWORD, "/").await.cookie();
    for (current, new, repeated, problem) in [
        (
            "a wrong password",
            NEW_PASSWORD,
            NEW_PASSWORD,
            "The password is wrong.",
        ),
        (
            PASSWORD,
            NEW_PASSWORD,
            "another",
            "The two passwords differ.",
        ),
        (PASSWORD, "short", "short", "Use at least 12 characters."),
    ] {
        let fields = [
            ("current_password", current),
            ("new_password", new),
            ("repeat_password", repeated),
        ];
        let reply = server.post("/account/password", &cookie, &fields).await;
        assert_eq!(reply.status, 422, "{problem}");
        assert!(reply.body.contains(problem), "{problem}");
        assert_eq!(server.get("/", &other).await.status, 200, "{problem}");
    }
    let fields = [
        ("current_password", PASSWORD),
        ("new_password", NEW_PASSWORD),
        ("repeat_password", NEW_PASSWORD),
    ];
    let reply = server.post("/account/password", &cookie, &fields).await;
    assert_eq!(reply.header("location"), "/account?done=password-changed");
    let renewed = reply.cookie();
    assert_ne!(renewed, cookie);
    for (session, status) in [(&renewed, 200), (&cookie, 303), (&other, 303)] {
        assert_eq!(server.get("/account", session).await.status, status);
    }
    let refused = sign_in(&server, EMAIL, PASSWORD, "/").await;
    assert_eq!(refused.status, 401);
    let accepted = sign_in(&server, EMAIL, NEW_PASSWORD, "/").await;
    assert_eq!(accepted.status, 303);
}

#[tokio::test]
async fn password_change_is_locked_like_the_sign_in() {
    let server = Server::start().await;
    let cookie = server.sign_up(EMAIL, &[AccountRole::Operator]).await;
    let fields = [
        ("current_password", "a wrong password"),
        ("new_password", NEW_PASSWORD),
        ("repeat_password", NEW_PASSWORD),
    ];
    for (status, retry_after) in [(422, ""); 5].into_iter().chain([(429, "900")]) {
        let reply = server.post("/account/password", &cookie, &fields).await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("retry-after"), retry_after);
        assert!(reply.body.contains("role=\"alert\""));
    }
}

#[tokio::test]
async fn account_lists_and_revokes_the_persons_own_sessions() {
    let server = Server::start().await;
    let roles = [
        AccountRole::Operator,
        member("acme", OrganizationRole::Viewer),
    ];
    let cookie = server.sign_up(EMAIL, &roles).await;
    let client = ClientInfo {
        address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)),
        user_agent: "curl/8.5.0".to_owned(),
    };
    let sign_ins = &server.app.accounts.sign_in;
    let step = sign_ins.with_password(EMAIL, PASSWORD.into(), &client);
    let SignInStep::Session(second) = step.await.unwrap() else {
        panic!("no code is set up")
    };
    let bob = server.sign_up("bob@example.com", &roles).await;

    let page = server.get("/account", &cookie).await;
    for text in [
        EMAIL,
        "Operator of the installation",
        "Viewer of acme",
        "Firefox on Linux",
        "192.0.2.7",
        "curl",
        "This session",
    ] {
        assert!(page.body.contains(text), "{text}");
    }
    assert_eq!(page.count("data-label=\"Device\""), 2);
    assert_eq!(page.count("/revoke\""), 1);

    let path = format!("/account/sessions/{}/revoke", second.id);
    assert_eq!(server.post(&path, &bob, &[]).await.status, 404);
    let second_cookie = format!("stopover={}", second.token.expose_secret());
    assert_eq!(server.get("/", &second_cookie).await.status, 200);
    let reply = server.post(&path, &cookie, &[]).await;
    assert_eq!(reply.header("location"), "/account?done=session-revoked");
    assert_eq!(server.get("/", &second_cookie).await.status, 303);
    assert_eq!(server.get("/", &cookie).await.status, 200);
    for id in ["nonsense", "ses_1"] {
        let path = format!("/account/sessions/{id}/revoke");
        assert_eq!(server.post(&path, &cookie, &[]).await.status, 404);
    }
}
