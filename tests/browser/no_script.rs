//! The dashboard without JavaScript: every page, and every form.

use crate::EMAIL;
use crate::driver::{Browser, with_browser_at};
use crate::look::{PAGES, pages_about};
use crate::routes::{Route, routes};
use crate::traffic::{Traffic, make_traffic};
use serde_json::{Value, json};
use tests::{
    BookingBuilder, DashboardClient, Database, OidcProvider, PASSWORD, Server, ServerOptions,
    TokenSignature, eventually, link_path, totp_code,
};
use url::Url;

/// Routes that this test does not ask, each with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("/stream/requests", "only scripts ask it"),
    ("/stream/deliveries", "only scripts ask it"),
    ("/audit/export", "it is a file, which the browser saves"),
    (
        "/sample-data",
        "its button is on an overview without traffic",
    ),
    ("/account/two-factor/recovery-codes", "`it` sends this form"),
    ("/unresolved/withdraw", "`it` sends this form"),
];

/// The entries of a person in a form, and the text that the next page shows.
struct Form {
    page: &'static str,
    /// Fields by their labels, with what is entered. A choice takes no text.
    fields: &'static [(&'static str, &'static str)],
    /// Buttons in the order in which they are pressed.
    buttons: &'static [&'static str],
    /// Begin of the heading of the next page, and a part of its text.
    heading: &'static str,
    says: &'static str,
}

const fn form(
    page: &'static str,
    fields: &'static [(&'static str, &'static str)],
    buttons: &'static [&'static str],
    heading: &'static str,
    says: &'static str,
) -> Form {
    Form {
        page,
        fields,
        buttons,
        heading,
        says,
    }
}

/// The forms of the pages about traffic, in an order in which each finds what it needs.
#[rustfmt::skip]
const FORMS: &[Form] = &[
    form("/bookings/{booking}", &[], &["Reveal"], "Booking {booking}", "Revealed"),
    form("/deliveries/{delivery}", &[], &["Reveal"], "Delivery {delivery}", "With personal data"),
    form("/events/{event}", &[], &["Reveal"], "Event {event}", "With personal data"),
    form("/deliveries/{delivery}", &[], &["Replay"], "Delivery {delivery}", "sent again"),
    form("/deliveries?status=DELIVERED", &[], &["Replay all matching"], "Deliveries", "Your replay"),
    form("/webhooks/{webhook}?edit=1", &[("Description", "our shop")], &["Save"], "Webhook {webhook}", "is changed"),
    form("/webhooks/{webhook}", &[], &["Pause"], "Webhook {webhook}", "is paused"),
    form("/webhooks/{webhook}", &[], &["Resume"], "Webhook {webhook}", "is active"),
    form("/webhooks/{webhook}", &[], &["Send test event"], "Delivery dlv_", "test event is on its way"),
    form("/webhooks/{webhook}", &[], &["Rotate secret", "Rotate secret"], "Webhook {webhook}", "Shown once"),
    form("/webhooks/{webhook}", &[("Recover since", SINCE)], &["Recover"], "Webhook {webhook}", "since then"),
    form("/webhooks/{webhook}", &[], &["Delete", "Delete webhook"], "Webhooks", "is deleted"),
    form("/webhooks?create=1", &[("URL", "https://127.0.0.1:9/new")], &["Create webhook"], "Webhook whs_", "Shown once"),
    form("/watches/{watch}", &[], &["Cancel", "Cancel watch"], "Watch {watch}", "is canceled"),
    form("/mandates/{mandate}", &[], &["Revoke", "Revoke mandate"], "Mandate {mandate}", "is revoked"),
    form("/suppliers/SANDBOX_HOTELS", &[("Priority", "7")], &["Save"], "Supplier SANDBOX_HOTELS", "are changed"),
    form("/suppliers/SANDBOX_HOTELS", &[], &["Drain"], "Supplier SANDBOX_HOTELS", "no new searches"),
    form("/suppliers/SANDBOX_HOTELS", &[], &["Stop draining"], "Supplier SANDBOX_HOTELS", "new requests again"),
    form("/suppliers/SANDBOX_HOTELS", &[], &["Reload"], "Supplier SANDBOX_HOTELS", "is reloaded"),
    form("/members", &[("Email", "new@example.com")], &["Invite"], "Members", "Invitation of new@example.com"),
    form("/members", &[], &["Revoke"], "Members", "invitation is revoked"),
    form("/members/demo/{member}", &[("Role", "Developer")], &["Change role"], "Members", "role is changed"),
    form("/members/demo/{member}", &[], &["Remove", "Remove member"], "Members", "is removed"),
    form("/unresolved?booking={unresolved}", DECISION, &["Settle"], "Unresolved", "decision is"),
    form("/unresolved", &[], &["Retry"], "Unresolved", "job is due now"),
    form("/keys?create=1", &[("Name", "checkout")], &["Create key"], "API keys", "Shown once"),
    form("/keys/{key}", &[], &["Revoke", "Revoke key"], "API keys", "is revoked"),
    form("/audit", &[], &["Verify chain"], "Audit log", "The chain is intact"),
    form("/account", &[], &["Revoke"], "Account", "session has ended"),
    form("/account", PASSWORDS, &["Change password"], "Account", "password is changed"),
    form("/keys", &[], &["Switch to live mode"], "API keys", "Live mode"),
    form("/keys", &[], &["Switch to test mode"], "API keys", "Test mode"),
    form("/requests", &[("Route", "/v1/hotel/bookings/{id}")], &["Filter"], "Requests", "Filtered by"),
    form("/search", &[("Id or reference", "nothing")], &["Search"], "Search", "Nothing found"),
];

