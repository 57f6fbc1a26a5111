//! Model of the guarantees for subscriptions, with its own constants: whether anything is sent, to
//! which URL, and signed with which secrets.

use super::DAY_MS;
use anyhow::{Result, bail, ensure};
use host_domain::time::Timestamp;
use secrecy::SecretString;

const DISABLED_AFTER_MS: i64 = 5 * DAY_MS;
const ROTATION_OVERLAP_MS: i64 = DAY_MS;

/// The meaning of an attempt for its subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubscriptionEffect {
    Success,
    Failure,
    /// A definitive refusal (status 410).
    Gone,
}

/// The required state of a subscription.
#[derive(Debug)]
pub(super) struct ExpectedSubscription {
    status: &'static str,
    /// Maximum difference between clocks.
    tolerance_ms: i64,
    /// Time of the client's last change.
    changed_at: Timestamp,
    /// Time at which the subscription was created, resumed or moved to another URL.
    reset_at: Timestamp,
    /// Failures since `reset_at`.
    failures: Vec<Timestamp>,
    /// Last success that every process must have recorded.
    succeeded_at: Option<Timestamp>,
    /// Time of the first failure that must have been recorded.
    failing_since: Option<Timestamp>,
    cleared_at: Timestamp,
    urls: Vec<(Timestamp, String)>,
    /// Creation time, creation time by the creating process's clock, and the secret.
    secrets: Vec<(Timestamp, Timestamp, SecretString)>,
    must_disable: bool,
    must_pause: bool,
}

impl ExpectedSubscription {
    pub(super) fn new(url: &str, secret: &SecretString, now: Timestamp, tolerance_ms: i64) -> Self {
        Self {
            status: "ACTIVE",
            tolerance_ms,
            changed_at: now,
            reset_at: now,
            failures: Vec::new(),
            succeeded_at: None,
            failing_since: None,
            cleared_at: now,
            urls: vec![(now, url.to_owned())],
            secrets: vec![(now, now, secret.clone())],
            must_disable: false,
            must_pause: false,
        }
    }

    pub(super) fn check_active(&self) -> Result<()> {
        ensure!(self.status == "ACTIVE", "nothing is sent to {self:?}");
        Ok(())
    }

    fn set_status(&mut self, status: &'static str, now: Timestamp) {
        if self.status != status {
            (self.status, self.changed_at) = (status, now);
        }
    }

    fn reset_failures(&mut self, now: Timestamp) {
        (self.reset_at, self.cleared_at) = (now, now);
        self.failures.clear();
        self.failing_since = None;
    }

    pub(super) fn record_pause(&mut self, now: Timestamp) {
        self.set_status("PAUSED", now);
    }

    pub(super) fn record_resume(&mut self, now: Timestamp) {
        self.set_status("ACTIVE", now);
        self.reset_failures(now);
    }

    pub(super) fn record_url(&mut self, url: &str, now: Timestamp) {
        self.changed_at = now;
        self.urls.push((now, url.to_owned()));
        self.reset_failures(now);
    }

    pub(super) fn record_rotation(
        &mut self,
        secret: &SecretString,
        now: Timestamp,
        by_clock: Timestamp,
    ) {
        self.changed_at = now;
        self.secrets.push((now, by_clock, secret.clone()));
    }

    /// Returns the URL for a subscription that was read at `read_at`.
    pub(super) fn url(&self, read_at: Timestamp) -> &str {
        let known = self.urls.iter().rev();
        let mut known = known.filter(|(from, _)| *from <= read_at);
        &known.next().unwrap().1
    }

    /// Returns the secrets that sign a request sent at `sent_at` of the sender's clock.
    pub(super) fn signing_secrets(
        &self,
        read_at: Timestamp,
        sent_at: Timestamp,
    ) -> Vec<&SecretString> {
        let known = self.secrets.iter().rev();
        let mut known = known.filter(|(from, ..)| *from <= read_at);
        let (_, rotated_at, current) = known.next().unwrap();
        let is_overlapping = sent_at.since(*rotated_at) < ROTATION_OVERLAP_MS;
        let previous = known.next().filter(|_| is_overlapping);
        let previous = previous.map(|(.., secret)| secret);
        std::iter::once(current).chain(previous).collect()
    }

    /// Records the result of an attempt whose subscription was read at `read_at`. `is_recorded` is
    /// `true` if the sender survived and could store the result.
    pub(super) fn record_attempt(
        &mut self,
        effect: SubscriptionEffect,
        read_at: Timestamp,
        is_recorded: bool,
        now: Timestamp,
    ) {
        let is_active = self.status == "ACTIVE";
        match effect {
            SubscriptionEffect::Success => {
                // A sender that read the subscription before a failure may skip recording this
                // success.
                if self.failures.iter().all(|at| *at < read_at) {
                    self.succeeded_at = Some(now);
                }
                (self.failing_since, self.cleared_at) = (None, now);
            }
            SubscriptionEffect::Failure => {
                self.failures.push(now);
                if is_recorded && is_active && read_at > self.cleared_at {
                    let since = *self.failing_since.get_or_insert(now);
                    let failed_ms = now.since(since) - self.tolerance_ms;
                    self.must_disable |= failed_ms >= DISABLED_AFTER_MS;
                }
            }
            // A request sent before the client's last change does not pause the subscription.
            SubscriptionEffect::Gone => {
                self.must_pause |= is_recorded && is_active && read_at > self.changed_at;
            }
        }
    }

    /// Checks the actual status after the recorded results.
    pub(super) fn check(&mut self, status: &'static str, now: Timestamp) -> Result<()> {
        let must_end = self.must_disable || self.must_pause;
        match (self.status, status) {
            (before, after) if before == after => {
                ensure!(!must_end, "still {status}: {self:?}");
            }
            ("ACTIVE", "PAUSED") => {
                ensure!(self.must_pause, "paused without a reason: {self:?}");
                self.changed_at = now;
            }
            ("ACTIVE", "DISABLED") => {
                let recent = self.failures.iter();
                let mut recent = recent.filter(|at| Some(**at) > self.succeeded_at);
                let has_long_failed =
                    |at: &Timestamp| now.since(*at) + self.tolerance_ms >= DISABLED_AFTER_MS;
                ensure!(recent.any(has_long_failed), "disabled too early: {self:?}");
                self.changed_at = now;
            }
            (before, after) => bail!("{before} became {after}: {self:?}"),
        }
        self.status = status;
        (self.must_disable, self.must_pause) = (false, false);
        Ok(())
    }
}
