//! Simulated delivery attempts: the parts of `webhook/delivery_worker.rs` around the decisions of
//! `webhook/attempt.rs`, and the injected failures.

use super::delivery_contract::PERMIT_MAX_MS;
use super::receiver::ReceiverOutcome;
use super::subscription_contract::SubscriptionEffect;
use super::{STALL_MAX_MS, Simulation};
use anyhow::{Result, ensure};
use host_application::webhook::attempt::{AttemptResult, honors_gone, jitter_permille};
use host_application::webhook::endpoint::InFlight;
use host_application::webhook::http_sender::DeliveryRequest;
use host_application::webhook::recipient::{Recipient, SubscriptionUpdates};
use host_application::webhook::signature;
use host_domain::event::Product;
use host_domain::time::Timestamp;
use host_domain::webhook::SubscriptionEvent;
use host_storage::{DeliveryRelease, StoredDelivery};
use std::sync::Arc;
use std::time::Duration;

/// A delivery that is being attempted.
pub(super) struct Attempt {
    pub(super) host: usize,
    recipient: Arc<Recipient>,
    stored: StoredDelivery,
    token: String,
    held: InFlight,
    sent_at: Option<Timestamp>,
    fault: Option<InjectedFault>,
}

impl Attempt {
    pub(super) fn new(
        host: usize,
        recipient: &Arc<Recipient>,
        stored: StoredDelivery,
        token: &str,
    ) -> Self {
        Self {
            host,
            held: recipient.endpoint.track(),
            recipient: Arc::clone(recipient),
            stored,
            token: token.to_owned(),
            sent_at: None,
            fault: None,
        }
    }
}

/// The result of an attempt, or the release of a delivery that was not attempted.
pub(super) struct AttemptReport {
    pub(super) attempt: u64,
    recipient: Arc<Recipient>,
    release: DeliveryRelease,
    subscription_event: Option<SubscriptionEvent>,
    /// Time of the evaluation by the process's clock.
    evaluated_at: Timestamp,
    fault: Option<InjectedFault>,
    _held: InFlight,
}

/// A failure that is injected into an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InjectedFault {
    CrashesBeforeSending,
    CrashesBeforeResponse,
    CrashesBeforeStoring,
    CrashesBeforeUpdate,
    /// The process stalls.
    StallsBeforeSending,
    StallsBeforeResponse,
    StoreFails,
    UpdateFails,
    /// The delivery gets no permit in time and is released.
    GetsNoPermit,
}

const INJECTED_FAULTS: [InjectedFault; 9] = [
    InjectedFault::CrashesBeforeSending,
    InjectedFault::CrashesBeforeResponse,
    InjectedFault::CrashesBeforeStoring,
    InjectedFault::CrashesBeforeUpdate,
    InjectedFault::StallsBeforeSending,
    InjectedFault::StallsBeforeResponse,
    InjectedFault::StoreFails,
    InjectedFault::UpdateFails,
    InjectedFault::GetsNoPermit,
];

