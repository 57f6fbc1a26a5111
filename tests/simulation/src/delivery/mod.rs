//! Scenario of deliveries: gateway processes, receivers and clients, with the database rows between
//! them. The production code decides the result of an attempt (`webhook/attempt.rs` and the state
//! machines). Everything else is simulated. A separate model states what the API contract
//! guarantees.

pub(crate) mod actors;
pub(crate) mod attempt;
pub(crate) mod database;
pub(crate) mod delivery_contract;
pub(crate) mod event;
pub(crate) mod receiver;
pub(crate) mod scenario;
pub(crate) mod sender;
pub(crate) mod subscription_contract;

use super::event_queue::{EventQueue, START};
use super::seeded_random::Random;
use super::{History, run_seeds};
use host_application::config::{Config, Environment};

use anyhow::{Result, ensure};
use attempt::Attempt;
use database::Database;
use delivery_contract::DeliveryContract;
use host_application::webhook::policy::DeliveryPolicy;
use host_domain::event::Product;
use host_domain::time::Timestamp;
use host_domain::webhook::DeliveryEvent;
use host_runtime::guarded_client::DnsLookup;
use receiver::Receiver;
use scenario::DeliveryScenario;
use sender::SendingProcess;
use std::collections::BTreeMap;
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Maximum duration of an exchange.
const EXCHANGE_MAX_MS: i64 = 10_000;
/// Maximum duration of a scenario. A longer one counts as endless.
const DURATION_MAX_MS: i64 = 120 * DAY_MS;
/// Maximum number of events of a scenario. One with more events counts as endless.
const EVENTS_MAX: u64 = 60_000;
/// Maximum number of failures injected into a scenario.
const FAULTS_MAX: u32 = 15;
/// Maximum duration for which a process stalls.
const STALL_MAX_MS: i64 = 400_000;
/// Interval of the maintenance runs.
const MAINTENANCE_INTERVAL_MS: i64 = 60_000;

#[test]
fn deliveries_end_in_agreement_with_receivers() {
    run_deliveries("delivery", Product::Hotel);
}

#[test]
fn watch_deliveries_end_in_agreement_with_receivers() {
    run_deliveries("delivery of a watch", Product::Watch);
}

fn run_deliveries(name: &str, product: Product) {
    let config = Config::load(None, None, &Environment::default()).unwrap();
    let webhooks = DeliveryPolicy::new(
        &config.webhooks,
        Duration::from_secs(config.jobs.lease_s),
        config.allow_insecure_webhooks,
        DnsLookup::system(),
    );
    run_seeds(name, |random, history| {
        let scenario = DeliveryScenario::draw(random, product);
        Simulation::new(random, history, &scenario, &webhooks).run()
    });
}

struct Simulation<'a> {
    random: &'a Random,
    history: &'a History,
    scenario: &'a DeliveryScenario,
    webhooks: &'a DeliveryPolicy,
    now: Timestamp,
    event_queue: EventQueue<Self>,
    database: Database,
    processes: Vec<SendingProcess>,
    receivers: BTreeMap<String, Receiver>,
    attempts: BTreeMap<u64, Attempt>,
    /// Time of the next poll by the processes.
    next_dispatch_at: Timestamp,
    faults: u32,
    contract: DeliveryContract,
}

impl<'a> Simulation<'a> {
    fn new(
        random: &'a Random,
        history: &'a History,
        scenario: &'a DeliveryScenario,
        webhooks: &'a DeliveryPolicy,
    ) -> Self {
        history.note(|| format!("{scenario:?}"));
        Self {
            random,
            history,
            scenario,
            webhooks,
            now: START,
            event_queue: EventQueue::new(),
            database: Database::default(),
            processes: Vec::new(),
            receivers: BTreeMap::new(),
            attempts: BTreeMap::new(),
            next_dispatch_at: START,
            faults: 0,
            contract: DeliveryContract::new(scenario.product),
        }
    }

    fn run(mut self) -> Result<()> {
        self.start_processes()?;
        self.schedule_actors();
        let mut events = 0;
        while let Some(at) = self.next_at() {
            events += 1;
            ensure!(
                at.since(START) < DURATION_MAX_MS && events < EVENTS_MAX,
                "the scenario does not end"
            );
            // Every event has its own instant.
            self.now = at.max(self.now.plus_ms(1));
            self.process_next(at)?;
            self.contract.check(&self.database)?;
        }
        self.contract.check_end(&self.database)
    }

    fn next_at(&self) -> Option<Timestamp> {
        let dispatch_at = self
            .database
            .next_due()
            .map(|at| at.max(self.next_dispatch_at));
        let maintenance_at = self.next_maintenance_at();
        let scheduled = self.event_queue.next_at();
        scheduled
            .into_iter()
            .chain(dispatch_at)
            .chain(maintenance_at)
            .min()
    }

    fn process_next(&mut self, at: Timestamp) -> Result<()> {
        match self.event_queue.pop_due(at) {
            Some(event) => return event(self),
            None if self
                .next_maintenance_at()
                .is_some_and(|due| due <= self.now) =>
            {
                return self.run_maintenance();
            }
            None => self.dispatch_due(),
        }
        Ok(())
    }

    /// Returns the time of the next maintenance run that has work.
    fn next_maintenance_at(&self) -> Option<Timestamp> {
        let expiries = self.database.stalled_deliveries().map(|(at, _)| at);
        let deletions = self.database.subscribers.iter();
        let deletions =
            deletions.filter_map(|one| Some(one.deleted_at?.plus_ms(MAINTENANCE_INTERVAL_MS)));
        let first = expiries.chain(deletions).min()?;
        Some(first.plus_ms(MAINTENANCE_INTERVAL_MS / 2))
    }

    /// Mirrors `webhook/maintenance.rs`.
    fn run_maintenance(&mut self) -> Result<()> {
        let now = self.now;
        let stalled = self.database.stalled_deliveries();
        let stalled: Vec<_> = stalled.map(|(until, one)| (until, one.clone())).collect();
        for (until, delivery) in stalled {
            let read_status = delivery.status();
            if until < now
                && let Some(expired) = delivery.apply(DeliveryEvent::Expired, now)
            {
                self.note(|| format!("{} waited too long", expired.id));
                self.contract.record_expiry(&expired.id, now)?;
                self.database.expire_delivery(expired, read_status);
            }
        }
        self.database
            .purge_deleted_subscriptions(now.plus_ms(-MAINTENANCE_INTERVAL_MS));
        Ok(())
    }

    /// Returns whether a failure is injected, in the given percentage of cases.
    fn injects_fault(&mut self, percent: i64) -> bool {
        let is_injected = self.scenario.fault_percent > 0
            && self.faults < FAULTS_MAX
            && self.random.percent(percent);
        self.faults += u32::from(is_injected);
        is_injected
    }

    fn note(&self, line: impl FnOnce() -> String) {
        self.history.note_at(self.now, line);
    }

    fn queue(&mut self, after_ms: i64, event: impl FnOnce(&mut Self) -> Result<()> + 'static) {
        self.event_queue.schedule(self.now.plus_ms(after_ms), event);
    }
}
