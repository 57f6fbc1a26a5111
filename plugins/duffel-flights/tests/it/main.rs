//! Tests of the adapter through its exported traits, run natively against scripted responses.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod ask;
mod booking;
mod cabin;
mod cancellation;
mod describe;
mod details;
mod events;
mod fault;
mod fuzzed;
mod inconclusive_responses;
mod invalid_values;
mod order;
mod pricing;
mod reference;
mod repeated;
mod services;
mod unreadable_parts;
mod variants;
mod vendor;
