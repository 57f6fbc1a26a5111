//! Single-key shortcuts, on lists and on the pages of one thing.

use crate::driver::{Browser, with_browser};
use crate::page::{DESKTOP, TELEPHONE};
use crate::webdriver::{ENTER, ESCAPE, TAB};
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server};

/// Text of the link to which the first press of the tabulator leads.
const FIRST_LINK: &str = "Skip to content";

const SEARCH_OF_THE_LIST: &str = "Search";
const SEARCH_OF_THE_HEADER: &str = "Find an id or reference";

/// Label of the focused element, or its text.
const FOCUSED: &str = "const focused = document.activeElement;
return focused.ariaLabel ?? (focused.labels?.[0] ?? focused).textContent.trim();";

const HELP: &str = "//dialog[@id='shortcuts']";

impl Browser {
    async fn expect_focus(&self, name: &str) {
        let focused = self.driver.run(FOCUSED).await;
        assert_eq!(focused, name, "{}", self.path().await);
    }
}

#[tokio::test]
async fn keys_move_through_the_list_and_open_its_rows() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    for name in ["first", "second"] {
        let options = ["--mode", "test", "--name", name];
        server.client_with("demo", &options).await;
    }
    with_browser("shortcuts_list", &server, async |browser| {
        browser.open("/keys").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_page("API keys").await;
        for (keys, focused) in [("j", "second"), ("j", "first"), ("k", "second")] {
            browser.driver.press_keys(keys).await;
            browser.expect_focus(focused).await;
        }
        browser.driver.press_keys("/j?").await;
        let value = "return document.activeElement.value";
        let typed = browser.driver.run(value).await;
        assert_eq!(typed, "j?", "a field takes all keys");
        // The filters "Status" and "Organization", and the button.
        browser
            .driver
            .press_keys(&format!("{TAB}{TAB}{TAB}j"))
            .await;
        browser.expect_focus("second").await;
        // The question about a row gives the focus back to the button.
        browser.driver.press_keys(&format!("{TAB}{ENTER}")).await;
        browser.wait_to_see("//dialog[@id='revoke']").await;
        browser.driver.press_keys(&ESCAPE.to_string()).await;
        browser.expect_focus("Revoke").await;
        browser.driver.press_keys(&format!("jk{ENTER}")).await;
        browser.expect_page("API key second").await;
    })
    .await;
}

#[tokio::test]
async fn keys_find_and_help_on_every_kind_of_page() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("shortcuts", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        for size in [TELEPHONE, DESKTOP] {
            browser.show_as(size, "light").await;
            for (path, search) in [
                ("/keys", SEARCH_OF_THE_LIST),
                ("/search", "Id or reference"),
                ("/requests", SEARCH_OF_THE_HEADER),
                ("/suppliers/SANDBOX_HOTELS", SEARCH_OF_THE_HEADER),
                ("/account", SEARCH_OF_THE_HEADER),
            ] {
                browser.open(path).await;
                browser.driver.press_keys(&TAB.to_string()).await;
                browser.expect_focus(FIRST_LINK).await;
                browser.driver.press_keys("?").await;
                browser.wait_to_see(HELP).await;
                browser.driver.press_keys(&ESCAPE.to_string()).await;
                assert!(!browser.shows(HELP).await, "{path}");
                browser.expect_focus(FIRST_LINK).await;
                browser.driver.press_keys("/").await;
                browser.expect_focus(search).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn shortcuts_can_be_turned_off() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("shortcuts_off", &server, async |browser| {
        browser.open("/suppliers").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.show_as(DESKTOP, "light").await;
        browser.press("Keyboard shortcuts").await;
        browser
            .field("Use single-key shortcuts")
            .await
            .click()
            .await;
        browser.press("Close").await;
        browser.expect_focus("Keyboard shortcuts").await;
        browser.open("/keys").await;
        browser.driver.press_keys("j/?").await;
        assert!(!browser.shows(HELP).await);
        assert_eq!(
            browser
                .driver
                .run("return document.activeElement.tagName")
                .await,
            "BODY"
        );
    })
    .await;
}
