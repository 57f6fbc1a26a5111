//! Model of the guarantees for deliveries, with its own constants. It determines the state that
//! each delivery must have, independent of the production code.

use super::EXCHANGE_MAX_MS;
use super::database::{Database, Row};
use super::receiver::{ReceiverOutcome, RetryAfter};
use super::subscription_contract::ExpectedSubscription;
use anyhow::{Context, Result, bail, ensure};
use host_domain::event::Product;
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::time::Timestamp;
use host_domain::webhook::Delivery;
use std::collections::BTreeMap;

const RETRY_S: [i64; 4] = [60, 300, 1_800, 5_400];
const WATCH_RETRY_S: [i64; 6] = [60, 300, 1_800, 7_200, 43_200, 86_400];
/// Maximum extra delay of an attempt, in percent.
const JITTER_PERCENT_MAX: i64 = 5;
/// Maximum time until all attempts to a subscription have ended, if each starts when it is due.
const ATTEMPTS_DURATION_MAX_MS: i64 = 8_100_000;
/// Maximum time that a claimed delivery waits for a permit.
pub(super) const PERMIT_MAX_MS: i64 = 10_000;
/// Lease duration of a claim.
const LEASE_MS: i64 = 25_000;
const PENDING_REPLAY_DELAY_MS: i64 = 60_000;

/// The required state of a delivery.
#[derive(Debug)]
pub(super) struct ExpectedDelivery {
    pub(super) subscription: SubscriptionId,
    event: EventId,
    status: &'static str,
    reason: Option<&'static str>,
    pub(super) replays: i64,
    failures: i64,
    pending_since: Timestamp,
    published_at: Option<Timestamp>,
    /// Earliest and latest due time of the next attempt.
    due: (Timestamp, Timestamp),
    /// Total delay of started attempts beyond their due times.
    late_ms: i64,
    lease: Option<Lease>,
    /// Attempt that the receiver accepted in the current generation.
    accepted_by: Option<u64>,
}

/// The lease of the process that claimed the delivery last.
#[derive(Debug)]
struct Lease {
    attempt: u64,
    claimed_at: Timestamp,
    until: Timestamp,
    late_ms: i64,
}

/// A claim of a delivery.
#[derive(Debug)]
pub(super) struct ClaimRecord {
    pub(super) delivery: DeliveryId,
    event: EventId,
    replays: i64,
    /// Time at which the subscription was read.
    pub(super) read_at: Timestamp,
    claimed_at: Timestamp,
    sent_at: Option<Timestamp>,
    pub(super) outcome: Option<ReceiverOutcome>,
    /// Whether an injected failure of the process or the database affects this attempt.
    has_fault: bool,
}

/// All guarantees.
pub(super) struct DeliveryContract {
    product: Product,
    pub(super) deliveries: BTreeMap<DeliveryId, ExpectedDelivery>,
    pub(super) claims: BTreeMap<u64, ClaimRecord>,
    pub(super) subscriptions: BTreeMap<SubscriptionId, ExpectedSubscription>,
    /// Creation time and required status of each event.
    pub(super) log: BTreeMap<EventId, (Timestamp, &'static str)>,
}

impl ExpectedDelivery {
    fn new(subscription: SubscriptionId, event: EventId, at: Timestamp) -> Self {
        Self {
            subscription,
            event,
            status: "PENDING",
            reason: None,
            replays: 0,
            failures: 0,
            pending_since: at,
            published_at: None,
            due: (at, at),
            late_ms: 0,
            lease: None,
            accepted_by: None,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.status, "DELIVERED" | "FAILED")
    }

    fn fail(&mut self, reason: &'static str) {
        (self.status, self.reason) = ("FAILED", Some(reason));
    }

