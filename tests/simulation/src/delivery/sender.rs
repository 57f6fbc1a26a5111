//! Sending hosts: the parts of `webhook/delivery_worker.rs` that find due deliveries.

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
const PLENTY: u32 = 1_000;
/// A sending process.
#[derive(Default)]
pub(super) struct Host {
    /// Number of starts so far, or `None` if the process is not running.
    pub(super) incarnation: Option<u64>,
    skew_ms: i64,
    endpoints: BTreeMap<SubscriptionId, Arc<Endpoint>>,
    pub(super) reports: Vec<AttemptReport>,
}

impl Simulation<'_> {
    pub(super) fn start_hosts(&mut self) -> Result<()> {
        for number in 0..self.setting.hosts {
            let most_ms = self.setting.skew_ms;
            let skew_ms = self.random.between(-most_ms, most_ms);
            self.hosts.push(Host {
                skew_ms,
                ..Host::default()
            });
            self.start(number)?;
        }
        Ok(())
    }

    pub(super) fn start(&mut self, host: usize) -> Result<()> {
        self.note(|| format!("host {host} starts"));
        let incarnation = self.agenda.name();
        self.hosts[host].incarnation = Some(incarnation);
        Ok(())
    }

    pub(super) fn die(&mut self, host: usize) {
        self.note(|| format!("host {host} dies"));
        let one = &mut self.hosts[host];
        one.incarnation = None;
        one.endpoints.clear();
        let contract = &mut self.contract;
        for report in one.reports.drain(..) {
            contract.excuse(report.attempt);
        }
        self.attempts.retain(|name, one| {
            let is_lost = one.host == host;
            if is_lost {
                contract.excuse(*name);
            }
            !is_lost
        });
        let again_ms = self.random.one_of(&[1_000, 30_000, 600_000]);
        self.queue(again_ms, move |simulation| simulation.start(host));
    }

    pub(super) fn clock(&self, host: usize) -> Timestamp {
        self.now.plus_ms(self.hosts[host].skew_ms)
    }

    /// Mirrors `DeliveryWorker::dispatch_due` up to the claim.
    pub(super) fn look(&mut self) {
        let alive: Vec<usize> = (0..self.hosts.len())
            .filter(|host| self.hosts[*host].incarnation.is_some())
            .collect();
        self.looks_at = self.now.plus_ms(self.random.between(1, 1_000));
        if alive.is_empty() {
            self.looks_at = self.now.plus_ms(1_000);
            return;
        }
        let host = self.random.one_of(&alive);
        let host_now = self.clock(host);
        let one = &mut self.hosts[host];
        let full = one.endpoints.iter();
        let full = full.filter(|(_, endpoint)| endpoint.available_capacity() == 0);
        let full: Vec<SubscriptionId> = full.map(|(id, _)| id.clone()).collect();
        let due = self.database.due(&full, self.now);
        let ready = due.into_iter().filter(|(_, due_at)| *due_at <= host_now);
        let recipients: Vec<_> = ready
            .map(|(subscriber, _)| recipient(&mut one.endpoints, subscriber))
            .collect();
        if let (Some(incarnation), false) = (one.incarnation, recipients.is_empty()) {
            let latest_ms = if self.injects_fault(1) {
                STALL_MAX_MS
            } else {
                100
            };
            let after_ms = self.random.between(1, latest_ms);
            let looked_at = self.now;
            self.queue(after_ms, move |simulation| {
                simulation.claim(host, incarnation, &recipients, looked_at)
            });
        }
    }

    /// Mirrors `DeliveryWorker::claim`.
    pub(super) fn claim(
        &mut self,
        host: usize,
        incarnation: u64,
        recipients: &[Arc<Recipient>],
        looked_at: Timestamp,
    ) -> Result<()> {
        if self.hosts[host].incarnation != Some(incarnation) {
            return Ok(());
        }
        let token = format!("{:032x}", self.random.generate());
        let clocks = (self.clock(host), self.now);
        for recipient in recipients {
            let room = recipient.endpoint.available_capacity();
            let id = &recipient.subscription.id;
            let lease_ms = self.webhooks.lease_ms();
            let claimed = self.database.claim(id, room, &token, clocks, lease_ms);
            for stored in claimed {
                let name = self.agenda.name();
                let id = &stored.delivery.id;
                self.note(|| format!("host {host} claims {id} for attempt {name}"));
                self.contract.claimed(name, id, looked_at, clocks)?;
                let attempt = Attempt::new(host, recipient, stored, &token);
                self.begin(name, attempt);
            }
        }
        Ok(())
    }
}

/// Mirrors `DeliveryWorker::recipient`.
fn recipient(
    endpoints: &mut BTreeMap<SubscriptionId, Arc<Endpoint>>,
    subscriber: &Subscriber,
) -> Arc<Recipient> {
    let subscription = subscriber.subscription.clone();
    let endpoint = endpoints.entry(subscription.id.clone());
    let endpoint = endpoint.or_insert_with(|| Arc::new(Endpoint::new(PLENTY, PLENTY)));
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
