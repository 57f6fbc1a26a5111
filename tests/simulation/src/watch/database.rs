//! Database rows of watches with the guarantees of their statements: operations of one write are
//! stored together or not at all.

use super::booking::Booking;
use crate::job_row::{Job, LEASE_MS};
use host_domain::event::EventType;
use host_domain::id::{BookingId, InstrumentId, MandateId, PriceCheckId, WatchId};
use host_domain::mandate::Mandate;
use host_domain::money::Money;
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::watch::{
    ObservedPrice, PriceQuery, Watch, WatchState, WatchStatus, WatchTransition,
};
use host_storage::{ClaimedPriceCheck, Conflict, PriceCheckRelease, StoredWatch};
use std::collections::{BTreeMap, BTreeSet};

/// Delay until a process finds a due query.
const NOTICED_AFTER_MS: i64 = 200;

/// A price query of one or more watches.
pub(super) struct PriceCheckRow {
    pub(super) id: PriceCheckId,
    pub(super) tenant: Tenant,
    pub(super) query: PriceQuery,
    pub(super) next_at: Timestamp,
    revision: i64,
    pub(super) lease: Option<(u64, Timestamp)>,
}

#[derive(Default)]
pub(super) struct Rows {
    pub(super) watches: BTreeMap<WatchId, (PriceCheckId, Watch)>,
    pub(super) mandates: BTreeMap<MandateId, Mandate>,
    pub(super) bookings: BTreeMap<BookingId, Booking>,
    pub(super) price_checks: Vec<PriceCheckRow>,
    /// Purchase jobs by watch.
    pub(super) jobs: BTreeMap<WatchId, Job>,
    pub(super) log: Vec<(WatchId, EventType)>,
    /// Deleted payment instruments.
    pub(super) deleted: BTreeSet<InstrumentId>,
}

/// An operation of a write.
#[derive(Debug, Clone)]
pub(super) enum Op {
    InsertWatch(Watch),
    /// A transition of a watch that was read at the given version.
    UpdateWatch(WatchTransition, i64),
    InsertMandate(Mandate),
    UpdateMandate(Mandate, i64),
    InsertBooking(Booking),
    RenewPriceCheck(ClaimedPriceCheck),
    ReleasePriceCheck(ClaimedPriceCheck, PriceCheckRelease),
    DeletePriceCheck(ClaimedPriceCheck),
    /// The lease holder renews its lease.
    RenewJob(WatchId, u64),
    /// The lease holder releases the job with a new due time, or completes it with `None`.
    ReleaseJob(WatchId, u64, Option<Timestamp>),
    /// The job failed and is due again at the given time.
    FailJob(WatchId, u64, Timestamp),
}

/// The value before a write.
pub(super) enum Before {
    Watch(Box<Watch>),
    Mandate(Box<Mandate>),
    Other,
}

impl Rows {
    /// Stores all operations or none.
    pub(super) fn commit(
        &mut self,
        ops: Vec<Op>,
        noticed_after_ms: i64,
        now: Timestamp,
    ) -> Result<(), Conflict> {
        for op in &ops {
            self.fits(op)?;
        }
        for op in ops {
            self.store(op, noticed_after_ms, now);
        }
        Ok(())
    }

    /// Returns the value before a write.
    pub(super) fn before(&self, op: &Op) -> Before {
        match op {
            Op::UpdateWatch(moved, _) => {
                Before::Watch(Box::new(self.watch(&moved.watch.id).clone()))
            }
            Op::UpdateMandate(mandate, _) => {
                Before::Mandate(Box::new(self.mandates[&mandate.terms.id].clone()))
            }
            _ => Before::Other,
        }
    }

