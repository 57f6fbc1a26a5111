//! Deadlines and stopwatches, on the monotonic clock.

use std::time::Duration;

/// Time by which a request must be answered, on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(tokio::time::Instant);

impl Deadline {
    /// Returns the deadline `time` from now.
    #[must_use]
    pub fn from_now(time: Duration) -> Self {
        Self(tokio::time::Instant::now() + time)
    }

    /// Returns the earlier of this deadline and `time` from now.
    #[must_use]
    pub fn capped_at(self, time: Duration) -> Self {
        self.min(Self::from_now(time))
    }

    /// Returns the time left; zero once the deadline has passed.
    #[must_use]
    pub fn remaining(self) -> Duration {
        self.0
            .saturating_duration_since(tokio::time::Instant::now())
    }

    /// Returns the deadline for `tokio::time::timeout_at`.
    #[must_use]
    pub fn instant(self) -> tokio::time::Instant {
        self.0
    }
}

/// Measures durations, for logs and metrics only.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(tokio::time::Instant);

impl Stopwatch {
    /// Starts a stopwatch.
    #[must_use]
    pub fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
