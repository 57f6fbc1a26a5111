//! Tests of the interface: every test starts the real server and calls it over HTTP.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot continue fails by panicking"
)]

mod admin;
mod dashboard;
mod duffel;
mod example;
mod http;
mod mock;
mod nuitee;
mod operate;
mod outage;
mod processes;
mod promise;
mod readme;
mod stripe;
mod trip;
