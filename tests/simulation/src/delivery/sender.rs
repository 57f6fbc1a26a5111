//! Gateway processes that send: the parts of `webhook/delivery_worker.rs` that find due deliveries.

use super::attempt::{Attempt, AttemptReport};
use super::database::Subscriber;
use super::{STALL_MAX_MS, Simulation};
use anyhow::Result;
use host_application::id_generator::IdGenerator;
use host_application::webhook::endpoint::Endpoint;
use host_application::webhook::recipient::{ActiveSecrets, Recipient};
use host_domain::id::SubscriptionId;
use host_domain::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Limit used for `webhooks.endpoint_concurrency` and `webhooks.endpoint_per_s`, high enough to
/// delay nothing here.
const UNLIMITED: u32 = 1_000;

/// A gateway process that sends deliveries.
#[derive(Default)]
pub(super) struct SendingProcess {
    /// Unique number of the last start, or `None` if the process is not running.
    pub(super) incarnation: Option<u64>,
    skew_ms: i64,
    endpoints: BTreeMap<SubscriptionId, Arc<Endpoint>>,
    pub(super) reports: Vec<AttemptReport>,
}

impl Simulation<'_> {
    pub(super) fn start_processes(&mut self) -> Result<()> {
        for number in 0..self.scenario.processes {
            let most_ms = self.scenario.skew_ms;
            let skew_ms = self.random.between(-most_ms, most_ms);
            self.processes.push(SendingProcess {
                skew_ms,
                ..SendingProcess::default()
            });
            self.start_process(number)?;
        }
        Ok(())
    }

    pub(super) fn start_process(&mut self, process: usize) -> Result<()> {
        self.note(|| format!("process {process} starts"));
        let incarnation = self.event_queue.next_number();
        self.processes[process].incarnation = Some(incarnation);
        Ok(())
    }

    pub(super) fn crash_process(&mut self, process: usize) {
        self.note(|| format!("process {process} crashes"));
        let sender = &mut self.processes[process];
        sender.incarnation = None;
        sender.endpoints.clear();
        let contract = &mut self.contract;
        for report in sender.reports.drain(..) {
            contract.mark_fault(report.attempt);
        }
        self.attempts.retain(|number, attempt| {
            let is_lost = attempt.process == process;
            if is_lost {
                contract.mark_fault(*number);
            }
            !is_lost
        });
        let restart_after_ms = self.random.one_of(&[1_000, 30_000, 600_000]);
        self.queue(restart_after_ms, move |simulation| {
            simulation.start_process(process)
        });
    }

    pub(super) fn clock(&self, process: usize) -> Timestamp {
        self.now.plus_ms(self.processes[process].skew_ms)
    }

    /// Mirrors `DeliveryDispatcher::dispatch_due` up to the claim.
    pub(super) fn dispatch_due(&mut self) {
        let alive: Vec<usize> = (0..self.processes.len())
            .filter(|process| self.processes[*process].incarnation.is_some())
            .collect();
        self.next_dispatch_at = self.now.plus_ms(self.random.between(1, 1_000));
        if alive.is_empty() {
            self.next_dispatch_at = self.now.plus_ms(1_000);
            return;
        }
        let process = self.random.one_of(&alive);
        let process_now = self.clock(process);
        let sender = &mut self.processes[process];
        let full = sender.endpoints.iter();
        let full = full.filter(|(_, endpoint)| endpoint.available_capacity() == 0);
        let full: Vec<SubscriptionId> = full.map(|(id, _)| id.clone()).collect();
        let due = self.database.due_subscriptions(&full, self.now);
        let ready = due.into_iter().filter(|(_, due_at)| *due_at <= process_now);
        let recipients: Vec<_> = ready
            .map(|(subscriber, _)| recipient(&mut sender.endpoints, subscriber))
            .collect();
        if let (Some(incarnation), false) = (sender.incarnation, recipients.is_empty()) {
            let latest_ms = if self.injects_fault(1) {
                STALL_MAX_MS
            } else {
                100
            };
            let after_ms = self.random.between(1, latest_ms);
            let read_at = self.now;
            self.queue(after_ms, move |simulation| {
                simulation.claim(process, incarnation, &recipients, read_at)
            });
        }
    }

    /// Mirrors `DeliveryDispatcher::claim`.
    pub(super) fn claim(
        &mut self,
        process: usize,
        incarnation: u64,
        recipients: &[Arc<Recipient>],
        read_at: Timestamp,
    ) -> Result<()> {
        if self.processes[process].incarnation != Some(incarnation) {
            return Ok(());
        }
        let token = format!("{:032x}", self.random.generate());
        let clocks = (self.clock(process), self.now);
        for recipient in recipients {
            let capacity = recipient.endpoint.available_capacity();
            let id = &recipient.subscription.id;
            let lease_ms = self.webhooks.lease_ms();
            let claimed = self
                .database
                .claim_deliveries(id, capacity, &token, clocks, lease_ms);
            for stored in claimed {
                let number = self.event_queue.next_number();
                let id = &stored.delivery.id;
                self.note(|| format!("process {process} claims {id} for attempt {number}"));
                self.contract.record_claim(number, id, read_at, clocks)?;
                let attempt = Attempt::new(process, recipient, stored, &token);
                self.begin_attempt(number, attempt);
            }
        }
        Ok(())
    }
}

/// Mirrors `DeliveryDispatcher::recipient`.
fn recipient(
    endpoints: &mut BTreeMap<SubscriptionId, Arc<Endpoint>>,
    subscriber: &Subscriber,
) -> Arc<Recipient> {
    let subscription = subscriber.subscription.clone();
    let endpoint = endpoints.entry(subscription.id.clone());
    let endpoint = endpoint.or_insert_with(|| Arc::new(Endpoint::new(UNLIMITED, UNLIMITED)));
    let expires_at = subscription.previous_secret_expires_at;
    Arc::new(Recipient {
        endpoint: Arc::clone(endpoint),
        secrets: ActiveSecrets {
            current: subscriber.current.clone(),
            previous: subscriber.previous.clone().zip(expires_at),
        },
        subscription,
    })
}
