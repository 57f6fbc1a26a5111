//! The task that writes the log and the statistics.

use crate::base::Base;
use crate::error_chain::describe_error_chain;
use crate::recording::entry::QueuedEntry;
use crate::recording::limits::{
    BATCH_INTERVAL, BATCH_MAX, STATISTICS_INTERVAL, TRANSACTION_ENTRIES_MAX,
};
use crate::recording::recorder::{RecorderQueue, TrafficRecorder};
use crate::recording::statistics_writer::StatisticsWriter;
use host_domain::request_log::{LoggedBodies, LoggedCall, LoggedRequest};
use host_storage::DatabaseError;
use std::sync::Arc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tokio_util::sync::CancellationToken;

/// Writes the log in batches, and the statistics periodically.
pub(crate) struct RecordWriter {
    pub(crate) base: Base,
    pub(crate) recorder: Arc<TrafficRecorder>,
    pub(crate) queue: RecorderQueue,
    /// Name of this machine.
    pub(crate) host: String,
    pub(crate) shutdown: CancellationToken,
}

/// The rows of a batch.
#[derive(Default)]
struct Batch {
    requests: Vec<(LoggedRequest, Option<LoggedBodies>)>,
    calls: Vec<LoggedCall>,
}

/// Returns the time of the write of a batch, from that of the write before it. While more than a batch
/// waits, the time of the writes is a part of the interval. Time that was lost longer ago is not made up
/// for, so that the log's share of the processor stays bounded.
fn next_write(last: Instant, now: Instant, received: usize) -> Instant {
    let waits = received >= BATCH_MAX;
    let interval_ago = now.checked_sub(BATCH_INTERVAL).unwrap_or(now);
    let begin = if waits { last.max(interval_ago) } else { now };
    begin + BATCH_INTERVAL
}

impl RecordWriter {
    /// Writes until shutdown, then what still waits.
    pub(crate) async fn run(mut self) {
        let mut statistics = StatisticsWriter::new(
            self.base.clone(),
            Arc::clone(&self.recorder),
            self.host.clone(),
        );
        let mut statistics_ticks = interval(STATISTICS_INTERVAL);
        statistics_ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let shutdown = self.shutdown.clone();
        let mut entries = Vec::with_capacity(BATCH_MAX);
        let mut next = Instant::now();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                _ = statistics_ticks.tick() => statistics.write().await,
                received = self.queue.0.recv_many(&mut entries, BATCH_MAX) => {
                    if received == 0 {
                        break;
                    }
                    next = next_write(next, Instant::now(), received);
                    tokio::select! {
                        () = shutdown.cancelled() => {}
                        () = sleep_until(next) => {}
                    }
                    self.complete(&mut entries);
                    self.write(&mut entries).await;
                }
            }
        }
        self.write(&mut entries).await;
        while !self.queue.0.is_empty() {
            self.complete(&mut entries);
            self.write(&mut entries).await;
        }
        statistics.finish().await;
    }

    /// Adds what came meanwhile, up to a full batch.
    fn complete(&mut self, entries: &mut Vec<QueuedEntry>) {
        while entries.len() < BATCH_MAX {
            match self.queue.0.try_recv() {
                Ok(entry) => entries.push(entry),
                Err(_) => return,
            }
        }
    }

    /// Writes entries in transactions of a bounded length.
    async fn write(&self, entries: &mut Vec<QueuedEntry>) {
        while !entries.is_empty() {
            let length = entries.len().min(TRANSACTION_ENTRIES_MAX);
            let part: Vec<QueuedEntry> = entries.drain(..length).collect();
            self.write_part(part).await;
        }
    }

    async fn write_part(&self, entries: Vec<QueuedEntry>) {
        self.recorder.release(&entries);
        let mut batch = Batch::default();
        for entry in entries {
            match entry {
                QueuedEntry::Request(request) => {
                    let bits = self.recorder.ids.generate();
                    batch.requests.push(request.into_row(bits, &self.host));
                }
                QueuedEntry::Call(call) => batch.calls.push(*call),
            }
        }
        if let Err(error) = self.commit_batch(&batch).await {
            tracing::warn!(error = %describe_error_chain(&error), "a part of the request log could not be stored; it is lost");
            self.recorder.count_dropped("request", batch.requests.len());
            self.recorder.count_dropped("call", batch.calls.len());
        }
    }

    async fn commit_batch(&self, batch: &Batch) -> Result<(), DatabaseError> {
        let mut write = self.base.unit_of_work();
        if !batch.requests.is_empty() {
            write.insert_request_log(&batch.requests);
        }
        if !batch.calls.is_empty() {
            write.insert_call_log(&batch.calls);
        }
        self.base.try_commit(write).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn full_batches_follow_each_other_at_the_interval_and_make_up_for_one_at_most() {
        let last = Instant::now();
        for (passed_ms, received, expected_ms) in [
            (0, BATCH_MAX, 200),
            (150, BATCH_MAX, 200),
            (150, BATCH_MAX - 1, 350),
            (350, BATCH_MAX, 350),
            // A database that did not respond for half a minute.
            (30_000, BATCH_MAX, 30_000),
            (30_000, 1, 30_200),
        ] {
            let now = last + Duration::from_millis(passed_ms);
            let expected = last + Duration::from_millis(expected_ms);
            assert_eq!(next_write(last, now, received), expected, "{passed_ms} ms");
        }
    }
}
