//! The program `stopover`.

mod assembly;
mod cli;
#[cfg(feature = "dashboard")]
mod dashboard;
#[cfg(feature = "demo")]
mod demo;
mod listener;
mod observability;
mod refusal;
mod signals;
mod system_clock;
mod unread_body;

use std::process::ExitCode;

/// The global allocator, which is faster than that of the C library (decision 0087).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