    fn fits(&self, op: &Op) -> Result<(), Conflict> {
        let (fits, conflict) = match op {
            Op::InsertWatch(_) | Op::InsertMandate(_) | Op::InsertBooking(_) => return Ok(()),
            Op::UpdateWatch(moved, read_version) => {
                let (_, known) = &self.watches[&moved.watch.id];
                (known.version == *read_version, Conflict::WatchVersion)
            }
            Op::UpdateMandate(mandate, read_version) => {
                let known = &self.mandates[&mandate.terms.id];
                (known.version == *read_version, Conflict::MandateVersion)
            }
            Op::RenewPriceCheck(price_check) | Op::ReleasePriceCheck(price_check, _) => {
                (self.held(price_check).is_some(), Conflict::LeaseLost)
            }
            Op::DeletePriceCheck(price_check) => {
                let held = self.held(price_check);
                let is_same =
                    held.is_some_and(|known| known.revision == price_check.watch_revision);
                (
                    is_same && !self.has_open_watches(&price_check.id),
                    Conflict::PriceCheckInUse,
                )
            }
            Op::RenewJob(watch, holder)
            | Op::ReleaseJob(watch, holder, _)
            | Op::FailJob(watch, holder, _) => {
                let job = self.jobs.get(watch);
                let is_held = job.is_some_and(|job| job.is_held_by(*holder));
                (is_held, Conflict::LeaseLost)
            }
        };
        if fits { Ok(()) } else { Err(conflict) }
    }

    fn store(&mut self, op: Op, noticed_after_ms: i64, now: Timestamp) {
        match op {
            Op::InsertWatch(watch) => {
                self.request_check(&watch, now);
                let price_check = price_check_id(&watch);
                self.watches.insert(watch.id.clone(), (price_check, watch));
            }
            Op::UpdateWatch(moved, _) => self.store_moved(moved, noticed_after_ms, now),
            Op::InsertMandate(mandate) | Op::UpdateMandate(mandate, _) => {
                self.mandates.insert(mandate.terms.id.clone(), mandate);
            }
            Op::InsertBooking(booking) => {
                self.bookings.insert(booking.id.clone(), booking);
            }
            Op::RenewPriceCheck(price_check) => {
                let row = self.row(&price_check);
                row.lease = row.lease.map(|(holder, _)| (holder, now.plus_ms(LEASE_MS)));
            }
            Op::ReleasePriceCheck(price_check, outcome) => {
                let row = self.row(&price_check);
                row.lease = None;
                if row.revision == price_check.watch_revision {
                    row.next_at = outcome.next_at;
                }
            }
            Op::DeletePriceCheck(price_check) => {
                self.price_checks.retain(|row| row.id != price_check.id)
            }
            Op::RenewJob(watch, holder) => self.jobs.get_mut(&watch).unwrap().hold(holder, now),
            Op::ReleaseJob(watch, _, due_at) => {
                let job = self.jobs.remove(&watch).unwrap();
                if let Some(due_at) = job.due_after(due_at) {
                    self.jobs
                        .insert(watch, Job::new(due_at, None, noticed_after_ms));
                }
            }
            Op::FailJob(watch, _, due_at) => {
                let due_at = self.jobs[&watch].due_after(Some(due_at)).unwrap();
                self.jobs
                    .insert(watch, Job::new(due_at, None, noticed_after_ms));
            }
        }
    }

    /// Mirrors `apply_event_in` of the watch service: stores the watch and all consequences of its
    /// transition.
    fn store_moved(&mut self, moved: WatchTransition, noticed_after_ms: i64, now: Timestamp) {
        let WatchTransition {
            watch,
            notification,
            is_purchase_due,
            is_check_due,
        } = moved;
        if is_check_due {
            self.request_check(&watch, now);
        }
        if is_purchase_due {
            match self.jobs.get_mut(&watch.id) {
                Some(job) if job.lease.is_some() => job.reschedule(now),
                Some(_) | None => {
                    let job = Job::new(now, None, noticed_after_ms);
                    self.jobs.insert(watch.id.clone(), job);
                }
            }
        }
        if let Some(notification) = notification {
            self.log.push((watch.id.clone(), notification));
        }
        let (_, row) = self.watches.get_mut(&watch.id).unwrap();
        *row = watch;
    }

