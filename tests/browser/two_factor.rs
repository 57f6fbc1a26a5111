//! Two-factor authentication: set-up, sign-in with a code, recovery codes.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{Database, PASSWORD, Server, totp_code};

const SET_UP: &str = "Set up two-factor authentication";
const TURN_OFF: &str = "Turn off two-factor authentication";

#[tokio::test]
async fn person_sets_up_codes_and_signs_in_with_them() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    with_browser("two_factor", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.open("/account").await;
        browser.expect_page("Account").await;
        browser.submit(SET_UP).await;
        let secret = browser.test_id("totp-secret").await;
        browser.expect_good_page("Account").await;
        browser.fill("Code", "12345").await;
        browser.submit("Confirm").await;
        assert_eq!(browser.test_id("totp-secret").await, secret);
        browser.fill("Code", &totp_code(&secret, 0)).await;
        browser.submit("Confirm").await;
        let codes = browser.test_id("recovery-codes").await;
        assert_eq!(codes.split_whitespace().count(), 10, "{codes}");
        browser.expect_good_page("Account").await;

        browser.submit("Sign out").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_page("Sign in").await;
        browser.fill("Code", "000000").await;
        browser.submit("Sign in").await;
        let alert = browser.alert().await;
        assert!(alert.contains("The code is wrong"), "{alert}");
        browser.fill("Code", &totp_code(&secret, 1)).await;
        browser.submit("Sign in").await;
        browser.expect_page("Overview").await;

        browser.submit("Sign out").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.submit("Use a recovery code").await;
        browser.expect_good_page("Sign in").await;
        let code = codes.split_whitespace().next().unwrap();
        browser.fill("Recovery code", code).await;
        browser.submit("Sign in").await;
        browser.expect_page("Overview").await;

        browser.open("/account").await;
        browser.submit("New recovery codes").await;
        browser.expect_good_page("Account").await;
        browser.fill("Current password", PASSWORD).await;
        browser.submit("New recovery codes").await;
        let new_codes = browser.test_id("recovery-codes").await;
        assert_ne!(new_codes, codes);
        browser.expect_good_page("Account").await;
        browser.open("/account").await;
        browser.submit(TURN_OFF).await;
        browser.expect_good_page("Account").await;
        browser.fill("Current password", PASSWORD).await;
        browser.submit(TURN_OFF).await;
        browser.submit("Sign out").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_page("Overview").await;
    })
    .await;
}
