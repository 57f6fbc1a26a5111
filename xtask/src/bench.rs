//! `cargo xtask bench`: the measurements, with what they need.

use anyhow::Result;
use clap::Args;

use crate::postgres::{Durability, Postgres};
use crate::{cargo, plugins, process, run};

/// Options of `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct Options {
    /// Passed on to the measuring program: `--only NAME`, `--json FILE`, `--write`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds the plugins and the optimised gateway, starts a database, measures.
pub(crate) fn bench(options: &Options) -> Result<()> {
    plugins::build(&plugins::Options::default())?;
    run::build_gateway(true)?;
    let database = Postgres::start(Durability::Kept)?;
    let mut command = cargo::command();
    command
        .args(["bench", "--package", "tests", "--bench", "bench", "--"])
        .args(&options.arguments);
    database.offer(&mut command);
    process::run(&mut command)
}
