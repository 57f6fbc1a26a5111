//! The program `stopover`.

use std::process::ExitCode;

/// Of a booking's processor time in the gateway the C library's took a fifth.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    host_server::cli::run()
}
