//! A delivery: one event on its way to one subscription.

use crate::id::{DeliveryId, EventId, SubscriptionId};
use crate::time::Timestamp;

/// Largest part of a step, in thousandths, by which an attempt may be later than
/// the schedule says, so that those that failed together do not come back together.
pub const JITTER_PERMILLE_MAX: i64 = 50;

/// Where a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    /// Recorded; no sender took it yet.
    Pending,
    /// A sender took it; no final result yet.
    Published,
    /// The receiver has it.
    Delivered,
    /// Given up.
    Failed,
}

impl DeliveryStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [
        Self::Pending,
        Self::Published,
        Self::Delivered,
        Self::Failed,
    ];

    /// The name in the API, e.g. `PENDING`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Published => "PUBLISHED",
            Self::Delivered => "DELIVERED",
            Self::Failed => "FAILED",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.as_str() == text)
    }
}

/// Why a delivery was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryFailureReason {
    /// The last attempt failed too.
    RetriesExhausted,
    /// The last attempt failed too: its address may not be connected to.
    UrlNotAllowed,
    /// The receiver answered that it is gone for good.
    Gone,
    /// It waited too long for a subscription that is not ACTIVE.
    Expired,
}

impl DeliveryFailureReason {
    /// Every reason.
    pub const ALL: [Self; 4] = [
        Self::RetriesExhausted,
        Self::UrlNotAllowed,
        Self::Gone,
        Self::Expired,
    ];

    /// The name in the API, e.g. `retries_exhausted`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RetriesExhausted => "retries_exhausted",
            Self::UrlNotAllowed => "url_not_allowed",
            Self::Gone => "gone",
            Self::Expired => "expired",
        }
    }

    /// The reason of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|reason| reason.as_str() == text)
    }
}

/// Where a delivery is, and what is known of it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Recorded; to be sent.
    Pending,
    /// A sender took it.
    Published {
        /// When the first did.
        at: Timestamp,
        /// When it is to be sent, or sent again.
        next_at: Timestamp,
    },
    /// The receiver has it.
    Delivered {
        /// When a sender first took it.
        published_at: Timestamp,
        /// When the receiver took it.
        at: Timestamp,
    },
    /// Given up.
    Failed {
        /// When a sender first took it, if one did.
        published_at: Option<Timestamp>,
        /// When it was given up.
        at: Timestamp,
        /// Why.
        reason: DeliveryFailureReason,
    },
}

/// One event on its way to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// To whom.
    pub subscription: SubscriptionId,
    /// What.
    pub event: EventId,
    /// Where it is.
    pub state: DeliveryState,
    /// How often it was replayed; `replay_count` in the API.
    pub generation: i64,
    /// Attempts of this generation that have their outcome.
    pub attempts: i64,
    /// When the event was recorded for this subscription.
    pub created_at: Timestamp,
    /// When it became PENDING last.
    pub pending_since: Timestamp,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryResult {
    /// 2xx in time.
    Accepted,
    /// Another answer, or none.
    Failed {
        /// How long the receiver asked to be left alone.
        retry_after_s: Option<i64>,
    },
    /// 410.
    Gone,
    /// The address that the name has now may not be connected to; nothing was sent.
    UrlNotAllowed,
}

/// When an attempt that failed is followed by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy<'a> {
    /// Seconds from the first failed attempt to the second, and so on.
    pub delays_s: &'a [i64],
    /// A number of 0 to [`JITTER_PERMILLE_MAX`]: so much later.
    pub jitter_permille: i64,
    /// What a receiver that names a time is given.
    pub retry_after_limit: RetryAfterLimit,
}

/// How far a step is lengthened for a receiver that names a time. It is never
/// shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfterLimit {
    /// To twice itself.
    TwiceDelay,
    /// As far as the last attempt still ends in time, however late the others are.
    WithinTotal {
        /// From when a sender took the delivery to the end of its last attempt.
        total_ms: i64,
        /// What an attempt takes at most, the wait for its turn included.
        attempt_ms: i64,
    },
}

/// What makes a delivery eligible to be sent anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayPolicy {
    /// PENDING for longer than this.
    pub pending_after_s: i64,
    /// PUBLISHED for longer than this.
    pub published_after_s: i64,
}

