//! A digest of the inputs of a component. A component with the same digest is not rebuilt.

use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::Result;

use super::Guest;
use crate::cargo::{self, Workspace};
use crate::files;

/// Returns a digest of the sources of the guest and its path dependencies, the WIT files,
/// the root manifest, Cargo.lock, and the part of xtask that builds components. Another
/// compiler of xtask may compute another digest, which only causes a rebuild.
pub(super) fn digest(workspace: &Workspace, guest: &Guest<'_>) -> Result<String> {
    let root = cargo::root();
    let single = ["Cargo.toml", "Cargo.lock", "xtask/src/plugins.rs"];
    let mut paths = single.map(|path| root.join(path)).to_vec();
    let mut folders = vec![root.join("wit"), root.join("xtask/src/plugins")];
    folders.extend(workspace.source_folders(guest.package));
    for folder in folders {
        files::collect_below(&folder, &[], &mut paths)?;
    }
    paths.sort();
    paths.dedup();

    let mut hasher = DefaultHasher::new();
    guest.features.hash(&mut hasher);
    for path in paths {
        path.strip_prefix(&root).unwrap_or(&path).hash(&mut hasher);
        files::read(&path)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
