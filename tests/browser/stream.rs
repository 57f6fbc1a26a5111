//! Lists grow while they are open.

use crate::driver::{Browser, with_browser};
use crate::{EMAIL, set_up};
use std::process::Command;
use tests::{Client, Database, PASSWORD, Server};

/// Makes an API call whose request id is `id`.
async fn call(client: &Client, id: &str) {
    let client = client.header("x-request-id", id);
    client.get("/v1/hotel/bookings/unknown").await;
}

/// Waits until the list has a row, or until its state has a text.
async fn see(browser: &Browser, text: &str) {
    let row = format!("//tbody[@data-stream-rows]//tr[contains(., '{text}')]");
    let state = format!("//*[@data-stream-state][.='{text}']");
    browser.wait_to_see(&format!("{row} | {state}")).await;
}

#[tokio::test]
async fn new_requests_come_unless_the_list_is_paused() {
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

        // The browser tries again for as long as the page is open.
        let process = server.process_id().to_string();
        Command::new("kill").arg(process).status().unwrap();
        see(browser, "Reconnecting").await;
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
