//! Model of the times at which a price check is allowed and required. Every check needs a reason: a
//! new watch, a retry time from the supplier, a crashed check, or the regular interval.

use super::database::PriceCheckRow;
use crate::job_row::LEASE_MS;
use anyhow::{Result, ensure};
use host_domain::id::PriceCheckId;
use host_domain::time::Timestamp;
use host_domain::watch::PriceQuery;
use host_storage::ClaimedPriceCheck;
use std::collections::BTreeMap;

const DAY_MS: i64 = 24 * 3_600_000;

fn check_in(query: &PriceQuery) -> Timestamp {
    Timestamp::parse(&format!("{}T00:00:00Z", query.stay.check_in)).unwrap()
}

/// Returns the time at which the day of check-in has ended everywhere, twelve hours behind UTC.
pub(super) fn expires_at(query: &PriceQuery) -> Timestamp {
    check_in(query).plus_ms(DAY_MS * 3 / 2)
}

/// The times of all price checks.
#[derive(Default)]
pub(super) struct CheckSchedule {
    pub(super) interval_s: i64,
    checks: BTreeMap<PriceCheckId, CheckTimes>,
}

struct CheckTimes {
    added_at: Timestamp,
    claimed_at: Option<Timestamp>,
    /// Time at which the last check was stored as finished, or `None` if another has started.
    ended_at: Option<Timestamp>,
    /// Retry time that the supplier requested.
    retry_at: Option<Timestamp>,
    /// End of the check before the last one, if the last one was due to the regular interval.
    previous_ended_at: Option<Timestamp>,
    /// Latest allowed time of the next check.
    next_at_max: Timestamp,
}

impl CheckSchedule {
    /// Returns the interval between checks, which is shorter near check-in.
    fn interval_ms(&self, query: &PriceQuery, at: Timestamp) -> i64 {
        let left_ms = check_in(query).since(at);
        let divisor = match left_ms {
            left if left <= 2 * DAY_MS => 4,
            left if left <= 7 * DAY_MS => 2,
            _ => 1,
        };
        self.interval_s * 1_000 / divisor
    }

    /// Records that a watch was added to the query or confirmed.
    pub(super) fn record_watch(&mut self, price_check: &PriceCheckId, now: Timestamp) {
        let times = self
            .checks
            .entry(price_check.clone())
            .or_insert(CheckTimes {
                added_at: now,
                claimed_at: None,
                ended_at: None,
                retry_at: None,
                previous_ended_at: None,
                next_at_max: now,
            });
        times.added_at = now;
        times.next_at_max = now;
    }

    /// Records the start of a check.
    pub(super) fn record_claim(
        &mut self,
        price_check: &ClaimedPriceCheck,
        now: Timestamp,
    ) -> Result<()> {
        let previous_ended_at = self.check_reason(price_check, now)?;
        let times = self.checks.get_mut(&price_check.id).unwrap();
        times.claimed_at = Some(now);
        times.ended_at = None;
        times.retry_at = None;
        times.previous_ended_at = previous_ended_at;
        Ok(())
    }

    /// Checks that the query may be checked now. Returns the end of the previous check if the
    /// reason is the regular interval.
    fn check_reason(
        &self,
        price_check: &ClaimedPriceCheck,
        now: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let times = &self.checks[&price_check.id];
        let Some(claimed_at) = times.claimed_at else {
            return Ok(None);
        };
        let Some(ended_at) = times.ended_at else {
            let is_free = now.since(claimed_at) >= LEASE_MS;
            ensure!(is_free, "two concurrent checks: {price_check:?}");
            return Ok(None);
        };
        // A query past its end is not checked against the interval.
        if times.added_at >= claimed_at || now >= expires_at(&price_check.query) {
            return Ok(None);
        }
        if let Some(retry_at) = times.retry_at {
            ensure!(now >= retry_at, "before the retry time: {price_check:?}");
            return Ok(None);
        }
        let interval_ms = self.interval_ms(&price_check.query, ended_at);
        if let Some(previous_ended_at) = times.previous_ended_at
            && self.interval_ms(&price_check.query, previous_ended_at) == interval_ms
        {
            let since_ms = now.since(previous_ended_at);
            ensure!(
                since_ms >= interval_ms,
                "only {since_ms} ms apart: {price_check:?}"
            );
        }
        ensure!(now > ended_at, "checked again immediately: {price_check:?}");
        Ok(Some(ended_at))
    }

    /// Checks that the supplier is only called for an open watch and before the query expires.
    pub(super) fn check_call_allowed(
        price_check: &ClaimedPriceCheck,
        now: Timestamp,
    ) -> Result<()> {
        let is_open = price_check.has_open_watches && now < expires_at(&price_check.query);
        ensure!(is_open, "checked without an open watch: {price_check:?}");
        Ok(())
    }

    /// Records that a check was stored as finished, with the supplier's retry time if there is one.
    pub(super) fn record_end(
        &mut self,
        price_check: &ClaimedPriceCheck,
        retry_after_s: Option<u32>,
        now: Timestamp,
    ) {
        let interval_ms = self.interval_ms(&price_check.query, now);
        let times = self.checks.get_mut(&price_check.id).unwrap();
        times.ended_at = Some(now);
        times.retry_at = retry_after_s.map(|seconds| now.plus_s(i64::from(seconds)));
        // A watch that was added meanwhile keeps its earlier deadline.
        if times.claimed_at > Some(times.added_at) {
            let due_at = now.plus_ms(interval_ms);
            let retry_at = times.retry_at.map(|at| at.plus_s(1));
            let expires_at = expires_at(&price_check.query);
            times.next_at_max = retry_at.unwrap_or(due_at).min(expires_at);
        }
    }

    /// Records that an expired query was kept for a purchase in progress.
    pub(super) fn record_kept(&mut self, price_check: &ClaimedPriceCheck, now: Timestamp) {
        let times = self.checks.get_mut(&price_check.id).unwrap();
        times.ended_at = Some(now);
        if times.claimed_at > Some(times.added_at) {
            times.next_at_max = now.plus_s(self.interval_s);
        }
    }

    pub(super) fn record_deletion(&mut self, price_check: &ClaimedPriceCheck) {
        self.checks.remove(&price_check.id);
    }

    /// Checks that a query with open watches is due in time.
    pub(super) fn check_due_in_time(&self, row: &PriceCheckRow) -> Result<()> {
        let next_at_max = self.checks[&row.id].next_at_max;
        let late_ms = row.next_at.since(next_at_max);
        ensure!(late_ms <= 0, "due {late_ms} ms late: {:?}", row.query);
        Ok(())
    }
}
