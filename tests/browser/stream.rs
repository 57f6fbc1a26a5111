//! Lists grow while they are open.

use crate::driver::{Browser, with_browser, with_browser_at};
use crate::webdriver::Locator;
use crate::{EMAIL, set_up};
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{
    Client, DashboardClient, Database, MockResponse, MockServer, PASSWORD, Server, ServerOptions,
    Subscription, TcpRelay, eventually,
};
use url::Url;

/// Time within which a list must notice that the session has ended.
const END_TIME_MAX: Duration = Duration::from_secs(5);

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

        assert_eq!(browser.test_id("stream-pause").await, "Pause");
        browser.press("Pause").await;
        see(browser, "Paused").await;
        let mut another = person.open_stream("/stream/requests", None).await.unwrap();
        call(&client, "req-paused").await;
        another.find("row", "req-paused").await;
        assert!(!browser.shows("//tr[contains(., 'req-paused')]").await);
        browser.press("Resume").await;
        see(browser, "req-paused").await;
    })
    .await;
}

#[tokio::test]
async fn list_leads_to_the_sign_in_when_the_session_is_revoked_elsewhere() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    with_browser("stream_end", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        call(&server.client(), "req-before").await;
        browser.open("/requests").await;
        see(browser, "Live").await;
        revoke_session(&person).await;
        let begin = Instant::now();
        expect_end_of_session(browser).await;
        assert!(begin.elapsed() < END_TIME_MAX);
    })
    .await;
}

/// Ends the only other session of the person's account.
async fn revoke_session(person: &DashboardClient) {
    let account = person.get("/account").await.body;
    let (_, rest) = account.split_once("action=\"/account/sessions/").unwrap();
    let (path, _) = rest.split_once('"').unwrap();
    let revoked = person.post(&format!("/account/sessions/{path}"), &[]).await;
    assert_eq!(revoked.status, 303, "{}", revoked.body);
}

async fn expect_end_of_session(browser: &Browser) {
    browser.expect_page("Sign in").await;
    let reason = "//*[@role='status'][contains(., 'Your session has ended')]";
    browser.wait_to_see(reason).await;
}

/// Port of a URL of loopback.
fn port(url: &str) -> u16 {
    Url::parse(url).unwrap().port().unwrap()
}

/// Returns how often the list has a row with a text.
async fn count(browser: &Browser, text: &str) -> usize {
    let row = format!("//tbody[@data-stream-rows]/tr[contains(., '{text}')]");
    browser.driver.find_all(Locator::XPath(&row)).await.len()
}

#[tokio::test]
async fn rows_that_came_while_the_gateway_was_away_are_listed_once() {
    let options = || ServerOptions::on(Database::Sqlite);
    let mut server = Server::start_with(options()).await;
    set_up(&server).await;
    // Nobody listens at this address.
    let subscription = Subscription::create(&server.client(), "https://127.0.0.1:9/hooks").await;
    let relay = TcpRelay::start(port(&server.dashboard)).await;
    let base = format!("http://127.0.0.1:{}", relay.port);
    with_browser_at("stream_restart", base, &[], async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        for (turn, (path, is_empty)) in [
            ("/requests?status=4xx", true),
            ("/requests", false),
            ("/deliveries", false),
        ]
        .into_iter()
        .enumerate()
        {
            // Adds a row and returns its text.
            let add = async |server: &Server, name: &str| {
                let (client, id) = (server.client(), format!("req-{name}-{turn}"));
                if path == "/deliveries" {
                    return subscription.ping(&client).await;
                }
                call(&client, &id).await;
                id
            };
            browser.open(path).await;
            see(browser, "Live").await;
            let mut rows = Vec::new();
            if !is_empty {
                rows.push(add(&server, "before").await);
                see(browser, &rows[0]).await;
            }
            browser.driver.run("window.mark = 1").await;
            server = server.restart(options()).await;
            see(browser, "Reconnecting").await;
            rows.push(add(&server, "meanwhile").await);
            relay.redirect(port(&server.dashboard));
            see(browser, rows.last().unwrap()).await;
            see(browser, "Live").await;
            rows.push(add(&server, "after").await);
            see(browser, rows.last().unwrap()).await;
            for row in &rows {
                assert_eq!(count(browser, row).await, 1, "{path}: {row}");
            }
            let mark = browser.driver.run("return window.mark").await;
            assert_eq!(mark, 1, "the page was not loaded again");
        }
    })
    .await;
}

