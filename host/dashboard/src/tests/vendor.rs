//! The files of other projects are those that `SUMS` names.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

#[test]
fn vendored_files_have_the_sums_of_their_packages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/vendor");
    let sums = fs::read_to_string(folder.join("SUMS")).unwrap();
    let mut known = Vec::new();
    for line in sums.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (sum, name) = (words.next().unwrap(), words.next().unwrap());
        let bytes = fs::read(folder.join(name)).unwrap();
        assert_eq!(hex::encode(Sha256::digest(bytes)), sum, "{name}");
        known.push(name.to_owned());
    }
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name.ends_with(".js")) {
        assert!(known.contains(&name), "{name} is not in SUMS");
    }
}
