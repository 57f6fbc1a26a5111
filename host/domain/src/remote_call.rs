//! A call that changes something at a remote system, tracked over time.
//!
//! The call is marked as sent in storage before its first byte leaves the gateway. From then on it
//! may only be reconciled; it is never sent again on a guess.

use crate::named_enum::named_enum;
use crate::payment::decline::DeclineReason;
use crate::supplier::RefusalReason;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The progress of a remote call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "call")]
pub enum RemoteCall {
    Pending {
        /// Time before which the call is not sent.
        due_at: Timestamp,
        /// Number of earlier attempts that are known to have had no effect.
        failed_attempts: u32,
        /// Time at which the same call was first sent, if that send may have taken effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_sent_at: Option<Timestamp>,
    },
    /// A call that was sent, or is about to be, and has no recorded outcome.
    Sent {
        /// Time at which the call was marked as sent.
        sent_at: Timestamp,
        failed_attempts: u32,
        /// Time at which the same call was first sent, if this is a resend.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_sent_at: Option<Timestamp>,
        /// Time at which the call ended without a response. `None` if no process saw the call end
        /// before its first reconciliation was due.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response_lost_at: Option<Timestamp>,
        /// The first evidence that the call had no effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        absence: Option<AbsenceEvidence>,
        reconcile_count: u32,
        reconcile_at: Timestamp,
    },
    /// A call that the remote system accepted but has not finished.
    Accepted {
        accepted_at: Timestamp,
        /// The first evidence that the call will have no effect after all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        absence: Option<AbsenceEvidence>,
        reconcile_count: u32,
        reconcile_at: Timestamp,
    },
}

named_enum! {
    /// The outcome of one attempt of a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AttemptOutcome {
        /// The call was sent or is about to be, and nothing more is known. After a crash it must be
        /// reconciled and must not be sent again.
        Sent = "sent",
        Succeeded = "succeeded",
        Refused = "refused",
        /// The call is known not to have been sent, or to have had no effect.
        NotSent = "not_sent",
        /// The call may have taken effect.
        Unknown = "unknown",
    }
}

impl AttemptOutcome {
    /// Returns whether it is not known what the call did.
    pub const fn is_unresolved(self) -> bool {
        matches!(self, Self::Sent | Self::Unknown)
    }
}

/// Evidence that a call had no effect: a lookup that found nothing when the remote system had to show
/// the effect, or the refusal of a resend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsenceEvidence {
    /// Time of the request of the lookup, or of the refusal.
    pub observed_at: Timestamp,
    /// The reason of the refusal. `None` if a lookup found nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<ResendRefusal>,
}

/// The reason why the resend of a call was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResendRefusal {
    Supplier(RefusalReason),
    Processor(DeclineReason),
}

impl AbsenceEvidence {
    pub const fn from_lookup(observed_at: Timestamp) -> Self {
        Self {
            observed_at,
            refusal: None,
        }
    }

    pub const fn from_refusal(observed_at: Timestamp, refusal: ResendRefusal) -> Self {
        Self {
            observed_at,
            refusal: Some(refusal),
        }
    }
}

impl RemoteCall {
    /// Returns a call that is due at once.
    pub const fn pending(due_at: Timestamp) -> Self {
        Self::Pending {
            due_at,
            failed_attempts: 0,
            first_sent_at: None,
        }
    }

    /// Returns a call that schedules a refresh after a reported change: it counts as accepted and
    /// is due for reconciliation at once.
    pub const fn for_refresh(now: Timestamp) -> Self {
        Self::Accepted {
            accepted_at: now,
            absence: None,
            reconcile_count: 0,
            reconcile_at: now,
        }
    }

    /// Returns whether another change was reported after the given time. If so, the data just read
    /// may predate it and must be read again.
    pub fn is_change_reported_after(&self, change_reported_at: Timestamp) -> bool {
        matches!(self, Self::Accepted { accepted_at, .. } if *accepted_at > change_reported_at)
    }

