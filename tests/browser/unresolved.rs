//! The page "Unresolved", and suppliers that operators take out of use.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{BookingBuilder, Database, PASSWORD, Server, ServerOptions};

#[tokio::test]
async fn unknown_outcome_is_settled() {
    let options = ServerOptions::on(Database::Sqlite).without_reconciliation();
    let server = Server::start_with(options).await;
    set_up(&server).await;
    let never_known = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let (booking, reply) = never_known.book(&server).await;
    reply.expect_problem(500, "result_unknown");
    with_browser("unresolved", &server, async |browser| {
        browser.open("/unresolved").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_page("Unresolved").await;
        let row = "//table[.//th[.='Organization']]//tr[contains(., 'at SANDBOX_HOTELS')]";
        let selected = format!("{row}[td='demo']//a[@data-row][@aria-current='true']");
        assert!(browser.shows(&selected).await);
        browser.submit("Settle").await;
        browser.expect_good_page("Unresolved").await;
        let problem = "//*[@id='choice-problem'][contains(., 'Choose what happened')]";
        assert!(browser.shows(problem).await);
        let alert = "//*[@role='alert'][contains(., 'not applied')]";
        assert!(browser.shows(alert).await);
        browser.field("Done").await.click().await;
        browser.fill("Note", "Confirmed by phone").await;
        browser.submit("Settle").await;
        browser.field("Reference").await;
        assert!(browser.shows("//*[@id='reference-problem']").await);
        browser.fill("Reference", "HTL-7").await;
        browser.submit("Settle").await;
        browser.expect_page("Unresolved").await;
        let applied = "//*[@role='status'][contains(., 'applied')]";
        assert!(browser.shows(applied).await);
        let decision = "//tr[contains(., 'Confirmed by phone')][contains(., 'Applied')]";
        assert!(browser.shows(decision).await);
    })
    .await;
    let ledger = ["authorization", "booking", "capture"];
    server.wait_for_ledger(&booking.id, &ledger).await;
}

#[tokio::test]
async fn supplier_is_drained_and_used_again() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("suppliers", &server, async |browser| {
        browser.open("/suppliers").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_page("Suppliers").await;
        browser.follow("SANDBOX_HOTELS").await;
        browser.expect_good_page("Supplier SANDBOX_HOTELS").await;
        browser.fill("Priority", "first").await;
        browser.submit("Save").await;
        browser.expect_good_page("Supplier SANDBOX_HOTELS").await;
        let alert = "//*[@role='alert'][contains(., 'not saved')]";
        assert!(browser.shows(alert).await);
        browser.fill("Priority", "7").await;
        browser.submit("Save").await;
        browser.expect_page("Supplier SANDBOX_HOTELS").await;
        browser.submit("Drain").await;
        browser.expect_good_page("Supplier SANDBOX_HOTELS").await;
        browser.submit("Stop draining").await;
        browser.submit("Use the configuration").await;
        browser.submit("Reload").await;
        let reloaded = "//*[@role='status'][contains(., 'reloaded')]";
        assert!(browser.shows(reloaded).await);
    })
    .await;
}
