//! The overview renews itself while it is open.

use crate::driver::{Browser, with_browser};
use crate::webdriver::{ENTER, TAB};
use crate::{EMAIL, set_up};
use serde_json::json;
use tests::{Database, PASSWORD, Server, accounts, eventually};

/// Changes a figure of the page, so that the next renewal can be seen.
const SPOIL: &str =
    "document.querySelector('#live .value').textContent = 'spoilt'; window.mark = 1";

/// Returns whether the figure is spoilt, and whether the page is still the same.
const STATE: &str =
    "return [document.querySelector('#live .value')?.textContent === 'spoilt', window.mark === 1]";

#[tokio::test]
async fn figures_are_renewed_until_the_session_ends() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("overview", &server, async |browser| {
        browser.open("/").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_page("Overview").await;
        // The part of the page that a renewal brings must be able to renew itself again.
        for _ in 0..2 {
            browser.driver.run(SPOIL).await;
            wait_for_renewal(browser).await;
        }
        accounts(&server, &["disable", EMAIL]).await;
        browser.expect_page("Sign in").await;
    })
    .await;
}

async fn wait_for_renewal(browser: &Browser) {
    eventually("a renewed figure in the same page", async || {
        let state = browser.driver.run(STATE).await;
        (state == json!([false, true])).then_some(())
    })
    .await;
}

#[tokio::test]
async fn bucket_of_a_chart_is_opened_by_keyboard() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    let client = server.client();
    client.get("/v1/hotel/bookings/unknown").await;
    eventually("the counted call", async || {
        let overview = person.get("/").await.body;
        overview.contains("chart-values").then_some(())
    })
    .await;
    with_browser("overview_chart", &server, async |browser| {
        browser.open("/").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_page("Overview").await;
        let summary = "//summary[contains(., 'answered, 0 failed. Most at')]";
        browser.wait_to_see(summary).await;
        let focus = "document.querySelector('.chart-values summary').focus()";
        browser.driver.run(focus).await;
        browser.driver.press_keys(&ENTER.to_string()).await;
        let link = "//details[@class='chart-values']//a[contains(., 'answered')]";
        browser.wait_to_see(link).await;
        // The list stays open when the figures are renewed.
        browser.driver.run(SPOIL).await;
        wait_for_renewal(browser).await;
        assert!(browser.shows(link).await);
        browser.expect_good_page("Overview").await;
        browser.driver.run(focus).await;
        browser.driver.press_keys(&format!("{TAB}{ENTER}")).await;
        browser.expect_page("Requests").await;
        let path = browser.path().await;
        assert!(path.contains("from=") && path.contains("to="), "{path}");
    })
    .await;
}
