//! The queue of future events of a scenario.

use anyhow::Result;
use host_domain::time::Timestamp;
use std::collections::BTreeMap;

/// Start of every scenario: 2026-01-01.
pub(super) const START: Timestamp = Timestamp(1_767_225_600_000);

/// An event, which changes the state of its scenario.
type Event<S> = Box<dyn FnOnce(&mut S) -> Result<()>>;

/// Future events in the order of their times. Events of the same time keep the order in which they
/// were planned.
pub(super) struct Agenda<S> {
    events: BTreeMap<(Timestamp, u64), Event<S>>,
    names: u64,
}

impl<S> Agenda<S> {
    pub(super) const fn new() -> Self {
        Self {
            events: BTreeMap::new(),
            names: 0,
        }
    }

    /// Returns a number that is unique in this scenario.
    pub(super) const fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    pub(super) fn plan(
        &mut self,
        at: Timestamp,
        event: impl FnOnce(&mut S) -> Result<()> + 'static,
    ) {
        let place = self.name();
        self.events.insert((at, place), Box::new(event));
    }

    /// Returns the time of the next event.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    /// Removes and returns the first event up to the given time.
    pub(super) fn take(&mut self, until: Timestamp) -> Option<Event<S>> {
        let first = self.events.first_entry()?;
        (first.key().0 <= until).then(|| first.remove())
    }
}
