//! The number of entries of a log, without reading all of it again and again.

use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, LogPeriod, LogTable, Store};
use std::collections::BTreeMap;

/// Time after which the whole index is read again, some hundred megabytes for 5 million entries.
const WHOLE_COUNT_INTERVAL_MS: i64 = 60 * 60 * 1000;
/// Age up to which entries may still be added, because a writer is late.
const LATE_MS: i64 = 5 * 60 * 1000;

/// The numbers of a log's entries by period. Entries are added at the end and deleted at the beginning,
/// also by other processes, so the periods between are not counted again.
#[derive(Default)]
pub(super) struct RowCount {
    /// Time of the last count of everything.
    counted_at: Option<Timestamp>,
    /// Time of the last count of what may have changed.
    refreshed_at: Option<Timestamp>,
    by_mode: [BTreeMap<LogPeriod, u64>; Mode::ALL.len()],
}

impl RowCount {
    /// Counts what may have changed and returns the number of entries.
    pub(super) async fn refresh(
        &mut self,
        store: &Store,
        log: LogTable,
        now: Timestamp,
    ) -> Result<u64, DatabaseError> {
        let is_due = |at: Timestamp| now.since(at) >= WHOLE_COUNT_INTERVAL_MS;
        let counts_all = self.counted_at.is_none_or(is_due);
        let refreshed_at = self.refreshed_at.map_or(now, |at| at.min(now));
        for (mode, periods) in Mode::ALL.into_iter().zip(&mut self.by_mode) {
            let Some(oldest) = store.oldest_log_id(log, mode).await? else {
                periods.clear();
                continue;
            };
            let oldest = LogPeriod::of_entry(&oldest);
            let recent = LogPeriod::at(log, refreshed_at.plus_ms(-LATE_MS)).max(oldest.clone());
            if counts_all {
                let counted = store.log_counts(log, mode, &oldest, None).await?;
                *periods = counted.into_iter().collect();
                continue;
            }
            periods.retain(|period, _| (&oldest..&recent).contains(&period));
            if oldest < recent {
                let counted = store.log_counts(log, mode, &oldest, Some(&oldest));
                periods.extend(counted.await?);
            }
            periods.extend(store.log_counts(log, mode, &recent, None).await?);
        }
        if counts_all {
            self.counted_at = Some(now);
        }
        self.refreshed_at = Some(now);
        Ok(self.by_mode.iter().flat_map(BTreeMap::values).sum())
    }
}
