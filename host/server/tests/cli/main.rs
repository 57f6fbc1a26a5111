//! The program as an operator runs it: commands, exit codes, what is printed.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod demo;
mod keys;
mod support;
mod usage;
