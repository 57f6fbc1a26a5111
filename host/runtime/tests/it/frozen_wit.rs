//! Protection of the released plugin interface against accidental changes.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// SHA-256 of all files of `wit/v1.0`, as [`digest`] computes it.
const V1_0_SHA256: &str = "0e0fd4bddd9c463c74458fe02ecd21343232552f0d7ecafe2790fb0d5b63e867";

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

/// Computes the SHA-256 over the relative path, the length and the content of each file, in the
/// order of the paths. Line endings count as `\n`, because Git may convert them at checkout.
fn digest(folder: &Path) -> String {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap().to_str().unwrap();
        let content = fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
        hash.update(format!("{} {}\n", name.replace('\\', "/"), content.len()));
        hash.update(content);
    }
    hex::encode(hash.finalize())
}

#[test]
fn wit_v1_0_is_unchanged_since_its_freeze() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/v1.0");
    let actual = digest(&folder);
    assert_eq!(
        actual, V1_0_SHA256,
        "wit/v1.0 is frozen, but its files changed. Components built against it would no longer \
         load. Restore the folder with `git checkout -- wit/v1.0`. Put new interfaces into \
         wit/v1.1, as wit/README.md describes. If only comments changed, set V1_0_SHA256 to the \
         new digest."
    );
}
