//! Simulated delivery attempts: the parts of `webhook/delivery_worker.rs` around the decisions of
//! `webhook/attempt.rs`, and the injected failures.

use super::Life;
use super::delivery_contract::TURN_MS;
use super::receiver::Verdict;
use super::sender::FROZEN_MAX_MS;
use super::subscription_contract::Word;
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
    trouble: Option<Trouble>,
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
            trouble: None,
        }
    }
}

/// The result of an attempt, or the release of a delivery that was not attempted.
pub(super) struct Report {
    pub(super) attempt: u64,
    recipient: Arc<Recipient>,
    answered: DeliveryRelease,
    heard: Option<SubscriptionEvent>,
    /// Time of the evaluation by the host's clock.
    judged_at: Timestamp,
    trouble: Option<Trouble>,
    _held: InFlight,
}

/// A failure that is injected into an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    DiesBeforeSending,
    DiesBeforeHearing,
    DiesBeforeStoring,
    DiesBeforeTelling,
    /// The process stalls.
    FreezesBeforeSending,
    FreezesBeforeHearing,
    CannotStore,
    CannotTell,
    /// The delivery gets no permit in time and is released.
    HasNoTurn,
}

const TROUBLES: [Trouble; 9] = [
    Trouble::DiesBeforeSending,
    Trouble::DiesBeforeHearing,
    Trouble::DiesBeforeStoring,
    Trouble::DiesBeforeTelling,
    Trouble::FreezesBeforeSending,
    Trouble::FreezesBeforeHearing,
    Trouble::CannotStore,
    Trouble::CannotTell,
    Trouble::HasNoTurn,
];

