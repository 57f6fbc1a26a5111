//! The check of paths that documents name.
//!
//! Documents shorten paths: `booking/plan.rs` stands for `host/application/src/booking/plan.rs`. A
//! path is valid if an existing path ends with it; `src` folders are ignored. `{a,b}` stands for
//! both. A path is checked up to a placeholder such as `<noun>`.

use std::collections::BTreeSet;

use super::{Finding, Rule, Tree, rules};

/// Extensions by which a word without a folder is a path.
const EXTENSIONS: [&str; 6] = [".rs", ".md", ".toml", ".wit", ".sql", ".py"];

/// The beginnings of placeholders in paths.
const PLACEHOLDERS: [&str; 4] = ["<", "*", "…", "NNNN"];

/// Words that only look like paths: a media type, and the configuration of an operator.
const OTHER_WORDS: [&str; 2] = ["application/json", "stopover.toml"];

/// The beginnings of code that is a request, whose path is that of a URL.
const METHODS: [&str; 5] = ["DELETE ", "GET ", "PATCH ", "POST ", "PUT "];

/// Folders of generated files.
const BUILT: [&str; 2] = ["target", "data"];

pub(super) fn paths(tree: &Tree) -> Vec<Finding> {
    let known = Known::new(&tree.files);
    let mut findings = Vec::new();
    for document in documents(&tree.files) {
        let Ok(text) = tree.text(document) else {
            findings.push(finding(document, 0, document));
            continue;
        };
        let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, reference) in references(&text) {
            if !known.has(&reference, folder) {
                findings.push(finding(document, line, reference.text()));
            }
        }
    }
    findings
}

/// Returns the documents to check. A listed one that does not exist is a finding.
fn documents(files: &[String]) -> Vec<&str> {
    let mut documents = Vec::new();
    for listed in rules::DOCUMENTS {
        if listed.ends_with('/') {
            let below = files.iter().map(String::as_str);
            documents
                .extend(below.filter(|file| file.starts_with(listed) && file.ends_with(".md")));
        } else {
            documents.push(listed);
        }
    }
    documents
}

fn finding(document: &str, line: usize, path: &str) -> Finding {
    Finding {
        rule: Rule::DocumentPaths,
        place: format!("{document}:{line}"),
        problem: format!("there is no `{path}`"),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Reference<'a> {
    /// A target relative to the folder of the document.
    Link(&'a str),
    /// A word of a code span, which may be shortened.
    Code(&'a str),
    /// A word of a code block, relative to the root.
    Block(&'a str),
}

impl Reference<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Link(text) | Self::Code(text) | Self::Block(text) => text,
        }
    }
}

/// Returns the paths of a document with their lines.
fn references(text: &str) -> Vec<(usize, Reference<'_>)> {
    let mut references = Vec::new();
    let mut is_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            let words = line.split_whitespace().filter(|word| is_path(word));
            references.extend(words.map(|word| (index + 1, Reference::Block(word))));
        } else {
            references.extend(line_references(line).map(|reference| (index + 1, reference)));
        }
    }
    references
}

fn line_references(line: &str) -> impl Iterator<Item = Reference<'_>> {
    let links = line.split("](").skip(1).filter_map(|after| {
        let target = after.split([')', '#']).next()?;
        let is_local = !target.is_empty() && !target.contains("://");
        is_local.then_some(Reference::Link(target))
    });
    let spans = line.split('`').skip(1).step_by(2);
    let code = spans
        .filter(|span| !METHODS.iter().any(|method| span.starts_with(method)))
        .flat_map(str::split_whitespace)
        .filter_map(|word| word.split("::").next())
        .map(|word| word.trim_end_matches([',', ';', '/']))
        .filter(|word| is_path(word))
        .map(Reference::Code);
    links.chain(code)
}

fn is_path(word: &str) -> bool {
    let is_plain = word
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || "_-./{},*<>…".contains(character));
    let begins_well = !word.starts_with(['/', '-', '<', '…']);
    let has_folder = word.contains('/') && !word.contains("//");
    let has_extension = EXTENSIONS
        .iter()
        .any(|extension| word.len() > extension.len() && word.ends_with(extension));
    let is_other = OTHER_WORDS.contains(&word);
    is_plain && begins_well && !is_other && (has_folder || has_extension)
}

struct Known {
    /// Files and folders, relative to the root.
    whole: BTreeSet<String>,
    /// Their ends, without `src` folders.
    ends: BTreeSet<String>,
}

