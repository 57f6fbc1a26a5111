//! Markup in texts of other people is text in every page.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server};

/// Runs if a page takes a text for markup. The policy would stop it, which is a violation too.
const MARKUP: &str = "\"'><script>x1=1</script><img src=/x1 onerror=x1=1>";

#[tokio::test]
async fn markup_in_names_does_not_run() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    let fields = [
        ("name", MARKUP),
        ("mode", "test"),
        ("scopes", "read"),
        ("organization", "demo"),
    ];
    let created = person.post("/keys", &fields).await;
    assert_eq!(created.status, 200, "{}", created.body);
    with_browser("markup", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(MARKUP, PASSWORD).await;
        browser.alert().await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.open("/keys").await;
        browser.press_in_row("x1=1", "Revoke").await;
        let dialog = "//dialog//b[contains(., '<script>x1=1</script>')]";
        assert!(browser.shows(dialog).await, "the dialog names the key");
        browser.press("Cancel").await;
        let query = "%22%27%3E%3Cscript%3Ex1%3D1%3C%2Fscript%3E";
        for path in [
            "/keys?q=",
            "/keys?status=",
            "/keys?organization=",
            "/unknown/",
            "/?done=",
            "/login?next=",
        ] {
            browser.open(&format!("{path}{query}")).await;
        }
        let has_run = browser.driver.run("return 'x1' in window").await;
        assert_eq!(has_run, false);
    })
    .await;
}
