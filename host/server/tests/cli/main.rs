//! Tests of the command line: commands, exit codes and output.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[cfg(feature = "dashboard")]
mod accounts;
#[cfg(feature = "demo")]
mod demo;
#[cfg(feature = "demo")]
mod demo_keys;
mod keys;
mod support;
mod usage;
