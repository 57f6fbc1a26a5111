//! Protection of the released plugin interface against accidental changes.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// SHA-256 of the declarations in all files of `wit/v1.0`, as [`digest`] computes it.
const V1_0_SHA256: &str = "e66b7235992db4c115d095240ab9cef2f584884e193aedb991c8cd2de7766b6d";

/// Collects the files of a folder and its subfolders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Computes the SHA-256 over the relative path, the length and the declarations of each file, in the
/// order of the paths.
fn digest(folder: &Path) -> String {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap().to_str().unwrap();
        let content = declarations(&fs::read_to_string(&file).unwrap());
        hash.update(format!("{} {}\n", name.replace('\\', "/"), content.len()));
        hash.update(content);
    }
    hex::encode(hash.finalize())
}

/// Returns the lines of a WIT file without comments, indentation and empty lines. Comments may become
/// more exact, and a component does not contain them.
fn declarations(wit: &str) -> String {
    let lines = wit.lines().map(str::trim);
    let declared = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    declared.collect::<Vec<_>>().join("\n")
}

#[test]
fn wit_v1_0_is_unchanged_since_its_freeze() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/v1.0");
    let actual = digest(&folder);
    assert_eq!(
        actual, V1_0_SHA256,
        "wit/v1.0 is frozen, but its declarations changed. Components built against it would no \
         longer load. Restore the folder with `git checkout -- wit/v1.0`. Put new interfaces into \
         wit/v1.1, as wit/README.md describes."
    );
}
