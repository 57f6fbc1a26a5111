//! Documents of suppliers: fixtures in files, and copies with other values.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::Value;

/// Reads a file of a package's folder `fixtures`.
///
/// # Panics
/// Panics if there is no such file.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn read_fixture(manifest_dir: &str, name: &str) -> String {
    let path = Path::new(manifest_dir).join("fixtures").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a document with values replaced, by JSON pointer.
///
/// # Panics
/// Panics if a pointer does not exist in the document.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn with_values(mut document: Value, values: &[(&str, Value)]) -> Value {
    for (pointer, value) in values {
        match document.pointer_mut(pointer) {
            Some(place) => place.clone_from(value),
            None => panic!("the document has no {pointer}"),
        }
    }
    document
}

/// Reads the JSON files of a folder and of its folders: paths below the folder, and texts. Returns
/// `None` if the folder is missing, and says so on stderr, because a test then checks nothing.
///
/// # Errors
/// Fails if a file or a folder cannot be read.
pub fn read_documents(folder: &Path) -> io::Result<Option<Vec<(String, String)>>> {
    // The test harness shows captured output of failed tests only, so stderr is written directly.
    let mut stderr = io::stderr();
    if !folder.is_dir() {
        writeln!(stderr, "skipped: {} is missing", folder.display())?;
        return Ok(None);
    }
    let mut documents = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let name = path.strip_prefix(folder).unwrap_or(&path);
                documents.push((name.display().to_string(), fs::read_to_string(&path)?));
            }
        }
    }
    documents.sort();
    writeln!(stderr, "replays documents of {}", folder.display())?;
    Ok(Some(documents))
}
