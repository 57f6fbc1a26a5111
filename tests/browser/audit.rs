//! The audit log: filters, details and the verification of the chain.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server};

#[tokio::test]
async fn change_is_found_and_the_chain_verified() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("audit", &server, async |browser| {
        browser.open("/keys?create=1").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.fill("Name", "checkout").await;
        browser.submit("Create key").await;
        browser.open("/audit").await;
        browser.expect_page("Audit log").await;
        let row = "//tr[contains(., 'API key created')]";
        assert!(
            browser
                .shows(&format!("{row}[contains(., '{EMAIL}')]"))
                .await
        );
        browser.fill("Actor", EMAIL).await;
        browser.submit("Filter").await;
        browser.wait_to_see("//span[.='Filtered by']").await;
        assert!(browser.shows(row).await);
        browser.expect_good_page("Audit log").await;
        browser.submit("Verify chain").await;
        browser.expect_good_page("Audit log").await;
        let verification = browser.test_id("verification").await;
        assert!(
            verification.contains("The chain is intact"),
            "{verification}"
        );
        let head = browser.test_id("audit-head").await;
        server.command("audit", &["verify", "--head", &head]).await;
    })
    .await;
}
