//! Documents of suppliers: fixtures in files, and copies with other values.

use std::path::Path;

use serde_json::Value;

/// Reads a file of a package's folder `fixtures`.
///
/// # Panics
/// Panics if there is no such file.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn read_fixture(manifest_dir: &str, name: &str) -> String {
    let path = Path::new(manifest_dir).join("fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
