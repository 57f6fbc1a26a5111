//! The checks of manifests and of source text.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Rule, SourceFile, Tree, rules, source};
use crate::cargo::{self, Package, Workspace};

/// Checks the dependencies of each crate. Each needs a rule.
pub(super) fn dependencies(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        match rules::of_crate(&package.name, &manifest(package)) {
            Some(rule) => findings.extend(crate_dependencies(package, rule)),
            None => findings.push(dependency_finding(
                package,
                "no rule in xtask/src/structure/rules.rs".to_owned(),
            )),
        }
    }
    findings
}

fn crate_dependencies(package: &Package, rule: &rules::CrateRule) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dependency in &package.dependencies {
        let allowed_in_tests = match (dependency.is_dev(), rule.allowed_in_tests) {
            (true, None) => continue,
            (true, Some(allowed)) => allowed,
            (false, _) => &[],
        };
        let name = dependency.name.as_str();
        let problem = if dependency.path.is_none() {
            let is_forbidden = rule.forbidden.iter().any(|group| group.contains(&name));
            is_forbidden.then(|| format!("it must not depend on {name}"))
        } else if rule.allowed.contains(&name) || allowed_in_tests.contains(&name) {
            None
        } else if !rule.allowed_by_feature.contains(&name) {
            Some(format!("it must not depend on {name}"))
        } else if !dependency.optional {
            Some(format!("{name} must be optional, behind a feature"))
        } else {
            None
        };
        findings.extend(problem.map(|problem| dependency_finding(package, problem)));
    }
    findings
}

fn dependency_finding(package: &Package, problem: String) -> Finding {
    Finding {
        rule: Rule::Dependencies,
        place: manifest(package),
        problem,
    }
}

/// Returns the path of a manifest, relative to the root of the workspace.
fn manifest(package: &Package) -> String {
    let folder = package.folder();
    let folder = folder.strip_prefix(cargo::root()).unwrap_or(&folder);
    folder.join("Cargo.toml").display().to_string()
}

/// Finds files of a crate that import each other in a cycle.
///
/// A file may import the modules that contain it, which declare what its parts share.
/// Unit tests are excluded.
pub(super) fn import_cycles(tree: &Tree) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in tree.sources.iter().filter(|file| !file.is_unit_test()) {
        crates.entry(&file.crate_folder).or_default().push(file);
    }
    let crates = crates.values();
    crates.flat_map(|files| crate_cycles(files)).collect()
}

fn crate_cycles(files: &[&SourceFile]) -> Vec<Finding> {
    let modules: BTreeMap<Vec<String>, usize> = files
        .iter()
        .enumerate()
        .map(|(index, file)| (file.module(), index))
        .collect();
    let mut graph = vec![BTreeSet::new(); files.len()];
    for (module, index) in &modules {
        let Some(file) = files.get(*index) else {
            continue;
        };
        let imported = source::imports(&file.tokens, module)
            .iter()
            .filter_map(|path| imported_file(path, module, &modules))
            .collect();
        if let Some(edges) = graph.get_mut(*index) {
            *edges = imported;
        }
    }
    let cycles = cycles(&graph);
    let path = |index: usize| files.get(index).map_or("", |file| file.path.as_str());
    cycles
        .iter()
        .flat_map(|cycle| cycle.iter().map(move |member| (member, cycle)))
        .map(|(member, cycle)| {
            let edges = graph.get(*member).into_iter().flatten();
            let inside: Vec<_> = edges
                .filter(|import| cycle.contains(import))
                .map(|import| path(*import))
                .collect();
            Finding {
                rule: Rule::ImportCycles,
                place: path(*member).to_owned(),
                problem: format!(
                    "in a cycle of {} files; it imports {}",
                    cycle.len(),
                    inside.join(", ")
                ),
            }
        })
        .collect()
}

/// Returns the file that a path names. `None` for modules that contain the importing one.
fn imported_file(
    path: &[String],
    module: &[String],
    modules: &BTreeMap<Vec<String>, usize>,
) -> Option<usize> {
    let (length, index) = (1..=path.len())
        .rev()
        .find_map(|length| Some((length, *modules.get(path.get(..length)?)?)))?;
    let contains_module = module.get(..length) == path.get(..length);
    (!contains_module).then_some(index)
}

/// Returns the groups of nodes that reach each other, largest first.
fn cycles(graph: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let reachable: Vec<BTreeSet<usize>> = (0..graph.len()).map(|node| reach(graph, node)).collect();
    let reaches = |from: usize, to: usize| reachable.get(from).is_some_and(|set| set.contains(&to));
    let mut cycles: Vec<BTreeSet<usize>> = Vec::new();
    for node in 0..graph.len() {
        let is_known = cycles.iter().any(|cycle| cycle.contains(&node));
        if reaches(node, node) && !is_known {
            cycles.push(
                (node..graph.len())
                    .filter(|other| reaches(node, *other) && reaches(*other, node))
                    .collect(),
            );
        }
    }
    cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    cycles
}