    fn request_check(&mut self, watch: &Watch, now: Timestamp) {
        let id = price_check_id(watch);
        if let Some(row) = self.price_checks.iter_mut().find(|row| row.id == id) {
            row.next_at = row.next_at.min(now);
            row.revision += 1;
            return;
        }
        self.price_checks.push(PriceCheckRow {
            id,
            tenant: watch.owner.tenant.clone(),
            query: watch.query.clone(),
            next_at: now,
            revision: 1,
            lease: None,
        });
    }

    /// Mirrors `Store::claim_price_checks` for the query that has been due longest.
    pub(super) fn claim_price_check(
        &mut self,
        holder: u64,
        now: Timestamp,
    ) -> Option<ClaimedPriceCheck> {
        let due = self
            .price_checks
            .iter_mut()
            .filter(|row| row.free_at() <= now);
        let row = due.min_by_key(|row| row.next_at)?;
        row.lease = Some((holder, now.plus_ms(LEASE_MS)));
        let mut claimed = ClaimedPriceCheck {
            id: row.id.clone(),
            tenant: row.tenant.clone(),
            query: row.query.clone(),
            watch_revision: row.revision,
            token: holder.to_string(),
            has_open_watches: false,
        };
        claimed.has_open_watches = self.has_open_watches(&claimed.id);
        Some(claimed)
    }

    fn held(&self, price_check: &ClaimedPriceCheck) -> Option<&PriceCheckRow> {
        let mut rows = self.price_checks.iter();
        rows.find(|row| {
            let holder = row.lease.map(|(holder, _)| holder.to_string());
            row.id == price_check.id && holder.as_ref() == Some(&price_check.token)
        })
    }

    fn row(&mut self, price_check: &ClaimedPriceCheck) -> &mut PriceCheckRow {
        self.price_checks
            .iter_mut()
            .find(|row| row.id == price_check.id)
            .unwrap()
    }

    pub(super) fn watches_of<'a>(
        &'a self,
        price_check: &'a PriceCheckId,
    ) -> impl Iterator<Item = &'a Watch> {
        let all = self
            .watches
            .values()
            .filter(move |(id, _)| id == price_check);
        all.map(|(_, watch)| watch)
    }

    fn has_open_watches(&self, price_check: &PriceCheckId) -> bool {
        self.watches_of(price_check)
            .any(|watch| watch.status().is_open())
    }

    /// Mirrors `Store::watches_affected_by_price`.
    pub(super) fn moved_by(
        &self,
        price_check: &PriceCheckId,
        seen: ObservedPrice,
        limit: usize,
    ) -> Vec<Watch> {
        let total = seen.total.map_or(i64::MAX, |total: Money| total.minor);
        let is_moved = |watch: &&Watch| {
            let cap = watch.trigger.amount().minor;
            match watch.status() {
                WatchStatus::Active => cap >= total,
                WatchStatus::Triggered => cap < total,
                _ => false,
            }
        };
        let moved = self.watches_of(price_check).filter(is_moved);
        moved.take(limit).cloned().collect()
    }

    /// Mirrors `Store::watches_awaiting_price`.
    pub(super) fn waiting(&self, price_check: &PriceCheckId, limit: usize) -> Vec<Watch> {
        let waits =
            |watch: &&Watch| matches!(watch.state, WatchState::Active | WatchState::Triggered);
        let waiting = self.watches_of(price_check).filter(waits);
        waiting.take(limit).cloned().collect()
    }

    pub(super) fn watch(&self, id: &WatchId) -> &Watch {
        &self.watches[id].1
    }
}

fn price_check_id(watch: &Watch) -> PriceCheckId {
    let stored = StoredWatch {
        watch: watch.clone(),
        last_observed: None,
    };
    stored.price_check_id()
}

impl PriceCheckRow {
    pub(super) fn free_at(&self) -> Timestamp {
        self.lease
            .map_or(self.next_at, |(_, until)| until.max(self.next_at))
    }

    /// Returns the time from which the query can be claimed, because hosts poll at intervals.
    pub(super) fn claimable_at(&self) -> Timestamp {
        self.free_at().plus_ms(NOTICED_AFTER_MS)
    }
}
