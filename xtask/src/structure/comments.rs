//! The check of methods and fields that comments name, as in `WorkflowEngine::start`.
//!
//! A reference is checked if the workspace defines its type. A line of a comment is read by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Rule, Tree, source};

/// Methods that macros and derives write, so that no source file contains them.
const GENERATED: &[&str] = &[
    "as_str",
    "clone",
    "cmp",
    "default",
    "eq",
    "fmt",
    "hash",
    "parse",
    "partial_cmp",
];

pub(super) fn references(tree: &Tree) -> Vec<Finding> {
    let mut types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in &tree.sources {
        for name in source::types(&file.tokens) {
            types.entry(name).or_default();
        }
        for (name, member) in source::members(&file.tokens) {
            types.entry(name).or_default().insert(member);
        }
    }
    let mut findings = Vec::new();
    for file in &tree.sources {
        for (line, name, member) in &file.references {
            let members = types.get(name.as_str());
            let is_missing = members.is_some_and(|members| !members.contains(member.as_str()));
            if is_missing && !GENERATED.contains(&member.as_str()) {
                findings.push(Finding {
                    rule: Rule::CommentReferences,
                    place: format!("{}:{line}", file.path),
                    problem: format!("`{name}` has no method or field `{member}`"),
                });
            }
        }
    }
    findings
}

/// Returns the type and the member that each `Type::member` of a comment names, with its line.
pub(super) fn read_references(text: &str) -> Vec<(usize, String, String)> {
    let mut references = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            continue;
        };
        for code in comment.split('`').skip(1).step_by(2) {
            let code = code.strip_suffix("()").unwrap_or(code);
            if let Some((name, member)) = code.split_once("::")
                && name.starts_with(|letter: char| letter.is_ascii_uppercase())
                && member.starts_with(|letter: char| letter.is_ascii_lowercase())
                && is_identifier(name)
                && is_identifier(member)
            {
                references.push((index + 1, name.to_owned(), member.to_owned()));
            }
        }
    }
    references
}

fn is_identifier(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::super::SourceFile;
    use super::*;

    #[test]
    fn reference_to_a_missing_member_of_a_defined_type_is_found() {
        let code = [
            "/// Calls `Engine::start()`, then `Engine::stop`.",
            "pub struct Engine<T> { pub queue: a::Queue<T>, }",
            "impl<T: Fn() -> u8> Engine<T> { fn start(&self) { f(); } }",
            "// `Engine::queue`, `Engine::run`, `Engine::f`, `Duration::gone`, `Engine::Start`",
            "impl Job for crate::a::Engine<u8> { fn run(&self) {} }",
            "trait Job { fn run(&self); fn name(&self) -> String { String::new() } }",
            "// `Job::name`, `Job::start`, `Engine::start(1)`",
        ]
        .join("\n");
        let tree = Tree {
            root: "/nowhere".into(),
            files: Vec::new(),
            sources: vec![SourceFile::new("a/src/b.rs", "a/src", &code).unwrap()],
        };
        let findings: Vec<_> = references(&tree)
            .into_iter()
            .map(|finding| format!("{} {}", finding.place, finding.problem))
            .collect();
        assert_eq!(
            findings,
            [
                "a/src/b.rs:1 `Engine` has no method or field `stop`",
                "a/src/b.rs:4 `Engine` has no method or field `f`",
                "a/src/b.rs:7 `Job` has no method or field `start`",
            ]
        );
    }
}