    /// Marks the call as sent, before its first byte leaves the gateway.
    #[must_use]
    pub fn mark_sent(self, now: Timestamp, next_at: Timestamp) -> Self {
        let (failed_attempts, first_sent_at) = (self.failed_attempts(), self.first_sent_at());
        Self::Sent {
            sent_at: now,
            failed_attempts,
            first_sent_at,
            response_lost_at: None,
            absence: None,
            reconcile_count: 0,
            reconcile_at: next_at,
        }
    }

    /// Records that the call ended without a response, or that a reconciliation gave no result.
    #[must_use]
    pub fn mark_unresolved(mut self, now: Timestamp, next_at: Timestamp) -> Self {
        if let Self::Sent {
            response_lost_at,
            reconcile_count: 0,
            reconcile_at,
            ..
        } = &mut self
            && now < *reconcile_at
        {
            *response_lost_at = Some(now);
        }
        if let Self::Sent {
            reconcile_count,
            reconcile_at,
            ..
        }
        | Self::Accepted {
            reconcile_count,
            reconcile_at,
            ..
        } = &mut self
        {
            *reconcile_count = reconcile_count.saturating_add(1);
            *reconcile_at = next_at;
        }
        self
    }

    /// Records evidence that the call had no effect, if there is any. Keeps the first one.
    #[must_use]
    pub fn record_absence(mut self, evidence: Option<AbsenceEvidence>) -> Self {
        if let Self::Sent { absence, .. } | Self::Accepted { absence, .. } = &mut self {
            *absence = absence.take().or(evidence);
        }
        self
    }

    /// Records that the remote system accepted the call, which contradicts earlier evidence of no
    /// effect. A call that was accepted before keeps its count of reconciliations.
    #[must_use]
    pub fn mark_accepted(mut self, now: Timestamp, next_at: Timestamp) -> Self {
        match &mut self {
            Self::Accepted { absence, .. } => {
                *absence = None;
                self.mark_unresolved(now, next_at)
            }
            Self::Pending { .. } | Self::Sent { .. } => Self::Accepted {
                accepted_at: now,
                absence: None,
                reconcile_count: 0,
                reconcile_at: next_at,
            },
        }
    }

    /// Schedules a new attempt at `at`. The previous attempt is known to have had no effect.
    #[must_use]
    pub fn schedule_retry(self, at: Timestamp) -> Self {
        Self::Pending {
            due_at: at,
            failed_attempts: self.failed_attempts().saturating_add(1),
            first_sent_at: None,
        }
    }

    /// Schedules a resend of the same call at `at`. The previous send may have taken effect. This
    /// is safe only if the remote system answers a repeated reference with its first response.
    #[must_use]
    pub fn schedule_resend(self, at: Timestamp) -> Self {
        Self::Pending {
            due_at: at,
            failed_attempts: self.failed_attempts(),
            first_sent_at: self.unresolved_since(),
        }
    }

    /// Returns when the call was first sent, as long as its outcome is unknown. This includes a
    /// call scheduled for resend: the first send may have taken effect.
    pub const fn unresolved_since(&self) -> Option<Timestamp> {
        match (self.first_sent_at(), self.sent_at()) {
            (Some(first), _) => Some(first),
            (None, since) => since,
        }
    }

    /// Returns whether the same call was sent before and may have taken effect then.
    pub const fn is_resend(&self) -> bool {
        self.first_sent_at().is_some()
    }

    const fn first_sent_at(&self) -> Option<Timestamp> {
        match self {
            Self::Pending {
                first_sent_at: first,
                ..
            }
            | Self::Sent {
                first_sent_at: first,
                ..
            } => *first,
            Self::Accepted { .. } => None,
        }
    }

    /// Makes the call due at `now` if it is due later. Returns whether its due time changed.
    pub fn expedite(&mut self, now: Timestamp) -> bool {
        let (Self::Pending { due_at: at, .. }
        | Self::Sent {
            reconcile_at: at, ..
        }
        | Self::Accepted {
            reconcile_at: at, ..
        }) = self;
        let waited = *at > now;
        *at = now.min(*at);
        waited
    }

    /// Makes a sent call due for reconciliation at `now`, because a change was reported. Returns
    /// `false` if the call has not been sent.
    pub fn expedite_reconcile(&mut self, now: Timestamp) -> bool {
        if matches!(self, Self::Pending { .. }) {
            return false;
        }
        self.expedite(now);
        true
    }

