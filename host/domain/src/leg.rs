//! One call that changes something at somebody else's system, seen over time.
//!
//! The mark that it was sent is stored before the first byte leaves; from then
//! on it may only be read back, never sent again on a guess.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// How far a call has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "leg")]
pub enum Leg {
    /// To be sent.
    Due {
        /// Not before.
        at: Timestamp,
        /// How often it was tried and known not to have happened.
        tries: u32,
        /// When the same call was sent first, where it may have happened then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<Timestamp>,
    },
    /// Sent, or about to be; no outcome is recorded.
    Sent {
        /// When the mark was set.
        since: Timestamp,
        /// How often it was tried before and known not to have happened.
        tries: u32,
        /// When the same call was sent first, where this is a repeat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<Timestamp>,
        /// When it ended without an answer; else, after a crash, when it was read back first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost_at: Option<Timestamp>,
        /// How often it was read back.
        checks: u32,
        /// When to read back next.
        next_at: Timestamp,
    },
    /// Accepted and not final.
    Pending {
        /// When it was accepted.
        since: Timestamp,
        /// How often it was read back.
        checks: u32,
        /// When to read back next.
        next_at: Timestamp,
    },
}

impl Leg {
    /// To be sent at once.
    #[must_use]
    pub const fn due(now: Timestamp) -> Self {
        Self::Due {
            at: now,
            tries: 0,
            first: None,
        }
    }

    /// To be read at once, because somebody said that something changed.
    #[must_use]
    pub const fn hinted(now: Timestamp) -> Self {
        Self::Pending {
            since: now,
            checks: 0,
            next_at: now,
        }
    }

    /// Whether a hint came after the one that was read for: what it was about may not have
    /// been there yet.
    #[must_use]
    pub fn is_hinted_after(&self, hinted_at: Timestamp) -> bool {
        matches!(self, Self::Pending { since, .. } if *since > hinted_at)
    }

    /// The mark before the first byte.
    #[must_use]
    pub const fn sent(self, now: Timestamp, next_at: Timestamp) -> Self {
        let (tries, first) = (self.tries(), self.first());
        Self::Sent {
            since: now,
            tries,
            first,
            lost_at: None,
            checks: 0,
            next_at,
        }
    }

    /// Ended without an answer, or read back without result.
    #[must_use]
    pub fn checked(self, now: Timestamp, next_at: Timestamp) -> Self {
        match self {
            Self::Sent {
                since,
                tries,
                first,
                lost_at,
                checks,
                ..
            } => Self::Sent {
                since,
                tries,
                first,
                lost_at: lost_at.or(Some(now)),
                checks: checks.saturating_add(1),
                next_at,
            },
            Self::Pending { since, checks, .. } => Self::Pending {
                since,
                checks: checks.saturating_add(1),
                next_at,
            },
            Self::Due { .. } => self,
        }
    }

    /// Accepted; keeps the count of checks when it was so before.
    #[must_use]
    pub fn pending(self, now: Timestamp, next_at: Timestamp) -> Self {
        match self {
            Self::Pending { .. } => self.checked(now, next_at),
            Self::Due { .. } | Self::Sent { .. } => Self::Pending {
                since: now,
                checks: 0,
                next_at,
            },
        }
    }

    /// Known not to have happened; try again at `at`.
    #[must_use]
    pub fn retry(self, at: Timestamp) -> Self {
        Self::Due {
            at,
            tries: self.tries().saturating_add(1),
            first: None,
        }
    }

    /// Not known to have happened, to be sent again as the same call: only where
    /// the other side answers a repeated reference with what it did the first time.
    #[must_use]
    pub const fn repeat(self, at: Timestamp) -> Self {
        Self::Due {
            at,
            tries: self.tries(),
            first: self.may_have_happened_since(),
        }
    }

    /// When the call was sent first, while it is not known what came of it. Also of a
    /// call that is to be repeated, or could not be: the first may have arrived.
    #[must_use]
    pub const fn may_have_happened_since(&self) -> Option<Timestamp> {
        match (self.first(), self.unknown_since()) {
            (Some(first), _) => Some(first),
            (None, since) => since,
        }
    }

