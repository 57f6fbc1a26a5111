//! `cargo xtask soak`: the long form of what `cargo xtask test` counts in short: lives of
//! bookings by the ten thousand, inputs that nobody wrote for minutes, the process killed
//! again and again, and events by the hundred thousand.

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, phase, plugins, process, run};

/// Options of `cargo xtask soak`.
#[derive(Args)]
pub(crate) struct Options {
    /// Simulated lives of each kind
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// How often every crash test runs
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// Seconds for each fuzz target
    #[arg(long, default_value_t = 60)]
    fuzz_s: u64,
    /// Events to receivers that are unwell, on each database
    #[arg(long, default_value_t = 100_000)]
    events: u64,
}

/// Simulates, fuzzes, kills, then delivers; stops at the first failure.
pub(crate) fn soak(options: &Options) -> Result<()> {
    simulate(options.seeds)?;
    fuzz(options.fuzz_s)?;
    phase::run_beside(plugins::background(&[])?, || run::build_gateway(false))?;
    let database = Postgres::start(Durability::Given)?;
    for round in 1..=options.rounds {
        eprintln!("xtask: crash tests, round {round} of {}", options.rounds);
        let mut command = cargo::command();
        command.args(["test", "--package", "tests", "--test", "crash"]);
        database.offer(&mut command);
        process::run(&mut command)?;
    }
    deliver(&database, options.events)
}

/// One database after the other; their numbers are printed. The gateway that is
/// released: it delivers ten times as much, and has none of the points at which the other
/// crash tests have it die.
fn deliver(database: &Postgres, events: u64) -> Result<()> {
    run::build_gateway(true)?;
    let mut command = cargo::command();
    command
        .args(["test", "--release", "--package", "tests"])
        .args(["--test", "crash", "delivery::"])
        .args(["--", "--nocapture", "--test-threads", "1"])
        .env("STOPOVER_TEST_EVENTS", events.to_string());
    database.offer(&mut command);
    process::run(&mut command)
}

fn simulate(seeds: u64) -> Result<()> {
    let mut command = cargo::command();
    command
        .args(["test", "--package", "host-server", "--lib", "simulation"])
        .env("STOPOVER_SIMULATION_SEEDS", seeds.to_string());
    process::run(&mut command)
}

/// Every target, wherever it lies: its test is in a module `fuzzed`.
fn fuzz(seconds: u64) -> Result<()> {
    let mut command = cargo::command();
    command
        .args(["test", "--workspace", "fuzzed::"])
        .env("STOPOVER_FUZZ_S", seconds.to_string());
    process::run(&mut command)
}
