//! Tests of the exported functions against scripted responses of Skylane and Jetbridge. The
//! fixtures are responses that the suppliers returned.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod ask;
mod booking;
mod cancellation;
mod description;
mod failed_calls;
mod pricing;
mod reference;
mod services;
mod supplier;
