//! The violations of a request: where each is, and how many a response names.

use serde::Serialize;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Maximum number of violations in a response. A large body could contain one in every byte.
const VIOLATIONS_MAX: usize = 100;

/// Part of a request that contains a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ViolationPlace)]
pub(crate) enum ViolationLocation {
    /// The JSON body.
    Body,
    /// A query parameter.
    Query,
    /// A header.
    Header,
    /// A part of the path.
    Path,
}

/// A violation in a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub(crate) struct Violation {
    /// Part of the request that contains the violation.
    #[serde(rename = "in")]
    pub location: ViolationLocation,
    /// JSON pointer into the body, or `/name` of a parameter or header.
    #[schema(example = "/rooms/0/guests")]
    pub pointer: String,
    /// Kind of violation, e.g. `required`, `unknown_field`, `type`, `too_large`.
    #[schema(example = "one_adult_lead_required")]
    pub code: String,
    /// Explanation for developers, in one sentence.
    pub detail: String,
}

impl Violation {
    /// Creates a violation in the body; `pointer` is a JSON pointer.
    pub(crate) fn body(pointer: impl Into<String>, code: &str, detail: impl Into<String>) -> Self {
        Self::at(ViolationLocation::Body, pointer, code, detail)
    }

    pub(crate) fn at(
        location: ViolationLocation,
        pointer: impl Into<String>,
        code: &str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            location,
            pointer: pointer.into(),
            code: code.to_owned(),
            detail: detail.into(),
        }
    }
}

/// The different violations of a request, in order. It keeps one more than a response names, and no
/// further ones, so that its size does not depend on the size of the request.
#[derive(Debug, Default)]
pub(crate) struct ViolationList(Vec<Violation>);

impl ViolationList {
    /// Adds a violation, unless the list has it already or is full.
    pub(crate) fn push(&mut self, violation: Violation) {
        if !self.is_full()
            && let Err(at) = self.0.binary_search(&violation)
        {
            self.0.insert(at, violation);
        }
    }

    /// Returns whether the list has more violations than a response names.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() > VIOLATIONS_MAX
    }

    /// Adds the violations of another list, until this one is full.
    pub(crate) fn append(&mut self, other: Self) {
        self.extend(other.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[Violation] {
        &self.0
    }

    /// Returns the violations that a response names, and its `detail`, which counts the fields. The
    /// detail is `None` if there are no violations.
    pub(crate) fn into_response(self) -> (Vec<Violation>, Option<String>) {
        let mut violations = self.0;
        let fields = violations.iter().map(|one| (one.location, &one.pointer));
        let fields = fields.collect::<BTreeSet<_>>().len();
        let detail = match fields {
            0 => None,
            _ if violations.len() > VIOLATIONS_MAX => Some(format!(
                "more than {VIOLATIONS_MAX} violations; the first {VIOLATIONS_MAX} are named"
            )),
            1 => Some("1 field is not valid".to_owned()),
            several => Some(format!("{several} fields are not valid")),
        };
        violations.truncate(VIOLATIONS_MAX);
        (violations, detail)
    }
}

impl Extend<Violation> for ViolationList {
    /// Adds violations, until the list is full.
    fn extend<I: IntoIterator<Item = Violation>>(&mut self, violations: I) {
        violations.into_iter().for_each(|one| self.push(one));
    }
}

impl From<Vec<Violation>> for ViolationList {
    fn from(violations: Vec<Violation>) -> Self {
        let mut list = Self::default();
        list.extend(violations);
        list
    }
}
