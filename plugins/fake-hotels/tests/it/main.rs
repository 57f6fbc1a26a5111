//! Tests of the exported functions against scripted responses of Lodge. The fixtures are responses
//! that Lodge returned.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod booking;
mod cancellation;
mod description;
#[cfg(feature = "full")]
mod discovery;
mod failed_calls;
mod lodge;
mod pricing;
