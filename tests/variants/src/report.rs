//! The violations that a run found, and how to repeat each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::operation::{Answer, AnswerKind};
use crate::settings::Settings;

/// Groups that are shown, unless the variants were selected by name.
const SHOWN_MAX: usize = 40;

/// The violations of an adapter, grouped by place and answer.
pub(crate) struct Report<'a> {
    adapter: &'a str,
    groups: BTreeMap<String, (usize, String)>,
    violations: usize,
}

impl<'a> Report<'a> {
    pub(crate) const fn new(adapter: &'a str) -> Self {
        Self {
            adapter,
            groups: BTreeMap::new(),
            violations: 0,
        }
    }

    /// Adds an answer that the response does not allow.
    pub(crate) fn add_answer(
        &mut self,
        group: &str,
        name: &str,
        allowed: &[AnswerKind],
        answer: &Answer,
    ) {
        let Answer { kind, identity, .. } = answer;
        let text = format!("expected one of {allowed:?}, got {kind:?}: {identity}");
        self.add(&format!("{group} {kind:?}"), name, &text);
    }

    /// Adds a violation. Of each group, one is shown.
    pub(crate) fn add(&mut self, group: &str, name: &str, text: &str) {
        self.violations += 1;
        let adapter = self.adapter;
        let shown = format!(
            "{adapter} {name}\n    {text}\n    cargo xtask variants --case '{adapter} {name}'\n"
        );
        let (count, _) = self.groups.entry(group.to_owned()).or_insert((0, shown));
        *count += 1;
    }

    /// Fails if there are violations.
    ///
    /// # Panics
    /// Panics with all groups.
    pub(crate) fn finish(self, settings: &Settings) {
        if self.violations == 0 {
            return;
        }
        let (violations, groups) = (self.violations, self.groups.len());
        let mut text = format!(
            "{}: {violations} violations in {groups} groups\n",
            self.adapter
        );
        let shown_max = if settings.case.is_some() {
            groups
        } else {
            SHOWN_MAX
        };
        for (count, shown) in self.groups.values().take(shown_max) {
            let _ = write!(text, "\n({count}) {shown}");
        }
        panic!("{text}");
    }
}
