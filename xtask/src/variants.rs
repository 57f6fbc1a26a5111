//! `cargo xtask variants`: runs the variants of suppliers' responses, of which `cargo xtask test` runs a
//! sample.

use anyhow::Result;
use clap::Args;

use crate::cargo::{self, Dependency, Workspace};
use crate::process;

#[derive(Args)]
pub(crate) struct Options {
    /// Variants of each operation, in addition to those that decide an answer; all by default
    #[arg(long)]
    count: Option<u64>,
    /// Selects another sample
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Runs only the variants that have this in their names, such as an adapter or a failed variant
    #[arg(long)]
    case: Option<String>,
}

/// Runs the tests named `variants` of the packages that depend on the crate of this name.
pub(crate) fn variants(options: &Options) -> Result<()> {
    let mut command = cargo::command();
    command.args(["test", "--no-fail-fast"]);
    for package in Workspace::read()?.packages {
        let has_variants = |dependency: &Dependency| dependency.name == "variants";
        if package.dependencies.iter().any(has_variants) {
            command.args(["--package", &package.name]);
        }
    }
    command
        .args(["variants::", "--", "--show-output"])
        .env(
            "STOPOVER_VARIANTS_COUNT",
            options.count.unwrap_or(0).to_string(),
        )
        .env("STOPOVER_VARIANTS_SEED", options.seed.to_string());
    if let Some(case) = &options.case {
        command.env("STOPOVER_VARIANTS_CASE", case);
    }
    process::run(&mut command)
}
