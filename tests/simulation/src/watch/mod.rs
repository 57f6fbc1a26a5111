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

use super::event_queue::{EventQueue, START};
use super::job_row::{Job, LEASE_MS};
use super::seeded_random::Random;
use super::{History, run_seeds};
use anyhow::{Result, ensure};
use database::{Rows, WriteOperation};
use host_domain::time::Timestamp;
use host_storage::Conflict;
use purchase::Purchase;
use scenario::WatchScenario;
use watch_contract::WatchContract;

/// Maximum duration of a scenario. A longer one counts as endless.
const DURATION_MAX_MS: i64 = 60 * 24 * 3_600_000;
/// Maximum number of events of a scenario. One with more events counts as endless.
const EVENTS_MAX: u64 = 50_000;

#[test]
fn watches_end_according_to_their_prices() {
    run_seeds("watches", |random, history| {
        Simulation::new(random, history, &WatchScenario::draw(random)).run()
    });
}

struct Simulation<'a> {
    random: &'a Random,
    history: &'a History,
    scenario: &'a WatchScenario,
    now: Timestamp,
    rows: Rows,
    event_queue: EventQueue<Self>,
    contract: WatchContract,
}

impl<'a> Simulation<'a> {
    fn new(random: &'a Random, history: &'a History, scenario: &'a WatchScenario) -> Self {
        history.note(|| format!("{scenario:#?}"));
        let mut contract = WatchContract::default();
        contract.check_schedule.interval_s = scenario.interval_s;
        Self {
            random,
            history,
            scenario,
            now: START,
            rows: Rows::default(),
            event_queue: EventQueue::new(),
            contract,
        }
    }

    fn run(mut self) -> Result<()> {
        self.schedule_actors();
        let mut events = 0;
        while let Some(at) = self.next_at() {
            events += 1;
            let is_alive = at.since(START) < DURATION_MAX_MS && events < EVENTS_MAX;
            ensure!(is_alive, "the scenario does not end");
            self.now = self.now.max(at);
            for booking in self.rows.bookings.values_mut() {
                booking.apply_due_changes(self.now);
            }
            self.process_next(at)?;
            self.contract.check(&self.rows)?;
        }
        self.contract.check_end(&self.rows)
    }

    fn next_at(&self) -> Option<Timestamp> {
        let price_checks = self
            .rows
            .price_checks
            .iter()
            .map(database::PriceCheckRow::claimable_at);
        let jobs = self.rows.jobs.values().map(Job::claimable_at);
        let scheduled = self.event_queue.next_at();
        scheduled.into_iter().chain(price_checks).chain(jobs).min()
    }

    fn process_next(&mut self, at: Timestamp) -> Result<()> {
        match self.event_queue.pop_due(at) {
            Some(event) => event(self),
            None => self.claim(),
        }
    }

    /// A process claims due work.
    fn claim(&mut self) -> Result<()> {
        let holder = self.event_queue.next_number();
        let now = self.now;
        let mut jobs = self.rows.jobs.iter_mut();
        if let Some((watch, job)) = jobs.find(|(_, job)| job.claimable_at() <= now) {
            job.hold(holder, now);
            let purchase = Purchase::claimed(watch.clone(), holder, now);
            let watch = purchase.watch.clone();
            self.continue_after(1, |simulation| simulation.advance_purchase(purchase));
            if self.random.percent(10) {
                self.cancel_or_revoke(&watch);
            }
            return Ok(());
        }
        if let Some(price_check) = self.rows.claim_price_check(holder, now) {
            let (id, revision) = (&price_check.id, price_check.watch_revision);
            self.note(|| format!("check {holder} claims {id} as revision {revision}"));
            self.contract
                .check_schedule
                .record_claim(&price_check, now)?;
            let progress = price_check::CheckProgress::Claimed;
            self.continue_after(1, |simulation| {
                simulation.advance_check(price_check, progress)
            });
        }
        Ok(())
    }

    /// Continues the work of a process after a delay. The process may crash, or stall until others
    /// have taken over.
    fn continue_after(
        &mut self,
        after_ms: i64,
        step: impl FnOnce(&mut Self) -> Result<()> + 'static,
    ) {
        let mut pause_ms = 0;
        if self.random.percent(self.scenario.fault_percent) {
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
    fn commit(&mut self, operations: Vec<WriteOperation>) -> Result<Result<(), Conflict>> {
        let before: Vec<_> = operations
            .iter()
            .map(|operation| self.rows.previous_value(operation))
            .collect();
        let noticed_after_ms = self.random.between(0, 1_000);
        if let Err(conflict) = self
            .rows
            .commit(operations.clone(), noticed_after_ms, self.now)
        {
            self.note(|| format!("{conflict}"));
            return Ok(Err(conflict));
        }
        for (operation, before) in operations.iter().zip(before) {
            if let WriteOperation::UpdateWatch(transition, _) = operation {
                self.note(|| format!("{} is {:?}", transition.watch.id, transition.watch.state));
            }
            self.contract
                .record_write(operation, before, &self.rows, self.now)?;
        }
        Ok(Ok(()))
    }

    fn note(&self, line: impl FnOnce() -> String) {
        self.history.note_at(self.now, line);
    }

    fn queue(&mut self, after_ms: i64, event: impl FnOnce(&mut Self) -> Result<()> + 'static) {
        self.event_queue
            .schedule(self.now.plus_ms(after_ms.max(0)), event);
    }
}
