//! A delivery of one event to one subscription.

use crate::id::{DeliveryId, EventId, SubscriptionId};
use crate::named_enum::named_enum;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Maximum jitter added to a retry delay, in permille, so that deliveries that failed together are
/// not retried together.
pub const JITTER_PERMILLE_MAX: i64 = 50;

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum DeliveryStatus {
        /// The delivery is recorded and not yet claimed by a sender.
        Pending = "PENDING",
        /// A sender claimed the delivery. There is no final result yet.
        Published = "PUBLISHED",
        /// The receiver accepted the event.
        Delivered = "DELIVERED",
        /// The delivery was abandoned.
        Failed = "FAILED",
    }
}

named_enum! {
    /// The reason why a delivery was abandoned.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DeliveryFailureReason {
        /// The last attempt failed.
        RetriesExhausted = "retries_exhausted",
        /// The last attempt failed, because connections to the receiver's address are not allowed.
        UrlNotAllowed = "url_not_allowed",
        /// The receiver responded that it is permanently gone.
        Gone = "gone",
        /// The delivery waited too long for a subscription that is not `ACTIVE`.
        Expired = "expired",
    }
}

/// The state of a delivery, with the data that only this state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    Pending,
    Published {
        /// Time of the first claim.
        at: Timestamp,
        next_at: Timestamp,
    },
    Delivered {
        published_at: Timestamp,
        at: Timestamp,
    },
    Failed {
        /// Time of the first claim by a sender, if there was one.
        published_at: Option<Timestamp>,
        at: Timestamp,
        reason: DeliveryFailureReason,
    },
}

/// A delivery of one event to one subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub subscription: SubscriptionId,
    pub event: EventId,
    pub state: DeliveryState,
    /// Number of replays, `replay_count` in the API.
    pub generation: i64,
    /// Number of finished attempts in this generation.
    pub attempts: i64,
    /// Time at which the event was recorded for this subscription.
    pub created_at: Timestamp,
    /// Time at which the delivery last became `PENDING`.
    pub pending_since: Timestamp,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryResult {
    /// The receiver returned 2xx in time.
    Accepted,
    /// The receiver returned another response, or none.
    Failed {
        /// Seconds that the receiver asked to wait before the next attempt.
        retry_after_s: Option<i64>,
    },
    /// The receiver returned 410.
    Gone,
    /// Connections to the current address of the host name are not allowed. Nothing was sent.
    UrlNotAllowed,
}

/// The schedule of retries after failed attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy<'a> {
    /// Delays between attempts in seconds, starting with the delay after the first failed attempt.
    pub delays_s: &'a [i64],
    /// Jitter to add to the delay, from 0 to [`JITTER_PERMILLE_MAX`].
    pub jitter_permille: i64,
    /// Limit for the time that a receiver requests with `Retry-After`.
    pub retry_after_limit: RetryAfterLimit,
}

/// The limit up to which a delay is lengthened for a receiver that sends `Retry-After`. A delay is
/// never shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfterLimit {
    /// Twice the scheduled delay.
    TwiceDelay,
    /// The longest delay with which the last attempt still finishes within the total time, even if
    /// all remaining delays get maximum jitter.
    WithinTotal {
        /// Maximum time in milliseconds from the claim by a sender to the end of the last attempt.
        total_ms: i64,
        /// Maximum duration of an attempt in milliseconds, including the wait for its turn.
        attempt_ms: i64,
    },
}

/// The ages from which a delivery can be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayPolicy {
    /// Seconds in `PENDING` after which a replay is allowed.
    pub pending_after_s: i64,
    /// Seconds in `PUBLISHED` after which a replay is allowed.
    pub published_after_s: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryEvent<'a> {
    Claimed,
    AttemptFinished {
        /// The generation that was sent.
        generation: i64,
        result: DeliveryResult,
        retry_policy: RetryPolicy<'a>,
    },
    /// The delivery waited too long for its subscription.
    Expired,
}

/// Error for a delivery that cannot be replayed yet, because it may still arrive without a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a delivery that is {} is not replayed yet", .0.as_str())]
pub struct ReplayNotAllowed(pub DeliveryStatus);

impl Delivery {
    /// Returns the id of an event's delivery to a subscription. It is always the same for the same
    /// pair.
    pub fn derive_id(event: &EventId, subscription: &SubscriptionId) -> Option<DeliveryId> {
        let (_, event) = event.as_str().split_once('_')?;
        let (_, subscription) = subscription.as_str().split_once('_')?;
        DeliveryId::parse(&format!("{}{event}-{subscription}", DeliveryId::PREFIX)).ok()
    }

