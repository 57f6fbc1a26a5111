//! The only place that reads the machine's clocks.

use host_domain::time::{Clock, Timestamp};
use std::time::Duration;

/// The machine's wall clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else takes"
    )]
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// When a request must have its answer, on the clock that only moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(tokio::time::Instant);

impl Deadline {
    /// This long from now.
    #[must_use]
    pub fn from_now(time: Duration) -> Self {
        Self(tokio::time::Instant::now() + time)
    }

    /// The earlier of this and so long from now.
    #[must_use]
    pub fn capped_at(self, time: Duration) -> Self {
        self.min(Self::from_now(time))
    }

    /// What is left; nothing once it has passed.
    #[must_use]
    pub fn remaining(self) -> Duration {
        self.0
            .saturating_duration_since(tokio::time::Instant::now())
    }

    /// For `tokio::time::timeout_at`.
    #[must_use]
    pub fn instant(self) -> tokio::time::Instant {
        self.0
    }
}

/// Measures how long something takes, for logs and metrics only.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(tokio::time::Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
