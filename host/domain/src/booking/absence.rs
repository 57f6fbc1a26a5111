//! The lookups of a booking after it failed because its supplier did not have it. A supplier may
//! make a booking later than its adapter promises.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The lookups that follow the failure of a booking by absence, and what they found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsenceRecheck {
    /// Time at which the booking failed.
    pub failed_at: Timestamp,
    /// Time of the next lookup; `None` after the last one, and once an orphan was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The booking that was found, until an operator resolves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphan: Option<Orphan>,
}

/// A booking that the supplier has, although it failed at the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orphan {
    pub supplier_reference: String,
    /// Time at which it was found.
    pub found_at: Timestamp,
}

impl AbsenceRecheck {
    pub(crate) const fn new(failed_at: Timestamp, due_at: Option<Timestamp>) -> Self {
        Self {
            failed_at,
            due_at,
            orphan: None,
        }
    }

    /// Makes the next lookup due at `now`, because the supplier reported a change. This also holds
    /// after the last scheduled lookup. Returns `false` if an orphan is already known.
    pub(crate) fn expedite(&mut self, now: Timestamp) -> bool {
        let is_open = self.orphan.is_none();
        if is_open {
            self.due_at = Some(self.due_at.map_or(now, |at| at.min(now)));
        }
        is_open
    }
}
