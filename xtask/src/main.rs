//! The commands of this repository. They need only Rust; other tools are installed on use.
//!
//! Each subcommand is one file. Shared modules: `process` runs programs, `phase` reports
//! progress, `cargo` calls cargo, `files` reads and writes files, `apt` and `python` install
//! packages.

#![expect(
    clippy::print_stderr,
    reason = "a command-line tool reports its progress on standard error"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a build tool reads its environment and measures its durations"
)]

mod apt;
mod bench;
mod cargo;
mod ci;
mod demo;
mod files;
mod peers;
mod phase;
mod plugins;
mod postgres;
mod process;
mod python;
mod release;
mod run;
mod schemathesis;
mod soak;
mod structure;
mod test;
mod tools;
mod variants;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Build, run and test Stopover.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build every plugin as a component under target/plugins
    Plugins(plugins::Options),
    /// Build plugins and gateway, then serve the demo
    Run(run::Options),
    /// Build program, debug file and plugins for installation, in target/dist
    Release,
    /// Run all tests, including PostgreSQL and the API fuzzer
    Test(test::Options),
    /// Fuzz the API of a freshly started demo
    Schemathesis(schemathesis::Options),
    /// Run the benchmarks and compare them with the targets
    Bench(bench::Options),
    /// Run simulations, fuzz targets and crash tests for long
    Soak(soak::Options),
    /// Run all variants of suppliers' responses
    Variants(variants::Options),
    /// Check dependencies, imports, type names and document paths
    Structure,
    /// Check structure, format, lints and documentation
    Lint,
    /// Run lint and test, which must pass before a merge
    Ci,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = process::forward_signals().and_then(|()| dispatch(&arguments.command));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if process::was_interrupted() => {
            eprintln!("xtask: interrupted");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &Command) -> Result<()> {
    match command {
        Command::Plugins(options) => plugins::build(options),
        Command::Run(options) => run::run(options),
        Command::Release => release::release(),
        Command::Test(options) => test::test(options),
        Command::Schemathesis(options) => schemathesis::schemathesis(options),
        Command::Bench(options) => bench::bench(options),
        Command::Soak(options) => soak::soak(options),
        Command::Variants(options) => variants::variants(options),
        Command::Structure => structure::check(),
        Command::Lint => ci::lint(),
        Command::Ci => ci::ci(),
    }
}
