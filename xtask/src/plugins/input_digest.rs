//! A digest of the inputs of a component. A component with the same digest is not rebuilt.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::Guest;
use crate::cargo::{self, Workspace};

/// Returns a digest of the sources of the guest and its path dependencies, the WIT files,
/// the root manifest, Cargo.lock, and the part of xtask that builds components.
pub(super) fn digest(workspace: &Workspace, guest: &Guest<'_>) -> Result<String> {
    let root = cargo::root();
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    for path in ["wit", "xtask/src/plugins.rs", "xtask/src/plugins"] {
        collect(&root.join(path), &mut files)?;
    }
    for folder in workspace.source_folders(guest.package) {
        collect(&folder, &mut files)?;
    }
    files.sort();
    files.dedup();

    let mut hasher = Sha256::new();
    hasher.update(format!("{:?}", guest.features));
    for file in files {
        let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(&root).unwrap_or(&file);
        hasher.update(format!("\n{} {}\n", name.display(), content.len()));
        hasher.update(content);
    }
    Ok(hex::encode(hasher.finalize()))
}

/// Adds the file `path`, or every file under the folder `path`. Adds nothing if there is
/// neither.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
    }
    if !path.is_dir() {
        return Ok(());
    }
    let failed = || format!("cannot list {}", path.display());
    for entry in fs::read_dir(path).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let kind = entry.file_type().with_context(failed)?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
