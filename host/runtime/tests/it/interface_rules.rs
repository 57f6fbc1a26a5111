//! Protection of the list of the interface's rules in `wit/README.md`.

use std::path::Path;

const PAGE: &str = "wit/README.md";
const HEADING: &str = "## Rules and where the host checks them";

/// Returns the rows of the tables in the list of rules, without their headers.
fn rows(page: &str) -> Vec<[&str; 3]> {
    let (_, section) = page.split_once(HEADING).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let row = [cells.next()?, cells.next()?, cells.next()?];
        assert_eq!(cells.next(), None, "{line}");
        (row[0] != "Rule").then_some(row)
    });
    rows.collect()
}

#[test]
fn every_rule_names_existing_tests() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(repository.join(PAGE)).unwrap();
    let rows = rows(&page);
    assert!(rows.len() > 60, "{} rules", rows.len());
    let mut missing = Vec::new();
    for [rule, place, test] in rows {
        if place.starts_with("not checked") {
            assert_eq!(test, "–", "{rule}");
            continue;
        }
        let name = test.trim_matches('`').rsplit_once("::");
        let exists = name.is_some_and(|(path, name)| {
            let source = std::fs::read_to_string(repository.join(path)).unwrap_or_default();
            source.contains(&format!("fn {name}("))
        });
        if !exists {
            missing.push(format!("{rule}: {test}"));
        }
    }
    assert_eq!(missing, [""; 0]);
}
