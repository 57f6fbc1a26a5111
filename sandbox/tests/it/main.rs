//! Tests of the sandbox over HTTP, with a clock that the tests control.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod control;
mod jetbridge;
mod lodge;
mod lodge_booking;
mod lodge_content;
mod lodge_pricing;
mod market;
mod restart;
mod skylane;
mod tillway;