const DECISION: &[(&str, &str)] = &[
    ("Done", CHOOSE),
    ("Reference", "HTL-7"),
    ("Note", "Confirmed by phone"),
];
const PASSWORDS: &[(&str, &str)] = &[
    ("Current password", PASSWORD),
    ("New password", NEW_PASSWORD),
    ("Repeat password", NEW_PASSWORD),
];
const NEW_PASSWORD: &str = "another horse battery staple";

/// Stands for a click on a choice.
const CHOOSE: &str = "";
/// A date and a time as they are typed, with the key that leads from the one to the other. Browsers that
/// count 24 hours ignore the letters.
const SINCE: &str = "01012026\u{E004}1200AM";

const ROLES: &str = r#"{ team = "developer@demo" }"#;
/// A person with an account, whom an admin of another organization invites.
const INVITED: &str = "bob@example.com";

#[tokio::test]
async fn every_page_and_form_works_without_scripts() {
    let provider = OidcProvider::start().await;
    let claims = json!({ "groups": ["team"], "email": "carol@example.com" });
    provider.answer(TokenSignature::Rs256, claims);
    let options = ServerOptions::on(Database::Sqlite).with_short_retries();
    let server = Server::start_with(options.config(&provider.config(ROLES))).await;
    let base = DashboardClient::new(&server).base;
    with_browser_at("no_script", base, &[&provider.site], async |browser| {
        browser.turn_scripts_off().await;
        create_account(browser, &server).await;
        let person = DashboardClient::new(&server);
        assert_eq!(person.sign_in(EMAIL, PASSWORD).await.status, 303);
        let traffic = make_traffic(&server, &person).await;
        park_job(&server, &person).await;
        open_pages(browser, &traffic).await;
        for form in FORMS {
            form.send(browser, &traffic).await;
        }
        // The change of the password has ended the other session.
        assert_eq!(person.sign_in(EMAIL, NEW_PASSWORD).await.status, 303);
        let invitation = invite(&server, &person).await;
        stop_replay(browser, &server).await;
        use_codes(browser).await;
        browser.submit("Sign out").await;
        accept(browser, &invitation).await;
        browser.submit("Sign out").await;
        browser.submit("Sign in with single sign-on").await;
        browser.expect_good_layout("Overview").await;
        expect_every_route(browser).await;
    })
    .await;
}

async fn create_account(browser: &Browser, server: &Server) {
    browser.open(link_path(&server.dashboard)).await;
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
}

/// Makes a job that an operator can retry.
async fn park_job(server: &Server, person: &DashboardClient) {
    let booking = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let (booking, _) = booking.book(server).await;
    server.exhaust_attempts(&booking.id).await;
    eventually("the parked job", async || {
        let page = person.get("/unresolved").await.body;
        let button = format!("name=\"subject\" value=\"{}\"", booking.id);
        page.contains(&button).then_some(())
    })
    .await;
}

