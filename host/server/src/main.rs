//! The program `stopover`.

use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// Of a booking's processor time in the gateway the C library's took a fifth.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    host_server::cli::run()
}
