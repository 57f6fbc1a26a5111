//! Changes of one row that come together: one after the other, in no order. Whoever
//! finds that somebody else was faster reads the row again and tries again, until its
//! call must be answered.

use crate::id::IdGenerator;
use crate::time::Deadline;
use crate::webhook::WebhookError;
use std::time::Duration;

/// The longest wait before the second try, in milliseconds.
const INITIAL_DELAY_MS: u64 = 10;
/// So often it doubles: with as many at once as one key may send, each has its turn.
const DOUBLINGS_MAX: u32 = 6;

/// Tries of one change.
pub(super) struct ConflictBackoff {
    conflicts: u32,
    deadline: Deadline,
}

impl ConflictBackoff {
    /// As many as there is time for.
    pub(super) const fn new(deadline: Deadline) -> Self {
        Self { conflicts: 0, deadline }
    }

    /// Waits until the next try, after somebody else was faster: for a random time, so
    /// that those who lost together do not come back together.
    ///
    /// # Errors
    /// [`WebhookError::Contended`] when there is no time for another one.
    #[expect(
        clippy::disallowed_methods,
        reason = "the others may be in another process: only trying again tells"
    )]
    pub(super) async fn wait(&mut self, ids: &dyn IdGenerator) -> Result<(), WebhookError> {
        let longest_ms = INITIAL_DELAY_MS << self.conflicts.min(DOUBLINGS_MAX);
        // The last bits of an identifier are random.
        let random = u64::from((ids.generate() & 0xffff) as u16);
        let wait = Duration::from_millis(random % longest_ms);
        if wait >= self.deadline.remaining() {
            return Err(WebhookError::TooManyConflicts);
        }
        self.conflicts = self.conflicts.saturating_add(1);
        tokio::time::sleep(wait).await;
        Ok(())
    }
}
