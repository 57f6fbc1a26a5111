//! Tests of the adapter through its exported traits, run natively. Some use scripted responses in
//! the form that Stripe documents; others use localstripe, a Stripe in its own process.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod amount;
mod description;
mod failed_calls;
mod fuzzed;
mod instrument;
mod localstripe;
mod payment;
mod reading;
mod script;
mod variants;
mod webhook;
