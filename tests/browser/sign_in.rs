//! The set-up link, sign-in, sign-out, and the lock after failures.

use crate::driver::with_browser;
use crate::webdriver::{ENTER, TAB};
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server, accounts, link_path};

#[tokio::test]
async fn printed_link_creates_the_account_and_signs_in() {
    let server = Server::start(Database::Sqlite).await;
    with_browser("set_up", &server, async |browser| {
        let link = link_path(&server.dashboard);
        browser.open(link).await;
        browser.expect_page("Set up your account").await;
        browser.fill("Email", EMAIL).await;
        browser.fill("Password", PASSWORD).await;
        browser.fill("Repeat password", "something else").await;
        browser.submit("Create account").await;
        let alert = browser.alert().await;
        assert!(alert.contains("not created"), "{alert}");
        browser.fill("Password", PASSWORD).await;
        browser.fill("Repeat password", PASSWORD).await;
        browser.submit("Create account").await;
        browser.expect_page("Overview").await;
        assert_eq!(browser.path().await, "/");
        assert!(accounts(&server, &["list"]).await.contains(EMAIL));
        browser.open(link).await;
        browser.expect_page("Page not found").await;
    })
    .await;
}

#[tokio::test]
async fn person_signs_in_and_out() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("sign_in", &server, async |browser| {
        browser.open("/keys").await;
        browser.expect_page("Sign in").await;
        browser.sign_in(EMAIL, "something else").await;
        let alert = browser.alert().await;
        assert!(alert.contains("Email or password is wrong"), "{alert}");
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_page("API keys").await;
        assert_eq!(browser.path().await, "/keys");
        assert_eq!(browser.test_id("mode").await, "Test mode");
        browser.submit("Sign out").await;
        browser.expect_page("Sign in").await;
        browser.driver.back().await;
        browser.expect_page("Sign in").await;
        browser.open("/").await;
        browser.expect_page("Sign in").await;
    })
    .await;
}

#[tokio::test]
async fn keyboard_suffices_to_sign_in() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("keyboard", &server, async |browser| {
        browser.open("/login").await;
        let keys = format!("{EMAIL}{TAB}{PASSWORD}{ENTER}");
        browser.driver.press_keys(&keys).await;
        browser.expect_page("Overview").await;
    })
    .await;
}

#[tokio::test]
async fn fifth_failure_locks_and_the_words_stay_the_same() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("lock", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, "something else").await;
        let refusal = browser.alert().await;
        for email in ["eve@example.com", EMAIL, EMAIL, EMAIL] {
            browser.sign_in(email, "something else").await;
            assert_eq!(browser.alert().await, refusal);
        }
        // The right password is refused too as soon as the account is locked.
        for email in [EMAIL, "eve@example.com"] {
            browser.sign_in(email, PASSWORD).await;
            assert_eq!(browser.alert().await, refusal);
            browser.expect_page("Sign in").await;
        }
    })
    .await;
}
