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
    pub(super) process: usize,
    recipient: Arc<Recipient>,
    stored: StoredDelivery,
    token: String,
    in_flight: InFlight,
    sent_at: Option<Timestamp>,
    fault: Option<InjectedFault>,
}

impl Attempt {
    pub(super) fn new(
        process: usize,
        recipient: &Arc<Recipient>,
        stored: StoredDelivery,
        token: &str,
    ) -> Self {
        Self {
            process,
            in_flight: recipient.endpoint.track(),
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
    _in_flight: InFlight,
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
    pub(super) fn begin_attempt(&mut self, number: u64, mut attempt: Attempt) {
        if self.injects_fault(self.scenario.fault_percent) {
            let fault = self.random.one_of(&INJECTED_FAULTS);
            self.note(|| format!("attempt {number} will meet {fault:?}"));
            attempt.fault = Some(fault);
        }
        let fault = attempt.fault;
        let permit_wait_ms = self.random.one_of(&[1, 5, 1_000, PERMIT_MAX_MS]);
        let mut after_ms = self.random.between(1, permit_wait_ms) - 1;
        if fault == Some(InjectedFault::StallsBeforeSending) {
            self.contract.mark_fault(number);
            after_ms = self.random.between(1, STALL_MAX_MS);
        }
        self.attempts.insert(number, attempt);
        self.queue(after_ms, move |simulation| simulation.send(number));
    }

    /// Mirrors `DeliveryWorker::attempt`.
    pub(super) fn send(&mut self, number: u64) -> Result<()> {
        let Some(attempt) = self.attempts.get(&number) else {
            return Ok(());
        };
        let (process, fault) = (attempt.process, attempt.fault);
        if fault == Some(InjectedFault::CrashesBeforeSending) {
            self.crash_process(process);
            return Ok(());
        }
        if fault == Some(InjectedFault::GetsNoPermit) {
            return self.evaluate(number, None);
        }
        let process_now = self.clock(process);
        let request =
            self.webhooks
                .delivery_request(&attempt.recipient, &attempt.stored, process_now);
        let (outcome, mut took_ms) = self.receivers[request.url].respond(self.random, self.now);
        self.note(|| format!("attempt {number} is sent: {outcome:?} after {took_ms} ms"));
        self.check_request(number, attempt, &request, process_now)?;
        self.contract
            .record_request(number, &outcome, (process_now, self.now))?;
        match fault {
            Some(InjectedFault::StallsBeforeResponse) => {
                self.contract.mark_fault(number);
                took_ms += self.random.between(1, STALL_MAX_MS);
            }
            Some(InjectedFault::CrashesBeforeResponse) => took_ms = self.random.between(1, took_ms),
            _ => {}
        }
        if let Some(attempt) = self.attempts.get_mut(&number) {
            attempt.sent_at = Some(process_now);
        }
        self.add_concurrent_action(took_ms);
        self.queue(took_ms, move |simulation| {
            simulation.receive(number, &outcome, took_ms)
        });
        Ok(())
    }

    /// Checks the URL and the signing secrets of a request.
    fn check_request(
        &self,
        number: u64,
        attempt: &Attempt,
        request: &DeliveryRequest<'_>,
        process_now: Timestamp,
    ) -> Result<()> {
        let claim = &self.contract.claims[&number];
        let delivery = &attempt.stored.delivery;
        if let Some(expected_subscription) = self.contract.subscriptions.get(&delivery.subscription)
        {
            let secrets = expected_subscription.signing_secrets(claim.read_at, process_now);
            let event = delivery.event.as_str();
            let body = attempt.stored.payload.as_bytes();
            let expected = signature::sign(secrets, process_now.0.div_euclid(1000), event, body);
            let own = request.headers["svc-signature"].to_str()?;
            ensure!(own == expected.svc, "signed {own}, not {}", expected.svc);
            let url = expected_subscription.url(claim.read_at);
            ensure!(request.url == url, "sent to {}, not {url}", request.url);
        }
        Ok(())
    }

    pub(super) fn receive(
        &mut self,
        number: u64,
        outcome: &ReceiverOutcome,
        took_ms: i64,
    ) -> Result<()> {
        let Some(attempt) = self.attempts.get(&number) else {
            return Ok(());
        };
        if attempt.fault == Some(InjectedFault::CrashesBeforeResponse) {
            self.crash_process(attempt.process);
            return Ok(());
        }
        let took = Duration::from_millis(took_ms.unsigned_abs());
        let sent_at = attempt.sent_at.unwrap();
        let may_end = honors_gone(attempt.recipient.subscription.product);
        let attempted = AttemptResult::new(outcome.reply(), may_end, sent_at, took);
        attempt.recipient.endpoint.record_latency(took);
        self.evaluate(number, Some((sent_at, attempted)))
    }

    /// Mirrors the end of `DeliveryDispatcher::spawn_attempt`.
    fn evaluate(
        &mut self,
        number: u64,
        attempted: Option<(Timestamp, AttemptResult)>,
    ) -> Result<()> {
        let Some(attempt) = self.attempts.remove(&number) else {
            return Ok(());
        };
        let process_now = self.clock(attempt.process);
        let sender = &mut self.processes[attempt.process];
        let subscription = &attempt.recipient.subscription;
        let subscription_event = attempted.as_ref();
        let subscription_event =
            subscription_event.map(|(_, one)| self.webhooks.subscription_event(subscription, one));
        let (product, jitter) = (subscription.product, jitter_permille(self.random));
        let (stored, token) = (attempt.stored, attempt.token);
        let webhooks = self.webhooks;
        let release =
            webhooks.apply_attempt(product, stored, attempted, token, jitter, process_now);
        sender.reports.push(AttemptReport {
            attempt: number,
            recipient: attempt.recipient,
            release,
            subscription_event,
            evaluated_at: process_now,
            fault: attempt.fault,
            _in_flight: attempt.in_flight,
        });
        if let (Some(incarnation), 1) = (sender.incarnation, sender.reports.len()) {
            let after_ms = self.random.one_of(&[1, 20, 2_000]);
            let process = attempt.process;
            self.queue(after_ms, move |simulation| {
                simulation.store(process, incarnation)
            });
        }
        Ok(())
    }

    /// Mirrors `DeliveryWorker::store_results`: stores the results of attempts, then updates
    /// their subscriptions.
    pub(super) fn store(&mut self, process: usize, incarnation: u64) -> Result<()> {
        if self.processes[process].incarnation != Some(incarnation) {
            return Ok(());
        }
        let has_fault = |fault| {
            let mut reports = self.processes[process].reports.iter();
            reports.any(|report| report.fault == Some(fault))
        };
        let store_fails = has_fault(InjectedFault::StoreFails);
        let update_fails = has_fault(InjectedFault::UpdateFails);
        let crashes_before_update = has_fault(InjectedFault::CrashesBeforeUpdate);
        if has_fault(InjectedFault::CrashesBeforeStoring) {
            self.crash_process(process);
            return Ok(());
        }
        let reports = std::mem::take(&mut self.processes[process].reports);
        let events = reports.iter();
        let events = events
            .filter_map(|report| Some((&*report.recipient, report.subscription_event.as_ref()?)));
        let process_now = self.clock(process);
        let updates = SubscriptionUpdates::collect(events, process_now);
        for report in &reports {
            if store_fails {
                self.note(|| format!("attempt {} is not stored", report.attempt));
                self.contract.mark_fault(report.attempt);
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
                self.database
                    .clear_failing_since(&subscription.id, process_now);
            }
        }
        if crashes_before_update {
            self.crash_process(process);
        } else if !update_fails {
            for (subscription, event) in updates.others {
                self.change(&subscription.id, event.clone(), process_now);
            }
        }
        self.check_subscriptions()
    }

    fn store_one(&mut self, report: &AttemptReport) -> Result<()> {
        let is_accepted = self.database.release_delivery(&report.release);
        let (attempt, release) = (report.attempt, &report.release);
        self.note(|| {
            let status = release.delivery.status().as_str();
            format!("attempt {attempt} is stored: {is_accepted}, {status}")
        });
        let is_attempted = release.attempt.is_some();
        self.contract
            .record_result(attempt, is_attempted, is_accepted, report.evaluated_at)
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
        if let Some(expected_subscription) = self.contract.subscriptions.get_mut(&subscription.id) {
            // A successful attempt whose result is not stored is sent again.
            if is_stored || effect != SubscriptionEffect::Success {
                expected_subscription.record_attempt(effect, claim.read_at, is_recorded, self.now);
            }
        }
    }

    fn check_subscriptions(&mut self) -> Result<()> {
        for (id, expected_subscription) in &mut self.contract.subscriptions {
            if let Some(subscriber) = self.database.subscriber(id) {
                expected_subscription.check(subscriber.subscription.status.as_str(), self.now)?;
            }
        }
        Ok(())
    }
}
