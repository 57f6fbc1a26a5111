//! `cargo xtask bench`: builds and runs the benchmarks.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, peers, phase, plugins, process};

#[derive(Args)]
pub(crate) struct Options {
    /// Compare with the Node.js gateway in tests/peers instead of running the benchmarks
    #[arg(long, conflicts_with = "arguments")]
    peers: bool,
    /// Arguments of the benchmark program: `--only NAME`, `--json FILE`, `--write`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds plugins, optimised gateway and benchmark program, starts PostgreSQL and runs
/// the benchmarks.
pub(crate) fn bench(options: &Options) -> Result<()> {
    if options.peers {
        return peers::compare();
    }
    // One cargo command for both, so that shared dependencies are built once.
    let mut build = cargo::command();
    build.args([
        "build",
        "--release",
        "--package",
        "host-server",
        "--package",
        "bench",
    ]);
    phase::run_beside(plugins::background(&[])?, || {
        let expected = "10 to 15 min from nothing on 2 cores, about 2 min after a change";
        phase::run("gateway and bench", expected, || process::run(&mut build))
    })?;
    let database = Postgres::start(Durability::Kept)?;
    let mut command = Command::new(cargo::target("release/bench"));
    command.current_dir(cargo::root()).args(&options.arguments);
    database.set_env(&mut command);
    process::run(&mut command)
}