    pub const fn failed_attempts(&self) -> u32 {
        match self {
            Self::Pending {
                failed_attempts, ..
            }
            | Self::Sent {
                failed_attempts, ..
            } => *failed_attempts,
            Self::Accepted { .. } => 0,
        }
    }

    /// Returns when the call is next sent or reconciled.
    pub const fn due_at(&self) -> Timestamp {
        match self {
            Self::Pending { due_at: at, .. } => *at,
            Self::Sent { reconcile_at, .. } | Self::Accepted { reconcile_at, .. } => *reconcile_at,
        }
    }

    /// Returns the latest time at which the call can have ended, if one call takes at most
    /// `call_ms_max` milliseconds. The time is known if the call ended before its first
    /// reconciliation was due. Otherwise no process may have seen its end.
    pub fn ended_by(&self, call_ms_max: i64) -> Option<Timestamp> {
        match self {
            Self::Sent {
                response_lost_at: Some(at),
                ..
            } => Some(*at),
            Self::Sent { sent_at, .. } => Some(sent_at.plus_ms(call_ms_max)),
            Self::Pending { .. } | Self::Accepted { .. } => None,
        }
    }

    /// Returns the first evidence that the call had no effect.
    pub const fn absence_evidence(&self) -> Option<&AbsenceEvidence> {
        match self {
            Self::Sent { absence, .. } | Self::Accepted { absence, .. } => absence.as_ref(),
            Self::Pending { .. } => None,
        }
    }

    /// Returns why the supplier refused the resend of the call, if it did.
    pub fn supplier_refusal(&self) -> Option<&RefusalReason> {
        match self.absence_evidence()?.refusal.as_ref()? {
            ResendRefusal::Supplier(reason) => Some(reason),
            ResendRefusal::Processor(_) => None,
        }
    }

    /// Returns why the processor declined the resend of the call, if it did.
    pub fn processor_decline(&self) -> Option<DeclineReason> {
        match self.absence_evidence()?.refusal.as_ref()? {
            ResendRefusal::Processor(reason) => Some(*reason),
            ResendRefusal::Supplier(_) => None,
        }
    }

    /// Returns when the call was sent, if its outcome is unknown.
    pub const fn sent_at(&self) -> Option<Timestamp> {
        match self {
            Self::Sent { sent_at: since, .. } => Some(*since),
            Self::Pending { .. } | Self::Accepted { .. } => None,
        }
    }
}

/// Offsets, in seconds, at which a call is reconciled or retried. After the last one, the last
/// offset is repeated without end, so every call is followed until its outcome is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackoffSchedule(Vec<i64>);

impl BackoffSchedule {
    /// Creates a schedule from offsets in seconds, in ascending order. An empty list means every
    /// minute.
    pub fn new(offsets_s: Vec<i64>) -> Self {
        Self(if offsets_s.is_empty() {
            vec![60]
        } else {
            offsets_s
        })
    }

    /// Returns the first time of the schedule after `now`.
    pub fn next_after(&self, since: Timestamp, now: Timestamp) -> Timestamp {
        let upcoming = self.upcoming(since, now);
        upcoming.unwrap_or_else(|| now.plus_s(self.0.last().copied().unwrap_or(60).max(1)))
    }

    /// Returns the first time of the schedule after `now`, or `None` after the last one.
    pub fn upcoming(&self, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let mut times = self.0.iter().map(|&offset| since.plus_s(offset));
        times.find(|at| *at > now)
    }