/// Returns the nodes that a node reaches over at least one edge.
fn reach(graph: &[BTreeSet<usize>], node: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![node];
    while let Some(next) = waiting.pop() {
        for target in graph.get(next).into_iter().flatten() {
            if reached.insert(*target) {
                waiting.push(*target);
            }
        }
    }
    reached
}

/// Finds public types of one name in several files of the host crates.
pub(super) fn shared_names(tree: &Tree) -> Vec<Finding> {
    shared_names_except(tree, rules::SHARED_NAMES)
}

fn shared_names_except(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in tree.host() {
        for name in source::public_types(&file.tokens) {
            places.entry(name).or_default().insert(&file.path);
        }
    }
    places.retain(|_, places| places.len() > 1);

    let mut findings = Vec::new();
    for (name, places) in &places {
        if exceptions.iter().any(|(exception, _)| exception == name) {
            continue;
        }
        let paths: Vec<_> = places.iter().copied().collect();
        findings.push(Finding {
            rule: Rule::SharedNames,
            place: paths.first().copied().unwrap_or_default().to_owned(),
            problem: format!("`{name}` is a public type of {}", paths.join(", ")),
        });
    }
    let unused = exceptions
        .iter()
        .filter(|(name, _)| !places.contains_key(name));
    findings.extend(unused.map(|(name, _)| Finding {
        rule: Rule::SharedNames,
        place: "xtask/src/structure/rules.rs".to_owned(),
        problem: format!("`{name}` is listed in SHARED_NAMES but not shared"),
    }));
    findings
}

pub(super) fn file_length(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.files.iter().filter(|path| path.ends_with(".rs")) {
        let folder = path.split('/').next().unwrap_or_default();
        if !rules::SOURCE_FOLDERS.contains(&folder) {
            continue;
        }
        let lines = tree.text(path).map_or(0, |text| text.lines().count());
        if lines > rules::FILE_LINES_MAX {
            findings.push(Finding {
                rule: Rule::FileLength,
                place: path.clone(),
                problem: format!("{lines} lines, more than {}", rules::FILE_LINES_MAX),
            });
        }
    }
    findings
}

/// Finds imports between top-level modules of the layered crate that do not lead to a
/// lower layer.
pub(super) fn layers(tree: &Tree) -> Vec<Finding> {
    tree.host()
        .filter(|file| file.crate_folder == rules::LAYERED_CRATE)
        .flat_map(layer_findings)
        .collect()
}

fn layer_findings(file: &SourceFile) -> Vec<Finding> {
    let module = file.module();
    // The crate's root declares the modules.
    let Some(own) = module.first() else {
        return Vec::new();
    };
    let finding = |problem| Finding {
        rule: Rule::Layers,
        place: file.path.clone(),
        problem,
    };
    let Some(own_layer) = layer(own) else {
        let problem = format!("module `{own}` has no layer in xtask/src/structure/rules.rs");
        return vec![finding(problem)];
    };
    let imported: BTreeSet<String> = source::imports(&file.tokens, &module)
        .into_iter()
        .filter_map(|path| path.into_iter().next())
        .filter(|name| name != own)
        .collect();
    imported
        .iter()
        .filter_map(|name| Some((name, layer(name)?)))
        .filter(|(_, layer)| *layer >= own_layer)
        .map(|(name, layer)| {
            finding(format!(
                "`{own}` of layer {own_layer} imports `{name}` of layer {layer}"
            ))
        })
        .collect()
}

fn layer(module: &str) -> Option<usize> {
    rules::LAYERS
        .iter()
        .position(|modules| modules.contains(&module))
}

