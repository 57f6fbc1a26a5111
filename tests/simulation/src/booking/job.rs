//! Writes to the booking's job.

use super::Simulation;
use super::simulated_booking::SimulatedBooking;
use crate::job_row::{Job, LEASE_MS};
use host_domain::time::Timestamp;

impl<B: SimulatedBooking> Simulation<'_, B> {
    pub(super) fn write_job(&mut self, job: Option<(Timestamp, Option<u64>)>) {
        let until = self.now.plus_ms(LEASE_MS);
        self.job = job.map(|(due_at, holder)| {
            let lease = holder.map(|name| (name, until));
            Job::new(due_at, lease, self.random.between(0, 1_000))
        });
    }

    /// Mirrors `UnitOfWork::schedule_job`.
    pub(super) fn request_work(&mut self) {
        match &mut self.job {
            Some(job) if job.lease.is_some() => job.reschedule(self.now),
            Some(_) | None => self.write_job(Some((self.now, None))),
        }
    }

    /// Mirrors `UnitOfWork::release_job` and `UnitOfWork::complete_job`. Returns `false` if the lease
    /// is lost.
    pub(super) fn release(&mut self, holder: u64, due_at: Option<Timestamp>) -> bool {
        let Some(job) = self.job.as_ref().filter(|job| job.is_held_by(holder)) else {
            return false;
        };
        let due_at = job.due_after(due_at);
        self.write_job(due_at.map(|at| (at, None)));
        true
    }

    /// Returns whether a worker or a request holds the job.
    pub(super) fn is_working(&self) -> bool {
        let job = self.job.as_ref();
        job.is_some_and(|job| job.is_held_at(self.now))
    }

    pub(super) fn holds(&self, holder: u64) -> bool {
        self.job.as_ref().is_some_and(|job| job.is_held_by(holder))
    }
}
