//! Programs from PyPI, each in an environment of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{apt, process};

/// Installs packages of these versions into the folder, unless they are there.
/// Answers the folder of their programs.
pub(crate) fn install(
    environment: &Path,
    packages: &[(&str, &str)],
    user: &str,
) -> Result<PathBuf> {
    let programs = environment.join("bin");
    let wanted: Vec<String> = packages
        .iter()
        .map(|(name, version)| format!("{name}=={version}"))
        .collect();
    if process::succeeds(
        Command::new(programs.join("python"))
            .args(["-c", IS_THERE])
            .args(&wanted),
    ) {
        return Ok(programs);
    }
    if !is_usable() {
        apt::install(&["python3", "python3-venv"], user)?;
    }
    process::run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(environment),
    )?;
    process::run(
        Command::new(programs.join("python"))
            .args(["-m", "pip", "install", "--quiet"])
            .arg("--disable-pip-version-check")
            .args(&wanted),
    )?;
    Ok(programs)
}

/// Fails when one of `name==version` is not installed.
const IS_THERE: &str = "\
import sys
from importlib.metadata import version
for wanted in sys.argv[1:]:
    name, _, number = wanted.partition('==')
    assert version(name) == number
";

fn is_usable() -> bool {
    process::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]))
}
