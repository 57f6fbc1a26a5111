//! The booking's job as the database keeps it: when it is due, and who holds it.

use super::Life;
use super::subject::Subject;
use host_domain::time::Timestamp;

/// As `jobs.lease_s`.
pub(super) const LEASE_MS: i64 = 60_000;

pub(super) struct Job {
    pub(super) due_at: Timestamp,
    pub(super) again_at: Option<Timestamp>,
    pub(super) lease: Option<(u64, Timestamp)>,
    /// Workers look now and then.
    noticed_after_ms: i64,
}

impl Job {
    pub(super) fn is_held_at(&self, now: Timestamp) -> bool {
        self.lease.is_some_and(|(_, until)| until > now)
    }

    /// For as long as a claim holds.
    pub(super) fn hold(&mut self, holder: u64, now: Timestamp) {
        self.lease = Some((holder, now.plus_ms(LEASE_MS)));
    }

    pub(super) fn claimable_at(&self) -> Timestamp {
        let free_at = self
            .lease
            .map_or(self.due_at, |(_, until)| until.max(self.due_at));
        free_at.plus_ms(self.noticed_after_ms)
    }
}

impl<B: Subject> Life<'_, B> {
    pub(super) fn write_job(&mut self, job: Option<(Timestamp, Option<u64>)>) {
        let until = self.now.plus_ms(LEASE_MS);
        self.job = job.map(|(due_at, holder)| Job {
            due_at,
            again_at: None,
            lease: holder.map(|name| (name, until)),
            noticed_after_ms: self.random.between(0, 1_000),
        });
    }

    /// As `Write::upsert_job`.
    pub(super) fn ask_for_work(&mut self) {
        let now = self.now;
        match &mut self.job {
            Some(Job {
                again_at,
                lease: Some(_),
                ..
            }) => *again_at = Some(again_at.map_or(now, |at| at.min(now))),
            Some(_) | None => self.write_job(Some((now, None))),
        }
    }

    /// As `release_job` and `finish_job`; false: the claim is lost.
    pub(super) fn give_back(&mut self, holder: u64, due_at: Option<Timestamp>) -> bool {
        if !self.holds(holder) {
            return false;
        }
        let again_at = self.job.as_ref().and_then(|job| job.again_at);
        let due_at = match (due_at, again_at) {
            (Some(due), Some(again)) => Some(due.min(again)),
            (due, again) => due.or(again),
        };
        self.write_job(due_at.map(|at| (at, None)));
        true
    }

    pub(super) fn holds(&self, holder: u64) -> bool {
        let lease = self.job.as_ref().and_then(|job| job.lease);
        lease.is_some_and(|(name, _)| name == holder)
    }
}
