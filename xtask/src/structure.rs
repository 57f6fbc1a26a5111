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

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::cargo::{self, Workspace};
use crate::files;

const BASELINE: &str = "xtask/structure-baseline.toml";

/// Folders without sources.
const SKIPPED_FOLDERS: [&str; 4] = [".git", "target", "node_modules", "data"];

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Print also the findings that the baseline permits
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
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
        let value = self.to_possible_value();
        formatter.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

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

type Counts = BTreeMap<(Rule, String), usize>;

/// Checks every rule. Prints the findings of a rule and fails if there are more than the
/// baseline permits.
pub(crate) fn check(options: &Options) -> Result<()> {
    let root = cargo::root();
    let tree = Tree::read(&root)?;
    let findings = find(&tree, &Workspace::read()?);
    let permitted = parse_baseline(&files::read_text(&root.join(BASELINE))?)?;
    let found = count(&findings);
    let exceeds =
        |rule: Rule, area: &str| count_of(&found, rule, area) > count_of(&permitted, rule, area);
    for finding in &findings {
        if options.all || exceeds(finding.rule, &finding.area) {
            eprintln!("{finding}");
        }
    }
    for difference in differences(&found, &permitted) {
        eprintln!("{difference}");
    }
    ensure!(
        !found.keys().any(|(rule, area)| exceeds(*rule, area)),
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
        *counts
            .entry((finding.rule, finding.area.clone()))
            .or_default() += 1;
    }
    counts
}

fn count_of(counts: &Counts, rule: Rule, area: &str) -> usize {
    counts.get(&(rule, area.to_owned())).copied().unwrap_or(0)
}

/// Reads the counts of the baseline: lines `area = count` under `[rule]`.
fn parse_baseline(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    let mut section = None;
    for line in text.lines().map(str::trim) {
        let invalid = || format!("{BASELINE}: `{line}` is neither `[rule]` nor `area = count`");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            let rule = Rule::from_str(name, false).ok();
            section = Some(rule.with_context(invalid)?);
            continue;
        }
        let (area, number) = line.split_once('=').with_context(invalid)?;
        let rule = section.with_context(invalid)?;
        let number = number.trim().parse().with_context(invalid)?;
        counts.insert((rule, area.trim().to_owned()), number);
    }
    Ok(counts)
}

/// Returns a line for each count that differs from the baseline.
fn differences(found: &Counts, permitted: &Counts) -> Vec<String> {
    let keys: BTreeSet<_> = found.keys().chain(permitted.keys()).collect();
    keys.into_iter()
        .filter_map(|(rule, area)| {
            let found = count_of(found, *rule, area);
            let permitted = count_of(permitted, *rule, area);
            match found.cmp(&permitted) {
                Ordering::Greater => Some(format!(
                    "{rule}: {area} has {found} findings, the baseline permits {permitted}"
                )),
                Ordering::Less => Some(format!(
                    "lower the baseline: in {BASELINE}, [{rule}] {area} = {found}, not {permitted}"
                )),
                Ordering::Equal => None,
            }
        })
        .collect()
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
                host.push(SourceFile::new(path, &files::read_text(&root.join(path))?));
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
    fn counts_that_differ_from_the_baseline_are_reported() {
        let found = parse_baseline(
            "[shared-names]
host-domain = 3
host-api = 1
host-mcp = 5",
        );
        let permitted = "# a comment
[shared-names]
host-domain = 2
host-mcp = 5
[layers]
host-api = 4";
        let permitted = parse_baseline(permitted).unwrap();
        assert_eq!(
            differences(&found.unwrap(), &permitted),
            [
                "shared-names: host-api has 1 findings, the baseline permits 0",
                "shared-names: host-domain has 3 findings, the baseline permits 2",
                "lower the baseline: in xtask/structure-baseline.toml, [layers] host-api = 0, not 4",
            ]
        );
    }

    #[test]
    fn invalid_baseline_is_rejected_with_its_line() {
        for line in [
            "[shared]",
            "[layers",
            "host-api = 1",
            "[layers]
host-api = many",
        ] {
            assert!(parse_baseline(line).is_err(), "{line}");
        }
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
