//! Members: invitation by a link, change of the role, removal.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{DashboardClient, Database, PASSWORD, Server, link_path};

#[tokio::test]
async fn admin_invites_changes_and_removes_a_member() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("members", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.open("/members").await;
        browser.expect_good_page("Members").await;
        // The filter and the form that invites are on the page, with a label of its own each.
        for label in ["Members of", "Organization"] {
            browser.field(label).await;
        }
        browser.submit("Filter").await;
        browser.submit("Invite").await;
        browser.alert().await;
        browser.expect_good_page("Members").await;
        browser.fill("Email", "new@example.com").await;
        browser.submit("Invite").await;
        let link = browser.test_id("invite-link").await;
        browser.expect_good_page("Members").await;

        let member = DashboardClient::new(&server);
        member.use_link(link_path(&link), "new@example.com").await;
        assert_eq!(member.get("/members").await.status, 200);
        browser.open("/members").await;
        browser.follow("new@example.com").await;
        browser.expect_good_page("Member new@example.com").await;
        let role = browser.field("Role").await;
        role.type_text("Developer").await;
        browser.submit("Change role").await;
        browser.expect_page("Members").await;
        browser
            .wait_to_see("//tr[contains(., 'new@example.com')][contains(., 'Developer')]")
            .await;

        browser.press_in_row("new@example.com", "Remove").await;
        browser.expect_good_page("Members").await;
        browser.submit("Remove member").await;
        browser.expect_page("Members").await;
        assert!(!browser.shows("//tr[contains(., 'new@example.com')]").await);
    })
    .await;
}
