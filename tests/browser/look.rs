//! Every page on a telephone and on a desktop, in light and dark colours.

use crate::driver::{Browser, with_browser};
use crate::page::TELEPHONE;
use crate::routes::routes;
use crate::traffic::{Traffic, make_traffic};
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server, link_path};

/// A name that is long enough to need its own line.
const LONG_NAME: &str = "nightly-reconciliation-of-all-hotel-and-flight-bookings-in-europe";

/// Pages that need no sign-in, with their headings. `{link}` is the token of a set-up link.
const PAGES_BEFORE_SIGN_IN: &[(&str, &str)] = &[
    ("/login", "Sign in"),
    ("/setup/{link}", "Set up your account"),
    ("/setup/unknown", "Page not found"),
];

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

/// Lists with rows, and pages of one thing, with their headings. [`Traffic::fill`] fills them.
pub(crate) const PAGES_ABOUT_TRAFFIC: &[(&str, &str)] = &[
    ("/", "Overview"),
    ("/?window=day", "Overview"),
    ("/bookings", "Bookings"),
    ("/bookings?q=nothing&from=2026-01-01", "Bookings"),
    ("/bookings/{booking}", "Booking {booking}"),
    ("/bookings/{unresolved}", "Booking {unresolved}"),
    ("/unresolved", "Unresolved"),
    ("/unresolved?booking={unresolved}", "Unresolved"),
    ("/requests", "Requests"),
    ("/requests?status=5xx&user=nobody", "Requests"),
    ("/requests/{request}", "Request {request}"),
    ("/webhooks", "Webhooks"),
    ("/webhooks/{webhook}", "Webhook {webhook}"),
    ("/webhooks/{webhook}?edit=1", "Webhook {webhook}"),
    ("/webhooks/{webhook}?confirm=rotate", "Webhook {webhook}"),
    ("/webhooks/{webhook}?confirm=delete", "Webhook {webhook}"),
    ("/deliveries", "Deliveries"),
    ("/deliveries?status=DELIVERED", "Deliveries"),
    ("/deliveries/{delivery}", "Delivery {delivery}"),
    ("/events/{event}", "Event {event}"),
    ("/watches", "Watches"),
    ("/watches/{watch}", "Watch {watch}"),
    ("/watches/{watch}?confirm=cancel", "Watch {watch}"),
    ("/mandates", "Mandates"),
    ("/mandates/{mandate}", "Mandate {mandate}"),
    ("/mandates/{mandate}?confirm=revoke", "Mandate {mandate}"),
    ("/suppliers/SANDBOX_HOTELS", "Supplier SANDBOX_HOTELS"),
    ("/keys/{key}", "API key {key name}"),
    ("/keys/{key}?confirm=revoke", "API key {key name}"),
    ("/members", "Members"),
    ("/members/demo/{member}", "Member {member address}"),
    (
        "/members/demo/{member}?confirm=remove",
        "Member {member address}",
    ),
    ("/audit", "Audit log"),
];

/// Routes of `GET` whose response is no page.
const NO_PAGES: &[&str] = &[
    "/assets/{*path}",
    "/audit/export",
    "/stream/requests",
    "/stream/deliveries",
    // These lead to the provider and back; `single_sign_on.rs` tests what they show.
    "/login/oidc",
    "/login/oidc/callback",
];

#[test]
fn tables_have_every_page() {
    let tables = [PAGES_BEFORE_SIGN_IN, PAGES, PAGES_ABOUT_TRAFFIC].concat();
    for route in routes() {
        let is_page = route.method == "GET" && !NO_PAGES.contains(&route.path.as_str());
        let is_listed = tables.iter().any(|(path, _)| route.has(path));
        assert!(is_listed || !is_page, "no table has {}", route.path);
    }
}

#[tokio::test]
async fn pages_before_the_sign_in_are_good() {
    let server = Server::start(Database::Sqlite).await;
    with_browser("look_anonymous", &server, async |browser| {
        let link = link_path(&server.dashboard);
        for &(path, heading) in PAGES_BEFORE_SIGN_IN {
            let path = path.replace("/setup/{link}", link);
            browser.open_good_page(&path, heading).await;
        }
        browser.open(link).await;
        browser.submit("Create account").await;
        browser.alert().await;
        browser.expect_good_page("Set up your account").await;
        browser.open("/login").await;
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
        browser.show_as(TELEPHONE, "light").await;
        browser.open("/").await;
        browser.press("Menu").await;
        browser.expect_good_page("Overview").await;
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
    let person = set_up(&server).await;
    let traffic = make_traffic(&server, &person).await;
    with_browser("look_traffic", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        for (path, heading) in pages_about(&traffic) {
            browser.open_good_page(&path, &heading).await;
            browser.expect_good_print(&heading).await;
        }
    })
    .await;
}

/// Returns the pages about the traffic, with its ids.
pub(crate) fn pages_about(traffic: &Traffic) -> Vec<(String, String)> {
    let pages = PAGES_ABOUT_TRAFFIC.iter();
    let fill = |(path, heading): &(&str, &str)| (traffic.fill(path), traffic.fill(heading));
    pages.map(fill).collect()
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
