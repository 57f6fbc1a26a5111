//! The program `stopover`.

use std::process::ExitCode;

fn main() -> ExitCode {
    host_server::cli::run()
}
