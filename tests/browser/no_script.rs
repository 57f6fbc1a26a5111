//! The dashboard without JavaScript.

use crate::EMAIL;
use crate::driver::with_browser;
use crate::look::PAGES;
use tests::{Client, Database, PASSWORD, Server, eventually, link_path};

#[tokio::test]
async fn everything_works_without_scripts() {
    let server = Server::start(Database::Sqlite).await;
    with_browser("no_script", &server, async |browser| {
        browser.turn_scripts_off().await;
        let link = link_path(&server.dashboard);
        browser.open(link).await;
        browser.expect_good_layout("Set up your account").await;
        browser.fill("Email", EMAIL).await;
        browser.fill("Password", PASSWORD).await;
        browser.fill("Repeat password", PASSWORD).await;
        browser.submit("Create account").await;
        browser.expect_good_layout("Overview").await;
        let needs_script = "//*[@data-needs-script]";
        assert!(!browser.shows(needs_script).await, "no dead buttons");
        browser.submit("Sign out").await;
        browser.expect_good_layout("Sign in").await;
        browser.open("/keys?create=1").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_layout("API keys").await;
        browser.fill("Name", "checkout").await;
        browser.submit("Create key").await;
        let key = browser.test_id("new-key").await;
        let program = Client::new(&server.api, &key);
        program.get("/v1/suppliers").await.expect(200);
        browser.press_in_row("checkout", "Revoke").await;
        browser.expect_good_layout("API key checkout").await;
        browser.submit("Revoke key").await;
        browser.expect_good_layout("API keys").await;
        eventually("the refusal of the revoked key", async || {
            (program.get("/v1/suppliers").await.status == 401).then_some(())
        })
        .await;
        for &(path, heading) in PAGES {
            browser.open(path).await;
            browser.expect_good_layout(heading).await;
        }
        browser.open("/keys").await;
        browser.submit("Switch to live mode").await;
        assert_eq!(browser.test_id("mode").await, "Live mode");
        browser.open("/account").await;
        browser.expect_good_layout("Account").await;
        let new = "another horse battery staple";
        browser.fill("Current password", PASSWORD).await;
        browser.fill("New password", new).await;
        browser.fill("Repeat password", new).await;
        browser.submit("Change password").await;
        browser.expect_good_layout("Account").await;
        assert!(
            browser
                .shows("//*[@role='status'][contains(., 'password')]")
                .await
        );
    })
    .await;
}
