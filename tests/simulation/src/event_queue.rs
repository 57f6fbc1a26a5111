//! The queue of future events of a scenario.

use anyhow::Result;
use host_domain::time::Timestamp;
use std::collections::BTreeMap;

/// Start of every scenario: 2026-01-01.
pub(super) const START: Timestamp = Timestamp(1_767_225_600_000);

/// An event, which changes the state of its scenario.
type Event<S> = Box<dyn FnOnce(&mut S) -> Result<()>>;

/// Future events in the order of their times. Events of the same time keep the order in which they
/// were scheduled.
pub(super) struct EventQueue<S> {
    events: BTreeMap<(Timestamp, u64), Event<S>>,
    last_number: u64,
}

impl<S> EventQueue<S> {
    pub(super) const fn new() -> Self {
        Self {
            events: BTreeMap::new(),
            last_number: 0,
        }
    }

    /// Returns a number that is unique in this scenario.
    pub(super) const fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    pub(super) fn schedule(
        &mut self,
        at: Timestamp,
        event: impl FnOnce(&mut S) -> Result<()> + 'static,
    ) {
        let number = self.next_number();
        self.events.insert((at, number), Box::new(event));
    }

    /// Returns the time of the next event.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    /// Removes and returns the first event up to the given time.
    pub(super) fn pop_due(&mut self, until: Timestamp) -> Option<Event<S>> {
        let first = self.events.first_entry()?;
        (first.key().0 <= until).then(|| first.remove())
    }
}