    /// Records the result of an attempt at `now`.
    fn record_attempt(
        &mut self,
        product: Product,
        sent_at: Timestamp,
        outcome: &ReceiverOutcome,
        now: Timestamp,
    ) {
        self.failures += 1;
        match outcome {
            outcome if outcome.is_success() => self.status = "DELIVERED",
            ReceiverOutcome::Responded(410, _) if product != Product::Watch => self.fail("gone"),
            outcome => {
                let retry_after = match outcome {
                    ReceiverOutcome::Responded(_, Some(RetryAfter::Seconds(seconds))) => {
                        (now.plus_s(*seconds), now.plus_s(*seconds))
                    }
                    // The next attempt is never before that date. The date has whole seconds and is
                    // converted relative to the request.
                    ReceiverOutcome::Responded(_, Some(RetryAfter::Date(at))) => {
                        (*at, now.plus_ms(at.since(sent_at) + 1_000))
                    }
                    _ => (now, now),
                };
                match self.next_due(product, retry_after, now) {
                    Some(due) => self.due = due,
                    None if *outcome == ReceiverOutcome::Forbidden => self.fail("url_not_allowed"),
                    None => self.fail("retries_exhausted"),
                }
            }
        }
    }

    /// Returns the range of due times after a failed attempt, or `None` if there is no further
    /// attempt.
    fn next_due(
        &self,
        product: Product,
        retry_after: (Timestamp, Timestamp),
        now: Timestamp,
    ) -> Option<(Timestamp, Timestamp)> {
        let steps_s: &[i64] = match product {
            Product::Watch => &WATCH_RETRY_S,
            Product::Hotel | Product::Flight => &RETRY_S,
        };
        let longest_ms = |step_s: &i64| step_s * 10 * (100 + JITTER_PERCENT_MAX);
        let (step_s, rest_s) =
            steps_s[usize::try_from(self.failures).unwrap() - 1..].split_first()?;
        let bound = match product {
            Product::Watch => now.plus_s(2 * step_s),
            Product::Hotel | Product::Flight => {
                let attempt_ms = PERMIT_MAX_MS + EXCHANGE_MAX_MS;
                let rest_ms: i64 = rest_s
                    .iter()
                    .map(|step| longest_ms(step) + attempt_ms)
                    .sum();
                self.published_at?
                    .plus_ms(ATTEMPTS_DURATION_MAX_MS - rest_ms - attempt_ms)
            }
        };
        let (first, last) = (now.plus_s(*step_s), now.plus_ms(longest_ms(step_s)));
        Some((
            first.max(retry_after.0.min(bound)),
            last.max(retry_after.1.min(bound)),
        ))
    }

    /// Returns whether a replay is allowed according to the table of the API documentation.
    fn may_be_replayed(&self, now: Timestamp) -> bool {
        match self.status {
            "PENDING" => now.since(self.pending_since) > PENDING_REPLAY_DELAY_MS,
            "PUBLISHED" => now.since(self.published_at.unwrap()) > ATTEMPTS_DURATION_MAX_MS,
            _ => true,
        }
    }

    fn check(&self, row: &Row) -> Result<()> {
        let Delivery {
            generation,
            attempts,
            pending_since,
            ..
        } = row.stored.delivery;
        let delivery = &row.stored.delivery;
        let reason = delivery.failure().map(|(_, reason)| reason.as_str());
        ensure!(
            (delivery.status().as_str(), reason) == (self.status, self.reason)
                && (generation, attempts) == (self.replays, self.failures)
                && pending_since == self.pending_since
                && delivery.published_at() == self.published_at,
            "{delivery:?} should be {self:?}"
        );
        if let Some(next_at) = delivery.next_at() {
            let (first, last) = self.due;
            ensure!(first <= next_at, "too early: {delivery:?}, {self:?}");
            ensure!(next_at <= last, "too late: {delivery:?}, {self:?}");
        }
        let numbers: Vec<i64> = row.attempts.iter().map(|one| one.number).collect();
        let expected: Vec<i64> = (1..=attempts).collect();
        ensure!(numbers == expected, "attempts {numbers:?} of {delivery:?}");
        Ok(())
    }
}

impl DeliveryContract {
    pub(super) fn new(product: Product) -> Self {
        Self {
            product,
            deliveries: BTreeMap::new(),
            claims: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            log: BTreeMap::new(),
        }
    }

    pub(super) fn subscription(&mut self, id: &SubscriptionId) -> &mut ExpectedSubscription {
        self.subscriptions.get_mut(id).unwrap()
    }

