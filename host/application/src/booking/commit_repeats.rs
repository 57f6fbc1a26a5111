//! Repeats a commit whose response was lost until the database answers. The preconditions of the
//! commit ensure that it takes effect once.

use host_domain::booking::PREBOOK_TIMEOUT_MS;
use host_storage::DatabaseError;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const DELAY_MIN: Duration = Duration::from_millis(50);
const DELAY_MAX: Duration = Duration::from_secs(1);

/// Time after which a commit is repeated no more: the timer of the booking then decides.
const REPEAT_FOR: Duration = Duration::from_millis(PREBOOK_TIMEOUT_MS.unsigned_abs());

pub struct CommitRepeats {
    /// Whether an earlier commit may have happened, so that an unreachable database is no answer.
    is_open: bool,
    delay: Duration,
    until: Instant,
    shutdown: CancellationToken,
}

impl CommitRepeats {
    /// Repeats a commit once its response was lost. If the database cannot be reached before, the
    /// caller can try again.
    pub fn after_lost_response(shutdown: CancellationToken) -> Self {
        Self {
            is_open: false,
            delay: DELAY_MIN,
            until: Instant::now() + REPEAT_FOR,
            shutdown,
        }
    }

    /// Repeats a commit that has to happen, because it stores the outcome of a call.
    pub fn until_stored(shutdown: CancellationToken) -> Self {
        Self {
            is_open: true,
            ..Self::after_lost_response(shutdown)
        }
    }

    /// Waits before the next repetition. Returns `false` if the error is the answer, after 15
    /// minutes, and at shutdown.
    #[expect(
        clippy::disallowed_methods,
        reason = "only another attempt shows whether the database answers"
    )]
    pub async fn wait_after(&mut self, error: &DatabaseError) -> bool {
        self.is_open |= matches!(error, DatabaseError::CommitUnknown(_));
        let is_unanswered = match error {
            DatabaseError::CommitUnknown(_) | DatabaseError::Unavailable(_) => self.is_open,
            DatabaseError::Decode { .. }
            | DatabaseError::Encode(_)
            | DatabaseError::InvalidStatement(_)
            | DatabaseError::Closed => false,
        };
        if !is_unanswered || Instant::now() + self.delay >= self.until {
            return false;
        }
        let delay = self.delay;
        self.delay = (delay * 2).min(DELAY_MAX);
        tokio::select! {
            () = self.shutdown.cancelled() => false,
            () = tokio::time::sleep(delay) => true,
        }
    }
}
