//! Asks cargo about this workspace and has it build things.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::{apt, process};

/// Cargo, at the root of this workspace.
pub(crate) fn command() -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Has a command build the gateway as it is to run in production: optimised, with the
/// allocator of its own, whose sources `make` builds.
pub(crate) fn for_production(build: &mut Command) -> Result<()> {
    apt::need("make", "make", "building the gateway's allocator")?;
    build.args(["--release", "--features", "host-server/jemalloc"]);
    Ok(())
}

/// Fails unless Cargo.lock matches the manifests.
pub(crate) fn check_lock_file() -> Result<()> {
    // Resolves the whole workspace; `cargo metadata` would fetch the crates of every
    // platform for that.
    process::output(command().args(["tree", "--locked", "--package", "xtask", "--depth", "0"]))
        .map(drop)
        .context("Cargo.lock does not match the manifests: run `cargo check`, commit Cargo.lock")
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A file or folder under `target/`.
pub(crate) fn target(path: &str) -> PathBuf {
    root().join("target").join(path)
}

/// What the workspace consists of.
#[derive(Deserialize)]
pub(crate) struct Workspace {
    /// Members, and only members.
    pub(crate) packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    manifest_path: PathBuf,
    /// `[package.metadata]`
    #[serde(default)]
    pub(crate) metadata: Value,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One entry of a manifest's dependencies.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// The name of the package, however the manifest renames it.
    pub(crate) name: String,
    /// `dev` or `build`; `None` for a normal dependency.
    kind: Option<String>,
    #[serde(default)]
    pub(crate) optional: bool,
    /// The folder of a member of the workspace.
    pub(crate) path: Option<PathBuf>,
}

impl Dependency {
    /// Returns whether the library or program itself needs it.
    pub(crate) fn is_normal(&self) -> bool {
        self.kind.is_none()
    }
}

impl Workspace {
    /// Reads the manifests.
    pub(crate) fn read() -> Result<Self> {
        let text =
            process::output(command().args(["metadata", "--no-deps", "--format-version", "1"]))?;
        Self::parse(&text)
    }

    /// From what `cargo metadata` prints.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).context("cannot read what `cargo metadata` prints")
    }

    /// The folders of a member and of every member that it is built from.
    pub(crate) fn source_folders(&self, package: &Package) -> Vec<PathBuf> {
        let mut folders = vec![package.folder()];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            let dependencies = self
                .packages
                .iter()
                .filter(|candidate| candidate.folder() == folder)
                .flat_map(|candidate| &candidate.dependencies)
                .filter_map(|dependency| dependency.path.clone());
            for dependency in dependencies {
                if !folders.contains(&dependency) {
                    folders.push(dependency);
                }
            }
            next += 1;
        }
        folders
    }
}

impl Package {
    /// The folder of its manifest.
    pub(crate) fn folder(&self) -> PathBuf {
        self.manifest_path
            .parent()
            .unwrap_or(&self.manifest_path)
            .to_path_buf()
    }
}

/// Runs a `cargo build` command and gives the files that the package ended up as.
pub(crate) fn artifacts(build: &mut Command, package: &Package) -> Result<Vec<PathBuf>> {
    let text = process::output(build.arg("--message-format=json-render-diagnostics"))?;
    let mut files = Vec::new();
    for line in text.lines() {
        let message: Message =
            serde_json::from_str(line).context("cannot read what `cargo build` prints")?;
        if message.reason == "compiler-artifact" && message.package_id == package.id {
            files.extend(message.filenames);
        }
    }
    Ok(files)
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "packages": [
            { "id": "host", "name": "host", "manifest_path": "/w/host/Cargo.toml", "dependencies": [] },
            { "id": "plugin", "name": "plugin", "manifest_path": "/w/plugin/Cargo.toml",
              "dependencies": [{ "name": "sdk", "path": "/w/sdk" }, { "name": "serde", "path": null }] },
            { "id": "sdk", "name": "sdk", "manifest_path": "/w/sdk/Cargo.toml",
              "dependencies": [{ "name": "money", "path": "/w/money" }, { "name": "plugin", "path": "/w/plugin" }] }
        ]
    }"#;

    #[test]
    fn a_member_is_built_from_its_path_dependencies_at_any_depth() {
        let workspace = Workspace::parse(METADATA).unwrap();
        let plugin = &workspace.packages[1];
        let folders = workspace.source_folders(plugin);
        assert_eq!(
            folders,
            ["/w/plugin", "/w/sdk", "/w/money"].map(PathBuf::from)
        );
    }
}
