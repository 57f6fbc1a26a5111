//! The adapter through its exported traits, natively: against scripted answers in
//! the shape that Stripe documents, and against localstripe, a Stripe in a process
//! of its own.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod amount;
mod description;
mod ending;
mod fuzzed;
mod instrument;
mod localstripe;
mod payment;
mod reading;
mod script;
mod webhook;