    /// Records that a subscription must receive an event that was created at `at`.
    pub(super) fn expect_delivery(
        &mut self,
        id: &DeliveryId,
        to: &SubscriptionId,
        event: &EventId,
        at: Timestamp,
    ) {
        let expected = ExpectedDelivery::new(to.clone(), event.clone(), at);
        self.deliveries.insert(id.clone(), expected);
    }

    /// Records the final status of an event. A delivered event stays delivered.
    fn record_event_status(&mut self, event: &EventId, status: &'static str) {
        if let Some((_, known)) = self.log.get_mut(event)
            && *known != "delivered"
        {
            *known = status;
        }
    }

    /// Records that a process claimed a delivery at `process_now` of its own clock.
    pub(super) fn record_claim(
        &mut self,
        attempt: u64,
        delivery: &DeliveryId,
        read_at: Timestamp,
        (process_now, now): (Timestamp, Timestamp),
    ) -> Result<()> {
        let expected = self
            .deliveries
            .get_mut(delivery)
            .context("no expected delivery")?;
        let subscription = &self.subscriptions[&expected.subscription];
        subscription.check_active()?;
        ensure!(!expected.is_over(), "sent after its end: {expected:?}");
        ensure!(
            process_now >= expected.due.0,
            "sent too early: {expected:?}"
        );
        if let Some(lease) = &expected.lease {
            ensure!(now >= lease.until, "two claims of {expected:?}");
            let before = &self.claims[&lease.attempt];
            ensure!(before.has_fault, "a claim expired unused: {before:?}");
        }
        expected.status = "PUBLISHED";
        expected.published_at.get_or_insert(process_now);
        expected.lease = Some(Lease {
            attempt,
            claimed_at: process_now,
            until: now.plus_ms(LEASE_MS),
            late_ms: process_now.since(expected.due.1).max(0),
        });
        let claim = ClaimRecord {
            delivery: delivery.clone(),
            event: expected.event.clone(),
            replays: expected.replays,
            read_at,
            claimed_at: now,
            sent_at: None,
            outcome: None,
            has_fault: false,
        };
        self.claims.insert(attempt, claim);
        Ok(())
    }

    /// Marks an attempt as affected by an injected failure.
    pub(super) fn mark_fault(&mut self, attempt: u64) {
        if let Some(claim) = self.claims.get_mut(&attempt) {
            claim.has_fault = true;
        }
    }

    /// Records that a request was sent, and the receiver's outcome.
    pub(super) fn record_request(
        &mut self,
        attempt: u64,
        outcome: &ReceiverOutcome,
        (process_now, now): (Timestamp, Timestamp),
    ) -> Result<()> {
        let claim = self.claims.get_mut(&attempt).context("unknown attempt")?;
        let in_time = claim.has_fault || now.since(claim.claimed_at) <= PERMIT_MAX_MS;
        ensure!(in_time, "sent too long after its claim: {claim:?}");
        (claim.sent_at, claim.outcome) = (Some(process_now), Some(outcome.clone()));
        let (id, replays, has_fault) = (claim.delivery.clone(), claim.replays, claim.has_fault);
        // A request of an earlier generation may still arrive.
        let expected = self.deliveries.get_mut(&id);
        let Some(expected) = expected.filter(|one| one.replays == replays) else {
            return Ok(());
        };
        let before = expected.accepted_by;
        if outcome.is_success() {
            expected.accepted_by = Some(attempt);
        }
        if let Some(before) = before.and_then(|before| self.claims.get(&before)) {
            let is_explained = has_fault || before.has_fault;
            ensure!(is_explained, "sent again without need: {before:?}");
        }
        Ok(())
    }

