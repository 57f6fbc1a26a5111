//! The program as an operator runs it: commands, exit codes, what is printed.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[cfg(feature = "demo")]
mod demo;
#[cfg(feature = "demo")]
mod demo_keys;
mod keys;
mod support;
mod usage;
