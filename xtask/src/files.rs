//! Files and folders. Every error names the path.

use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

pub(crate) fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

pub(crate) fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot create {}", path.display()))
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

pub(crate) fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}

/// Creates an empty folder in place of what the path names.
pub(crate) fn recreate_folder(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    create_folder(path)
}

/// Returns the entries of a folder, sorted by path.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<_> = entries(folder)?.iter().map(DirEntry::path).collect();
    paths.sort();
    Ok(paths)
}

/// Adds every file below a folder, except below folders with a skipped name.
pub(crate) fn collect_below(
    folder: &Path,
    skipped: &[&str],
    files: &mut Vec<PathBuf>,
) -> Result<()> {
    for entry in entries(folder)? {
        let path = entry.path();
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot read {}", path.display()))?;
        let is_skipped = skipped.iter().any(|name| path.ends_with(name));
        if kind.is_file() {
            files.push(path);
        } else if kind.is_dir() && !is_skipped {
            collect_below(&path, skipped, files)?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<_, _>>());
    entries.with_context(|| format!("cannot list {}", folder.display()))
}
