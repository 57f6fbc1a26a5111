//! Checks that every promise of the interface has a test: `docs/promises.md` names tests, and each
//! of them exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tests::print_line;

const PAGE: &str = "docs/promises.md";
/// Path of the interface document. It is not part of this repository and may be missing.
const INTERFACE: &str = "../shared/spec/interface.md";

/// Rows of a document's tables, grouped by section. A heading or a line that begins with bold text
/// opens a section.
#[derive(Default)]
struct Outline {
    /// Third-level headings and bold line beginnings.
    sections: BTreeSet<String>,
    /// Section, first cell and the remaining cells of each row.
    rows: Vec<(String, String, String)>,
}

impl Outline {
    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let (mut outline, mut section, mut is_in_table) = (Self::default(), String::new(), false);
        for line in text.lines() {
            let bold = line
                .strip_prefix("**")
                .and_then(|rest| rest.split_once("**"));
            if let Some((title, _)) = bold {
                title.clone_into(&mut section);
                outline.sections.insert(section.clone());
            } else if line.starts_with('#') {
                section = line.trim_start_matches(['#', ' ']).to_owned();
                if line.starts_with("###") {
                    outline.sections.insert(section.clone());
                }
            } else if let Some(row) = line.strip_prefix('|') {
                // The first line of a table holds the column names.
                let is_row = is_in_table && !row.trim_start().starts_with("---");
                if let Some((first, rest)) = row.split_once('|').filter(|_| is_row) {
                    let first = first.trim().to_owned();
                    outline.rows.push((section.clone(), first, rest.to_owned()));
                }
            }
            is_in_table = line.starts_with('|');
        }
        Some(outline)
    }

    /// Counts how often each first cell occurs in each section.
    fn counts(&self) -> BTreeMap<(&str, &str), usize> {
        let mut counts = BTreeMap::new();
        for (section, first, _) in &self.rows {
            *counts
                .entry((section.as_str(), first.as_str()))
                .or_default() += 1;
        }
        counts
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns the texts in backticks.
fn quoted(cells: &str) -> impl Iterator<Item = &str> {
    cells.split('`').skip(1).step_by(2)
}

#[test]
fn every_promise_names_existing_tests() {
    let page = Outline::read(&repository().join(PAGE)).unwrap();
    let mut missing = Vec::new();
    for (section, first, cells) in &page.rows {
        let mut tests = quoted(cells).filter(|text| text.contains("::")).peekable();
        if tests.peek().is_none() {
            missing.push(format!("{section} | {first}: no test"));
        }
        for test in tests {
            let (path, name) = test.rsplit_once("::").unwrap();
            let source = std::fs::read_to_string(repository().join(path)).unwrap_or_default();
            if !source.contains(&format!("fn {name}(")) {
                missing.push(format!("{section} | {first}: {test}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(page.rows.len() > 150, "{} promises", page.rows.len());
}

#[test]
fn every_row_of_the_interface_is_listed_as_promise() {
    let page = Outline::read(&repository().join(PAGE)).unwrap();
    let Some(interface) = Outline::read(&repository().join(INTERFACE)) else {
        return print_line(
            "promises: skipped, because the interface document is not beside the repository",
        );
    };
    let bare: Vec<&String> = interface.sections.difference(&page.sections).collect();
    assert_eq!(bare, [""; 0], "sections that {PAGE} lacks");
    let listed = page.counts();
    let rows = interface.counts().into_iter();
    let lacking = rows.filter(|(row, count)| listed.get(row).is_none_or(|there| there < count));
    let lacking: Vec<_> = lacking.map(|(row, _)| row).collect();
    assert_eq!(lacking, [("", ""); 0], "rows that {PAGE} lacks");
}
