//! Single sign-on with a provider of another site, from the button to the end of the session.

use crate::driver::with_browser_at;
use serde_json::json;
use tests::{DashboardClient, Database, OidcProvider, Server, ServerOptions, TokenSignature};

const BUTTON: &str = "Sign in with single sign-on";
const ROLES: &str = r#"{ team = "developer@demo" }"#;

#[tokio::test]
async fn provider_signs_a_person_in_with_the_role_of_the_claim() {
    let provider = OidcProvider::start().await;
    let options = ServerOptions::on(Database::Sqlite).config(&provider.config(ROLES));
    let server = Server::start_with(options).await;
    let base = DashboardClient::new(&server).base;
    let claim = |group| provider.answer(TokenSignature::Rs256, json!({ "groups": [group] }));
    let sites = [provider.site.as_str()];
    with_browser_at("single_sign_on", base, &sites, async |browser| {
        browser.open("/login").await;
        browser.expect_good_page("Sign in").await;
        let button = format!("//button[normalize-space(.)='{BUTTON}']");
        assert!(browser.shows(&button).await);
        claim("unknown");
        browser.submit(BUTTON).await;
        let alert = browser.alert().await;
        assert!(alert.contains("gives you no role here"), "{alert}");
        browser.expect_good_page("Sign in").await;
        claim("team");
        browser.submit(BUTTON).await;
        browser.expect_page("Overview").await;
        assert_eq!(browser.path().await, "/");
        browser.open("/account").await;
        browser.wait_to_see("//li[.='Developer of demo']").await;
        browser.submit("Sign out").await;
        browser.expect_page("Sign in").await;
        // The sign-in leads to the page that a person without a session asked for.
        browser.open("/keys").await;
        browser.expect_page("Sign in").await;
        browser.submit(BUTTON).await;
        browser.expect_page("API keys").await;
    })
    .await;
}
