//! One call that changes something at somebody else's system, seen over time.
//!
//! The mark that it was sent is stored before the first byte leaves; from then
//! on it may only be read back, never sent again on a guess.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How far a call has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "leg")]
pub enum RemoteCall {
    /// To be sent.
    Pending {
        /// Not before.
        due_at: Timestamp,
        /// How often it was tried and known not to have happened.
        failed_attempts: u32,
        /// When the same call was sent first, where it may have happened then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_sent_at: Option<Timestamp>,
    },
    /// Sent, or about to be; no outcome is recorded.
    Sent {
        /// When the mark was set.
        accepted_at: Timestamp,
        /// How often it was tried before and known not to have happened.
        failed_attempts: u32,
        /// When the same call was sent first, where this is a repeat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_sent_at: Option<Timestamp>,
        /// When it ended without an answer; else, after a crash, when it was read back first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response_lost_at: Option<Timestamp>,
        /// How often it was read back.
        reconcile_count: u32,
        /// When to read back next.
        reconcile_at: Timestamp,
    },
    /// Accepted and not final.
    Accepted {
        /// When it was accepted.
        sent_at: Timestamp,
        /// How often it was read back.
        reconcile_count: u32,
        /// When to read back next.
        reconcile_at: Timestamp,
    },
}

impl RemoteCall {
    /// To be sent at once.
    #[must_use]
    pub const fn pending(now: Timestamp) -> Self {
        Self::Pending {
            due_at: now,
            failed_attempts: 0,
            first_sent_at: None,
        }
    }

    /// To be read at once, because somebody said that something changed.
    #[must_use]
    pub const fn for_refresh(now: Timestamp) -> Self {
        Self::Accepted {
            sent_at: now,
            reconcile_count: 0,
            reconcile_at: now,
        }
    }

    /// Whether a hint came after the one that was read for: what it was about may not have
    /// been there yet.
    #[must_use]
    pub fn is_change_reported_after(&self, hinted_at: Timestamp) -> bool {
        matches!(self, Self::Accepted { sent_at, .. } if *since > hinted_at)
    }

    /// The mark before the first byte.
    #[must_use]
    pub const fn mark_sent(self, now: Timestamp, next_at: Timestamp) -> Self {
        let (tries, first) = (self.failed_attempts(), self.first_sent_at());
        Self::Sent {
            accepted_at: now,
            failed_attempts: tries,
            first_sent_at: first,
            response_lost_at: None,
            reconcile_count: 0,
            reconcile_at: next_at,
        }
    }

    /// Ended without an answer, or read back without result.
    #[must_use]
    pub fn mark_unresolved(self, now: Timestamp, next_at: Timestamp) -> Self {
        match self {
            Self::Sent {
                accepted_at: since,
                failed_attempts: tries,
                first_sent_at: first,
                response_lost_at: lost_at,
                reconcile_count: checks,
                ..
            } => Self::Sent {
                accepted_at: since,
                failed_attempts: tries,
                first_sent_at: first,
                response_lost_at: lost_at.or(Some(now)),
                reconcile_count: checks.saturating_add(1),
                reconcile_at: next_at,
            },
            Self::Accepted { sent_at: since, reconcile_count: checks, .. } => Self::Accepted {
                sent_at: since,
                reconcile_count: checks.saturating_add(1),
                reconcile_at: next_at,
            },
            Self::Pending { .. } => self,
        }
    }

    /// Accepted; keeps the count of checks when it was so before.
    #[must_use]
    pub fn mark_accepted(self, now: Timestamp, next_at: Timestamp) -> Self {
        match self {
            Self::Accepted { .. } => self.mark_unresolved(now, next_at),
            Self::Pending { .. } | Self::Sent { .. } => Self::Accepted {
                sent_at: now,
                reconcile_count: 0,
                reconcile_at: next_at,
            },
        }
    }

    /// Known not to have happened; try again at `at`.
    #[must_use]
    pub fn schedule_retry(self, at: Timestamp) -> Self {
        Self::Pending {
            due_at: at,
            failed_attempts: self.failed_attempts().saturating_add(1),
            first_sent_at: None,
        }
    }

    /// Not known to have happened, to be sent again as the same call: only where
    /// the other side answers a repeated reference with what it did the first time.
    #[must_use]
    pub const fn schedule_resend(self, at: Timestamp) -> Self {
        Self::Pending {
            due_at: at,
            failed_attempts: self.failed_attempts(),
            first_sent_at: self.unresolved_since(),
        }
    }

    /// When the call was sent first, while it is not known what came of it. Also of a
    /// call that is to be repeated, or could not be: the first may have arrived.
    #[must_use]
    pub const fn unresolved_since(&self) -> Option<Timestamp> {
        match (self.first_sent_at(), self.sent_at()) {
            (Some(first), _) => Some(first),
            (None, since) => since,
        }
    }

    /// Whether the same call was sent before, and may have happened then.
    #[must_use]
    pub const fn is_resend(&self) -> bool {
        self.first_sent_at().is_some()
    }