impl Known {
    fn new(files: &[String]) -> Self {
        let mut whole = BTreeSet::new();
        for file in files {
            let mut path = file.as_str();
            // Folders that were seen have parents that were seen.
            while whole.insert(path.to_owned()) {
                match path.rsplit_once('/') {
                    Some((folder, _)) => path = folder,
                    None => break,
                }
            }
        }
        let mut ends = BTreeSet::new();
        for path in &whole {
            let short = without_src(path);
            let mut end = short.as_str();
            while ends.insert(end.to_owned()) {
                match end.split_once('/') {
                    Some((_, shorter)) => end = shorter,
                    None => break,
                }
            }
        }
        Self { whole, ends }
    }

    /// Returns whether a path exists, or does not belong to this repository.
    fn has(&self, reference: &Reference<'_>, folder: &str) -> bool {
        match reference {
            Reference::Link(target) => self.whole.contains(&join(folder, target)),
            Reference::Code(path) => expand(path).iter().all(|path| {
                let path = before_placeholder(path);
                let is_built = BUILT.contains(&path.split('/').next().unwrap_or_default());
                path.is_empty() || is_built || self.ends.contains(&without_src(path))
            }),
            Reference::Block(path) => {
                let (first, _) = path.split_once('/').unwrap_or((path, ""));
                let is_ours = path.contains('/') && self.whole.contains(first);
                !is_ours || BUILT.contains(&first) || self.whole.contains(*path)
            }
        }
    }
}

/// Resolves the target of a link against the folder of its document.
fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn without_src(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| *part != "src").collect();
    parts.join("/")
}

/// Returns the folders before the first placeholder.
fn before_placeholder(path: &str) -> &str {
    let at = PLACEHOLDERS
        .iter()
        .filter_map(|placeholder| path.find(placeholder))
        .min();
    match at.and_then(|at| path.get(..at)) {
        Some(fixed) => fixed.rsplit_once('/').map_or("", |(folders, _)| folders),
        None => path,
    }
}

/// Expands `a/{b,c}` to `a/b` and `a/c`.
fn expand(path: &str) -> Vec<String> {
    let parts = path
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        Some((before, (choices, after))) => choices
            .split(',')
            .flat_map(|choice| expand(&format!("{before}{choice}{after}")))
            .collect(),
        None => vec![path.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 5] = [
        "README.md",
        "docs/decisions/0001-a.md",
        "host/application/src/booking/plan.rs",
        "host/application/src/booking/steps/hotel.rs",
        "host/storage/migrations/sqlite/1.sql",
    ];

    fn missing(text: &str) -> Vec<String> {
        let known = Known::new(&FILES.map(str::to_owned));
        references(text)
            .into_iter()
            .filter(|(_, reference)| !known.has(reference, "docs"))
            .map(|(line, reference)| format!("{line} {}", reference.text()))
            .collect()
    }

    #[test]
    fn paths_that_do_not_exist_are_found_with_their_line() {
        for (text, expected) in [
            // A shortened path is the end of an existing one.
            (
                "`booking/plan.rs`, `application/booking/plan.rs::plan`, `plan.rs`",
                &[][..],
            ),
            (
                "a\n`booking/run.rs` `lan.rs`",
                &["2 booking/run.rs", "2 lan.rs"],
            ),
            // Braces stand for each choice.
            ("`booking/{plan,steps/hotel}.rs`", &[]),
            (
                "`booking/steps/{hotel,flight}.rs`",
                &["1 booking/steps/{hotel,flight}.rs"],
            ),
            // Nothing is checked from a placeholder on.
            (
                "`host/application/src/<noun>.rs` `host/*` `docs/decisions/NNNN-title.md`",
                &[],
            ),
            ("`host/gone/<noun>.rs`", &["1 host/gone/<noun>.rs"]),
            // These words are no paths, or those of generated files.
            (
                "`POST /v1/hotel/offers` `GET book/rates/{id}` `a::b` `--config` `https://x/y` plain/text \
                 `stopover.toml`",
                &[],
            ),
            ("`target/plugins`", &[]),
            // A link begins at the folder of its document.
            (
                "[a](decisions/0001-a.md) [b](../README.md#run) [c](https://x.y)",
                &[],
            ),
            ("[a](README.md)", &["1 README.md"]),
            // A code block names paths below a folder of the root.
            (
                "```\nrun --config docs/gone.toml other/gone.toml\n```",
                &["2 docs/gone.toml"],
            ),
        ] {
            assert_eq!(missing(text), expected, "{text}");
        }
    }
}
