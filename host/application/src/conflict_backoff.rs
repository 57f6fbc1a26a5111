//! Optimistic retries of changes to one row. Concurrent changes succeed one after another, in no
//! fixed order. A call that loses a conflict reads the row again and retries until its deadline.

use crate::deadline::Deadline;
use crate::id_generator::IdGenerator;
use std::time::Duration;

/// Maximum delay before the first retry, in milliseconds.
const INITIAL_DELAY_MS: u64 = 10;
/// Number of times that this maximum doubles. It is enough for as many concurrent changes as one
/// API key may send.
const DOUBLINGS_MAX: u32 = 6;

#[derive(Debug, thiserror::Error)]
#[error("too many concurrent changes; try again")]
pub struct DeadlinePassed;

pub struct ConflictBackoff {
    conflicts: u32,
    deadline: Deadline,
}

impl ConflictBackoff {
    /// Creates the retries of a change; their number is limited only by the deadline.
    pub const fn new(deadline: Deadline) -> Self {
        Self {
            conflicts: 0,
            deadline,
        }
    }

    /// Waits before the next attempt after a conflict. The delay is random, so that calls that lost
    /// together do not retry together.
    ///
    /// # Errors
    /// [`DeadlinePassed`] if the deadline leaves no time for another attempt.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other calls may run in another process, so only another attempt shows whether the conflict is over"
    )]
    pub async fn wait(&mut self, ids: &dyn IdGenerator) -> Result<(), DeadlinePassed> {
        let longest_ms = INITIAL_DELAY_MS << self.conflicts.min(DOUBLINGS_MAX);
        // The last bits of an identifier are random.
        let random = u64::from((ids.generate() & 0xffff) as u16);
        let wait = Duration::from_millis(random % longest_ms);
        if wait >= self.deadline.remaining() {
            return Err(DeadlinePassed);
        }
        self.conflicts = self.conflicts.saturating_add(1);
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