impl Life<'_> {
    pub(super) fn begin(&mut self, name: u64, mut attempt: Attempt) {
        if self.troubled(self.setting.trouble) {
            let trouble = self.random.one_of(&TROUBLES);
            self.note(|| format!("attempt {name} will meet {trouble:?}"));
            attempt.trouble = Some(trouble);
        }
        let trouble = attempt.trouble;
        let waits_ms = self.random.one_of(&[1, 5, 1_000, TURN_MS]);
        let mut after_ms = self.random.between(1, waits_ms) - 1;
        if trouble == Some(Trouble::FreezesBeforeSending) {
            self.promises.excuse(name);
            after_ms = self.random.between(1, FROZEN_MAX_MS);
        }
        self.attempts.insert(name, attempt);
        self.queue(after_ms, move |life| life.send(name));
    }

    /// Mirrors `Application::attempt`.
    pub(super) fn send(&mut self, name: u64) -> Result<()> {
        let Some(attempt) = self.attempts.get(&name) else {
            return Ok(());
        };
        let (host, trouble) = (attempt.host, attempt.trouble);
        if trouble == Some(Trouble::DiesBeforeSending) {
            self.die(host);
            return Ok(());
        }
        if trouble == Some(Trouble::HasNoTurn) {
            return self.judge(name, None);
        }
        let host_now = self.clock(host);
        let letter = self
            .webhooks
            .delivery_request(&attempt.recipient, &attempt.stored, host_now);
        let (verdict, mut took_ms) = self.receivers[letter.url].judge(self.random, self.now);
        self.note(|| format!("attempt {name} is sent: {verdict:?} after {took_ms} ms"));
        self.check_letter(name, attempt, &letter, host_now)?;
        self.promises.sent(name, &verdict, (host_now, self.now))?;
        match trouble {
            Some(Trouble::FreezesBeforeHearing) => {
                self.promises.excuse(name);
                took_ms += self.random.between(1, FROZEN_MAX_MS);
            }
            Some(Trouble::DiesBeforeHearing) => took_ms = self.random.between(1, took_ms),
            _ => {}
        }
        if let Some(attempt) = self.attempts.get_mut(&name) {
            attempt.sent_at = Some(host_now);
        }
        self.second_thoughts(took_ms);
        self.queue(took_ms, move |life| life.hear(name, &verdict, took_ms));
        Ok(())
    }

    /// Checks the URL and the signing secrets of a request.
    fn check_letter(
        &self,
        name: u64,
        attempt: &Attempt,
        letter: &DeliveryRequest<'_>,
        host_now: Timestamp,
    ) -> Result<()> {
        let tried = &self.promises.tries[&name];
        let delivery = &attempt.stored.delivery;
        if let Some(standing) = self.promises.standings.get(&delivery.subscription) {
            let signers = standing.signers(tried.looked_at, host_now);
            let event = delivery.event.as_str();
            let body = attempt.stored.payload.as_bytes();
            let expected = signature::sign(signers, host_now.0.div_euclid(1000), event, body);
            let own = letter.headers["svc-signature"].to_str()?;
            ensure!(own == expected.svc, "signed {own}, not {}", expected.svc);
            let url = standing.url(tried.looked_at);
            ensure!(letter.url == url, "sent to {}, not {url}", letter.url);
        }
        Ok(())
    }

    pub(super) fn hear(&mut self, name: u64, verdict: &Verdict, took_ms: i64) -> Result<()> {
        let Some(attempt) = self.attempts.get(&name) else {
            return Ok(());
        };
        if attempt.trouble == Some(Trouble::DiesBeforeHearing) {
            self.die(attempt.host);
            return Ok(());
        }
        let took = Duration::from_millis(took_ms.unsigned_abs());
        let sent_at = attempt.sent_at.unwrap();
        let may_end = honors_gone(attempt.recipient.subscription.product);
        let attempted = AttemptResult::new(verdict.reply(), may_end, sent_at, took);
        attempt.recipient.endpoint.record_latency(took);
        self.judge(name, Some((sent_at, attempted)))
    }

    /// Mirrors the end of `DeliveryWorker::spawn_attempt`.
    fn judge(&mut self, name: u64, attempted: Option<(Timestamp, AttemptResult)>) -> Result<()> {
        let Some(attempt) = self.attempts.remove(&name) else {
            return Ok(());
        };
        let host_now = self.clock(attempt.host);
        let one = &mut self.hosts[attempt.host];
        let subscription = &attempt.recipient.subscription;
        let heard = attempted.as_ref();
        let heard = heard.map(|(_, one)| self.webhooks.subscription_event(subscription, one));
        let (product, jitter) = (subscription.product, jitter_permille(self.random));
        let (stored, token) = (attempt.stored, attempt.token);
        let webhooks = self.webhooks;
        let answered = webhooks.apply_attempt(product, stored, attempted, token, jitter, host_now);
        one.reports.push(Report {
            attempt: name,
            recipient: attempt.recipient,
            answered,
            heard,
            judged_at: host_now,
            trouble: attempt.trouble,
            _held: attempt.held,
        });
        if let (Some(life), 1) = (one.life, one.reports.len()) {
            let after_ms = self.random.one_of(&[1, 20, 2_000]);
            let host = attempt.host;
            self.queue(after_ms, move |scenario| scenario.store(host, life));
        }
        Ok(())
    }

    /// Mirrors `store_results`: stores the results of attempts, then updates their subscriptions.
    pub(super) fn store(&mut self, host: usize, life: u64) -> Result<()> {
        if self.hosts[host].life != Some(life) {
            return Ok(());
        }
        let meets = |trouble| {
            let mut reports = self.hosts[host].reports.iter();
            reports.any(|report| report.trouble == Some(trouble))
        };
        let cannot_store = meets(Trouble::CannotStore);
        let cannot_tell = meets(Trouble::CannotTell);
        let dies_before_telling = meets(Trouble::DiesBeforeTelling);
        if meets(Trouble::DiesBeforeStoring) {
            self.die(host);
            return Ok(());
        }
        let reports = std::mem::take(&mut self.hosts[host].reports);
        let heard = reports.iter();
        let heard = heard.filter_map(|report| Some((&*report.recipient, report.heard.as_ref()?)));
        let host_now = self.clock(host);
        let news = SubscriptionUpdates::collect(heard, host_now);
        for report in &reports {
            if cannot_store {
                self.note(|| format!("attempt {} is not stored", report.attempt));
                self.promises.excuse(report.attempt);
            } else {
                self.store_one(report)?;
            }
            self.listen(report, !cannot_store, !cannot_tell && !dies_before_telling);
        }
        if !cannot_store {
            for subscription in news.succeeded {
                self.database.note_success(&subscription.id, host_now);
            }
        }
        if dies_before_telling {
            self.die(host);
        } else if !cannot_tell {
            for (subscription, event) in news.others {
                self.change(&subscription.id, event.clone(), host_now);
            }
        }
        self.check_standings()
    }

    fn store_one(&mut self, report: &Report) -> Result<()> {
        let is_accepted = self.database.answer(&report.answered);
        let (attempt, answered) = (report.attempt, &report.answered);
        self.note(|| {
            let status = answered.delivery.status().as_str();
            format!("attempt {attempt} is stored: {is_accepted}, {status}")
        });
        let is_tried = answered.attempt.is_some();
        self.promises
            .stored(attempt, is_tried, is_accepted, report.judged_at)
    }

    /// Records the result of an attempt in the model.
    fn listen(&mut self, report: &Report, is_stored: bool, is_told: bool) {
        let tried = &self.promises.tries[&report.attempt];
        let Some(verdict) = &tried.verdict else {
            return;
        };
        let subscription = &report.recipient.subscription;
        let word = match verdict {
            verdict if verdict.is_yes() => Word::Yes,
            Verdict::Said(410, _) if subscription.product != Product::Watch => Word::Gone,
            _ => Word::No,
        };
        if let Some(standing) = self.promises.standings.get_mut(&subscription.id) {
            // A successful attempt whose result is not stored is sent again.
            if is_stored || word != Word::Yes {
                standing.heard(word, tried.looked_at, is_told, self.now);
            }
        }
    }

    fn check_standings(&mut self) -> Result<()> {
        for (id, standing) in &mut self.promises.standings {
            if let Some(one) = self.database.subscriber(id) {
                standing.check(one.subscription.status.as_str(), self.now)?;
            }
        }
        Ok(())
    }
}
