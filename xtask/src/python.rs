//! Programs from PyPI, each in its own virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{apt, process};

/// Installs packages of these versions into a virtual environment, unless it has them.
/// Returns the folder of their programs.
pub(crate) fn install(
    environment: &Path,
    packages: &[(&str, &str)],
    user: &str,
) -> Result<PathBuf> {
    let programs = environment.join("bin");
    let requirements: Vec<String> = packages
        .iter()
        .map(|(name, version)| format!("{name}=={version}"))
        .collect();
    if process::exits_successfully(
        Command::new(programs.join("python"))
            .args(["-c", IS_THERE])
            .args(&requirements),
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
            .args(&requirements),
    )?;
    Ok(programs)
}

/// Python code that fails if one of its `name==version` arguments is not installed.
const IS_THERE: &str = "\
import sys
from importlib.metadata import version
for requirement in sys.argv[1:]:
    name, _, number = requirement.partition('==')
    assert version(name) == number
";

fn is_usable() -> bool {
    process::exits_successfully(Command::new("python3").args(["-c", "import venv, ensurepip"]))
}