/// What happens to a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryEvent<'a> {
    /// A sender took it.
    Claimed,
    /// An attempt has its outcome.
    AttemptFinished {
        /// Of the generation that was sent.
        generation: i64,
        /// What came of it.
        result: DeliveryResult,
        /// When the next one is due.
        retry_policy: RetryPolicy<'a>,
    },
    /// It waited too long for its subscription.
    Expired,
}

impl DeliveryEvent<'_> {
    /// Its name in the table of the machine.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claimed => "taken",
            Self::AttemptFinished { result: outcome, .. } => match outcome {
                DeliveryResult::Accepted => "answered: taken",
                DeliveryResult::Failed { .. } => "answered: not taken",
                DeliveryResult::Gone => "answered: gone",
                DeliveryResult::UrlNotAllowed => "answered: url not allowed",
            },
            Self::Expired => "expired",
        }
    }
}

/// A delivery that is not sent anew: it may still arrive by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a delivery that is {} is not replayed yet", .0.as_str())]
pub struct ReplayNotAllowed(pub DeliveryStatus);

impl Delivery {
    /// The id of an event's delivery to a subscription: always the same one.
    #[must_use]
    pub fn derive_id(event: &EventId, subscription: &SubscriptionId) -> Option<DeliveryId> {
        let (_, event) = event.as_str().split_once('_')?;
        let (_, subscription) = subscription.as_str().split_once('_')?;
        DeliveryId::parse(&format!("{}{event}-{subscription}", DeliveryId::PREFIX)).ok()
    }

    /// Its status, as the API names it.
    #[must_use]
    pub const fn status(&self) -> DeliveryStatus {
        match self.state {
            DeliveryState::Pending => DeliveryStatus::Pending,
            DeliveryState::Published { .. } => DeliveryStatus::Published,
            DeliveryState::Delivered { .. } => DeliveryStatus::Delivered,
            DeliveryState::Failed { .. } => DeliveryStatus::Failed,
        }
    }

    /// When it is to be sent; none: never again by itself.
    #[must_use]
    pub const fn next_at(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending => Some(self.pending_since),
            DeliveryState::Published { next_at, .. } => Some(next_at),
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => None,
        }
    }

    /// When a sender first took it, in this generation.
    #[must_use]
    pub const fn published_at(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending => None,
            DeliveryState::Published { at, .. } => Some(at),
            DeliveryState::Delivered { published_at, .. } => Some(published_at),
            DeliveryState::Failed { published_at, .. } => published_at,
        }
    }

    /// When the receiver took it.
    #[must_use]
    pub const fn delivered_at(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Delivered { at, .. } => Some(at),
            DeliveryState::Pending
            | DeliveryState::Published { .. }
            | DeliveryState::Failed { .. } => None,
        }
    }

    /// When and why it was given up.
    #[must_use]
    pub const fn failure(&self) -> Option<(Timestamp, DeliveryFailureReason)> {
        match self.state {
            DeliveryState::Failed { at, reason, .. } => Some((at, reason)),
            DeliveryState::Pending
            | DeliveryState::Published { .. }
            | DeliveryState::Delivered { .. } => None,
        }
    }

    /// Moves it. None: nothing about it changes; so does the answer to an attempt
    /// of an older generation, and whatever comes after the end.
    #[must_use]
    pub fn apply(mut self, event: DeliveryEvent<'_>, now: Timestamp) -> Option<Self> {
        let published_at = self.published_at();
        match (self.state, event) {
            (DeliveryState::Pending, DeliveryEvent::Claimed) => {
                self.state = DeliveryState::Published {
                    at: now,
                    next_at: self.pending_since,
                };
            }
            (
                DeliveryState::Published { at, .. },
                DeliveryEvent::AttemptFinished {
                    generation,
                    result: outcome,
                    retry_policy: retry,
                },
            ) if generation == self.generation => {
                self.state = state_after_attempt(at, outcome, retry, self.attempts, now);
                self.attempts += 1;
            }
            (DeliveryState::Pending | DeliveryState::Published { .. }, DeliveryEvent::Expired) => {
                self.state = DeliveryState::Failed {
                    published_at,
                    at: now,
                    reason: DeliveryFailureReason::Expired,
                };
            }
            (
                DeliveryState::Published { .. }
                | DeliveryState::Delivered { .. }
                | DeliveryState::Failed { .. },
                DeliveryEvent::Claimed,
            )
            | (_, DeliveryEvent::AttemptFinished { .. })
            | (
                DeliveryState::Delivered { .. } | DeliveryState::Failed { .. },
                DeliveryEvent::Expired,
            ) => return None,
        }
        Some(self)
    }

    /// Sends it anew, as the next generation.
    ///
    /// # Errors
    /// [`NotReplayed`] while it may still arrive by itself.
    pub fn replay(mut self, rule: ReplayPolicy, now: Timestamp) -> Result<Self, ReplayNotAllowed> {
        let waits_until = match self.state {
            DeliveryState::Pending => Some(self.pending_since.plus_s(rule.pending_after_s)),
            DeliveryState::Published { at, .. } => Some(at.plus_s(rule.published_after_s)),
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => None,
        };
        if waits_until.is_some_and(|until| now <= until) {
            return Err(ReplayNotAllowed(self.status()));
        }
        self.state = DeliveryState::Pending;
        self.generation += 1;
        self.attempts = 0;
        self.pending_since = now;
        Ok(self)
    }
}

