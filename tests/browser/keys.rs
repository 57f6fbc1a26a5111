//! API keys: create, copy, use, revoke; and the switch between test and live mode.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use std::time::{Duration, Instant};
use tests::{Client, Database, PASSWORD, Server, eventually};

/// Time within which a revoked key must be refused.
const REVOCATION_TIME_MAX: Duration = Duration::from_secs(5);

#[tokio::test]
async fn key_is_created_used_and_revoked() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("keys", &server, async |browser| {
        browser.open("/keys").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.submit("Create key").await;
        browser.fill("Name", "checkout").await;
        for label in ["Mode", "Expires", "read"] {
            browser.field(label).await;
        }
        browser.submit("Create key").await;
        let key = browser.test_id("new-key").await;
        let program = Client::new(&server.api, &key);
        program.get("/v1/suppliers").await.expect(200);
        browser.press("Copy").await;
        browser.wait_to_see("//button[.='Copied']").await;
        browser.open("/keys").await;
        let source = browser.driver.source().await;
        assert!(!source.contains(&key), "the key is shown once");
        assert!(source.contains(&key[key.len() - 4..]), "its end is listed");

        browser.press_in_row("checkout", "Revoke").await;
        browser.submit("Revoke key").await;
        let begin = Instant::now();
        eventually("the refusal of the revoked key", async || {
            (program.get("/v1/suppliers").await.status == 401).then_some(())
        })
        .await;
        assert!(begin.elapsed() < REVOCATION_TIME_MAX);
        browser.expect_page("API keys").await;
        assert!(
            browser
                .shows("//*[@role='status'][contains(., 'revoked')]")
                .await
        );
        assert!(!browser.shows("//tr[contains(., 'checkout')]//button").await);
    })
    .await;
}

#[tokio::test]
async fn mode_is_said_in_words_and_kept() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("mode", &server, async |browser| {
        browser.open("/keys").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        assert!(
            browser.shows("//tbody/tr").await,
            "the demo's key is listed"
        );
        browser.submit("Switch to live mode").await;
        assert_eq!(browser.path().await, "/keys");
        assert_eq!(browser.test_id("mode").await, "Live mode");
        assert!(!browser.shows("//tbody/tr").await, "no test key is listed");
        browser.open("/").await;
        assert_eq!(browser.test_id("mode").await, "Live mode");
        browser.submit("Switch to test mode").await;
        assert_eq!(browser.test_id("mode").await, "Test mode");
    })
    .await;
}
