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

/// The global allocator. The C library's allocator took a fifth of the gateway's processor time for
/// a booking.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    cli::run()
}
