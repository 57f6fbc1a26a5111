//! Rules that a schema cannot express. They are checked for the valid values of a request even if
//! other values are not valid, so that one response names all violations.

use crate::problem::{Violation, ViolationList, ViolationLocation};
use crate::validation::shape::Shape;
use host_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Codes of violations that leave no value a rule could use. The others leave one, which is too
/// long or out of range.
const INVALID_VALUE_CODES: [&str; 5] = ["type", "required", "not_allowed", "format", "pattern"];
const INCOMPLETE_LIST_CODE: &str = "too_many";

/// Validation rules that a JSON schema cannot express.
pub(crate) trait Validate {
    /// Adds every violation to `found`. Pointers are relative to the request, e.g. `/check_out`.
    /// Required values that are not valid are replaced by others of the same form, so a rule asks
    /// [`Violations::are_valid`] about each value that it reads.
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        let _ = (now, found);
    }
}

/// Collects the violations that [`Validate`] finds.
pub(crate) struct Violations<'a> {
    location: ViolationLocation,
    found: &'a mut ViolationList,
    unusable: &'a UnusableValues,
}

impl Violations<'_> {
    pub(crate) fn push(
        &mut self,
        pointer: impl Into<String>,
        code: &str,
        detail: impl Into<String>,
    ) {
        self.found
            .push(Violation::at(self.location, pointer, code, detail));
    }

    /// Returns whether the values at the pointers are those of the request, and lists among them
    /// have all their items. The members and items of a value may still be invalid.
    pub(crate) fn are_valid(&self, pointers: &[&str]) -> bool {
        !pointers
            .iter()
            .any(|pointer| self.unusable.includes(pointer))
    }
}

/// The values of a request that its rules cannot use.
#[derive(Debug, Default)]
struct UnusableValues {
    /// Pointers of values that were replaced.
    replaced: Vec<String>,
    /// Pointers of lists that were read only up to their limit.
    incomplete: Vec<String>,
}

impl UnusableValues {
    fn includes(&self, pointer: &str) -> bool {
        self.incomplete.iter().any(|list| list == pointer) || self.is_replaced(pointer)
    }

    /// Returns whether the value at a pointer, or one that contains it, was replaced.
    fn is_replaced(&self, pointer: &str) -> bool {
        let mut replaced = self.replaced.iter();
        replaced.any(|outer| is_within(pointer, outer))
    }
}

/// Deserializes a value that was validated against its schema, and checks its rules with `check`.
/// `found` has the violations of the schema. Returns `None` if a value of the request is not valid.
pub(super) fn deserialize_and_check<T: DeserializeOwned>(
    location: ViolationLocation,
    mut value: Value,
    shape: &Shape,
    found: &mut ViolationList,
    check: impl FnOnce(&T, &mut Violations<'_>),
) -> Option<T> {
    let mut unusable = UnusableValues::default();
    replace_invalid(location, &mut value, shape, found, &mut unusable)?;
    // Each round replaces another value that the schema permits and the type does not.
    while !found.is_full() {
        let error = match serde_path_to_error::deserialize::<_, T>(&value) {
            Ok(request) => {
                let unusable = &unusable;
                let mut violations = Violations {
                    location,
                    found,
                    unusable,
                };
                check(&request, &mut violations);
                return unusable.replaced.is_empty().then_some(request);
            }
            Err(error) => error,
        };
        let pointer = pointer(error.path());
        let is_reported = found
            .as_slice()
            .iter()
            .any(|known| known.location == location && is_within(&known.pointer, &pointer));
        if !is_reported {
            let detail = error.inner().to_string();
            found.push(Violation::at(location, pointer.as_str(), "invalid", detail));
        }
        if pointer.is_empty() || unusable.is_replaced(&pointer) {
            return None;
        }
        replace(&mut value, shape, &pointer)?;
        unusable.replaced.push(pointer);
    }
    None
}

/// Replaces the values that their schema does not permit, outer ones first. Returns `None` if the
/// whole request is such a value.
fn replace_invalid(
    location: ViolationLocation,
    value: &mut Value,
    shape: &Shape,
    found: &ViolationList,
    unusable: &mut UnusableValues,
) -> Option<()> {
    let violations = found.as_slice().iter();
    let mut violations: Vec<&Violation> =
        violations.filter(|one| one.location == location).collect();
    violations.sort_by_key(|violation| violation.pointer.len());
    for Violation { pointer, code, .. } in violations {
        if code == INCOMPLETE_LIST_CODE {
            unusable.incomplete.push(pointer.clone());
        }
        if !INVALID_VALUE_CODES.contains(&code.as_str()) || unusable.is_replaced(pointer) {
            continue;
        }
        if pointer.is_empty() {
            return None;
        }
        replace(value, shape, pointer)?;
        unusable.replaced.push(pointer.clone());
    }
    Some(())
}

/// Replaces the value at a pointer, or adds it, with the stand-in of its form. Returns `None` if
/// the request has no such location.
fn replace(value: &mut Value, shape: &Shape, pointer: &str) -> Option<()> {
    let stand_in = shape.at(pointer)?.stand_in.clone();
    if let Some(invalid) = value.pointer_mut(pointer) {
        *invalid = stand_in;
        return Some(());
    }
    let (parent, name) = pointer.rsplit_once('/')?;
    let parent = value.pointer_mut(parent)?.as_object_mut()?;
    parent.insert(name.to_owned(), stand_in);
    Some(())
}

/// Returns whether a pointer names a value or something in it.
fn is_within(pointer: &str, value: &str) -> bool {
    let rest = pointer.strip_prefix(value);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    segments.map(|segment| format!("/{segment}")).collect()
}
