//! Model of the times at which a price check is allowed and required. Every check needs a reason: a
//! new watch, a retry time from the supplier, a crashed check, or the regular interval.

use super::database::Ask;
use crate::job_row::LEASE_MS;
use anyhow::{Result, ensure};
use host_domain::id::PriceCheckId;
use host_domain::time::Timestamp;
use host_domain::watch::PriceQuery;
use host_storage::ClaimedPriceCheck;
use std::collections::BTreeMap;

const DAY_MS: i64 = 24 * 3_600_000;

fn check_in(question: &PriceQuery) -> Timestamp {
    Timestamp::parse(&format!("{}T00:00:00Z", question.stay.check_in)).unwrap()
}

/// Returns the time at which the day of check-in has ended everywhere, twelve hours behind UTC.
pub(super) fn over_at(question: &PriceQuery) -> Timestamp {
    check_in(question).plus_ms(DAY_MS * 3 / 2)
}

#[derive(Default)]
pub(super) struct Cadence {
    pub(super) interval_s: i64,
    asked: BTreeMap<PriceCheckId, Asked>,
}

struct Asked {
    came_at: Timestamp,
    claimed_at: Option<Timestamp>,
    /// Time at which the last check was stored as finished, or `None` if another has started.
    ended_at: Option<Timestamp>,
    /// Retry time that the supplier requested.
    told_at: Option<Timestamp>,
    /// End of the check before the last one, if the last one was due to the regular interval.
    before: Option<Timestamp>,
    /// Latest allowed time of the next check.
    latest: Timestamp,
}

impl Cadence {
    /// Returns the interval between checks, which is shorter near check-in.
    fn pace_ms(&self, question: &PriceQuery, at: Timestamp) -> i64 {
        let left_ms = check_in(question).since(at);
        let share = match left_ms {
            left if left <= 2 * DAY_MS => 4,
            left if left <= 7 * DAY_MS => 2,
            _ => 1,
        };
        self.interval_s * 1_000 / share
    }

    /// Records that a watch was added to the query or confirmed.
    pub(super) fn came(&mut self, ask: &PriceCheckId, now: Timestamp) {
        let asked = self.asked.entry(ask.clone()).or_insert(Asked {
            came_at: now,
            claimed_at: None,
            ended_at: None,
            told_at: None,
            before: None,
            latest: now,
        });
        asked.came_at = now;
        asked.latest = now;
    }

    /// Records the start of a check.
    pub(super) fn claimed(&mut self, ask: &ClaimedPriceCheck, now: Timestamp) -> Result<()> {
        let before = self.reason(ask, now)?;
        let asked = self.asked.get_mut(&ask.id).unwrap();
        asked.claimed_at = Some(now);
        asked.ended_at = None;
        asked.told_at = None;
        asked.before = before;
        Ok(())
    }

    /// Checks that the query may be checked now. Returns the end of the previous check if the
    /// reason is the regular interval.
    fn reason(&self, ask: &ClaimedPriceCheck, now: Timestamp) -> Result<Option<Timestamp>> {
        let asked = &self.asked[&ask.id];
        let Some(claimed_at) = asked.claimed_at else {
            return Ok(None);
        };
        let Some(ended_at) = asked.ended_at else {
            let is_free = now.since(claimed_at) >= LEASE_MS;
            ensure!(is_free, "two concurrent checks: {ask:?}");
            return Ok(None);
        };
        // A query past its end is not checked against the interval.
        if asked.came_at >= claimed_at || now >= over_at(&ask.query) {
            return Ok(None);
        }
        if let Some(told_at) = asked.told_at {
            ensure!(now >= told_at, "before the retry time: {ask:?}");
            return Ok(None);
        }
        let pace_ms = self.pace_ms(&ask.query, ended_at);
        if let Some(before) = asked.before
            && self.pace_ms(&ask.query, before) == pace_ms
        {
            let since_ms = now.since(before);
            ensure!(since_ms >= pace_ms, "only {since_ms} ms apart: {ask:?}");
        }
        ensure!(now > ended_at, "checked again immediately: {ask:?}");
        Ok(Some(ended_at))
    }

    /// Checks that the supplier is only called for an open watch and before the query expires.
    pub(super) fn asks(ask: &ClaimedPriceCheck, now: Timestamp) -> Result<()> {
        let is_open = ask.has_open_watches && now < over_at(&ask.query);
        ensure!(is_open, "checked without an open watch: {ask:?}");
        Ok(())
    }

    /// Records that a check was stored as finished, with the supplier's retry time if there is one.
    pub(super) fn ends(
        &mut self,
        ask: &ClaimedPriceCheck,
        retry_after_s: Option<u32>,
        now: Timestamp,
    ) {
        let pace_ms = self.pace_ms(&ask.query, now);
        let asked = self.asked.get_mut(&ask.id).unwrap();
        asked.ended_at = Some(now);
        asked.told_at = retry_after_s.map(|seconds| now.plus_s(i64::from(seconds)));
        // A watch that was added meanwhile keeps its earlier deadline.
        if asked.claimed_at > Some(asked.came_at) {
            let due_at = now.plus_ms(pace_ms);
            let told_at = asked.told_at.map(|at| at.plus_s(1));
            let over_at = over_at(&ask.query);
            asked.latest = told_at.unwrap_or(due_at).min(over_at);
        }
    }

    /// Records that an expired query was kept for a purchase in progress.
    pub(super) fn kept(&mut self, ask: &ClaimedPriceCheck, now: Timestamp) {
        let asked = self.asked.get_mut(&ask.id).unwrap();
        asked.ended_at = Some(now);
        if asked.claimed_at > Some(asked.came_at) {
            asked.latest = now.plus_s(self.interval_s);
        }
    }

    pub(super) fn forgotten(&mut self, ask: &ClaimedPriceCheck) {
        self.asked.remove(&ask.id);
    }

    /// Checks that a query with open watches is due in time.
    pub(super) fn in_time(&self, row: &Ask) -> Result<()> {
        let latest = self.asked[&row.id].latest;
        let late_ms = row.next_at.since(latest);
        ensure!(late_ms <= 0, "due {late_ms} ms late: {:?}", row.question);
        Ok(())
    }
}