#[tokio::test]
async fn list_goes_on_after_a_proxy_has_refused_the_stream() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    let client = server.client();
    let proxy = MockServer::start().await;
    for method in ["GET", "HEAD"] {
        proxy.on(&format!("{method} *"), |_| MockResponse::empty(502));
    }
    let relay = TcpRelay::start(port(&server.dashboard)).await;
    let base = format!("http://127.0.0.1:{}", relay.port);
    with_browser_at("stream_proxy", base, &[], async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.open("/requests").await;
        see(browser, "Live").await;
        // The proxy refuses twice: connections to the gateway are lost, and another try too.
        let refuse = async || {
            relay.redirect(port(&proxy.url));
            relay.close_connections();
            proxy.take_received();
            eventually("two refused requests for the stream", async || {
                let received = proxy.received();
                let refused = tests::count(&received, "GET /stream/requests");
                (refused >= 2).then_some(())
            })
            .await;
        };
        let accept = || {
            relay.redirect(port(&server.dashboard));
            relay.close_connections();
        };
        refuse().await;
        see(browser, "Reconnecting").await;
        call(&client, "req-meanwhile").await;
        accept();
        see(browser, "req-meanwhile").await;
        see(browser, "Live").await;
        refuse().await;
        browser.press("Pause").await;
        see(browser, "Paused").await;
        browser.press("Resume").await;
        revoke_session(&person).await;
        accept();
        expect_end_of_session(browser).await;
    })
    .await;
}

/// Puts a stream of the test in the place of the page's, which is paused meanwhile.
const FAKE_STREAM: &str = "
    window.EventSource = class extends EventTarget {
        constructor() {
            super();
            window.fake = this;
            setTimeout(() => this.dispatchEvent(new Event('open')));
        }
        close() {}
    };
    window.row = (at) => window.fake.dispatchEvent(new MessageEvent('row', {
        data: `<tr data-stream-id=\"${at}.z\"><td><a href=\"/requests/${at}\" data-row>${at}</a></td></tr>`,
        lastEventId: `${at}.z.0.${at}`,
    }));";

/// Time of the first row of a fake stream, which is later than that of any call of the test. The ids of
/// its rows are `z`, which follows the ids of all calls.
const LATER_MS: u64 = 5_000_000_000_000;

/// Returns the number of rows, the position of the last one, and that after which the next page begins.
const LIST_END: &str = "
    const rows = document.querySelectorAll('[data-stream-rows] tr');
    const next = document.querySelector('.pager [rel=next]');
    const isShown = next?.checkVisibility() ?? false;
    return [rows.length, rows[rows.length - 1].dataset.streamId,
        isShown ? new URL(next.href).searchParams.get('after') : null];";

#[tokio::test]
async fn next_page_begins_after_the_last_row_of_a_list_that_has_grown() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    let client = server.client();
    with_browser("stream_growth", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        call(&client, "req-before").await;
        browser.open("/requests?status=4xx").await;
        see(browser, "req-before").await;
        see(browser, "Live").await;
        browser.press("Pause").await;
        browser.driver.run(FAKE_STREAM).await;
        browser.press("Resume").await;
        // As many rows as come at once after an interruption stay.
        let send = async |from: u64, to: u64| {
            let (from, to) = (LATER_MS + from, LATER_MS + to);
            let script = format!("for (let at = {from}; at < {to}; at += 1) row(at);");
            browser.driver.run(&script).await;
            browser.driver.run(LIST_END).await
        };
        let end = send(0, 1000).await;
        assert_eq!((&end[0], &end[2]), (&json!(1001), &json!(null)));
        let end = send(1000, 1200).await;
        let last = format!("{}.z", LATER_MS + 150);
        assert_eq!(end, json!([1050, last, last]));
        // A row that has left the page and changes is on the next one.
        assert_eq!(send(10, 11).await, end);
        // Rows were left out, so those before them are on the next page.
        let skipped =
            "fake.dispatchEvent(new MessageEvent('skipped', { data: 'some were skipped' }))";
        browser.driver.run(skipped).await;
        let first = format!("{}.z", LATER_MS + 5000);
        assert_eq!(send(5000, 5003).await, json!([3, first, first]));
        see(browser, "some were skipped").await;
        browser.submit("Next page").await;
        browser.expect_page("Requests").await;
        see_row(browser, "req-before").await;
        assert!(browser.path().await.contains("status=4xx"));
    })
    .await;
}

/// Waits until the list of a page that does not grow has a row.
async fn see_row(browser: &Browser, text: &str) {
    let row = format!("//tbody/tr[contains(., '{text}')]");
    browser.wait_to_see(&row).await;
}
