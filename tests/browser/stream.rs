//! Lists grow while they are open.

use crate::driver::{Browser, with_browser};
use crate::{EMAIL, set_up};
use serde_json::json;
use tests::{Client, Database, PASSWORD, Server};

/// Makes an API call whose request id is `id`.
async fn call(client: &Client, id: &str) {
    let client = client.header("x-request-id", id);
    client.get("/v1/bookings/unknown").await;
}

/// Waits until the list has a row, or until its state has a text.
async fn see(browser: &Browser, text: &str) {
    let row = format!("//tbody[@data-stream-rows]//tr[contains(., '{text}')]");
    let state = format!("//*[@data-stream-state][.='{text}']");
    browser.wait_to_see(&format!("{row} | {state}")).await;
}

#[tokio::test]
async fn new_requests_come_until_the_list_is_paused_and_after_it_goes_on() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    let client = server.client();
    with_browser("stream", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        call(&client, "req-before").await;
        browser.open("/requests").await;
        see(browser, "req-before").await;
        see(browser, "Live").await;
        call(&client, "req-live").await;
        see(browser, "req-live").await;

        browser.press("Pause").await;
        see(browser, "Paused").await;
        let mut another = person.open_stream("/stream/requests", None).await.unwrap();
        call(&client, "req-paused").await;
        another.find("row", "req-paused").await;
        assert!(!browser.shows("//tr[contains(., 'req-paused')]").await);
        browser.press("Resume").await;
        see(browser, "req-paused").await;

        set_offline(browser, true).await;
        see(browser, "Reconnecting").await;
        call(&client, "req-offline").await;
        set_offline(browser, false).await;
        see(browser, "req-offline").await;
        see(browser, "Live").await;
    })
    .await;
}

#[tokio::test]
async fn list_leads_to_the_sign_in_when_the_session_ends() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("stream_end", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        call(&server.client(), "req-before").await;
        browser.open("/requests").await;
        see(browser, "Live").await;
        tests::accounts(&server, &["disable", EMAIL]).await;
        browser.expect_page("Sign in").await;
    })
    .await;
}

async fn set_offline(browser: &Browser, is_offline: bool) {
    let conditions = json!({
        "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
    });
    let command = "Network.emulateNetworkConditions";
    browser.driver.devtools(command, conditions).await;
}