/// Invites a person who has an account and returns the path of the link.
async fn invite(server: &Server, person: &DashboardClient) -> String {
    let options = ["--organization", "other", "--org-role", "viewer"];
    DashboardClient::with_account(server, INVITED, &options).await;
    let fields = [
        ("organization", "demo"),
        ("email", INVITED),
        ("role", "viewer"),
    ];
    let invited = person.post("/members", &fields).await;
    link_path(invited.test_id("invite-link")).to_owned()
}

async fn open_pages(browser: &Browser, traffic: &Traffic) {
    let pages = PAGES.iter();
    let pages = pages.map(|&(path, heading)| (path.to_owned(), heading.to_owned()));
    for (path, heading) in pages.chain(pages_about(traffic)) {
        browser.open(&path).await;
        browser.expect_good_layout(&heading).await;
    }
    browser.open("/audit").await;
    browser.follow("Export as NDJSON").await;
}

impl Form {
    async fn send(&self, browser: &Browser, traffic: &Traffic) {
        browser.open(&traffic.fill(self.page)).await;
        for (label, text) in self.fields {
            let select = format!("//select[@id=//label[normalize-space(.)='{label}']/@for]");
            let field = browser.field(label).await;
            if *text == CHOOSE {
                field.click().await;
            } else if browser.shows(&select).await {
                field.type_text(text).await;
            } else {
                browser.fill(label, text).await;
            }
        }
        for button in self.buttons {
            browser.submit(button).await;
        }
        let heading = traffic.fill(self.heading);
        let page = format!("//body[.//h1[starts-with(normalize-space(.), '{heading}')]]");
        let says = self.says;
        browser
            .wait_to_see(&format!("{page}[contains(., '{says}')]"))
            .await;
    }
}

/// A replay ends within moments. The database is changed so that the last one has not ended yet.
async fn stop_replay(browser: &Browser, server: &Server) {
    let resume = "UPDATE bulk_replay SET state = 'running'";
    server.try_edit(resume).await.unwrap();
    browser.open("/deliveries").await;
    browser.submit("Stop").await;
    browser
        .wait_to_see("//*[@role='status'][contains(., 'replay is stopped')]")
        .await;
}

/// Sets up two-factor authentication, signs in with it, and turns it off.
async fn use_codes(browser: &Browser) {
    let turn_off = "Turn off two-factor authentication";
    browser.open("/account").await;
    browser.submit("Set up two-factor authentication").await;
    let secret = browser.test_id("totp-secret").await;
    browser.fill("Code", &totp_code(&secret, 0)).await;
    browser.submit("Confirm").await;
    browser.test_id("recovery-codes").await;
    browser.submit("Sign out").await;
    browser.sign_in(EMAIL, NEW_PASSWORD).await;
    browser.fill("Code", &totp_code(&secret, 1)).await;
    browser.submit("Sign in").await;
    browser.expect_good_layout("Overview").await;
    browser.open("/account").await;
    browser.submit(turn_off).await;
    browser.fill("Current password", NEW_PASSWORD).await;
    browser.submit(turn_off).await;
    browser
        .wait_to_see("//*[@role='status'][contains(., 'Two-factor authentication is off')]")
        .await;
}

/// Accepts an invitation as the person with an account.
async fn accept(browser: &Browser, invitation: &str) {
    browser.open(invitation).await;
    browser.expect_good_layout("Join demo").await;
    browser.submit("Sign in").await;
    browser.sign_in(INVITED, PASSWORD).await;
    browser.submit("Accept invitation").await;
    browser
        .wait_to_see("//*[@role='status'][contains(., 'You have joined')]")
        .await;
}

/// Checks that the browser has asked for every route of the router.
async fn expect_every_route(browser: &Browser) {
    let network = browser.network().await;
    let sent = network
        .iter()
        .filter(|event| event["method"] == "Network.requestWillBeSent");
    let asked = sent.map(|event| {
        let request = &event["params"]["request"];
        let url = Url::parse(request["url"].as_str().unwrap()).unwrap();
        (request["method"].clone(), url.path().to_owned())
    });
    let asked: Vec<(Value, String)> = asked.collect();
    let is_asked = |route: &Route| {
        let mut asked = asked.iter();
        asked.any(|(method, path)| *method == route.method && route.has(path))
    };
    let is_exempt = |route: &Route| EXEMPT.iter().any(|(path, _)| *path == route.path);
    let mut missing = routes();
    missing.retain(|route| !is_asked(route) && !is_exempt(route));
    assert!(missing.is_empty(), "no test sends {missing:?}");
}
