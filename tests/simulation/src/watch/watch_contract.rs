//! Model of the guarantees of the API for watches. It records separately which watches are active,
//! which notifications were sent and which purchases are allowed.

use super::check_schedule::{CheckSchedule, expires_at};
use super::database::{PreviousValue, PriceCheckRow, Rows, WriteOperation};
use super::mandate_contract;
use anyhow::{Result, bail, ensure};
use host_domain::event::EventType;
use host_domain::id::{PriceCheckId, WatchId};
use host_domain::mandate::MandateStatus;
use host_domain::money::Money;
use host_domain::time::Timestamp;
use host_domain::watch::{
    ObservedPrice, Watch, WatchState, WatchStatus, WatchTarget, WatchTransition,
};
use host_storage::ClaimedPriceCheck;
use std::collections::BTreeMap;

/// Allowed transitions of the status.
const ALLOWED_TRANSITIONS: [(&str, &[&str]); 7] = [
    (
        "active",
        &["triggered", "purchasing", "expired", "canceled"],
    ),
    ("triggered", &["active", "expired", "canceled"]),
    ("purchasing", &["active", "purchased", "purchase_failed"]),
    ("purchased", &[]),
    ("purchase_failed", &[]),
    ("expired", &[]),
    ("canceled", &[]),
];

/// The recorded data of a watch.
struct WatchRecord {
    changed_at: Timestamp,
    /// Number of prices observed for its query before the watch was added.
    prices_before: usize,
    triggers: usize,
    is_revoked: bool,
}

/// The recorded data of a query.
#[derive(Default)]
struct QueryRecord {
    /// All observed prices for which watches were read, in order.
    prices: Vec<Option<Money>>,
    /// Time of the last read by each check.
    watches_read_at: BTreeMap<String, Timestamp>,
}

/// All guarantees.
#[derive(Default)]
pub(super) struct WatchContract {
    watches: BTreeMap<WatchId, WatchRecord>,
    queries: BTreeMap<PriceCheckId, QueryRecord>,
    pub(super) check_schedule: CheckSchedule,
}

impl WatchContract {
    /// Records that a check reads the watches that a price affects.
    pub(super) fn record_watches_read(
        &mut self,
        price_check: &ClaimedPriceCheck,
        observed: ObservedPrice,
        now: Timestamp,
    ) {
        let record = self.queries.entry(price_check.id.clone()).or_default();
        record.prices.push(observed.total);
        record
            .watches_read_at
            .insert(price_check.token.clone(), now);
    }

    /// Records that a check was stored as finished, and checks that the price was applied to all
    /// watches.
    pub(super) fn record_check(
        &mut self,
        price_check: &ClaimedPriceCheck,
        observed: Option<ObservedPrice>,
        retry_after_s: Option<u32>,
        rows: &Rows,
        now: Timestamp,
    ) -> Result<()> {
        self.check_schedule
            .record_end(price_check, retry_after_s, now);
        let Some(observed) = observed else {
            return Ok(());
        };
        let watches_read_at = self.queries[&price_check.id].watches_read_at[&price_check.token];
        for watch in rows.watches_of(&price_check.id) {
            let met = is_met(watch, observed.total);
            let is_outdated = match watch.status() {
                WatchStatus::Active => met,
                WatchStatus::Triggered => !met,
                _ => false,
            };
            let is_applied = !is_outdated || self.watches[&watch.id].changed_at >= watches_read_at;
            let total = observed.total;
            ensure!(is_applied, "{total:?} was not applied to {watch:?}");
        }
        Ok(())
    }

    /// Checks that a transition of a watch matches the observed price.
    pub(super) fn check_price_transition(
        transition: &WatchTransition,
        total: Option<Money>,
    ) -> Result<()> {
        let met = is_met(&transition.watch, total);
        let is_matching = match transition.watch.status() {
            WatchStatus::Triggered | WatchStatus::Purchasing => met,
            WatchStatus::Active => !met,
            _ => false,
        };
        ensure!(is_matching, "{total:?} made {:?}", transition.watch);
        Ok(())
    }

    /// Records that a client received the confirmation of a revoked mandate.
    pub(super) fn record_revocation(&mut self, watch: &WatchId) {
        self.watches.get_mut(watch).unwrap().is_revoked = true;
    }

    /// Records a stored operation and checks that it is allowed.
    pub(super) fn record_write(
        &mut self,
        operation: &WriteOperation,
        before: PreviousValue,
        rows: &Rows,
        now: Timestamp,
    ) -> Result<()> {
        match (operation, before) {
            (WriteOperation::InsertWatch(watch), _) => {
                let (price_check, _) = &rows.watches[&watch.id];
                self.check_schedule.record_watch(price_check, now);
                let prices_before = self
                    .queries
                    .get(price_check)
                    .map_or(0, |record| record.prices.len());
                let record = WatchRecord {
                    changed_at: now,
                    prices_before,
                    triggers: 0,
                    is_revoked: false,
                };
                self.watches.insert(watch.id.clone(), record);
                Ok(())
            }
            (WriteOperation::UpdateWatch(transition, _), PreviousValue::Watch(before)) => {
                self.record_transition(&before, transition, rows, now)
            }
            (WriteOperation::UpdateMandate(mandate, _), PreviousValue::Mandate(before)) => {
                let is_revoked = |id: &WatchId| self.watches[id].is_revoked;
                mandate_contract::check_transition(&before, mandate, is_revoked, rows, now)
            }
            _ => Ok(()),
        }
    }

