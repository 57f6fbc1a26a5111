//! A number of the overview, for `components/figure.html`.

use crate::sparkline::Sparkline;

pub(super) struct Figure {
    pub(super) label: &'static str,
    /// The number with its unit.
    pub(super) value: String,
    /// Comparison or explanation, empty for none.
    pub(super) detail: String,
    /// `wait`, `bad`, or empty.
    pub(super) tone: &'static str,
    /// The list behind the figure.
    pub(super) path: Option<String>,
    pub(super) sparkline: Option<Sparkline>,
}

impl Figure {
    /// Returns a figure without explanations.
    pub(super) fn plain(label: &'static str, value: String) -> Self {
        Self {
            label,
            value,
            detail: String::new(),
            tone: "",
            path: None,
            sparkline: None,
        }
    }
}
