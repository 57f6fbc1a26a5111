//! Deletion of old records.

use crate::base::Base;
use crate::config::RequestsConfig;
use host_domain::id::{CallLogId, RequestLogId};
use host_domain::owner::Mode;
use host_domain::statistics::TimeResolution;
use host_domain::time::Timestamp;
use host_storage::DatabaseError;
use std::time::Duration;

pub(crate) const INTERVAL: Duration = Duration::from_secs(5 * 60);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MINUTES_KEPT_MS: i64 = 2 * DAY_MS;
const HOURS_KEPT_MS: i64 = 400 * DAY_MS;
const REMARKABLE_KEPT_MS: i64 = 8 * DAY_MS;
/// Rows that a statement deletes. On SQLite, bookings wait for it.
const BATCH_SIZE: u32 = 200;

/// Deletes records that are older than they are kept, or more than are kept.
pub(crate) struct RecordRetention {
    pub(crate) base: Base,
    pub(crate) config: RequestsConfig,
}

impl RecordRetention {
    pub(crate) async fn run_once(&self) -> Result<(), DatabaseError> {
        let now = self.base.now();
        self.trim_requests(now).await?;
        self.trim_calls(now).await?;
        let store = &self.base.store;
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
        store
            .purge_booked_amounts(now.plus_ms(-HOURS_KEPT_MS))
            .await?;
        let before = now.plus_ms(-REMARKABLE_KEPT_MS);
        while store.purge_remarkable_calls(before, BATCH_SIZE).await? > 0 {}
        Ok(())
    }

    /// Returns the time from which entries are kept.
    fn kept_since(&self, now: Timestamp) -> Timestamp {
        now.plus_ms(-i64::from(self.config.days) * DAY_MS)
    }

    async fn trim_requests(&self, now: Timestamp) -> Result<(), DatabaseError> {
        let store = &self.base.store;
        let before = RequestLogId::lowest_at(self.kept_since(now));
        for mode in Mode::ALL {
            while store.purge_request_log(mode, &before, BATCH_SIZE).await? > 0 {}
        }
        let mut excess = store
            .request_log_count()
            .await?
            .saturating_sub(self.config.rows_max);
        let any = RequestLogId::lowest_at(now.plus_ms(DAY_MS));
        while excess > 0 {
            let [test, live] = Mode::ALL;
            let (test_oldest, live_oldest) = (
                store.oldest_logged_request(test).await?,
                store.oldest_logged_request(live).await?,
            );
            let mode = older_mode(test_oldest, live_oldest);
            let deleted = store.purge_request_log(mode, &any, BATCH_SIZE).await?;
            excess = if deleted == 0 {
                0
            } else {
                excess.saturating_sub(deleted)
            };
        }
        Ok(())
    }

    async fn trim_calls(&self, now: Timestamp) -> Result<(), DatabaseError> {
        let store = &self.base.store;
        let before = CallLogId::lowest_at(self.kept_since(now));
        for mode in Mode::ALL {
            while store.purge_call_log(mode, &before, BATCH_SIZE).await? > 0 {}
        }
        let mut excess = store
            .call_log_count()
            .await?
            .saturating_sub(self.config.rows_max);
        let any = CallLogId::lowest_at(now.plus_ms(DAY_MS));
        while excess > 0 {
            let [test, live] = Mode::ALL;
            let (test_oldest, live_oldest) = (
                store.oldest_logged_call(test).await?,
                store.oldest_logged_call(live).await?,
            );
            let mode = older_mode(test_oldest, live_oldest);
            let deleted = store.purge_call_log(mode, &any, BATCH_SIZE).await?;
            excess = if deleted == 0 {
                0
            } else {
                excess.saturating_sub(deleted)
            };
        }
        Ok(())
    }
}

/// Returns the mode that has the older entry.
fn older_mode<I: Ord>(test: Option<I>, live: Option<I>) -> Mode {
    match (test, live) {
        (Some(test), Some(live)) if live < test => Mode::Live,
        (None, Some(_)) => Mode::Live,
        (Some(_) | None, Some(_) | None) => Mode::Test,
    }
}
