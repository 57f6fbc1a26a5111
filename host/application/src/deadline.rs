//! Deadlines and stopwatches, on the monotonic clock.

use std::time::Duration;

/// Time by which a request must be answered, on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(tokio::time::Instant);

impl Deadline {
    pub fn from_now(time: Duration) -> Self {
        Self(tokio::time::Instant::now() + time)
    }

    /// Returns the earlier of this deadline and `time` from now.
    pub fn capped_at(self, time: Duration) -> Self {
        self.min(Self::from_now(time))
    }

    /// Returns the time left; zero once the deadline has passed.
    pub fn remaining(self) -> Duration {
        self.0
            .saturating_duration_since(tokio::time::Instant::now())
    }

    /// Returns the deadline for `tokio::time::timeout_at`.
    pub fn instant(self) -> tokio::time::Instant {
        self.0
    }
}

/// Measures durations, for logs and metrics only.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(tokio::time::Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