    /// Returns the subscription of a delivery by the delivery's id.
    pub fn subscription_of(id: &DeliveryId) -> Option<SubscriptionId> {
        let (_, subscription) = id.as_str().rsplit_once('-')?;
        SubscriptionId::parse(&format!("{}{subscription}", SubscriptionId::PREFIX)).ok()
    }

    pub const fn status(&self) -> DeliveryStatus {
        match self.state {
            DeliveryState::Pending => DeliveryStatus::Pending,
            DeliveryState::Published { .. } => DeliveryStatus::Published,
            DeliveryState::Delivered { .. } => DeliveryStatus::Delivered,
            DeliveryState::Failed { .. } => DeliveryStatus::Failed,
        }
    }

    /// Returns when the next attempt is due. Returns `None` if there is none.
    pub const fn next_at(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending => Some(self.pending_since),
            DeliveryState::Published { next_at, .. } => Some(next_at),
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => None,
        }
    }

    /// Returns when a sender first claimed the delivery in this generation.
    pub const fn published_at(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending => None,
            DeliveryState::Published { at, .. } => Some(at),
            DeliveryState::Delivered { published_at, .. } => Some(published_at),
            DeliveryState::Failed { published_at, .. } => published_at,
        }
    }

    pub const fn delivered_at(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Delivered { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Returns when and why the delivery was abandoned.
    pub const fn failure(&self) -> Option<(Timestamp, DeliveryFailureReason)> {
        match self.state {
            DeliveryState::Failed { at, reason, .. } => Some((at, reason)),
            _ => None,
        }
    }

    /// Applies an event. Returns `None` if nothing changes. This includes the result of an attempt
    /// of an older generation, and any event after the delivery has ended.
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
                    result,
                    retry_policy,
                },
            ) if generation == self.generation => {
                self.state = state_after_attempt(at, result, retry_policy, self.attempts, now);
                self.attempts += 1;
            }
            (DeliveryState::Pending | DeliveryState::Published { .. }, DeliveryEvent::Expired) => {
                self.state = DeliveryState::Failed {
                    published_at,
                    at: now,
                    reason: DeliveryFailureReason::Expired,
                };
            }
            _ => return None,
        }
        Some(self)
    }

    /// Replays the delivery as its next generation.
    ///
    /// # Errors
    /// Returns [`ReplayNotAllowed`] while the delivery may still arrive without a replay.
    pub fn replay(
        mut self,
        policy: ReplayPolicy,
        now: Timestamp,
    ) -> Result<Self, ReplayNotAllowed> {
        let waits_until = match self.state {
            DeliveryState::Pending => Some(self.pending_since.plus_s(policy.pending_after_s)),
            DeliveryState::Published { at, .. } => Some(at.plus_s(policy.published_after_s)),
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

/// Returns the state of a delivery after an attempt, given the number of failed attempts before it.
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
        // The host name may resolve to another address at the next attempt.
        DeliveryResult::UrlNotAllowed => again_or(None, DeliveryFailureReason::UrlNotAllowed),
        DeliveryResult::Gone => given_up(DeliveryFailureReason::Gone),
    }
}

impl RetryPolicy<'_> {
    /// Returns when the next attempt is due after a failed one. Returns `None` if the failed one
    /// was the last.
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
            RetryAfterLimit::WithinTotal {
                total_ms,
                attempt_ms,
            } => {
                let later_ms = later_s.iter().fold(attempt_ms, |sum, step_s| {
                    let step_ms = delay_with_jitter_ms(*step_s, JITTER_PERMILLE_MAX);
                    sum.saturating_add(step_ms).saturating_add(attempt_ms)
                });
                let elapsed_ms = now.since(published_at);
                total_ms.saturating_sub(elapsed_ms).saturating_sub(later_ms)
            }
        };
        let asked_ms = retry_after_s.unwrap_or(0).saturating_mul(1000);
        let least_ms = delay_with_jitter_ms(*step_s, self.jitter_permille);
        Some(now.plus_ms(asked_ms.min(longest_ms).max(least_ms)))
    }
}

fn delay_with_jitter_ms(step_s: i64, jitter_permille: i64) -> i64 {
    let jitter = jitter_permille.clamp(0, JITTER_PERMILLE_MAX);
    step_s.saturating_mul(1000 + jitter)
}

#[cfg(test)]
mod tests;
