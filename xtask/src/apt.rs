//! Installs what a Debian machine lacks, when that is allowed here; otherwise
//! the error names exactly what to install.

use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::{cargo, process};

/// Installs packages, as the superuser of a machine with `apt-get`. `purpose`
/// completes "needed for …".
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let names = packages.join(" ");
    if !usable() {
        bail!("{names} needed for {purpose}, and cannot be installed from here: install {names}");
    }
    // Two builds at the same time may both lack something; apt-get refuses the second.
    let _lock = process::lock(&cargo::target("apt.lock"))?;
    eprintln!("installing {names}, needed for {purpose}");
    update()?;
    process::run(
        apt_get()
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(packages),
    )
    .with_context(|| format!("cannot install {names}, needed for {purpose}"))
}

/// Installs the package of a program, unless the program is there.
pub(crate) fn need(program: &str, package: &str, purpose: &str) -> Result<()> {
    match process::find(program) {
        Some(_) => Ok(()),
        None => install(&[package], purpose),
    }
}

/// Whether packages can be installed at all.
pub(crate) fn usable() -> bool {
    process::is_root() && process::find("apt-get").is_some()
}

/// Fetches the package lists, once.
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
        // Keeps packages from starting their services: what a test needs, it
        // starts and stops itself.
        .env("RUNLEVEL", "1");
    command
}