    fn record_transition(
        &mut self,
        before: &Watch,
        transition: &WatchTransition,
        rows: &Rows,
        now: Timestamp,
    ) -> Result<()> {
        let watch = &transition.watch;
        let (from, to) = (before.status(), watch.status());
        let mut transitions = ALLOWED_TRANSITIONS.iter();
        let (_, targets) = transitions
            .find(|(known, _)| *known == from.as_str())
            .unwrap();
        let is_allowed = from == to || targets.contains(&to.as_str());
        ensure!(is_allowed, "{from:?} became {to:?}");
        let is_new = from != to;
        let (expected, notification) = (
            expected_notification(watch).filter(|_| is_new),
            transition.notification,
        );
        ensure!(
            notification == expected,
            "{watch:?} publishes {notification:?}"
        );
        let (price_check, _) = &rows.watches[&watch.id];
        let record = self.watches.get_mut(&watch.id).unwrap();
        record.changed_at = now;
        if watch.is_armed() && !before.is_armed() {
            mandate_contract::check_terms(watch, rows)?;
            self.check_schedule.record_watch(price_check, now);
        }
        match &watch.state {
            WatchState::Triggered if is_new => {
                ensure!(!watch.is_armed(), "an armed watch only notified: {watch:?}");
                record.triggers += 1;
                let prices = &self.queries[price_check].prices[record.prices_before..];
                let falls = falls(watch, prices);
                ensure!(record.triggers <= falls, "sent again: {watch:?} {prices:?}");
            }
            WatchState::Active if from == WatchStatus::Purchasing => {
                mandate_contract::check_release(before, rows, now)?
            }
            WatchState::Expired => {
                let expires_at = expires_at(&watch.query);
                ensure!(now >= expires_at, "too early: {watch:?}");
            }
            WatchState::Canceled => {
                let mandate = watch.mandate_id.as_ref().map(|id| &rows.mandates[id]);
                let is_usable =
                    mandate.is_some_and(|known| known.status(now) == MandateStatus::Active);
                ensure!(!is_usable, "the mandate is still usable: {mandate:?}");
            }
            WatchState::Purchased { booking: id } => {
                let booking = &rows.bookings[id];
                let is_matching =
                    booking.watch == watch.id && booking.is_sold() && !booking.is_open();
                ensure!(is_matching, "not bought: {booking:?}");
            }
            WatchState::PurchaseFailed { reason, .. } => {
                mandate_contract::check_failure(before, *reason, record.is_revoked, rows, now)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the invariants that hold after every event.
    pub(super) fn check(&self, rows: &Rows) -> Result<()> {
        for (price_check, watch) in rows.watches.values() {
            let status = watch.status();
            if !status.is_open() {
                continue;
            }
            let is_of_watch =
                |row: &&PriceCheckRow| row.tenant == watch.owner.tenant && row.query == watch.query;
            let rows_of_query: Vec<_> = rows.price_checks.iter().filter(is_of_watch).collect();
            let [row] = rows_of_query[..] else {
                bail!("{} queries exist for {watch:?}", rows_of_query.len());
            };
            ensure!(row.id == *price_check, "query of another owner: {watch:?}");
            self.check_schedule.check_due_in_time(row)?;
            let has_job = status != WatchStatus::Purchasing || rows.jobs.contains_key(&watch.id);
            ensure!(has_job, "no purchase job for {watch:?}");
        }
        Ok(())
    }

    /// Checks the invariants that hold when no work is left.
    pub(super) fn check_end(&self, rows: &Rows) -> Result<()> {
        ensure!(rows.price_checks.is_empty(), "a query is left");
        ensure!(rows.jobs.is_empty(), "a purchase is left");
        for (_, watch) in rows.watches.values() {
            ensure!(!watch.status().is_open(), "not over: {watch:?}");
            let mut sold: Vec<_> = rows.bookings.values().collect();
            sold.retain(|booking| booking.watch == watch.id && booking.is_sold());
            let bought = usize::from(watch.status() == WatchStatus::Purchased);
            ensure!(sold.len() == bought, "{watch:?} bought {sold:?}");
            let log = rows.log.iter().filter(|(id, _)| *id == watch.id);
            let published: Vec<_> = log.map(|(_, notification)| *notification).collect();
            let triggers = published
                .iter()
                .filter(|one| **one == watch.triggered_event());
            let trigger_count = self.watches[&watch.id].triggers;
            ensure!(
                triggers.count() == trigger_count,
                "{watch:?} published {published:?}"
            );
            let outcome: Vec<_> = expected_notification(watch).into_iter().collect();
            let ended = published[trigger_count..] == outcome;
            ensure!(ended, "{watch:?} published {published:?} in the end");
        }
        Ok(())
    }
}

/// Returns the event type that the current status publishes.
fn expected_notification(watch: &Watch) -> Option<EventType> {
    let is_hotel = matches!(watch.query.target, WatchTarget::Hotel { .. });
    match watch.status() {
        WatchStatus::Triggered if is_hotel => Some(EventType::HotelWatchTriggered),
        WatchStatus::Triggered => Some(EventType::TripWatchTriggered),
        WatchStatus::Purchased => Some(EventType::HotelWatchPurchased),
        WatchStatus::PurchaseFailed => Some(EventType::HotelWatchPurchaseFailed),
        WatchStatus::Active
        | WatchStatus::Purchasing
        | WatchStatus::Expired
        | WatchStatus::Canceled => None,
    }
}

fn is_met(watch: &Watch, total: Option<Money>) -> bool {
    total.is_some_and(|total| total.minor <= watch.trigger.amount().minor)
}

/// Counts how often the price changed from above the trigger amount to at most that amount.
fn falls(watch: &Watch, prices: &[Option<Money>]) -> usize {
    let mut was_met = false;
    let mut falls = 0;
    for total in prices {
        let met = is_met(watch, *total);
        falls += usize::from(met && !was_met);
        was_met = met;
    }
    falls
}
