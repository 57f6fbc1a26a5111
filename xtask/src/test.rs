//! `cargo xtask test`: runs the tests with the programs and servers that they need.

use std::num::NonZero;
use std::{env, thread};

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, phase, plugins, process, run, schemathesis, tools};

/// Sets the number of tests that run at the same time in one binary.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Arguments of `cargo test`, for example `-p host-storage` or a part of a test's name;
    /// without arguments, all tests run
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
            // Tests of other packages start the gateway, but cargo builds it only for tests of
            // its own package.
            run::build_gateway(false)
        })?;
        return with_database(&options.arguments);
    }
    let gateway = phase::run_beside(plugins, || {
        install_tools()?;
        run::debug_gateway()
    })?;
    // Fuzzer and gateway wait for each other in turns, which leaves a core to the tests.
    let fuzzer = schemathesis::BackgroundRun::start(gateway)?;
    // Includes the native tests of plugins, which cover their mapping of responses.
    let everything = ["--workspace", "--no-fail-fast"].map(str::to_owned);
    let tests = with_database(&everything);
    fuzzer.finish().and(tests)
}

fn install_tools() -> Result<()> {
    let expected = "1 min where they are missing, else a second";
    phase::run("tools of the tests", expected, tools::install)
}

/// Runs the selected tests with a PostgreSQL server, which is removed at the end.
fn with_database(arguments: &[String]) -> Result<()> {
    let database = Postgres::start(Durability::Given)?;
    let mut command = cargo::command();
    command.arg("test").args(arguments);
    // Most tests wait for another process most of the time.
    if env::var_os(THREADS_VARIABLE).is_none() {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(THREADS_VARIABLE, (2 * cores).to_string());
    }
    database.set_env(&mut command);
    process::run(&mut command)
}