impl Simulation<'_> {
    pub(super) fn begin(&mut self, name: u64, mut attempt: Attempt) {
        if self.injects_fault(self.setting.fault_percent) {
            let fault = self.random.one_of(&INJECTED_FAULTS);
            self.note(|| format!("attempt {name} will meet {fault:?}"));
            attempt.fault = Some(fault);
        }
        let fault = attempt.fault;
        let waits_ms = self.random.one_of(&[1, 5, 1_000, PERMIT_MAX_MS]);
        let mut after_ms = self.random.between(1, waits_ms) - 1;
        if fault == Some(InjectedFault::StallsBeforeSending) {
            self.contract.excuse(name);
            after_ms = self.random.between(1, STALL_MAX_MS);
        }
        self.attempts.insert(name, attempt);
        self.queue(after_ms, move |simulation| simulation.send(name));
    }

    /// Mirrors `Application::attempt`.
    pub(super) fn send(&mut self, name: u64) -> Result<()> {
        let Some(attempt) = self.attempts.get(&name) else {
            return Ok(());
        };
        let (host, fault) = (attempt.host, attempt.fault);
        if fault == Some(InjectedFault::CrashesBeforeSending) {
            self.die(host);
            return Ok(());
        }
        if fault == Some(InjectedFault::GetsNoPermit) {
            return self.evaluate(name, None);
        }
        let host_now = self.clock(host);
        let request = self
            .webhooks
            .delivery_request(&attempt.recipient, &attempt.stored, host_now);
        let (outcome, mut took_ms) = self.receivers[request.url].respond(self.random, self.now);
        self.note(|| format!("attempt {name} is sent: {outcome:?} after {took_ms} ms"));
        self.check_request(name, attempt, &request, host_now)?;
        self.contract.sent(name, &outcome, (host_now, self.now))?;
        match fault {
            Some(InjectedFault::StallsBeforeResponse) => {
                self.contract.excuse(name);
                took_ms += self.random.between(1, STALL_MAX_MS);
            }
            Some(InjectedFault::CrashesBeforeResponse) => took_ms = self.random.between(1, took_ms),
            _ => {}
        }
        if let Some(attempt) = self.attempts.get_mut(&name) {
            attempt.sent_at = Some(host_now);
        }
        self.second_thoughts(took_ms);
        self.queue(took_ms, move |simulation| {
            simulation.receive(name, &outcome, took_ms)
        });
        Ok(())
    }

    /// Checks the URL and the signing secrets of a request.
    fn check_request(
        &self,
        name: u64,
        attempt: &Attempt,
        request: &DeliveryRequest<'_>,
        host_now: Timestamp,
    ) -> Result<()> {
        let claim = &self.contract.claims[&name];
        let delivery = &attempt.stored.delivery;
        if let Some(standing) = self.contract.standings.get(&delivery.subscription) {
            let signers = standing.signers(claim.looked_at, host_now);
            let event = delivery.event.as_str();
            let body = attempt.stored.payload.as_bytes();
            let expected = signature::sign(signers, host_now.0.div_euclid(1000), event, body);
            let own = request.headers["svc-signature"].to_str()?;
            ensure!(own == expected.svc, "signed {own}, not {}", expected.svc);
            let url = standing.url(claim.looked_at);
            ensure!(request.url == url, "sent to {}, not {url}", request.url);
        }
        Ok(())
    }

    pub(super) fn receive(
        &mut self,
        name: u64,
        outcome: &ReceiverOutcome,
        took_ms: i64,
    ) -> Result<()> {
        let Some(attempt) = self.attempts.get(&name) else {
            return Ok(());
        };
        if attempt.fault == Some(InjectedFault::CrashesBeforeResponse) {
            self.die(attempt.host);
            return Ok(());
        }
        let took = Duration::from_millis(took_ms.unsigned_abs());
        let sent_at = attempt.sent_at.unwrap();
        let may_end = honors_gone(attempt.recipient.subscription.product);
        let attempted = AttemptResult::new(outcome.reply(), may_end, sent_at, took);
        attempt.recipient.endpoint.record_latency(took);
        self.evaluate(name, Some((sent_at, attempted)))
    }

    /// Mirrors the end of `DeliveryWorker::spawn_attempt`.
    fn evaluate(&mut self, name: u64, attempted: Option<(Timestamp, AttemptResult)>) -> Result<()> {
        let Some(attempt) = self.attempts.remove(&name) else {
            return Ok(());
        };
        let host_now = self.clock(attempt.host);
        let one = &mut self.hosts[attempt.host];
        let subscription = &attempt.recipient.subscription;
        let subscription_event = attempted.as_ref();
        let subscription_event =
            subscription_event.map(|(_, one)| self.webhooks.subscription_event(subscription, one));
        let (product, jitter) = (subscription.product, jitter_permille(self.random));
        let (stored, token) = (attempt.stored, attempt.token);
        let webhooks = self.webhooks;
        let release = webhooks.apply_attempt(product, stored, attempted, token, jitter, host_now);
        one.reports.push(AttemptReport {
            attempt: name,
            recipient: attempt.recipient,
            release,
            subscription_event,
            evaluated_at: host_now,
            fault: attempt.fault,
            _held: attempt.held,
        });
        if let (Some(incarnation), 1) = (one.incarnation, one.reports.len()) {
            let after_ms = self.random.one_of(&[1, 20, 2_000]);
            let host = attempt.host;
            self.queue(after_ms, move |simulation| {
                simulation.store(host, incarnation)
            });
        }
        Ok(())
    }

    /// Mirrors `store_results`: stores the results of attempts, then updates their subscriptions.
    pub(super) fn store(&mut self, host: usize, incarnation: u64) -> Result<()> {
        if self.hosts[host].incarnation != Some(incarnation) {
            return Ok(());
        }
        let meets = |fault| {
            let mut reports = self.hosts[host].reports.iter();
            reports.any(|report| report.fault == Some(fault))
        };
        let store_fails = meets(InjectedFault::StoreFails);
        let update_fails = meets(InjectedFault::UpdateFails);
        let crashes_before_update = meets(InjectedFault::CrashesBeforeUpdate);
        if meets(InjectedFault::CrashesBeforeStoring) {
            self.die(host);
            return Ok(());
        }
        let reports = std::mem::take(&mut self.hosts[host].reports);
        let events = reports.iter();
        let events = events
            .filter_map(|report| Some((&*report.recipient, report.subscription_event.as_ref()?)));
        let host_now = self.clock(host);
        let updates = SubscriptionUpdates::collect(events, host_now);
        for report in &reports {
            if store_fails {
                self.note(|| format!("attempt {} is not stored", report.attempt));
                self.contract.excuse(report.attempt);
            } else {
                self.store_one(report)?;
            }
            self.record_effect(
                report,
                !store_fails,
                !update_fails && !crashes_before_update,
            );
        }
        if !store_fails {
            for subscription in updates.succeeded {
                self.database.note_success(&subscription.id, host_now);
            }
        }
        if crashes_before_update {
            self.die(host);
        } else if !update_fails {
            for (subscription, event) in updates.others {
                self.change(&subscription.id, event.clone(), host_now);
            }
        }
        self.check_standings()
    }

    fn store_one(&mut self, report: &AttemptReport) -> Result<()> {
        let is_accepted = self.database.release(&report.release);
        let (attempt, release) = (report.attempt, &report.release);
        self.note(|| {
            let status = release.delivery.status().as_str();
            format!("attempt {attempt} is stored: {is_accepted}, {status}")
        });
        let is_attempted = release.attempt.is_some();
        self.contract
            .stored(attempt, is_attempted, is_accepted, report.evaluated_at)
    }

    /// Records the result of an attempt in the model.
    fn record_effect(&mut self, report: &AttemptReport, is_stored: bool, is_recorded: bool) {
        let claim = &self.contract.claims[&report.attempt];
        let Some(outcome) = &claim.outcome else {
            return;
        };
        let subscription = &report.recipient.subscription;
        let effect = match outcome {
            outcome if outcome.is_success() => SubscriptionEffect::Success,
            ReceiverOutcome::Responded(410, _) if subscription.product != Product::Watch => {
                SubscriptionEffect::Gone
            }
            _ => SubscriptionEffect::Failure,
        };
        if let Some(standing) = self.contract.standings.get_mut(&subscription.id) {
            // A successful attempt whose result is not stored is sent again.
            if is_stored || effect != SubscriptionEffect::Success {
                standing.record_attempt(effect, claim.looked_at, is_recorded, self.now);
            }
        }
    }

    fn check_standings(&mut self) -> Result<()> {
        for (id, standing) in &mut self.contract.standings {
            if let Some(one) = self.database.subscriber(id) {
                standing.check(one.subscription.status.as_str(), self.now)?;
            }
        }
        Ok(())
    }
}
