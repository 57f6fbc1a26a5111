//! Tests of the adapter through its exported traits, run natively against scripted responses.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod ask;
mod booking;
mod cancellation;
mod content;
mod describe;
mod details;
mod events;
mod fault;
mod large;
mod odd_value;
mod pricing;
mod proof;
mod repeated;
mod search;
mod variants;
mod vendor;
mod wrong;
