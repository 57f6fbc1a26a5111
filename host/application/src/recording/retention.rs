//! Deletion of old records.

use crate::base::Base;
use crate::config::RequestsConfig;
use host_domain::owner::Mode;
use host_domain::statistics::TimeResolution;
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, LogTable};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

pub(crate) const INTERVAL: Duration = Duration::from_secs(5 * 60);

const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;
const MINUTES_KEPT_MS: i64 = 2 * DAY_MS;
const HOURS_KEPT_MS: i64 = 400 * DAY_MS;
const REMARKABLE_KEPT_MS: i64 = 8 * DAY_MS;
/// Rows that a statement deletes. On SQLite, bookings wait for it.
const BATCH_SIZE: u32 = 200;

/// Deletes entries of a log that are older than they are kept, or more than are kept.
pub(crate) struct LogRetention {
    base: Base,
    config: RequestsConfig,
    log: LogTable,
    /// Time before which the entries are not counted again, in milliseconds.
    next_count: AtomicI64,
}

impl LogRetention {
    pub(crate) const fn new(base: Base, config: RequestsConfig, log: LogTable) -> Self {
        Self {
            base,
            config,
            log,
            next_count: AtomicI64::new(0),
        }
    }

    pub(crate) async fn run_once(&self) -> Result<(), DatabaseError> {
        let now = self.base.now();
        let kept_since = now.plus_ms(-i64::from(self.config.days) * DAY_MS);
        for mode in Mode::ALL {
            while self.purge(mode, kept_since).await? > 0 {}
        }
        let mut excess = self.excess(now).await?;
        while excess > 0 {
            let [test, live] = Mode::ALL;
            let test_oldest = self.base.store.oldest_log_id(self.log, test).await?;
            let live_oldest = self.base.store.oldest_log_id(self.log, live).await?;
            let mode = older_mode(test_oldest, live_oldest);
            let deleted = self.purge(mode, now.plus_ms(DAY_MS)).await?;
            excess = if deleted == 0 {
                0
            } else {
                excess.saturating_sub(deleted)
            };
        }
        Ok(())
    }

    async fn purge(&self, mode: Mode, before: Timestamp) -> Result<u64, DatabaseError> {
        let store = &self.base.store;
        store.purge_log(self.log, mode, before, BATCH_SIZE).await
    }

    /// Returns the number of entries above the maximum. A count reads a whole index, some hundred
    /// megabytes for 5 million entries, so a log that is far from its maximum is counted once an
    /// hour.
    async fn excess(&self, now: Timestamp) -> Result<u64, DatabaseError> {
        if now.0 < self.next_count.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let (count, maximum) = (
            self.base.store.log_count(self.log).await?,
            self.config.rows_max,
        );
        if count < maximum / 2 {
            self.next_count.store(now.0 + HOUR_MS, Ordering::Relaxed);
        }
        Ok(count.saturating_sub(maximum))
    }
}

/// Deletes statistics that are older than they are kept.
pub(crate) struct StatisticsRetention {
    pub(crate) base: Base,
}

impl StatisticsRetention {
    pub(crate) async fn run_once(&self) -> Result<(), DatabaseError> {
        let (store, now) = (&self.base.store, self.base.now());
        for (resolution, kept_ms) in [
            (TimeResolution::Minute, MINUTES_KEPT_MS),
            (TimeResolution::Hour, HOURS_KEPT_MS),
        ] {
            let before = now.plus_ms(-kept_ms);
            while store
                .purge_statistics(resolution, before, BATCH_SIZE)
                .await?
                > 0
            {}
        }
        let before = now.plus_ms(-HOURS_KEPT_MS);
        store.purge_booked_amounts(before).await?;
        let before = now.plus_ms(-REMARKABLE_KEPT_MS);
        while store.purge_remarkable_calls(before, BATCH_SIZE).await? > 0 {}
        Ok(())
    }
}

/// Returns the mode that has the older entry.
fn older_mode(test: Option<String>, live: Option<String>) -> Mode {
    match (test, live) {
        (Some(test), Some(live)) if live < test => Mode::Live,
        (None, Some(_)) => Mode::Live,
        (Some(_) | None, Some(_) | None) => Mode::Test,
    }
}
