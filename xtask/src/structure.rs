//! `cargo xtask structure`: checks rules about crates, modules, names and documents that
//! neither the compiler nor clippy checks.
//!
//! `structure/rules.rs` has the rules as data, `structure/source.rs` reads source text.

mod checks;
mod documents;
mod rules;
mod source;
mod supplier_fields;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::cargo::{self, Workspace};
use crate::files;

/// Folders without sources.
const SKIPPED_FOLDERS: [&str; 4] = [".git", "target", "node_modules", "data"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Rule {
    Dependencies,
    ImportCycles,
    SharedNames,
    FileLength,
    DocumentPaths,
    SupplierFields,
    Layers,
    ReExports,
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        formatter.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Finding {
    rule: Rule,
    /// A file, with a line in documents.
    place: String,
    problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = rules::remedy(self.rule);
        write!(
            formatter,
            "{}: {}: {}; {remedy}",
            self.place, self.rule, self.problem
        )
    }
}

/// Checks every rule. Prints the findings and fails if there are any.
pub(crate) fn check() -> Result<()> {
    let tree = Tree::read(&cargo::root())?;
    let findings = find(&tree, &Workspace::read()?);
    for finding in &findings {
        eprintln!("{finding}");
    }
    ensure!(
        findings.is_empty(),
        "the structure has {} findings",
        findings.len()
    );
    Ok(())
}

fn find(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = checks::dependencies(workspace);
    findings.extend(checks::import_cycles(tree));
    findings.extend(checks::shared_names(tree));
    findings.extend(checks::file_length(tree));
    findings.extend(documents::paths(tree));
    findings.extend(supplier_fields::undocumented(tree));
    findings.extend(checks::layers(tree));
    findings.extend(checks::re_exports(tree));
    findings
}

/// The files of the repository. Paths are relative and separated by `/`.
struct Tree {
    root: PathBuf,
    files: Vec<String>,
    /// The Rust files of `host/`.
    host: Vec<SourceFile>,
}

struct SourceFile {
    path: String,
    /// See [`source::tokens`].
    tokens: Vec<String>,
}

impl SourceFile {
    fn new(path: &str, text: &str) -> Result<Self> {
        let tokens = source::tokens(text).with_context(|| format!("{path} is not Rust"))?;
        let path = path.to_owned();
        Ok(Self { path, tokens })
    }

    /// Returns the crate of the file: `host-domain` for `host/domain/src/lib.rs`.
    fn crate_name(&self) -> String {
        let folder = self.path.split('/').nth(1).unwrap_or_default();
        format!("host-{folder}")
    }

    /// Returns the module of the file: `["flow", "walk"]` for `src/flow/walk.rs`. `None` for
    /// a file outside of `src`.
    fn module(&self) -> Option<Vec<String>> {
        let path = self.path.split_once("/src/")?.1.strip_suffix(".rs")?;
        let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
        if matches!(module.last()?.as_str(), "mod" | "lib" | "main") {
            module.pop();
        }
        Some(module)
    }

    /// Returns whether a folder or the file itself has the name.
    fn is_inside(&self, name: &str) -> bool {
        let path = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        path.split('/').any(|part| part == name)
    }
}

impl Tree {
    fn read(root: &Path) -> Result<Self> {
        let mut paths = Vec::new();
        files::collect_below(root, &SKIPPED_FOLDERS, &mut paths)?;
        let relative = |path: &PathBuf| {
            let path = path.strip_prefix(root).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        let mut files: Vec<String> = paths.iter().map(relative).collect();
        files.sort();
        let mut host = Vec::new();
        for path in &files {
            if path.starts_with("host/") && path.ends_with(".rs") {
                host.push(SourceFile::new(path, &files::read_text(&root.join(path))?)?);
            }
        }
        Ok(Self {
            root: root.to_path_buf(),
            files,
            host,
        })
    }

    fn text(&self, path: &str) -> Result<String> {
        files::read_text(&self.root.join(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_its_crate_and_module() {
        let file = |path: &str| SourceFile::new(path, "").unwrap();
        let module = file("host/server/src/flow/mod.rs");
        assert_eq!(module.crate_name(), "host-server");
        assert_eq!(module.module().unwrap(), ["flow"]);
        assert!(file("host/runtime/benches/a.rs").module().is_none());
        assert!(file("host/server/src/api/tests.rs").is_inside("tests"));
    }
}
