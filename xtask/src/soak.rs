//! `cargo xtask soak`: the long form of what `cargo xtask test` counts in short: lives of
//! bookings by the ten thousand, and the process killed again and again.

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, plugins, process};

/// Options of `cargo xtask soak`.
#[derive(Args)]
pub(crate) struct Options {
    /// Simulated lives of each kind
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// How often every crash test runs
    #[arg(long, default_value_t = 10)]
    rounds: u32,
}

/// Simulates, then kills; stops at the first failure.
pub(crate) fn soak(options: &Options) -> Result<()> {
    simulate(options.seeds)?;
    plugins::build(&plugins::Options::default())?;
    let database = Postgres::start(Durability::Given)?;
    for round in 1..=options.rounds {
        eprintln!("xtask: crash tests, round {round} of {}", options.rounds);
        let mut command = cargo::command();
        command.args(["test", "--package", "tests", "--test", "crash"]);
        database.offer(&mut command);
        process::run(&mut command)?;
    }
    Ok(())
}

fn simulate(seeds: u64) -> Result<()> {
    let mut command = cargo::command();
    command
        .args(["test", "--package", "host-server", "--lib", "simulation"])
        .env("STOPOVER_SIMULATION_SEEDS", seeds.to_string());
    process::run(&mut command)
}