    /// Whether the same call was sent before, and may have happened then.
    #[must_use]
    pub const fn is_repeat(&self) -> bool {
        self.first().is_some()
    }

    const fn first(&self) -> Option<Timestamp> {
        match self {
            Self::Due { first, .. } | Self::Sent { first, .. } => *first,
            Self::Pending { .. } => None,
        }
    }

    /// Due now, where it would be due later; whether it would have been.
    pub fn hurry(&mut self, now: Timestamp) -> bool {
        let (Self::Due { at, .. }
        | Self::Sent { next_at: at, .. }
        | Self::Pending { next_at: at, .. }) = self;
        let waited = *at > now;
        *at = now.min(*at);
        waited
    }

    /// The other side hints that something changed: read back now what was sent.
    /// Whether that was.
    pub fn hint(&mut self, now: Timestamp) -> bool {
        if matches!(self, Self::Due { .. }) {
            return false;
        }
        self.hurry(now);
        true
    }

    /// How often it was tried and known not to have happened.
    #[must_use]
    pub const fn tries(&self) -> u32 {
        match self {
            Self::Due { tries, .. } | Self::Sent { tries, .. } => *tries,
            Self::Pending { .. } => 0,
        }
    }

    /// When something is to be done about it.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Due { at, .. } => *at,
            Self::Sent { next_at, .. } | Self::Pending { next_at, .. } => *next_at,
        }
    }

    /// Since when nobody waits for its answer any more: until then the other side may
    /// have been at it. The mark, where the process died over it.
    #[must_use]
    pub const fn given_up_at(&self) -> Option<Timestamp> {
        match self {
            Self::Sent {
                lost_at: Some(at), ..
            } => Some(*at),
            Self::Sent { since, .. } => Some(*since),
            Self::Due { .. } | Self::Pending { .. } => None,
        }
    }

    /// Sent without a known outcome, since when.
    #[must_use]
    pub const fn unknown_since(&self) -> Option<Timestamp> {
        match self {
            Self::Sent { since, .. } => Some(*since),
            Self::Due { .. } | Self::Pending { .. } => None,
        }
    }
}

/// Offsets, in seconds, at which something is looked at again. After the last
/// one, the last offset is added again and again: nothing is ever given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule(Vec<i64>);

impl Schedule {
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
        let mut leg = Leg::due(at(0)).retry(at(1)).sent(at(1), at(2));
        assert!(!leg.is_repeat());
        for s in 2..5 {
            leg = leg.repeat(at(s));
            assert!(leg.is_repeat());
            leg = leg.sent(at(s), at(s + 1)).checked(at(s), at(s + 1));
            assert!(leg.is_repeat());
            assert_eq!(leg.may_have_happened_since(), Some(at(1)));
            assert_eq!(leg.unknown_since(), Some(at(s)));
            assert_eq!(leg.tries(), 1);
        }
        let other = leg.retry(at(9));
        assert!(!other.is_repeat(), "it is known that nothing happened");
        assert_eq!(other.may_have_happened_since(), None);
    }

    #[test]
    fn a_call_is_given_up_when_it_ends_and_not_whenever_it_is_read_back() {
        let at = |s: i64| Timestamp(s * 1000);
        let leg = Leg::due(at(0)).sent(at(1), at(6));
        assert_eq!(leg.given_up_at(), Some(at(1)), "the process died over it");
        let leg = leg.checked(at(3), at(6)).checked(at(6), at(16));
        assert_eq!(leg.given_up_at(), Some(at(3)));
        assert_eq!(leg.repeat(at(16)).given_up_at(), None);
    }

    #[test]
    fn a_schedule_never_ends() {
        let schedule = Schedule::new(vec![5, 15, 60]);
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
        let schedule = Schedule::new(vec![5, 30]);
        for (tries, wait_s) in [(0, 5), (1, 30), (2, 30), (99, 30)] {
            assert_eq!(
                schedule.retry_at(tries, Timestamp(0)),
                Timestamp(wait_s * 1000)
            );
        }
    }
}
