//! Scenario of a few watches: their owners, a supplier with changing prices, and the processes that
//! check prices and purchase. The production code decides (`watch/policy` and the state machines of
//! watches and mandates). Everything else is simulated.

pub(crate) mod actors;
pub(crate) mod booking;
pub(crate) mod check_schedule;
pub(crate) mod database;
pub(crate) mod mandate_contract;
pub(crate) mod price_check;
pub(crate) mod purchase;
pub(crate) mod scenario;
pub(crate) mod watch_contract;

use super::event_queue::{Agenda, START};
use super::job_row::{Job, LEASE_MS};
use super::seeded_random::Random;
use super::{History, run_seeds};
use anyhow::{Result, ensure};
use database::{Op, Rows};
use host_domain::time::Timestamp;
use host_storage::Conflict;
use purchase::Purchase;
use scenario::Setting;
use watch_contract::Model;

/// Maximum duration of a scenario. A longer one counts as endless.
const DURATION_MAX_MS: i64 = 60 * 24 * 3_600_000;
/// Maximum number of events of a scenario. One with more events counts as endless.
const EVENTS_MAX: u64 = 50_000;

#[test]
fn watches_end_according_to_their_prices() {
    run_seeds("watches", |random, history| {
        Simulation::new(random, history, &Setting::draw(random)).run()
    });
}

struct Simulation<'a> {
    random: &'a Random,
    history: &'a History,
    setting: &'a Setting,
    now: Timestamp,
    rows: Rows,
    agenda: Agenda<Self>,
    model: Model,
}

impl<'a> Simulation<'a> {
    fn new(random: &'a Random, history: &'a History, setting: &'a Setting) -> Self {
        history.note(|| format!("{setting:#?}"));
        let mut model = Model::default();
        model.cadence.interval_s = setting.interval_s;
        Self {
            random,
            history,
            setting,
            now: START,
            rows: Rows::default(),
            agenda: Agenda::new(),
            model,
        }
    }

    fn run(mut self) -> Result<()> {
        self.plan_actors();
        let mut events = 0;
        while let Some(at) = self.next_at() {
            events += 1;
            let is_alive = at.since(START) < DURATION_MAX_MS && events < EVENTS_MAX;
            ensure!(is_alive, "the scenario does not end");
            self.now = self.now.max(at);
            for booking in self.rows.bookings.values_mut() {
                booking.pass(self.now);
            }
            self.process_next(at)?;
            self.model.now(&self.rows)?;
        }
        self.model.at_rest(&self.rows)
    }

    fn next_at(&self) -> Option<Timestamp> {
        let price_checks = self
            .rows
            .price_checks
            .iter()
            .map(database::PriceCheckRow::claimable_at);
        let jobs = self.rows.jobs.values().map(Job::claimable_at);
        let planned = self.agenda.next_at();
        planned.into_iter().chain(price_checks).chain(jobs).min()
    }

    fn process_next(&mut self, at: Timestamp) -> Result<()> {
        match self.agenda.take(at) {
            Some(event) => event(self),
            None => self.claim(),
        }
    }

    /// A process claims due work.
    fn claim(&mut self) -> Result<()> {
        let holder = self.agenda.name();
        let now = self.now;
        let mut jobs = self.rows.jobs.iter_mut();
        if let Some((watch, job)) = jobs.find(|(_, job)| job.claimable_at() <= now) {
            job.hold(holder, now);
            let purchase = Purchase::claimed(watch.clone(), holder, now);
            let watch = purchase.watch.clone();
            self.goes(1, |simulation| simulation.buy(purchase));
            if self.random.percent(10) {
                self.thinks_again(&watch);
            }
            return Ok(());
        }
        if let Some(price_check) = self.rows.claim_price_check(holder, now) {
            let (id, revision) = (&price_check.id, price_check.watch_revision);
            self.note(|| format!("check {holder} claims {id} as revision {revision}"));
            self.model.cadence.claimed(&price_check, now)?;
            let at = price_check::At::Begun;
            self.goes(1, |simulation| simulation.check(price_check, at));
        }
        Ok(())
    }

    /// Continues the work of a process, unless it crashes or stalls until others have taken over.
    fn goes(&mut self, after_ms: i64, step: impl FnOnce(&mut Self) -> Result<()> + 'static) {
        let mut pause_ms = 0;
        if self.random.percent(self.setting.fault_percent) {
            if self.random.percent(50) {
                self.note(|| "a process crashes".to_owned());
                return;
            }
            self.note(|| "a process stalls".to_owned());
            pause_ms = self.random.between(LEASE_MS / 2, 3 * LEASE_MS);
        }
        self.queue(after_ms + pause_ms, step);
    }

    /// Stores all operations or none.
    fn commit(&mut self, ops: Vec<Op>) -> Result<Result<(), Conflict>> {
        let before: Vec<_> = ops.iter().map(|op| self.rows.before(op)).collect();
        let noticed_after_ms = self.random.between(0, 1_000);
        if let Err(conflict) = self.rows.commit(ops.clone(), noticed_after_ms, self.now) {
            self.note(|| format!("{conflict}"));
            return Ok(Err(conflict));
        }
        for (op, before) in ops.iter().zip(before) {
            if let Op::UpdateWatch(moved, _) = op {
                self.note(|| format!("{} is {:?}", moved.watch.id, moved.watch.state));
            }
            self.model.stored(op, before, &self.rows, self.now)?;
        }
        Ok(Ok(()))
    }

    fn note(&self, line: impl FnOnce() -> String) {
        self.history.note_at(self.now, line);
    }

    fn queue(&mut self, after_ms: i64, event: impl FnOnce(&mut Self) -> Result<()> + 'static) {
        self.agenda.plan(self.now.plus_ms(after_ms.max(0)), event);
    }
}
