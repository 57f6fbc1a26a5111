//! Cargo commands, and the packages of this workspace.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::process;

/// Returns a cargo command that runs at the root of this workspace.
pub(crate) fn command() -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Fails unless Cargo.lock matches the manifests.
pub(crate) fn check_lock_file() -> Result<()> {
    // Resolves the whole workspace; `cargo metadata` would fetch the crates of every
    // platform for that.
    process::output(command().args(["tree", "--locked", "--package", "xtask", "--depth", "0"]))
        .map(drop)
        .context("Cargo.lock does not match the manifests: run `cargo check`, commit Cargo.lock")
}

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

pub(crate) fn target(path: &str) -> PathBuf {
    root().join("target").join(path)
}

#[derive(Deserialize)]
pub(crate) struct Workspace {
    /// The members, without external packages.
    pub(crate) packages: Vec<Package>,
}

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

#[derive(Deserialize)]
pub(crate) struct Dependency {
    /// The name of the package, however the manifest renames it.
    pub(crate) name: String,
    /// `dev` or `build`; `None` for a normal dependency.
    kind: Option<String>,
    #[serde(default)]
    pub(crate) optional: bool,
    /// Its folder, if it is a member of the workspace.
    pub(crate) path: Option<PathBuf>,
}

impl Dependency {
    /// Returns whether it is for tests, examples and benchmarks only.
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

impl Workspace {
    /// Reads the manifests with `cargo metadata`.
    pub(crate) fn read() -> Result<Self> {
        let text =
            process::output(command().args(["metadata", "--no-deps", "--format-version", "1"]))?;
        Self::parse(&text)
    }

    /// Parses the output of `cargo metadata`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).context("cannot parse the output of `cargo metadata`")
    }

    /// Returns the folders of a member and of its path dependencies at any depth.
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
    pub(crate) fn folder(&self) -> PathBuf {
        self.manifest_path
            .parent()
            .unwrap_or(&self.manifest_path)
            .to_path_buf()
    }
}

/// Runs a `cargo build` command and returns the files that it built of the package.
pub(crate) fn build_artifacts(build: &mut Command, package: &Package) -> Result<Vec<PathBuf>> {
    let text = process::output(build.arg("--message-format=json-render-diagnostics"))?;
    let mut files = Vec::new();
    for line in text.lines() {
        let message: Message =
            serde_json::from_str(line).context("cannot parse the output of `cargo build`")?;
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
    fn source_folders_include_path_dependencies_at_any_depth() {
        let workspace = Workspace::parse(METADATA).unwrap();
        let plugin = &workspace.packages[1];
        let folders = workspace.source_folders(plugin);
        assert_eq!(
            folders,
            ["/w/plugin", "/w/sdk", "/w/money"].map(PathBuf::from)
        );
    }
}