/// Finds host crates that re-export items of another host crate.
pub(super) fn re_exports(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources.iter().filter(|file| file.is_of_host()) {
        findings.extend(
            source::re_exports(&file.tokens)
                .into_iter()
                .map(|name| Finding {
                    rule: Rule::ReExports,
                    place: file.path.clone(),
                    problem: format!("it re-exports items of `{name}`"),
                }),
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        Tree {
            root: "/nowhere".into(),
            files: Vec::new(),
            sources: files
                .iter()
                .map(|(path, text)| {
                    let (folder, _) = path.split_once("/src/").unwrap();
                    SourceFile::new(path, &format!("{folder}/src"), text).unwrap()
                })
                .collect(),
        }
    }

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings
            .iter()
            .map(|finding| finding.place.as_str())
            .collect()
    }

    fn problems(findings: Vec<Finding>) -> Vec<String> {
        findings
            .into_iter()
            .map(|finding| finding.problem)
            .collect()
    }

    #[test]
    fn dependencies_that_break_the_rule_of_their_crate_are_found() {
        let storage = r#"{ "name": "host-domain", "path": "/w/domain" }, { "name": "sqlx" },
            { "name": "host-runtime", "path": "/w/runtime" }, { "name": "axum" },
            { "name": "axum", "kind": "dev" }"#;
        let sandbox = r#"{ "name": "sandbox", "path": "/w/s", "optional": false }"#;
        let optional = sandbox.replace("false", "true");
        let unlisted = ["host-runtime", "axum"].map(|name| format!("it must not depend on {name}"));
        let not_optional = "sandbox must be optional, behind a feature".to_owned();
        let in_tests = r#"{ "name": "host-api", "path": "/w/api", "kind": "dev" },
            { "name": "fuzz", "path": "/w/fuzz", "kind": "dev" }"#;
        let not_host_api = "it must not depend on host-api".to_owned();
        let no_rule = "no rule in xtask/src/structure/rules.rs".to_owned();
        for (name, listed, expected) in [
            ("host-storage", storage, unlisted.to_vec()),
            ("host-server", sandbox, vec![not_optional]),
            ("host-server", optional.as_str(), vec![]),
            ("new", "", vec![no_rule]),
            ("simulation", in_tests, vec![not_host_api.clone()]),
            ("new-plugin", in_tests, vec![not_host_api]),
        ] {
            let folder = if name == "new-plugin" { "plugins/" } else { "" };
            let root = cargo::root();
            let text = format!(
                r#"{{ "packages": [{{ "id": "s", "name": "{name}",
                "manifest_path": "{}/{folder}{name}/Cargo.toml", "dependencies": [{listed}] }}] }}"#,
                root.display()
            );
            let workspace = Workspace::parse(&text).unwrap();
            assert_eq!(problems(dependencies(&workspace)), expected, "{text}");
        }
    }

    #[test]
    fn files_in_a_cycle_are_found_and_their_users_are_not() {
        for folder in ["host/domain", "sandbox", "tests/simulation"] {
            let cycle = ["a", "b", "c"].map(|name| format!("{folder}/src/{name}.rs"));
            let [root, user] = ["lib", "d"].map(|name| format!("{folder}/src/{name}.rs"));
            let tree = tree(&[
                (&root, "mod a; mod b; mod c;"),
                (&cycle[0], "use crate::b::B;"),
                (&cycle[1], "use super::c::C;"),
                (&cycle[2], "use crate::{a::A};"),
                (&user, "use crate::a::A;"),
            ]);
            assert_eq!(places(&import_cycles(&tree)), cycle);
        }
    }

    #[test]
    fn import_of_a_containing_module_or_from_a_test_closes_no_cycle() {
        let tree = tree(&[
            ("host/domain/src/parent.rs", "use crate::parent::child::C;"),
            (
                "host/domain/src/parent/child.rs",
                "use crate::parent::P; use super::P;",
            ),
            ("host/domain/src/a.rs", "use crate::b::B;"),
            (
                "host/domain/src/b.rs",
                "#[cfg(test)]\nmod tests { use crate::a::A; }",
            ),
            ("host/domain/src/b/tests.rs", "use crate::a::A;"),
        ]);
        assert!(import_cycles(&tree).is_empty());
    }

    #[test]
    fn shared_name_is_one_finding() {
        let tree = tree(&[
            ("host/domain/src/a.rs", "pub struct Offer;"),
            ("host/domain/src/b.rs", "pub(crate) enum Offer {}"),
            ("host/server/src/c.rs", "pub struct Offer;\nstruct Private;"),
            ("host/server/src/tests.rs", "pub struct Private;"),
        ]);
        let findings = shared_names(&tree);
        assert_eq!(places(&findings), ["host/domain/src/a.rs"]);
        let exceptions = [("Offer", "a reason"), ("Other", "a reason")];
        let findings = shared_names_except(&tree, &exceptions);
        assert_eq!(places(&findings), ["xtask/src/structure/rules.rs"]);
    }

    #[test]
    fn layers_permit_imports_of_lower_modules_only() {
        let tree = tree(&[
            (
                "host/application/src/booking/engine.rs",
                "use crate::webhook::W; use crate::booking::plan; use crate::watch::P;",
            ),
            (
                "host/application/src/offers/hotel.rs",
                "use super::super::offers::X;",
            ),
            ("host/application/src/unknown.rs", ""),
            ("host/application/src/lib.rs", "use crate::background::B;"),
            ("host/application/src/mandate.rs", "use crate::catalog::C;"),
        ]);
        assert_eq!(
            problems(layers(&tree)),
            [
                "`booking` of layer 6 imports `watch` of layer 7",
                "module `unknown` has no layer in xtask/src/structure/rules.rs",
                "`mandate` of layer 4 imports `catalog` of layer 4",
            ]
        );
    }
}
