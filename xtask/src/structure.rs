//! `cargo xtask structure`: checks rules about crates, modules, names and documents that
//! neither the compiler nor clippy checks.
//!
//! `structure/rules.rs` has the rules as data, `structure/source.rs` reads source text.

mod checks;
mod comments;
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
    CommentReferences,
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
    /// A file, with a line in documents and comments.
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
    findings.extend(comments::references(tree));
    findings.extend(supplier_fields::undocumented(tree));
    findings.extend(checks::layers(tree));
    findings.extend(checks::re_exports(tree));
    findings
}

/// The files of the repository. Paths are relative and separated by `/`.
struct Tree {
    root: PathBuf,
    files: Vec<String>,
    /// The Rust files of the members of the workspace.
    sources: Vec<SourceFile>,
}

struct SourceFile {
    path: String,
    /// Folder of the crate's `lib.rs` or `main.rs`. Integration tests are crates of their own.
    crate_folder: String,
    /// See [`source::tokens`].
    tokens: Vec<String>,
    /// See [`comments::read_references`].
    references: Vec<(usize, String, String)>,
}

impl SourceFile {
    fn new(path: &str, crate_folder: &str, text: &str) -> Result<Self> {
        let tokens = source::tokens(text).with_context(|| format!("{path} is not Rust"))?;
        Ok(Self {
            path: path.to_owned(),
            crate_folder: crate_folder.to_owned(),
            tokens,
            references: comments::read_references(text),
        })
    }

    /// Returns the module of the file: `["booking", "plan"]` for `src/booking/plan.rs`.
    fn module(&self) -> Vec<String> {
        let path = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let path = path.strip_prefix(&self.crate_folder).unwrap_or(path);
        let parts = path.split('/').filter(|part| !part.is_empty());
        let mut module: Vec<String> = parts.map(str::to_owned).collect();
        if matches!(
            module.last().map(String::as_str),
            Some("mod" | "lib" | "main")
        ) {
            module.pop();
        }
        module
    }

    /// Returns whether the file is in a module of unit tests.
    fn is_unit_test(&self) -> bool {
        self.module().iter().any(|part| part == "tests")
    }

    /// Returns whether the file is in a module of unit tests or in an integration test.
    fn is_test(&self) -> bool {
        self.is_unit_test() || self.crate_folder.contains("/tests/")
    }

    fn is_of_host(&self) -> bool {
        self.path.starts_with("host/")
    }
}

/// Returns the folder of the crate that a file belongs to: the nearest one with a `lib.rs` or
/// `main.rs`. `None` for a target of a single file.
fn crate_folder<'a>(path: &'a str, files: &[String]) -> Option<&'a str> {
    let mut folder = path;
    while let Some((parent, _)) = folder.rsplit_once('/') {
        folder = parent;
        let has_root = |root: &str| files.binary_search(&format!("{folder}/{root}")).is_ok();
        if has_root("lib.rs") || has_root("main.rs") {
            return Some(folder);
        }
    }
    None
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
        let mut sources = Vec::new();
        for path in files.iter().filter(|path| path.ends_with(".rs")) {
            let folder = path.split('/').next().unwrap_or_default();
            if rules::SOURCE_FOLDERS.contains(&folder)
                && let Some(folder) = crate_folder(path, &files)
            {
                let text = files::read_text(&root.join(path))?;
                sources.push(SourceFile::new(path, folder, &text)?);
            }
        }
        Ok(Self {
            root: root.to_path_buf(),
            files,
            sources,
        })
    }

    /// Returns the Rust files of `host/` without tests.
    fn host(&self) -> impl Iterator<Item = &SourceFile> {
        let files = self.sources.iter();
        files.filter(|file| file.is_of_host() && !file.is_test())
    }

    fn text(&self, path: &str) -> Result<String> {
        files::read_text(&self.root.join(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_knows_its_crate_and_module() {
        let files = [
            "host/runtime/benches/a.rs",
            "host/server/src/api/tests.rs",
            "host/server/src/cli/mod.rs",
            "host/server/src/lib.rs",
            "host/server/tests/cli/demo.rs",
            "host/server/tests/cli/main.rs",
        ]
        .map(str::to_owned);
        let file = |path: &str| {
            let folder = crate_folder(path, &files)?;
            Some(SourceFile::new(path, folder, "").unwrap())
        };
        let module = file("host/server/src/cli/mod.rs").unwrap();
        assert_eq!(module.crate_folder, "host/server/src");
        assert_eq!(module.module(), ["cli"]);
        assert!(!module.is_unit_test());
        assert!(file("host/server/src/api/tests.rs").unwrap().is_unit_test());
        let test = file("host/server/tests/cli/demo.rs").unwrap();
        assert_eq!(test.crate_folder, "host/server/tests/cli");
        assert!(!test.is_unit_test());
        assert!(file("host/runtime/benches/a.rs").is_none());
    }
}
