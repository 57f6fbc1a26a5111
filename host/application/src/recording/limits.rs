//! Limits of the queue of the log.

use std::num::NonZeroU32;
use std::time::Duration;

/// Maximum number of entries that wait.
pub(super) const QUEUE_ENTRIES_MAX: usize = 8192;
/// Number of waiting entries from which calls of low priority, as successful reads, are left out, so that a
/// flood of them leaves room for changes and failures. The writer needs less than a second for so many.
pub(super) const QUEUE_ENTRIES_FOR_LOW_PRIORITY: usize = 2048;
/// Number of calls of low priority that are logged a second on average. Under full load a process answers 10,000
/// and more; their entries would cost half of its processor time and push other calls out of the log
/// within minutes.
pub(super) const LOW_PRIORITY_PER_SECOND: NonZeroU32 = NonZeroU32::MIN.saturating_add(199);
/// Number of calls of low priority that are logged at once.
pub(super) const LOW_PRIORITY_BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(2047);
/// Number of calls without a valid key that are logged at once. One more is logged each second, so
/// that strangers cannot fill the log and push other calls out of it.
pub(super) const ANONYMOUS_BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(199);
/// Number of bodies of successful reads that are logged a second on average. They are longer than the
/// rows, and a person looks at few of them.
pub(super) const READ_BODIES_PER_SECOND: NonZeroU32 = NonZeroU32::MIN.saturating_add(19);
/// Number of bodies of successful reads that are logged at once. They leave most of
/// [`QUEUE_BODY_BYTES_MAX`] to changes and failures.
pub(super) const READ_BODIES_BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);
/// Maximum length in bytes of all waiting bodies together.
pub(super) const QUEUE_BODY_BYTES_MAX: usize = 32 << 20;
/// Maximum length of path and query of a waiting entry.
pub(super) const URI_BYTES_MAX: usize = 2048;
/// Maximum number of entries that are written in an interval. A call is listed within 5 seconds, so a
/// full queue is written in less.
pub(super) const BATCH_MAX: usize = 512;
/// Time between two batches. Together with [`BATCH_MAX`] it bounds the processor time of the log.
pub(super) const BATCH_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum number of entries in a transaction. On SQLite, bookings wait for it.
pub(super) const TRANSACTION_ENTRIES_MAX: usize = 128;
/// Interval at which statistics are stored.
pub(super) const STATISTICS_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of rows of statistics that are stored in one transaction.
pub(super) const STATISTICS_PART_ROWS_MAX: usize = 200;
/// Number of parts of statistics from which the oldest is given up if it cannot be stored.
pub(super) const STATISTICS_PARTS_MAX: usize = 200;
/// Maximum number of organizations that are counted on their own between two writes. Further ones
/// are counted in the sum of all.
pub(super) const ORGANIZATIONS_MAX: usize = 500;
/// Maximum number of remarkable calls of each reason that are kept for a supplier's function.
pub(super) const REMARKABLE_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_is_written_before_its_calls_must_be_listed() {
        let batches = u32::try_from(QUEUE_ENTRIES_MAX.div_ceil(BATCH_MAX)).unwrap();
        // The rest is for a slow database.
        assert!(batches * BATCH_INTERVAL <= Duration::from_millis(3500));
    }
}
