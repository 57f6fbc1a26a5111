//! The queue of future events of a scenario.

use host_domain::time::Timestamp;
use std::collections::BTreeMap;

/// Start of every scenario: 2026-01-01.
pub(super) const BIRTH: Timestamp = Timestamp(1_767_225_600_000);

/// Future events in the order of their times. Events of the same time keep the order in which they
/// were planned.
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

    /// Returns a number that is unique in this scenario.
    pub(super) const fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    pub(super) fn plan(&mut self, at: Timestamp, happening: H) {
        let place = self.name();
        self.happenings.insert((at, place), happening);
    }

    /// Returns the time of the next event.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.happenings.keys().next().map(|(at, _)| *at)
    }

    /// Removes and returns the first event up to the given time.
    pub(super) fn take(&mut self, until: Timestamp) -> Option<H> {
        let first = self.happenings.first_entry()?;
        (first.key().0 <= until).then(|| first.remove())
    }
}
