//! Installs Debian packages that are missing. Without the right to install, the error
//! names the packages.

use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::{cargo, process};

/// Installs packages. Needs root and `apt-get`. `purpose` names what needs them.
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let names = packages.join(" ");
    if !is_available() {
        bail!("{purpose} needs {names}, which only root can install with apt-get: install {names}");
    }
    // Two builds at the same time may both install packages; apt-get refuses the second.
    let _lock = process::lock(&cargo::target("apt.lock"))?;
    eprintln!("installing {names} for {purpose}");
    update()?;
    process::run(
        apt_get()
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(packages),
    )
    .with_context(|| format!("cannot install {names} for {purpose}"))
}

/// Installs the package of a program unless the program is in `PATH`.
pub(crate) fn require(program: &str, package: &str, purpose: &str) -> Result<()> {
    match process::find(program) {
        Some(_) => Ok(()),
        None => install(&[package], purpose),
    }
}

pub(crate) fn is_available() -> bool {
    process::is_root() && process::find("apt-get").is_some()
}

/// Fetches the package lists, once per process.
fn update() -> Result<()> {
    static UPDATED: OnceLock<()> = OnceLock::new();
    if UPDATED.get().is_none() {
        process::run(apt_get().args(["update", "-qq"]))?;
        let _ = UPDATED.set(());
    }
    Ok(())
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(["-o", "DPkg::Lock::Timeout=300"])
        .env("DEBIAN_FRONTEND", "noninteractive")
        // Keeps packages from starting their services. Tests start and stop their own.
        .env("RUNLEVEL", "1");
    command
}
