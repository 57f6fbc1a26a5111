//! Deletion of old records.

use crate::base::Base;
use crate::config::RequestsConfig;
use crate::recording::row_count::RowCount;
use host_domain::owner::Mode;
use host_domain::statistics::TimeResolution;
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, LogTable};
use std::time::Duration;
use tokio::sync::Mutex;

/// A log has more entries than its maximum for at most this time.
pub(crate) const LOG_INTERVAL: Duration = Duration::from_secs(60);
pub(crate) const STATISTICS_INTERVAL: Duration = Duration::from_secs(5 * 60);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
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
    count: Mutex<RowCount>,
}

impl LogRetention {
    pub(crate) fn new(base: Base, config: RequestsConfig, log: LogTable) -> Self {
        Self {
            base,
            config,
            log,
            count: Mutex::default(),
        }
    }

    pub(crate) async fn run_once(&self) -> Result<(), DatabaseError> {
        let now = self.base.now();
        let kept_since = now.plus_ms(-i64::from(self.config.days) * DAY_MS);
        for mode in Mode::ALL {
            while self.purge(mode, kept_since, BATCH_SIZE).await? > 0 {}
        }
        let mut count = self.count.lock().await;
        let rows = count.refresh(&self.base.store, self.log, now).await?;
        let mut excess = rows.saturating_sub(self.config.rows_max);
        while excess > 0 {
            let [test, live] = Mode::ALL;
            let test_oldest = self.base.store.oldest_log_id(self.log, test).await?;
            let live_oldest = self.base.store.oldest_log_id(self.log, live).await?;
            let mode = older_mode(test_oldest, live_oldest);
            let limit = u32::try_from(excess).map_or(BATCH_SIZE, |rows| rows.min(BATCH_SIZE));
            let deleted = self.purge(mode, now.plus_ms(DAY_MS), limit).await?;
            excess = if deleted == 0 {
                0
            } else {
                excess.saturating_sub(deleted)
            };
        }
        Ok(())
    }

    async fn purge(&self, mode: Mode, before: Timestamp, limit: u32) -> Result<u64, DatabaseError> {
        let store = &self.base.store;
        store.purge_log(self.log, mode, before, limit).await
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id_generator::UuidV7Generator;
    use host_domain::id::RequestLogId;
    use host_domain::request_log::LoggedRequest;
    use host_storage::{LogPeriod, Store, StoreOptions};
    use std::sync::Arc;
    use test_support::ManualClock;

    const START: i64 = 1_800_000_000_000;
    const MINUTE_MS: i64 = 60_000;

    fn request(at: Timestamp, bits: u128, mode: Mode) -> LoggedRequest {
        LoggedRequest {
            id: RequestLogId::at(at, bits),
            organization: "acme".to_owned(),
            mode,
            request_id: format!("req_{bits}"),
            at,
            method: "GET".to_owned(),
            route: "/v1/suppliers".to_owned(),
            path: "/v1/suppliers".to_owned(),
            status: 200,
            duration_us: 1,
            key: None,
            user: "org".to_owned(),
            booking: None,
            code: None,
            host: "host-1".to_owned(),
        }
    }

    async fn insert(base: &Base, numbers: std::ops::Range<u128>) {
        let mode = |number| Mode::ALL[usize::from(number % 3 == 0)];
        let rows = numbers.map(|number| (request(base.now(), number, mode(number)), None));
        let rows: Vec<_> = rows.collect();
        let mut write = base.unit_of_work();
        write.insert_request_log(&rows);
        base.store.commit(write).await.unwrap();
    }

    async fn rows(store: &Store) -> u64 {
        let log = LogTable::Requests;
        let all = LogPeriod::at(log, Timestamp(0));
        let mut rows = 0;
        for mode in Mode::ALL {
            let counted = store.log_counts(log, mode, &all, None).await.unwrap();
            rows += counted.iter().map(|(_, number)| number).sum::<u64>();
        }
        rows
    }

    #[tokio::test]
    async fn log_has_its_maximum_after_each_run() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("stopover.db").display());
        let options = StoreOptions::default();
        let store = Store::open(&url, &options).await.unwrap();
        store.migrate().await.unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp(START)));
        let base = Base {
            store: store.clone(),
            clock: clock.clone(),
            ids: Arc::new(UuidV7Generator),
        };
        let config = RequestsConfig {
            days: 7,
            rows_max: 100,
        };
        // Two processes.
        let retention = || LogRetention::new(base.clone(), config.clone(), LogTable::Requests);
        let (here, elsewhere) = (retention(), retention());
        let mut number = 0;
        for (minute, added, expected) in [
            (0, 40, 40),
            (1, 1_000, 100),
            (2, 20, 100),
            (10, 0, 100),
            (11, 130, 100),
            (30, 99, 100),
            (31, 5, 100),
            // Those before the last five are too old now.
            (31 + 7 * 24 * 60, 3, 8),
            (32 + 7 * 24 * 60, 98, 100),
        ] {
            if minute == 30 {
                // No run follows for 14 minutes.
                clock.set(Timestamp(START + 16 * MINUTE_MS));
                insert(&base, number..number + 60).await;
                number += 60;
            }
            clock.set(Timestamp(START + minute * MINUTE_MS));
            insert(&base, number..number + added).await;
            number += added;
            here.run_once().await.unwrap();
            assert_eq!(rows(&store).await, expected, "minute {minute}");
            elsewhere.run_once().await.unwrap();
            assert_eq!(rows(&store).await, expected, "minute {minute}");
        }
        store.close().await;
    }
}
