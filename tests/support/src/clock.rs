//! A clock that moves only when a test moves it.

use host_domain::time::{Clock, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that tests share with the code under test.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock that stands at this time.
    pub const fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    /// Advances the time by milliseconds.
    pub fn advance_ms(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}
