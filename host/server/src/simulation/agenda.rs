//! What is still to happen in a life, and when.

use host_domain::time::Timestamp;
use std::collections::BTreeMap;

/// When every life begins: 2026-01-01.
pub(super) const BIRTH: Timestamp = Timestamp(1_767_225_600_000);

/// Happenings in their order; of one instant, what was planned first.
pub(super) struct Agenda<H> {
    happenings: BTreeMap<(Timestamp, u64), H>,
    names: u64,
}

impl<H> Agenda<H> {
    pub(super) const fn new() -> Self {
        Self {
            happenings: BTreeMap::new(),
            names: 0,
        }
    }

    /// A number that nobody else in this life has.
    pub(super) const fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    pub(super) fn plan(&mut self, at: Timestamp, happening: H) {
        let place = self.name();
        self.happenings.insert((at, place), happening);
    }

    /// When something is planned next.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.happenings.keys().next().map(|(at, _)| *at)
    }

    /// What is planned until then, the first of it.
    pub(super) fn take(&mut self, until: Timestamp) -> Option<H> {
        let first = self.happenings.first_entry()?;
        (first.key().0 <= until).then(|| first.remove())
    }
}
