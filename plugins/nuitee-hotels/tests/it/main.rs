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
mod inconclusive_responses;
mod invalid_values;
mod large;
mod pricing;
mod repeated;
mod search;
mod unreadable_parts;
mod variants;
mod vendor;