    /// Records that a process stored a result at `now` of its own clock. `is_attempted` is `false`
    /// if it released the delivery without an attempt.
    pub(super) fn record_result(
        &mut self,
        attempt: u64,
        is_attempted: bool,
        is_accepted: bool,
        now: Timestamp,
    ) -> Result<()> {
        let claim = self.claims.get(&attempt).context("unknown attempt")?;
        let product = self.product;
        let Some(expected) = self.deliveries.get_mut(&claim.delivery) else {
            // For a deleted subscription, only a successful delivery counts.
            let is_delivered = claim
                .outcome
                .as_ref()
                .is_some_and(ReceiverOutcome::is_success);
            let event = claim.event.clone();
            if is_accepted && is_delivered {
                self.record_event_status(&event, "delivered");
            }
            return Ok(());
        };
        let lease = expected.lease.take_if(|lease| lease.attempt == attempt);
        let agrees = lease.is_some() == is_accepted;
        ensure!(agrees, "{claim:?} counts: {is_accepted}, of {expected:?}");
        let Some(lease) = lease else { return Ok(()) };
        if !is_attempted {
            return Ok(());
        }
        // The time for which a process stalled also counts as delay.
        let took_ms = now.since(lease.claimed_at) - PERMIT_MAX_MS - EXCHANGE_MAX_MS;
        expected.late_ms += lease.late_ms + took_ms.max(0);
        let (Some(sent_at), Some(outcome)) = (claim.sent_at, &claim.outcome) else {
            bail!("a result without a sent request: {claim:?}");
        };
        expected.record_attempt(product, sent_at, outcome, now);
        let ended = now.since(expected.published_at.unwrap()) - expected.late_ms;
        let in_time = product == Product::Watch || ended <= ATTEMPTS_DURATION_MAX_MS;
        ensure!(in_time, "all attempts ended too late: {expected:?}");
        let (event, status) = (expected.event.clone(), expected.status);
        match status {
            "DELIVERED" => self.record_event_status(&event, "delivered"),
            "FAILED" => self.record_event_status(&event, "failed"),
            _ => {}
        }
        Ok(())
    }

    /// Returns whether a client's replay must be granted. If so, also records the replay.
    pub(super) fn record_replay(&mut self, id: &DeliveryId, now: Timestamp) -> Option<()> {
        let expected = self.deliveries.get_mut(id)?;
        let subscription = &self.subscriptions[&expected.subscription];
        if subscription.check_active().is_err() || !expected.may_be_replayed(now) {
            return None;
        }
        *expected = ExpectedDelivery {
            replays: expected.replays + 1,
            ..ExpectedDelivery::new(expected.subscription.clone(), expected.event.clone(), now)
        };
        Some(())
    }

    /// Records that a delivery expired because its subscription was inactive for too long.
    pub(super) fn record_expiry(&mut self, id: &DeliveryId, now: Timestamp) -> Result<()> {
        let expected = self
            .deliveries
            .get_mut(id)
            .context("no expected delivery")?;
        let subscription = &self.subscriptions[&expected.subscription];
        ensure!(subscription.check_active().is_err(), "expired, not sent");
        let waited_ms = now.since(expected.pending_since);
        ensure!(
            waited_ms > 30 * super::DAY_MS,
            "expired early: {expected:?}"
        );
        expected.fail("expired");
        expected.lease = None;
        let event = expected.event.clone();
        self.record_event_status(&event, "failed");
        Ok(())
    }

    /// Checks the guarantees that hold after every event.
    pub(super) fn check(&self, database: &Database) -> Result<()> {
        for row in &database.rows {
            if let Some(expected) = self.deliveries.get(&row.stored.delivery.id) {
                expected.check(row)?;
            }
        }
        if self.product == Product::Watch {
            for (event, (_, status)) in &database.log {
                let (_, expected) = self.log[event];
                let status = status.as_str();
                ensure!(status == expected, "{event:?} is {status}, not {expected}");
            }
        }
        Ok(())
    }

    /// Checks the guarantees that hold when no work is left.
    pub(super) fn check_end(&self, database: &Database) -> Result<()> {
        for (id, expected) in &self.deliveries {
            ensure!(database.row(id).is_some(), "lost: {expected:?}");
            ensure!(expected.is_over(), "never ended: {expected:?}");
            let was_accepted = expected.status != "DELIVERED" || expected.accepted_by.is_some();
            ensure!(was_accepted, "never accepted: {expected:?}");
        }
        Ok(())
    }
}
