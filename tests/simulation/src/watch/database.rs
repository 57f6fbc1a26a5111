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
    pub(super) deleted_instruments: BTreeSet<InstrumentId>,
}

/// An operation of a write.
#[derive(Debug, Clone)]
pub(super) enum WriteOperation {
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
pub(super) enum PreviousValue {
    Watch(Box<Watch>),
    Mandate(Box<Mandate>),
    Other,
}

impl Rows {
    /// Stores all operations or none.
    pub(super) fn commit(
        &mut self,
        operations: Vec<WriteOperation>,
        noticed_after_ms: i64,
        now: Timestamp,
    ) -> Result<(), Conflict> {
        for operation in &operations {
            self.check_precondition(operation)?;
        }
        for operation in operations {
            self.store(operation, noticed_after_ms, now);
        }
        Ok(())
    }

    /// Returns the value before a write.
    pub(super) fn previous_value(&self, operation: &WriteOperation) -> PreviousValue {
        match operation {
            WriteOperation::UpdateWatch(transition, _) => {
                PreviousValue::Watch(Box::new(self.watch(&transition.watch.id).clone()))
            }
            WriteOperation::UpdateMandate(mandate, _) => {
                PreviousValue::Mandate(Box::new(self.mandates[&mandate.terms.id].clone()))
            }
            _ => PreviousValue::Other,
        }
    }

    /// Checks the version or lease that an operation needs.
    fn check_precondition(&self, operation: &WriteOperation) -> Result<(), Conflict> {
        let (is_met, conflict) = match operation {
            WriteOperation::InsertWatch(_)
            | WriteOperation::InsertMandate(_)
            | WriteOperation::InsertBooking(_) => return Ok(()),
            WriteOperation::UpdateWatch(transition, read_version) => {
                let (_, stored) = &self.watches[&transition.watch.id];
                (stored.version == *read_version, Conflict::WatchVersion)
            }
            WriteOperation::UpdateMandate(mandate, read_version) => {
                let stored = &self.mandates[&mandate.terms.id];
                (stored.version == *read_version, Conflict::MandateVersion)
            }
            WriteOperation::RenewPriceCheck(price_check)
            | WriteOperation::ReleasePriceCheck(price_check, _) => {
                (self.leased(price_check).is_some(), Conflict::LeaseLost)
            }
            WriteOperation::DeletePriceCheck(price_check) => {
                let leased = self.leased(price_check);
                let is_same =
                    leased.is_some_and(|known| known.revision == price_check.watch_revision);
                (
                    is_same && !self.has_open_watches(&price_check.id),
                    Conflict::PriceCheckInUse,
                )
            }
            WriteOperation::RenewJob(watch, holder)
            | WriteOperation::ReleaseJob(watch, holder, _)
            | WriteOperation::FailJob(watch, holder, _) => {
                let job = self.jobs.get(watch);
                let is_held = job.is_some_and(|job| job.is_held_by(*holder));
                (is_held, Conflict::LeaseLost)
            }
        };
        if is_met { Ok(()) } else { Err(conflict) }
    }

    fn store(&mut self, operation: WriteOperation, noticed_after_ms: i64, now: Timestamp) {
        match operation {
            WriteOperation::InsertWatch(watch) => {
                self.request_check(&watch, now);
                let price_check = price_check_id(&watch);
                self.watches.insert(watch.id.clone(), (price_check, watch));
            }
            WriteOperation::UpdateWatch(transition, _) => {
                self.store_transition(transition, noticed_after_ms, now)
            }
            WriteOperation::InsertMandate(mandate) | WriteOperation::UpdateMandate(mandate, _) => {
                self.mandates.insert(mandate.terms.id.clone(), mandate);
            }
            WriteOperation::InsertBooking(booking) => {
                self.bookings.insert(booking.id.clone(), booking);
            }
            WriteOperation::RenewPriceCheck(price_check) => {
                let row = self.row(&price_check);
                row.lease = row.lease.map(|(holder, _)| (holder, now.plus_ms(LEASE_MS)));
            }
            WriteOperation::ReleasePriceCheck(price_check, outcome) => {
                let row = self.row(&price_check);
                row.lease = None;
                if row.revision == price_check.watch_revision {
                    row.next_at = outcome.next_at;
                }
            }
            WriteOperation::DeletePriceCheck(price_check) => {
                self.price_checks.retain(|row| row.id != price_check.id)
            }
            WriteOperation::RenewJob(watch, holder) => {
                self.jobs.get_mut(&watch).unwrap().hold(holder, now)
            }
            WriteOperation::ReleaseJob(watch, _, due_at) => {
                let job = self.jobs.remove(&watch).unwrap();
                if let Some(due_at) = job.due_after(due_at) {
                    self.jobs
                        .insert(watch, Job::new(due_at, None, noticed_after_ms));
                }
            }
            WriteOperation::FailJob(watch, _, due_at) => {
                let due_at = self.jobs[&watch].due_after(Some(due_at)).unwrap();
                self.jobs
                    .insert(watch, Job::new(due_at, None, noticed_after_ms));
            }
        }
    }

    /// Mirrors `WatchService::apply_event_in`: stores the watch and all consequences of its
    /// transition.
    fn store_transition(
        &mut self,
        transition: WatchTransition,
        noticed_after_ms: i64,
        now: Timestamp,
    ) {
        let WatchTransition {
            watch,
            notification,
            is_purchase_due,
            is_check_due,
        } = transition;
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

    fn leased(&self, price_check: &ClaimedPriceCheck) -> Option<&PriceCheckRow> {
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
        let found = self
            .watches
            .values()
            .filter(move |(id, _)| id == price_check);
        found.map(|(_, watch)| watch)
    }

    fn has_open_watches(&self, price_check: &PriceCheckId) -> bool {
        self.watches_of(price_check)
            .any(|watch| watch.status().is_open())
    }

    /// Mirrors `Store::watches_affected_by_price`.
    pub(super) fn affected_by_price(
        &self,
        price_check: &PriceCheckId,
        observed: ObservedPrice,
        limit: usize,
    ) -> Vec<Watch> {
        let total = observed.total.map_or(i64::MAX, |total: Money| total.minor);
        let is_affected = |watch: &&Watch| {
            let cap = watch.trigger.amount().minor;
            match watch.status() {
                WatchStatus::Active => cap >= total,
                WatchStatus::Triggered => cap < total,
                _ => false,
            }
        };
        let affected = self.watches_of(price_check).filter(is_affected);
        affected.take(limit).cloned().collect()
    }

    /// Mirrors `Store::watches_awaiting_price`.
    pub(super) fn awaiting_price(&self, price_check: &PriceCheckId, limit: usize) -> Vec<Watch> {
        let is_awaiting =
            |watch: &&Watch| matches!(watch.state, WatchState::Active | WatchState::Triggered);
        let watches = self.watches_of(price_check).filter(is_awaiting);
        watches.take(limit).cloned().collect()
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

    /// Returns the time from which the query can be claimed: gateway processes poll at intervals.
    pub(super) fn claimable_at(&self) -> Timestamp {
        self.free_at().plus_ms(NOTICED_AFTER_MS)
    }
}
