//! Names with values, as the page of a booking lists them.

/// A name with a value, empty for none.
pub(super) struct Fact {
    pub(super) label: String,
    pub(super) value: String,
    pub(super) is_code: bool,
}

impl Fact {
    pub(super) fn text(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            value: value.into(),
            is_code: false,
        }
    }

    pub(super) fn code(label: impl Into<String>, value: Option<&str>) -> Self {
        Self {
            is_code: true,
            ..Self::text(label, value.unwrap_or_default())
        }
    }
}
