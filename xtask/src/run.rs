//! `cargo xtask run`: the demo, from source.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::cargo::{self, Workspace};
use crate::plugins;

/// Where the gateway looks for its plugins.
pub(crate) const PLUGINS_VARIABLE: &str = "STOPOVER_PLUGINS_DIR";

/// Options of `cargo xtask run`.
#[derive(Args)]
pub(crate) struct Options {
    /// Build the gateway as for production: optimised, with an allocator of its own
    #[arg(long)]
    release: bool,
    /// Passed on to `stopover serve --demo`
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Builds everything and becomes the gateway.
pub(crate) fn run(options: &Options) -> Result<()> {
    plugins::build(&plugins::Options::default())?;
    let gateway = build_gateway(options.release)?;
    let error = Command::new(&gateway)
        .args(["serve", "--demo"])
        .args(&options.arguments)
        .env(PLUGINS_VARIABLE, plugins::folder())
        .exec();
    Err(error).with_context(|| format!("cannot start {}", gateway.display()))
}

/// Builds the binary `stopover`, for production or for whoever works on it.
pub(crate) fn build_gateway(release: bool) -> Result<PathBuf> {
    let mut command = cargo::command();
    command.args(["build", "--package", "host-server", "--bin", "stopover"]);
    if release {
        cargo::for_production(&mut command)?;
    }
    gateway(&mut command)
}

/// The binary that the tests were run with. Built by itself it would be built anew,
/// because what it depends on has fewer features without the tests.
pub(crate) fn tested_gateway() -> Result<PathBuf> {
    gateway(cargo::command().args(["test", "--workspace", "--no-run"]))
}

fn gateway(build: &mut Command) -> Result<PathBuf> {
    let workspace = Workspace::read()?;
    let package = workspace
        .packages
        .iter()
        .find(|package| package.name == "host-server")
        .context("the workspace has no package host-server")?;
    cargo::artifacts(build, package)?
        .into_iter()
        .find(|file| file.file_name().is_some_and(|name| name == "stopover"))
        .context("cargo made no binary called stopover")
}
