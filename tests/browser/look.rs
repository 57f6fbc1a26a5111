//! Every page on a telephone and on a desktop, in light and dark colours.

use crate::driver::{Browser, with_browser};
use crate::traffic::{FAILED_REQUEST, Traffic, make_traffic};
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server, link_path};

/// A name that is long enough to need its own line.
const LONG_NAME: &str = "nightly-reconciliation-of-all-hotel-and-flight-bookings-in-europe";

/// Pages of a person who has signed in, with their headings.
pub(crate) const PAGES: &[(&str, &str)] = &[
    ("/", "Overview"),
    ("/bookings", "Bookings"),
    ("/unresolved", "Unresolved"),
    ("/requests", "Requests"),
    ("/webhooks", "Webhooks"),
    ("/webhooks?create=1", "Webhooks"),
    ("/deliveries", "Deliveries"),
    ("/watches", "Watches"),
    ("/suppliers", "Suppliers"),
    ("/mandates", "Mandates"),
    ("/keys", "API keys"),
    ("/keys?create=1", "API keys"),
    ("/keys?q=nothing", "API keys"),
    ("/members", "Members"),
    ("/audit", "Audit log"),
    ("/go-live", "Go-live checklist"),
    ("/account", "Account"),
    ("/search", "Search"),
    ("/search?q=nothing", "Search"),
    ("/unknown", "Page not found"),
];

#[tokio::test]
async fn pages_before_the_sign_in_are_good() {
    let server = Server::start(Database::Sqlite).await;
    with_browser("look_anonymous", &server, async |browser| {
        let link = link_path(&server.dashboard);
        browser.open(link).await;
        browser.expect_good_page("Set up your account").await;
        browser.submit("Create account").await;
        browser.alert().await;
        browser.expect_good_page("Set up your account").await;
        browser.open("/setup/unknown").await;
        browser.expect_good_page("Page not found").await;
        browser.open("/login").await;
        browser.expect_good_page("Sign in").await;
        browser.sign_in(EMAIL, "something else").await;
        browser.alert().await;
        browser.expect_good_page("Sign in").await;
    })
    .await;
}

#[tokio::test]
async fn pages_after_the_sign_in_are_good() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("look", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        for &(path, heading) in PAGES {
            browser.open_good_page(path, heading).await;
        }
        check_keys(browser).await;
        browser.open("/account").await;
        browser.submit("Change password").await;
        browser.alert().await;
        browser.expect_good_page("Account").await;
        browser.open("/").await;
        browser.submit("Switch to live mode").await;
        for &(path, heading) in PAGES {
            browser.open_good_page(path, heading).await;
        }
    })
    .await;
}

#[tokio::test]
async fn pages_about_traffic_are_good() {
    let server = Server::start_with_fast_retries(Database::Sqlite).await;
    set_up(&server).await;
    let traffic = make_traffic(&server).await;
    with_browser("look_traffic", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        for (path, heading) in pages_about(&traffic) {
            browser.open_good_page(&path, &heading).await;
        }
    })
    .await;
}

/// Returns paths and headings of lists with rows, and of the pages of one thing.
fn pages_about(traffic: &Traffic) -> Vec<(String, String)> {
    let list = |path: &str, heading: &str| (path.to_owned(), heading.to_owned());
    let page =
        |path: &str, heading: &str, id: &str| (format!("{path}/{id}"), format!("{heading} {id}"));
    vec![
        list("/", "Overview"),
        list("/bookings", "Bookings"),
        list("/bookings?q=nothing&from=2026-01-01", "Bookings"),
        page("/bookings", "Booking", &traffic.booking),
        page("/bookings", "Booking", &traffic.unresolved),
        list("/unresolved", "Unresolved"),
        list(
            &format!("/unresolved?booking={}", traffic.unresolved),
            "Unresolved",
        ),
        list("/requests", "Requests"),
        list("/requests?status=5xx&user=nobody", "Requests"),
        page("/requests", "Request", FAILED_REQUEST),
        list("/webhooks", "Webhooks"),
        page("/webhooks", "Webhook", &traffic.webhook),
        list("/deliveries", "Deliveries"),
        page("/deliveries", "Delivery", &traffic.delivery),
        page("/events", "Event", &traffic.event),
        list("/watches", "Watches"),
        page("/watches", "Watch", &traffic.watch),
        list("/mandates", "Mandates"),
        page("/mandates", "Mandate", &traffic.mandate),
        page("/suppliers", "Supplier", "SANDBOX_HOTELS"),
        list("/audit", "Audit log"),
    ]
}

/// Checks what the pages of keys show after a form.
async fn check_keys(browser: &Browser) {
    browser.open("/keys?create=1").await;
    browser.fill("Name", &"x".repeat(101)).await;
    browser.submit("Create key").await;
    browser.alert().await;
    browser.expect_good_page("API keys").await;
    browser.fill("Name", LONG_NAME).await;
    browser.submit("Create key").await;
    browser.test_id("new-key").await;
    browser.expect_good_page("API keys").await;
    browser.press_in_row(LONG_NAME, "Revoke").await;
    assert!(browser.shows("//dialog//button[.='Revoke key']").await);
    browser.expect_good_page("API keys").await;
    browser.press("Cancel").await;
    browser.follow(LONG_NAME).await;
    let heading = format!("API key {LONG_NAME}");
    browser.expect_good_page(&heading).await;
    let path = browser.path().await;
    browser.open(&format!("{path}?confirm=revoke")).await;
    browser.expect_good_page(&heading).await;
    browser.submit("Switch to live mode").await;
    browser.expect_good_page("Page not found").await;
    browser.submit("Switch to test mode").await;
    browser.expect_good_page(&heading).await;
    browser.submit("Revoke key").await;
    browser.expect_good_page("API keys").await;
    browser.open(&path).await;
    browser.expect_good_page(&heading).await;
}
