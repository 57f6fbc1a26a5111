//! Tests of the dashboard in Chromium, as a person uses it. Each test has its own server and its
//! own browser. Screenshots of failures are in `target/browser`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot continue fails by panicking"
)]

mod assets;
mod audit;
mod axe;
mod bookings;
mod driver;
mod form;
mod keys;
mod look;
mod markup;
mod members;
mod no_script;
mod overview;
mod page;
mod picture;
mod requests;
mod routes;
mod shortcuts;
mod sign_in;
mod single_sign_on;
mod stream;
mod traffic;
mod two_factor;
mod unresolved;
mod violations;
mod webdriver;
mod webhooks;

use tests::{DashboardClient, Server};

/// Address of the account of most tests.
const EMAIL: &str = "ada@example.com";

/// Sets up the first account, an operator, without the browser.
async fn set_up(server: &Server) -> DashboardClient {
    DashboardClient::set_up(server, EMAIL).await
}