    const fn first_sent_at(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { first_sent_at: first, .. } | Self::Sent { first_sent_at: first, .. } => *first,
            Self::Accepted { .. } => None,
        }
    }

    /// Due now, where it would be due later; whether it would have been.
    pub fn expedite(&mut self, now: Timestamp) -> bool {
        let (Self::Pending { due_at: at, .. }
        | Self::Sent { reconcile_at: at, .. }
        | Self::Accepted { reconcile_at: at, .. }) = self;
        let waited = *at > now;
        *at = now.min(*at);
        waited
    }

    /// The other side hints that something changed: read back now what was sent.
    /// Whether that was.
    pub fn expedite_reconcile(&mut self, now: Timestamp) -> bool {
        if matches!(self, Self::Pending { .. }) {
            return false;
        }
        self.expedite(now);
        true
    }

    /// How often it was tried and known not to have happened.
    #[must_use]
    pub const fn failed_attempts(&self) -> u32 {
        match self {
            Self::Pending { failed_attempts: tries, .. } | Self::Sent { failed_attempts: tries, .. } => *tries,
            Self::Accepted { .. } => 0,
        }
    }

    /// When something is to be done about it.
    #[must_use]
    pub const fn due_at(&self) -> Timestamp {
        match self {
            Self::Pending { due_at: at, .. } => *at,
            Self::Sent { reconcile_at: next_at, .. } | Self::Accepted { reconcile_at: next_at, .. } => *next_at,
        }
    }

    /// Since when nobody waits for its answer any more: until then the other side may
    /// have been at it. The mark, where the process died over it.
    #[must_use]
    pub const fn abandoned_at(&self) -> Option<Timestamp> {
        match self {
            Self::Sent {
                response_lost_at: Some(at), ..
            } => Some(*at),
            Self::Sent { accepted_at: since, .. } => Some(*since),
            Self::Pending { .. } | Self::Accepted { .. } => None,
        }
    }

    /// Sent without a known outcome, since when.
    #[must_use]
    pub const fn sent_at(&self) -> Option<Timestamp> {
        match self {
            Self::Sent { accepted_at: since, .. } => Some(*since),
            Self::Pending { .. } | Self::Accepted { .. } => None,
        }
    }
}

/// Offsets, in seconds, at which something is looked at again. After the last
/// one, the last offset is added again and again: nothing is ever given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackoffSchedule(Vec<i64>);

impl BackoffSchedule {
    /// Offsets in seconds, ascending. Empty means every minute.
    #[must_use]
    pub fn new(offsets_s: Vec<i64>) -> Self {
        Self(if offsets_s.is_empty() {
            vec![60]
        } else {
            offsets_s
        })
    }

    /// The first instant of the schedule that lies after `now`.
    #[must_use]
    pub fn next_after(&self, since: Timestamp, now: Timestamp) -> Timestamp {
        let upcoming = self
            .0
            .iter()
            .map(|&offset| since.plus_s(offset))
            .find(|at| *at > now);
        upcoming.unwrap_or_else(|| now.plus_s(self.0.last().copied().unwrap_or(60).max(1)))
    }

    /// The wait before the try after `tries` failed ones.
    #[must_use]
    pub fn retry_at(&self, tries: u32, now: Timestamp) -> Timestamp {
        let index = usize::try_from(tries)
            .unwrap_or(usize::MAX)
            .min(self.0.len().saturating_sub(1));
        now.plus_s(self.0.get(index).copied().unwrap_or(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_keeps_in_mind_when_the_call_was_sent_first() {
        let at = |s: i64| Timestamp(s * 1000);
        let mut leg = RemoteCall::pending(at(0)).schedule_retry(at(1)).mark_sent(at(1), at(2));
        assert!(!leg.is_resend());
        for s in 2..5 {
            leg = leg.schedule_resend(at(s));
            assert!(leg.is_resend());
            leg = leg.mark_sent(at(s), at(s + 1)).mark_unresolved(at(s), at(s + 1));
            assert!(leg.is_resend());
            assert_eq!(leg.unresolved_since(), Some(at(1)));
            assert_eq!(leg.sent_at(), Some(at(s)));
            assert_eq!(leg.failed_attempts(), 1);
        }
        let other = leg.schedule_retry(at(9));
        assert!(!other.is_resend(), "it is known that nothing happened");
        assert_eq!(other.unresolved_since(), None);
    }

    #[test]
    fn a_call_is_given_up_when_it_ends_and_not_whenever_it_is_read_back() {
        let at = |s: i64| Timestamp(s * 1000);
        let leg = RemoteCall::pending(at(0)).mark_sent(at(1), at(6));
        assert_eq!(leg.abandoned_at(), Some(at(1)), "the process died over it");
        let leg = leg.mark_unresolved(at(3), at(6)).mark_unresolved(at(6), at(16));
        assert_eq!(leg.abandoned_at(), Some(at(3)));
        assert_eq!(leg.schedule_resend(at(16)).abandoned_at(), None);
    }

    #[test]
    fn a_schedule_never_ends() {
        let schedule = BackoffSchedule::new(vec![5, 15, 60]);
        let since = Timestamp(0);
        for (now_s, next_s) in [(0, 5), (5, 15), (6, 15), (15, 60), (60, 120), (1000, 1060)] {
            assert_eq!(
                schedule.next_after(since, Timestamp(now_s * 1000)),
                Timestamp(next_s * 1000)
            );
        }
    }

    #[test]
    fn retries_wait_longer_and_longer() {
        let schedule = BackoffSchedule::new(vec![5, 30]);
        for (tries, wait_s) in [(0, 5), (1, 30), (2, 30), (99, 30)] {
            assert_eq!(
                schedule.retry_at(tries, Timestamp(0)),
                Timestamp(wait_s * 1000)
            );
        }
    }
}
