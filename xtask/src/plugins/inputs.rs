//! What a component is made from, as a digest, so that nothing is built twice.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::Guest;
use crate::cargo::{self, Workspace};

/// A digest of the guest's sources, of those that it is built from, of the
/// interface, the locked dependencies and the part of this tool that builds components.
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

/// Adds a file, or every file under a folder. A path that does not exist has none.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if folder.is_file() {
        files.push(folder.to_path_buf());
    }
    if !folder.is_dir() {
        return Ok(());
    }
    let failed = || format!("cannot list {}", folder.display());
    for entry in fs::read_dir(folder).with_context(failed)? {
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
