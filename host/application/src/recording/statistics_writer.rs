//! Storing of the statistics.

use crate::base::Base;
use crate::error_chain::describe_error_chain;
use crate::recording::counters::{CountedRows, TakenCounters};
use crate::recording::limits::{STATISTICS_PART_ROWS_MAX, STATISTICS_PARTS_MAX};
use crate::recording::recorder::TrafficRecorder;
use host_storage::DatabaseError;
use std::collections::VecDeque;
use std::sync::Arc;

/// Stores statistics in parts, so that bookings do not wait long for them on SQLite. Parts that the
/// database did not take are kept and tried again.
pub(super) struct StatisticsWriter {
    base: Base,
    recorder: Arc<TrafficRecorder>,
    /// Name of this machine.
    host: String,
    waiting: VecDeque<CountedRows>,
}

impl StatisticsWriter {
    pub(super) const fn new(base: Base, recorder: Arc<TrafficRecorder>, host: String) -> Self {
        Self {
            base,
            recorder,
            host,
            waiting: VecDeque::new(),
        }
    }

    /// Stores what was counted since the last time.
    pub(super) async fn write(&mut self) {
        let counters = self.recorder.counters().take(self.base.now());
        self.store(counters).await;
    }

    /// Stores what was counted since the last time, also of the minute that is not over. What cannot
    /// be stored is lost.
    pub(super) async fn finish(mut self) {
        let counters = self.recorder.counters().take_all();
        self.store(counters).await;
        let lost = self.waiting.iter().map(CountedRows::len).sum();
        self.recorder.count_dropped("statistics", lost);
    }

    async fn store(&mut self, counters: TakenCounters) {
        let rows = counters.into_rows(&self.host);
        self.waiting
            .extend(rows.into_parts(STATISTICS_PART_ROWS_MAX));
        while let Some(part) = self.waiting.front() {
            match self.commit(part).await {
                Ok(()) => {}
                Err(error @ DatabaseError::CommitUnknown(_)) => {
                    // The numbers may be stored, and would be counted twice.
                    self.report_lost(part, &error);
                }
                Err(error) if self.waiting.len() > STATISTICS_PARTS_MAX => {
                    self.report_lost(part, &error);
                }
                Err(error) => {
                    tracing::warn!(error = %describe_error_chain(&error), "statistics could not be stored; they are kept and stored later");
                    return;
                }
            }
            self.waiting.pop_front();
        }
    }

    async fn commit(&self, rows: &CountedRows) -> Result<(), DatabaseError> {
        let mut write = self.base.unit_of_work();
        if !rows.statistics.is_empty() {
            write.add_statistics(&rows.statistics);
        }
        if !rows.amounts.is_empty() {
            write.add_booked_amounts(&rows.amounts);
        }
        if !rows.remarkable.is_empty() {
            write.insert_remarkable_calls(&rows.remarkable);
        }
        self.base.try_commit(write).await.map(|_| ())
    }

    fn report_lost(&self, part: &CountedRows, error: &DatabaseError) {
        tracing::warn!(error = %describe_error_chain(error), "statistics could not be stored; they are lost");
        self.recorder.count_dropped("statistics", part.len());
    }
}
