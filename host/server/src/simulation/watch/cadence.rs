//! When a question may be asked, and when it must be: each time has a reason. A watch
//! came, a supplier said when to come back, whoever asked vanished, or it is time.

use super::rows::Ask;
use crate::simulation::job::LEASE_MS;
use anyhow::{Result, ensure};
use host_domain::id::AskId;
use host_domain::time::Timestamp;
use host_domain::watch::PriceQuery;
use host_storage::ClaimedPriceCheck;
use std::collections::BTreeMap;

const DAY_MS: i64 = 24 * 3_600_000;

fn check_in(question: &PriceQuery) -> Timestamp {
    Timestamp::parse(&format!("{}T00:00:00Z", question.stay.check_in)).unwrap()
}

/// When check-in has passed everywhere: the day has ended twelve hours behind UTC.
pub(super) fn over_at(question: &PriceQuery) -> Timestamp {
    check_in(question).plus_ms(DAY_MS * 3 / 2)
}

#[derive(Default)]
pub(super) struct Cadence {
    pub(super) interval_s: i64,
    asked: BTreeMap<AskId, Asked>,
}

struct Asked {
    came_at: Timestamp,
    claimed_at: Option<Timestamp>,
    /// When the last check was stored as done, if nobody has begun another.
    ended_at: Option<Timestamp>,
    /// Then the supplier wants to be asked again.
    told_at: Option<Timestamp>,
    /// When the check before ended, where the last was made because it was time.
    before: Option<Timestamp>,
    /// Until then it must be due.
    latest: Timestamp,
}

impl Cadence {
    /// So often a question is asked: more often near check-in.
    fn pace_ms(&self, question: &PriceQuery, at: Timestamp) -> i64 {
        let left_ms = check_in(question).since(at);
        let share = match left_ms {
            left if left <= 2 * DAY_MS => 4,
            left if left <= 7 * DAY_MS => 2,
            _ => 1,
        };
        self.interval_s * 1_000 / share
    }

    /// A watch came to the question, or consents.
    pub(super) fn came(&mut self, ask: &AskId, now: Timestamp) {
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

    /// Somebody begins to ask.
    pub(super) fn claimed(&mut self, ask: &ClaimedPriceCheck, now: Timestamp) -> Result<()> {
        let before = self.reason(ask, now)?;
        let asked = self.asked.get_mut(&ask.id).unwrap();
        asked.claimed_at = Some(now);
        asked.ended_at = None;
        asked.told_at = None;
        asked.before = before;
        Ok(())
    }

    /// Why it may be asked; because it is time since this instant.
    fn reason(&self, ask: &ClaimedPriceCheck, now: Timestamp) -> Result<Option<Timestamp>> {
        let asked = &self.asked[&ask.id];
        let Some(claimed_at) = asked.claimed_at else {
            return Ok(None);
        };
        let Some(ended_at) = asked.ended_at else {
            let is_free = now.since(claimed_at) >= LEASE_MS;
            ensure!(is_free, "two ask at once: {ask:?}");
            return Ok(None);
        };
        // Past its time it is not asked any more.
        if asked.came_at >= claimed_at || now >= over_at(&ask.query) {
            return Ok(None);
        }
        if let Some(told_at) = asked.told_at {
            ensure!(now >= told_at, "the supplier said later: {ask:?}");
            return Ok(None);
        }
        let pace_ms = self.pace_ms(&ask.query, ended_at);
        if let Some(before) = asked.before
            && self.pace_ms(&ask.query, before) == pace_ms
        {
            let since_ms = now.since(before);
            ensure!(since_ms >= pace_ms, "too often, {since_ms} ms: {ask:?}");
        }
        ensure!(now > ended_at, "asked at once again: {ask:?}");
        Ok(Some(ended_at))
    }

    /// The supplier is asked: for somebody, and not when it is over.
    pub(super) fn asks(ask: &ClaimedPriceCheck, now: Timestamp) -> Result<()> {
        let is_open = ask.has_open_watches && now < over_at(&ask.query);
        ensure!(is_open, "asked for nobody: {ask:?}");
        Ok(())
    }

    /// A check is stored as done; the supplier may have said when to come back.
    pub(super) fn ends(&mut self, ask: &ClaimedPriceCheck, retry_after_s: Option<u32>, now: Timestamp) {
        let pace_ms = self.pace_ms(&ask.query, now);
        let asked = self.asked.get_mut(&ask.id).unwrap();
        asked.ended_at = Some(now);
        asked.told_at = retry_after_s.map(|seconds| now.plus_s(i64::from(seconds)));
        // Who came meanwhile is not behind.
        if asked.claimed_at > Some(asked.came_at) {
            let due_at = now.plus_ms(pace_ms);
            let told_at = asked.told_at.map(|at| at.plus_s(1));
            let over_at = over_at(&ask.query);
            asked.latest = told_at.unwrap_or(due_at).min(over_at);
        }
    }

    /// What is being bought past its time is looked at again.
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

    /// A question that somebody waits for is due in time.
    pub(super) fn in_time(&self, row: &Ask) -> Result<()> {
        let latest = self.asked[&row.id].latest;
        let late_ms = row.next_at.since(latest);
        ensure!(late_ms <= 0, "asked {late_ms} ms late: {:?}", row.question);
        Ok(())
    }
}
