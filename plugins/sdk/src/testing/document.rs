//! Documents of suppliers: fixtures in files, and copies with other values.

use std::fmt::Debug;
use std::fs;
use std::io::{self, Write as _};
use std::mem::discriminant;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

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

/// A check of a document and of the HTTP status in its name, which is 0 for a request.
pub type DocumentCheck = fn(&str, u16);

/// Checks each document of a folder by the check with the first prefix that its name has. The
/// status is the number after the name's first `__`. Without the folder nothing is checked.
///
/// # Errors
/// Fails if a file or a folder cannot be read.
///
/// # Panics
/// Panics if a check has no document.
pub fn check_documents(folder: &Path, checks: &[(&str, DocumentCheck)]) -> io::Result<()> {
    let Some(documents) = read_documents(folder)? else {
        return Ok(());
    };
    let mut unused: Vec<&str> = checks.iter().map(|(prefix, _)| *prefix).collect();
    for (name, document) in documents {
        if let Some((prefix, check)) = checks.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            let part = name.split("__").nth(1).and_then(|part| part.get(..3));
            let status = part.and_then(|status| status.parse().ok());
            check(&document, status.unwrap_or(0));
            unused.retain(|unused| unused != prefix);
        }
    }
    assert!(unused.is_empty(), "no documents {unused:?}");
    Ok(())
}

/// Checks that every field of a request is in a supplier's example, with a value of the same type.
/// The fields in `optional` may be missing from the example.
///
/// # Panics
/// Panics if a field is unknown or has another type.
pub fn check_known_fields(sent: &Value, example: &Value, optional: &[&str]) {
    match (sent, example) {
        (Value::Object(sent), Value::Object(example)) => {
            for (field, value) in sent {
                match example.get(field) {
                    Some(known) => check_known_fields(value, known, optional),
                    None => assert!(optional.contains(&field.as_str()), "{field}"),
                }
            }
        }
        (Value::Array(sent), Value::Array(example)) => {
            let known = example.first().unwrap_or(&Value::Null);
            for value in sent {
                check_known_fields(value, known, optional);
            }
        }
        (sent, example) => assert_eq!(discriminant(sent), discriminant(example), "{sent}"),
    }
}

/// Checks a schema of settings: it has exactly these properties, in alphabetical order, their
/// defaults are those of the type, and the type accepts each listed value.
///
/// # Panics
/// Panics if schema and type differ.
pub fn check_settings_schema<T>(schema: &str, names: &[&str])
where
    T: Debug + Default + DeserializeOwned + PartialEq,
{
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties: Vec<(&String, &Value)> = properties.into_iter().flatten().collect();
    assert!(properties.iter().map(|(name, _)| *name).eq(names));
    let read = |settings| serde_json::from_value::<T>(Value::Object(settings)).ok();
    let default = |(name, property): &(&String, &Value)| {
        Some(((*name).clone(), property.get("default")?.clone()))
    };
    let defaults: Map<String, Value> = properties.iter().filter_map(default).collect();
    assert_eq!(read(defaults), Some(T::default()));
    for (name, property) in properties {
        let listed = property.get("enum").and_then(Value::as_array);
        for value in listed.into_iter().flatten() {
            let settings = Map::from_iter([(name.clone(), json!(value))]);
            assert!(read(settings).is_some(), "{name}: {value}");
        }
    }
}
