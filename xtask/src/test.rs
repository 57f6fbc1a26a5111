//! `cargo xtask test`: every test, with what the tests need.

use std::num::NonZero;
use std::{env, thread};

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, languages, localstripe, phase, plugins, process, pyjwt, run, schemathesis};

/// How many tests of a binary run at once.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// Options of `cargo xtask test`.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Passed on to `cargo test`, for example `-p host-storage` or a part of a
    /// test's name; without any, everything is tested
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds plugins, gateway and tests, installs what tests start, starts a database and
/// runs the tests.
pub(crate) fn test(options: &Options) -> Result<()> {
    let plugins = plugins::background(&[])?;
    if !options.arguments.is_empty() {
        phase::run_beside(plugins, || {
            install_tools()?;
            // Cargo builds the gateway only for tests of its own package; others start it too.
            run::build_gateway(false)
        })?;
        return with_database(&options.arguments);
    }
    let gateway = phase::run_beside(plugins, || {
        install_tools()?;
        run::tested_gateway()
    })?;
    // The fuzzer and its gateway wait for each other, which leaves cores to the tests.
    let fuzzer = schemathesis::Beside::start(gateway)?;
    // Guests as well: their native tests cover how they read a supplier's answers.
    let everything = ["--workspace", "--no-fail-fast"].map(str::to_owned);
    let tests = with_database(&everything);
    fuzzer.finish().and(tests)
}

/// Installs the programs that tests start.
fn install_tools() -> Result<()> {
    let expected = "1 min where they are missing, else a second";
    phase::run("tools of the tests", expected, || {
        languages::install()?;
        localstripe::install()?;
        pyjwt::install()
    })
}

/// What the arguments select. The database goes away with the end of this
/// function, whatever the outcome.
fn with_database(arguments: &[String]) -> Result<()> {
    let database = Postgres::start(Durability::Given)?;
    let mut command = cargo::command();
    command.arg("test").args(arguments);
    // Most of them wait for another process most of the time.
    if env::var_os(THREADS_VARIABLE).is_none() {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(THREADS_VARIABLE, (2 * cores).to_string());
    }
    database.offer(&mut command);
    process::run(&mut command)
}