    /// Returns the time of the next attempt after the given number of failed ones.
    pub fn retry_at(&self, failed_attempts: u32, now: Timestamp) -> Timestamp {
        let index = usize::try_from(failed_attempts).unwrap_or(usize::MAX);
        let offset = self.0.get(index).or(self.0.last());
        now.plus_s(offset.copied().unwrap_or(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{Currency, Money};

    #[test]
    fn resent_call_keeps_time_of_first_send() {
        let at = |s: i64| Timestamp(s * 1000);
        let mut call = RemoteCall::pending(at(0))
            .schedule_retry(at(1))
            .mark_sent(at(1), at(2));
        assert!(!call.is_resend());
        for s in 2..5 {
            call = call.schedule_resend(at(s));
            assert!(call.is_resend());
            call = call
                .mark_sent(at(s), at(s + 1))
                .mark_unresolved(at(s), at(s + 1));
            assert!(call.is_resend());
            assert_eq!(call.unresolved_since(), Some(at(1)));
            assert_eq!(call.sent_at(), Some(at(s)));
            assert_eq!(call.failed_attempts(), 1);
        }
        let other = call.schedule_retry(at(9));
        assert!(!other.is_resend(), "a retry means that nothing happened");
        assert_eq!(other.unresolved_since(), None);
    }

    #[test]
    fn call_ends_when_its_response_is_lost_and_not_at_a_lookup() {
        let at = |s: i64| Timestamp(s * 1000);
        let sent = || RemoteCall::pending(at(0)).mark_sent(at(1), at(6));
        assert_eq!(sent().ended_by(30_000), Some(at(31)));
        let call = sent()
            .mark_unresolved(at(3), at(6))
            .mark_unresolved(at(6), at(16));
        assert_eq!(call.ended_by(30_000), Some(at(3)));
        assert_eq!(call.schedule_resend(at(16)).ended_by(30_000), None);
        // After a crash, the first event is that of a lookup.
        let crashed = sent()
            .mark_unresolved(at(6), at(16))
            .mark_unresolved(at(9), at(16));
        assert_eq!(crashed.ended_by(30_000), Some(at(31)));
    }

    #[test]
    fn first_absence_survives_storage_and_ends_with_the_call() {
        let at = |s: i64| Timestamp(s * 1000);
        let sent = RemoteCall::pending(at(0)).mark_sent(at(1), at(6));
        let later = AbsenceEvidence::from_lookup(at(90));
        let price = Money::new(110, Currency::USD);
        for refusal in [
            None,
            Some(ResendRefusal::Supplier(RefusalReason::Expired)),
            Some(ResendRefusal::Supplier(RefusalReason::PriceChanged(price))),
            Some(ResendRefusal::Supplier(RefusalReason::Other("x".into()))),
            Some(ResendRefusal::Processor(DeclineReason::ExpiredCard)),
        ] {
            let first = AbsenceEvidence {
                observed_at: at(60),
                refusal,
            };
            let call = sent.clone().record_absence(None);
            let call = call.record_absence(Some(first.clone()));
            let stored = serde_json::to_string(&call.record_absence(Some(later.clone()))).unwrap();
            let call: RemoteCall = serde_json::from_str(&stored).unwrap();
            assert_eq!(call.absence_evidence(), Some(&first));
            let resent = call.clone().schedule_resend(at(91));
            let resent = resent.mark_sent(at(91), at(96));
            assert_eq!(resent.absence_evidence(), None, "the call was sent again");
            let accepted = call.mark_accepted(at(91), at(96));
            assert_eq!(accepted.absence_evidence(), None);
            let accepted = accepted.record_absence(Some(first.clone()));
            assert_eq!(accepted.absence_evidence(), Some(&first));
            assert_eq!(
                accepted.mark_accepted(at(99), at(104)).absence_evidence(),
                None
            );
        }
    }

    #[test]
    fn call_stored_without_evidence_is_read() {
        let stored = r#"{"call":"sent","sent_at":1000,"failed_attempts":0,"reconcile_count":0,"reconcile_at":6000}"#;
        let call: RemoteCall = serde_json::from_str(stored).unwrap();
        let (sent_at, reconcile_at) = (Timestamp(1_000), Timestamp(6_000));
        let sent = RemoteCall::pending(sent_at).mark_sent(sent_at, reconcile_at);
        assert_eq!(call, sent);
    }

    #[test]
    fn schedule_repeats_last_offset_without_end() {
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
    fn retry_delay_grows_to_last_offset() {
        let schedule = BackoffSchedule::new(vec![5, 30]);
        for (failed_attempts, wait_s) in [(0, 5), (1, 30), (2, 30), (99, 30)] {
            assert_eq!(
                schedule.retry_at(failed_attempts, Timestamp(0)),
                Timestamp(wait_s * 1000)
            );
        }
    }
}
