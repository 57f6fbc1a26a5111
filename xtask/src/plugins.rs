//! `cargo xtask plugins`: builds every guest of the workspace as a component.
//!
//! A guest is a member with `[package.metadata.stopover]`. It is built as one component
//! with the name of the package, or as one component for each of its `variants`:
//!
//! ```toml
//! [package.metadata.stopover]
//! variants = [{ name = "fake-hotels", features = ["full"] }]
//! ```

mod component;
mod guest;
mod input_digest;
mod standard_library;

use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};
use std::{env, thread};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::cargo::{self, Workspace};
use crate::phase::{Background, Elapsed};
use crate::{files, process};
use guest::Guest;
use standard_library::{StandardLibrary, StandardLibrarySource};

/// Limits the processes that cargo runs at the same time.
const JOBS_VARIABLE: &str = "CARGO_BUILD_JOBS";

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Use only this source of the standard library, not the first that works
    #[arg(long, value_enum)]
    std: Option<StandardLibrarySource>,
    /// Rebuild plugins that are up to date
    #[arg(long)]
    force: bool,
    /// Build only these plugins; by default, all of them
    #[arg(value_name = "PLUGIN")]
    names: Vec<String>,
}

/// Returns the folder of the components. Gateway and tests load them from there.
pub(crate) fn folder() -> PathBuf {
    cargo::target("plugins")
}

pub(crate) fn names() -> Result<Vec<String>> {
    let workspace = Workspace::read()?;
    let guests = guest::all(&workspace)?;
    Ok(guests.into_iter().map(|guest| guest.name).collect())
}

/// Returns the names of the plugins that are installed with the gateway: those under
/// `plugins/`, which excludes examples and test guests.
pub(crate) fn shipped() -> Result<Vec<String>> {
    let workspace = Workspace::read()?;
    let folder = cargo::root().join("plugins");
    let guests = guest::all(&workspace)?;
    Ok(guests
        .into_iter()
        .filter(|guest| guest.package.folder().starts_with(&folder))
        .map(|guest| guest.name)
        .collect())
}

/// Returns a `cargo xtask plugins` that builds the named plugins, or all if there are no
/// names, beside another build.
///
/// It gets half of the cores, because plugins are built one after another and the other
/// build takes longer. The other build may use all cores: it keeps its number of jobs
/// when the plugins are done.
pub(crate) fn background(names: &[&str]) -> Result<Background> {
    let tool = env::current_exe().context("cannot find the program of this command")?;
    let mut command = Command::new(tool);
    command
        .current_dir(cargo::root())
        .arg("plugins")
        .args(names);
    if env::var_os(JOBS_VARIABLE).is_none() {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(JOBS_VARIABLE, cores.div_ceil(2).to_string());
    }
    Ok(Background {
        title: "plugins",
        expected: "1 to 3 min from nothing on 2 cores, else a second",
        command,
    })
}

/// Builds the selected components that are missing or whose inputs changed.
pub(crate) fn build(options: &Options) -> Result<()> {
    for folder in [folder(), stamp_folder()] {
        files::create_folder(&folder)?;
    }
    // Cargo names the files of all variants alike; concurrent builds would mix them up.
    let _lock = process::lock(&cargo::target("guest/lock"))?;

    let workspace = Workspace::read()?;
    let mut guests = guest::all(&workspace)?;
    remove_leftovers(&guests)?;
    guest::select(&mut guests, &options.names)?;

    let mut library = None;
    let mut failed = Vec::new();
    for guest in &guests {
        let digest = input_digest::digest(&workspace, guest)?;
        if !options.force && is_current(guest, &digest)? {
            continue;
        }
        let library = match &library {
            Some(library) => library,
            None => library.insert(StandardLibrary::find(options.std)?),
        };
        if let Err(error) = build_one(guest, library, &digest) {
            eprintln!("cannot build {}: {error:#}", guest.name);
            failed.push(guest.name.as_str());
        }
    }
    ensure!(
        failed.is_empty(),
        "plugins not built: {}",
        failed.join(", ")
    );
    eprintln!("{} plugins are up to date in target/plugins", guests.len());
    Ok(())
}

/// Returns whether the component exists and was built from inputs with this digest.
fn is_current(guest: &Guest<'_>, digest: &str) -> Result<bool> {
    let component = component_file(&guest.name);
    let built_from = fs::read_to_string(stamp_file(&guest.name));
    if !component.is_file() || !built_from.is_ok_and(|built_from| built_from == digest) {
        return Ok(false);
    }
    touch(&component)?;
    Ok(true)
}

fn build_one(guest: &Guest<'_>, library: &StandardLibrary, digest: &str) -> Result<()> {
    let start = Instant::now();
    let component = component::build(guest, library)?;
    write(&component_file(&guest.name), &component)?;
    write(&stamp_file(&guest.name), digest.as_bytes())?;
    eprintln!(
        "built {} ({} KB, {})",
        guest.name,
        component.len() / 1024,
        Elapsed(start.elapsed())
    );
    Ok(())
}

fn component_file(name: &str) -> PathBuf {
    folder().join(format!("{name}.wasm"))
}

fn stamp_folder() -> PathBuf {
    cargo::target("guest/stamps")
}

fn stamp_file(name: &str) -> PathBuf {
    stamp_folder().join(name)
}

/// Removes components whose guest no longer exists, so that the gateway does not load them.
fn remove_leftovers(guests: &[Guest<'_>]) -> Result<()> {
    for stamp in files::list(&stamp_folder())? {
        let name = stamp.file_name().unwrap_or_default().to_string_lossy();
        if guests.iter().any(|guest| guest.name == name) {
            continue;
        }
        for file in [component_file(&name), stamp.clone()] {
            if file.exists() {
                fs::remove_file(&file)
                    .with_context(|| format!("cannot remove {}", file.display()))?;
            }
        }
        eprintln!("removed {name}: no package builds it");
    }
    Ok(())
}

/// Replaces a file atomically, because a running gateway may be reading it.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Sets the modification time of a component that is up to date, so that it is newer than
/// sources that were rewritten without a change.
fn touch(path: &Path) -> Result<()> {
    File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(SystemTime::now()))
        .with_context(|| format!("cannot touch {}", path.display()))
}
