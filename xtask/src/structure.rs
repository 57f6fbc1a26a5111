//! `cargo xtask structure`: checks rules about crates, modules, names and documents that
//! neither the compiler nor clippy checks.
//!
//! `structure/rules.rs` has the rules as data, `structure/source.rs` reads source text.
//! `structure-baseline.toml` counts the findings that are older than their rule; its counts
//! may only shrink.

mod checks;
mod documents;
mod rules;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Deserialize;

use crate::cargo::{self, Workspace};

const BASELINE: &str = "xtask/structure-baseline.toml";

/// Folders without sources.
const SKIPPED_FOLDERS: [&str; 4] = [".git", "target", "node_modules", "data"];

/// Options of `cargo xtask structure`.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Print also the findings that the baseline permits
    #[arg(long)]
    all: bool,
}

/// A rule of the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    Dependencies,
    ImportCycles,
    SharedNames,
    FileLength,
    DocumentPaths,
    Layers,
    ReExports,
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Dependencies => "dependencies",
            Self::ImportCycles => "import-cycles",
            Self::SharedNames => "shared-names",
            Self::FileLength => "file-length",
            Self::DocumentPaths => "document-paths",
            Self::Layers => "layers",
            Self::ReExports => "re-exports",
        })
    }
}

/// One violation of a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    rule: Rule,
    /// The crate, folder or document for which the baseline counts it.
    area: String,
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

/// Counts by rule and area.
type Counts = BTreeMap<Rule, BTreeMap<String, usize>>;

/// Checks every rule. Prints the findings of a rule and fails if there are more than the
/// baseline permits.
pub(crate) fn check(options: &Options) -> Result<()> {
    let root = cargo::root();
    let tree = Tree::read(&root)?;
    let findings = find(&tree, &Workspace::read()?);
    let baseline = fs::read_to_string(root.join(BASELINE))
        .with_context(|| format!("cannot read {BASELINE}"))?;
    let baseline: Counts =
        toml::from_str(&baseline).with_context(|| format!("cannot read {BASELINE}"))?;

    let comparison = compare(&count(&findings), &baseline);
    let exceeded = |finding: &Finding| {
        comparison
            .exceeded
            .iter()
            .any(|count| count.rule == finding.rule && count.area == finding.area)
    };
    for finding in &findings {
        if options.all || exceeded(finding) {
            eprintln!("{finding}");
        }
    }
    for count in comparison.exceeded.iter().chain(&comparison.below) {
        eprintln!("{count}");
    }
    ensure!(
        comparison.exceeded.is_empty(),
        "more findings than {BASELINE} permits: mend them"
    );
    Ok(())
}

fn find(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = checks::dependencies(workspace);
    findings.extend(checks::import_cycles(tree));
    findings.extend(checks::shared_names(tree));
    findings.extend(checks::file_length(tree));
    findings.extend(documents::paths(tree));
    findings.extend(checks::layers(tree));
    findings.extend(checks::re_exports(tree));
    findings
}

fn count(findings: &[Finding]) -> Counts {
    let mut counts = Counts::new();
    for finding in findings {
        let areas = counts.entry(finding.rule).or_default();
        *areas.entry(finding.area.clone()).or_default() += 1;
    }
    counts
}

/// A count that differs from the baseline.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    rule: Rule,
    area: String,
    found: usize,
    permitted: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            area,
            found,
            permitted,
        } = self;
        if found > permitted {
            write!(
                formatter,
                "{rule}: {area} has {found} findings, the baseline permits {permitted}"
            )
        } else {
            write!(
                formatter,
                "lower the baseline: in {BASELINE}, [{rule}] {area} = {found}, not {permitted}"
            )
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Comparison {
    exceeded: Vec<Difference>,
    below: Vec<Difference>,
}

fn compare(found: &Counts, permitted: &Counts) -> Comparison {
    let mut comparison = Comparison::default();
    let keys = found
        .iter()
        .chain(permitted)
        .flat_map(|(rule, areas)| areas.keys().map(move |area| (*rule, area.as_str())));
    let keys: BTreeSet<_> = keys.collect();
    for (rule, area) in keys {
        let count = |counts: &Counts| {
            let areas = counts.get(&rule);
            areas
                .and_then(|areas| areas.get(area))
                .copied()
                .unwrap_or(0)
        };
        let difference = Difference {
            rule,
            area: area.to_owned(),
            found: count(found),
            permitted: count(permitted),
        };
        if difference.found > difference.permitted {
            comparison.exceeded.push(difference);
        } else if difference.found < difference.permitted {
            comparison.below.push(difference);
        }
    }
    comparison
}

/// The files of the repository. Paths are relative and separated by `/`.
struct Tree {
    root: PathBuf,
    files: Vec<String>,
    /// The Rust files of `host/`.
    host: Vec<SourceFile>,
}

/// A Rust file.
struct SourceFile {
    path: String,
    /// See [`source::code`].
    code: String,
}

impl SourceFile {
    fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            code: source::code(text),
        }
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
        let mut files = Vec::new();
        list(root, "", &mut files)?;
        files.sort();
        let mut host = Vec::new();
        for path in &files {
            if path.starts_with("host/") && path.ends_with(".rs") {
                host.push(SourceFile::new(path, &read(root, path)?));
            }
        }
        Ok(Self {
            root: root.to_path_buf(),
            files,
            host,
        })
    }

    fn text(&self, path: &str) -> Result<String> {
        read(&self.root, path)
    }
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

/// Adds every file below a folder.
fn list(root: &Path, folder: &str, files: &mut Vec<String>) -> Result<()> {
    let failed = || format!("cannot list {folder}");
    for entry in fs::read_dir(root.join(folder)).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        let kind = entry.file_type().with_context(failed)?;
        if kind.is_file() {
            files.push(path);
        } else if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_str()) {
            list(root, &path, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Counts {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn count_above_baseline_is_exceeded_and_count_below_is_to_be_lowered() {
        let found = counts("[shared-names]\nhost-domain = 3\nhost-api = 1");
        let permitted = counts("[shared-names]\nhost-domain = 2\n[layers]\nhost-api = 4");
        let comparison = compare(&found, &permitted);
        let printed = |differences: &[Difference]| {
            let lines: Vec<_> = differences.iter().map(ToString::to_string).collect();
            lines.join("\n")
        };
        assert_eq!(
            printed(&comparison.exceeded),
            "shared-names: host-api has 1 findings, the baseline permits 0\n\
             shared-names: host-domain has 3 findings, the baseline permits 2"
        );
        assert_eq!(
            printed(&comparison.below),
            "lower the baseline: in xtask/structure-baseline.toml, [layers] host-api = 0, not 4"
        );
    }

    #[test]
    fn equal_counts_are_no_difference() {
        let found = counts("[import-cycles]\nhost-storage = 5");
        assert_eq!(compare(&found, &found), Comparison::default());
    }

    #[test]
    fn file_names_its_crate_and_module() {
        let file = SourceFile::new("host/server/src/flow/mod.rs", "");
        assert_eq!(file.crate_name(), "host-server");
        assert_eq!(file.module().unwrap(), ["flow"]);
        assert!(
            SourceFile::new("host/runtime/benches/a.rs", "")
                .module()
                .is_none()
        );
        assert!(SourceFile::new("host/server/src/api/tests.rs", "").is_inside("tests"));
    }
}
