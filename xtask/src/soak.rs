//! `cargo xtask soak`: long runs of tests that are short in `cargo xtask test`: simulations,
//! fuzz targets, crash tests and deliveries.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, phase, plugins, process, run};

#[derive(Args)]
pub(crate) struct Options {
    /// Simulation seeds of each kind
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// Runs of every crash test
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// Duration of each fuzz target in seconds
    #[arg(long, default_value_t = 60)]
    fuzz_s: u64,
    /// Events sent to failing receivers, on each database
    #[arg(long, default_value_t = 100_000)]
    events: u64,
}

/// Runs simulations, fuzz targets, crash tests and deliveries. Stops at the first failure.
pub(crate) fn soak(options: &Options) -> Result<()> {
    run_simulations(options.seeds)?;
    run_fuzz_targets(options.fuzz_s)?;
    phase::run_beside(plugins::background(&[])?, || run::build_gateway(false))?;
    let database = Postgres::start(Durability::Given)?;
    for round in 1..=options.rounds {
        eprintln!("xtask: crash tests, round {round} of {}", options.rounds);
        let mut command = test("--package tests --test crash");
        database.set_env(&mut command);
        process::run(&mut command)?;
    }
    run_delivery_soak(&database, options.events)
}

/// Runs the delivery tests on one database after the other and prints their figures.
///
/// Uses the optimised gateway, which delivers ten times as many events. It has no
/// failpoints, which only the other crash tests need.
fn run_delivery_soak(database: &Postgres, events: u64) -> Result<()> {
    run::build_gateway(true)?;
    let filter = "--release --package tests --test crash delivery::";
    let mut command = test(filter);
    command
        .args(["--", "--nocapture", "--test-threads", "1"])
        .env("STOPOVER_TEST_EVENTS", events.to_string());
    database.set_env(&mut command);
    process::run(&mut command)
}

fn run_simulations(seeds: u64) -> Result<()> {
    let mut command = test("--package simulation");
    process::run(command.env("STOPOVER_SIMULATION_SEEDS", seeds.to_string()))
}

/// Runs the fuzz targets of all packages. Their tests are in modules named `fuzzed`.
fn run_fuzz_targets(seconds: u64) -> Result<()> {
    let mut command = test("--workspace fuzzed::");
    process::run(command.env("STOPOVER_FUZZ_S", seconds.to_string()))
}

fn test(arguments: &str) -> Command {
    let mut command = cargo::command();
    command.arg("test").args(arguments.split_whitespace());
    command
}