/// What becomes of a delivery of which so many attempts failed before this one.
fn state_after_attempt(
    published_at: Timestamp,
    outcome: DeliveryResult,
    retry: RetryPolicy<'_>,
    failed_before: i64,
    now: Timestamp,
) -> DeliveryState {
    let given_up = |reason| DeliveryState::Failed {
        published_at: Some(published_at),
        at: now,
        reason,
    };
    let again_or = |retry_after_s, reason| {
        let next_at = retry.next_at(published_at, failed_before, retry_after_s, now);
        next_at.map_or(given_up(reason), |next_at| DeliveryState::Published {
            at: published_at,
            next_at,
        })
    };
    match outcome {
        DeliveryResult::Accepted => DeliveryState::Delivered {
            published_at,
            at: now,
        },
        DeliveryResult::Failed { retry_after_s } => {
            again_or(retry_after_s, DeliveryFailureReason::RetriesExhausted)
        }
        // A name may mean another address by then.
        DeliveryResult::UrlNotAllowed => again_or(None, DeliveryFailureReason::UrlNotAllowed),
        DeliveryResult::Gone => given_up(DeliveryFailureReason::Gone),
    }
}

impl RetryPolicy<'_> {
    /// When the attempt after this failed one is due; none: it was the last.
    fn next_at(
        self,
        published_at: Timestamp,
        failed_before: i64,
        retry_after_s: Option<i64>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let index = usize::try_from(failed_before).ok()?;
        let (step_s, later_s) = self.delays_s.get(index..)?.split_first()?;
        let longest_ms = match self.retry_after_limit {
            RetryAfterLimit::TwiceDelay => step_s.saturating_mul(2000),
            RetryAfterLimit::WithinTotal { total_ms: all_ms, attempt_ms } => {
                let later_ms = later_s.iter().fold(attempt_ms, |sum, step_s| {
                    let step_ms = delay_with_jitter_ms(*step_s, JITTER_PERMILLE_MAX);
                    sum.saturating_add(step_ms).saturating_add(attempt_ms)
                });
                let gone_ms = now.since(published_at);
                all_ms.saturating_sub(gone_ms).saturating_sub(later_ms)
            }
        };
        let asked_ms = retry_after_s.unwrap_or(0).saturating_mul(1000);
        let least_ms = delay_with_jitter_ms(*step_s, self.jitter_permille);
        Some(now.plus_ms(asked_ms.min(longest_ms).max(least_ms)))
    }
}

/// A step with its jitter, in milliseconds.
fn delay_with_jitter_ms(step_s: i64, jitter_permille: i64) -> i64 {
    let jitter = jitter_permille.clamp(0, JITTER_PERMILLE_MAX);
    step_s.saturating_mul(1000 + jitter)
}

#[cfg(test)]
mod tests;
