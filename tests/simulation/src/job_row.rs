//! The row of a job as the database stores it, with its due time and lease.

use host_domain::time::Timestamp;

/// Lease duration, equal to the default of `jobs.lease_s`.
pub(super) const LEASE_MS: i64 = 60_000;

pub(super) struct Job {
    pub(super) due_at: Timestamp,
    pub(super) reschedule_at: Option<Timestamp>,
    pub(super) lease: Option<(u64, Timestamp)>,
    /// Delay until a worker finds the job, because workers poll at intervals.
    noticed_after_ms: i64,
}

impl Job {
    pub(super) const fn new(
        due_at: Timestamp,
        lease: Option<(u64, Timestamp)>,
        noticed_after_ms: i64,
    ) -> Self {
        Self {
            due_at,
            reschedule_at: None,
            lease,
            noticed_after_ms,
        }
    }

    pub(super) fn is_held_at(&self, now: Timestamp) -> bool {
        self.lease.is_some_and(|(_, until)| until > now)
    }

    pub(super) fn is_held_by(&self, holder: u64) -> bool {
        self.lease.is_some_and(|(name, _)| name == holder)
    }

    /// Leases the job for the lease duration.
    pub(super) fn hold(&mut self, holder: u64, now: Timestamp) {
        self.lease = Some((holder, now.plus_ms(LEASE_MS)));
    }

    /// Makes the job due again at the given time, once its lease holder has finished.
    pub(super) fn reschedule(&mut self, at: Timestamp) {
        self.reschedule_at = Some(self.reschedule_at.map_or(at, |known| known.min(at)));
    }

    /// Returns the due time after the job is released with `due_at`. Returns `None` if the job is
    /// complete.
    pub(super) fn due_after(&self, due_at: Option<Timestamp>) -> Option<Timestamp> {
        match (due_at, self.reschedule_at) {
            (Some(due), Some(rescheduled)) => Some(due.min(rescheduled)),
            (due, rescheduled) => due.or(rescheduled),
        }
    }

    pub(super) fn claimable_at(&self) -> Timestamp {
        let free_at = self
            .lease
            .map_or(self.due_at, |(_, until)| until.max(self.due_at));
        free_at.plus_ms(self.noticed_after_ms)
    }
}
