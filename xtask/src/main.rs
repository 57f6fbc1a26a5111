//! The commands of this repository, for machines where only Rust is installed.
//!
//! Each subcommand is one file. What they share: running other programs
//! (`process`), asking cargo (`cargo`), asking Debian's packages (`apt`) and
//! Python's (`python`).

#![expect(
    clippy::print_stderr,
    reason = "a command-line tool reports its progress on standard error"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a build tool reads its environment and measures its own time"
)]

mod apt;
mod bench;
mod cargo;
mod ci;
mod demo;
mod languages;
mod localstripe;
mod phase;
mod plugins;
mod postgres;
mod process;
mod pyjwt;
mod python;
mod release;
mod run;
mod schemathesis;
mod soak;
mod structure;
mod test;

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
    /// Build every plugin to a component under target/plugins
    Plugins(plugins::Options),
    /// Build plugins and gateway, then serve the demo
    Run(run::Options),
    /// Build program, debug file and plugins for an installation to target/dist
    Release,
    /// Run every test, with PostgreSQL and the API fuzzer
    Test(test::Options),
    /// Fuzz the API of a freshly started demo
    Schemathesis(schemathesis::Options),
    /// Measure, and compare with the targets
    Bench(bench::Options),
    /// The long form of simulation and crash tests
    Soak(soak::Options),
    /// Check crates, modules, names and documents against the rules of the structure
    Structure(structure::Options),
    /// Check structure, format, lints and documentation
    Lint,
    /// What must pass before a change is merged: lint and test
    Ci,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = process::forward_signals().and_then(|()| dispatch(&arguments.command));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) if process::interrupted() => {
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
        Command::Structure(options) => structure::check(options),
        Command::Lint => ci::lint(),
        Command::Ci => ci::ci(),
    }
}
