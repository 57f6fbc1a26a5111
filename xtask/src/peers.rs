//! `cargo xtask bench --peers`: compares the gateway with the Node.js gateway of `tests/peers`.

use std::process::Command;

use anyhow::Result;

use crate::postgres::{Durability, Postgres};
use crate::{apt, cargo, phase, plugins, process, run};

/// Builds plugins and optimised gateway, starts PostgreSQL, and runs the comparison, which
/// installs its npm packages. Variables of the environment choose cases and durations.
pub(crate) fn compare() -> Result<()> {
    let purpose = "the comparison with a Node.js gateway";
    apt::require("npm", "npm", purpose)?;
    apt::require("cc", "gcc", purpose)?;
    let gateway = phase::run_beside(plugins::background(&[])?, || run::build_gateway(true))?;
    let database = Postgres::start(Durability::Kept)?;
    let mut command = Command::new("sh");
    command
        .arg("run.sh")
        .current_dir(cargo::root().join("tests/peers"))
        .env("BIN", gateway)
        .env("PLUGINS", plugins::folder());
    database.set_env(&mut command);
    process::run(&mut command)
}
