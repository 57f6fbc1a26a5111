//! Tests of the exported functions against scripted responses of Tillway. The fixtures are
//! responses that Tillway returned.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod description;
mod failed_calls;
mod payment;
mod reading;
mod tillway;
