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
mod describe;
mod details;
mod events;
mod fault;
mod fuzzed;
mod itinerary;
mod odd;
mod prebook;
mod pricing;
mod reference;
mod repeated;
mod variants;
mod vendor;
mod wrong;
