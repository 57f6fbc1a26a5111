//! `cargo xtask test`: every test, with what the tests need.

use std::num::NonZero;
use std::{env, thread};

use anyhow::{Result, anyhow};
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, languages, localstripe, plugins, process, pyjwt, run, schemathesis};

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

/// Builds the plugins and the gateway, installs what tests start (languages, a Stripe, a verifier), starts a
/// database, runs the tests.
pub(crate) fn test(options: &Options) -> Result<()> {
    if !options.arguments.is_empty() {
        prepare()?;
        // Many tests start the gateway, which cargo builds only for those of its package.
        run::build_gateway(false)?;
        return with_database(&options.arguments);
    }
    // The last step of a guest keeps one processor busy, downloads none: what the tests
    // are themselves is built beside.
    let gateway = thread::scope(|scope| {
        let tests = scope.spawn(run::tested_gateway);
        prepare()?;
        tests.join().map_err(|_| anyhow!("the build panicked"))?
    })?;
    // The fuzzer waits for the gateway or the gateway for it: that leaves room for tests,
    // of which the first ones wait much, too.
    let fuzzer = schemathesis::Beside::start(gateway)?;
    // Guests too, as native libraries: they test how they read a supplier's answers.
    let everything = ["--workspace", "--no-fail-fast"].map(str::to_owned);
    let tests = with_database(&everything);
    fuzzer.finish().and(tests)
}

/// What is there before a test runs.
fn prepare() -> Result<()> {
    plugins::build(&plugins::Options::default())?;
    languages::install()?;
    localstripe::install()?;
    pyjwt::install()
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
