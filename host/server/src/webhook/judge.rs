//! What an attempt means: for its delivery, for its subscription, and for when there is
//! another one. Decided without a clock, a network or a database.

use crate::id::IdGenerator;
use crate::webhook::{WebhookError, DeliveryPolicy};
use host_domain::event::Product;
use host_domain::time::Timestamp;
use host_domain::webhook::delivery::JITTER_PERMILLE_MAX;
use host_domain::webhook::{
    DeliveryEvent, RetryAfterLimit, RetryPolicy, DeliveryResult, Subscription, SubscriptionEvent,
    SubscriptionStatus,
};
use host_storage::{DeliveryRelease, DeliveryAttempt, StoredDelivery};
use http::{HeaderValue, StatusCode};
use std::time::Duration;

/// The answer, as far as it is read.
#[derive(Debug)]
pub(crate) struct ReceiverResponse {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<HeaderValue>,
    pub(crate) body: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SendFailure {
    UrlNotAllowed,
    Connect,
    TimedOut,
    ConnectionClosed,
}

impl SendFailure {
    const fn as_str(self) -> &'static str {
        match self {
            Self::UrlNotAllowed => "url_not_allowed",
            Self::Connect => "connect",
            Self::TimedOut => "timeout",
            Self::ConnectionClosed => "cut",
        }
    }
}

/// That there is no answer.
#[derive(Debug)]
pub(crate) struct SendError {
    pub(crate) failure: SendFailure,
    /// Where more is known.
    pub(crate) cause: Option<String>,
}

impl From<SendFailure> for SendError {
    fn from(failure: SendFailure) -> Self {
        Self {
            failure,
            cause: None,
        }
    }
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttemptResult {
    /// What that means for the delivery.
    pub(crate) outcome: DeliveryResult,
    /// The answer's status.
    pub(crate) status: Option<u16>,
    /// The beginning of the answer's body.
    pub(crate) body: Option<String>,
    /// Why there is no answer: `url_not_allowed`, `connect`, `timeout` or `cut`.
    pub(crate) error: Option<&'static str>,
    /// The same for the log, where more is known; says nothing of the URL's path and query.
    pub(crate) cause: Option<String>,
    /// How long it took.
    pub(crate) duration: Duration,
}

impl AttemptResult {
    /// What came of what was sent at an instant to a receiver that may, or may not, end
    /// it all by 410.
    pub(crate) fn new(
        answered: Result<ReceiverResponse, SendError>,
        may_end: bool,
        sent_at: Timestamp,
        took: Duration,
    ) -> Self {
        match answered {
            Ok(answer) => Self {
                outcome: answer.outcome(may_end, sent_at),
                status: Some(answer.status.as_u16()),
                body: Some(answer.body),
                error: None,
                cause: None,
                duration: took,
            },
            Err(SendError { failure, cause }) => Self {
                outcome: match failure {
                    SendFailure::UrlNotAllowed => DeliveryResult::UrlNotAllowed,
                    SendFailure::Connect | SendFailure::TimedOut | SendFailure::ConnectionClosed => DeliveryResult::Failed {
                        retry_after_s: None,
                    },
                },
                status: None,
                body: None,
                error: Some(failure.as_str()),
                cause,
                duration: took,
            },
        }
    }

    /// A word for the counter: `2xx`, or why there is no answer.
    pub(super) const fn outcome_label(&self) -> &'static str {
        match (self.error, self.status) {
            (Some(error), _) => error,
            (None, Some(200..=299)) => "2xx",
            (None, Some(300..=399)) => "3xx",
            (None, Some(400..=499)) => "4xx",
            (None, _) => "5xx",
        }
    }
}

impl ReceiverResponse {
    fn outcome(&self, may_end: bool, sent_at: Timestamp) -> DeliveryResult {
        if self.status.is_success() {
            DeliveryResult::Accepted
        } else if may_end && self.status == StatusCode::GONE {
            DeliveryResult::Gone
        } else {
            let retry_after = self.retry_after.as_ref();
            DeliveryResult::Failed {
                retry_after_s: retry_after.and_then(|value| parse_retry_after(value, sent_at)),
            }
        }
    }
}

/// Seconds, or a date.
fn parse_retry_after(value: &HeaderValue, now: Timestamp) -> Option<i64> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(seconds.into());
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    // Never before that date.
    Some((date.timestamp().as_millisecond() - now.0 + 999).div_euclid(1000))
}

/// So much later than planned is the next attempt.
pub(crate) fn jitter_permille(ids: &dyn IdGenerator) -> i64 {
    // The last bits of an identifier are random.
    let random = i64::from((ids.generate() & 0xffff) as u16);
    random % (JITTER_PERMILLE_MAX + 1)
}

impl DeliveryPolicy {
    /// How long a claim is good: it covers the wait for a place, the exchange, and storing
    /// its outcome.
    pub(crate) fn lease_ms(&self) -> i64 {
        millis(self.sender.timeout() + self.lease)
    }

    /// How long what was claimed may wait for its turn. What was not begun by then is given
    /// back: the rest of the claim is for storing.
    pub(crate) fn queue_timeout(&self) -> Duration {
        self.lease * 2 / 3
    }

    /// When attempts that failed are followed by others. Those to a subscription end
    /// before its deliveries can be replayed, and before the previous secret may be
    /// forgotten.
    fn retry_policy(&self, product: Product, jitter_permille: i64) -> RetryPolicy<'_> {
        let (steps_s, patience) = match product {
            Product::Hotel | Product::Flight => {
                let within = RetryAfterLimit::WithinTotal {
                    total_ms: self.replay.published_after_s.saturating_mul(1000),
                    attempt_ms: millis(self.queue_timeout() + self.sender.timeout()),
                };
                (&self.subscription_retry_s, within)
            }
            Product::Watch => (&self.watch_retry_s, RetryAfterLimit::TwiceDelay),
        };
        RetryPolicy {
            delays_s: steps_s,
            jitter_permille,
            retry_after_limit: patience,
        }
    }

    /// A delivery after an attempt that began at an instant; none: it was not tried.
    pub(crate) fn apply_attempt(
        &self,
        product: Product,
        stored: StoredDelivery,
        attempted: Option<(Timestamp, AttemptResult)>,
        token: String,
        jitter_permille: i64,
        now: Timestamp,
    ) -> DeliveryRelease {
        let StoredDelivery {
            tenant, delivery, ..
        } = stored;
        let given_back = DeliveryRelease {
            token,
            tenant,
            product,
            delivery,
            attempt: None,
        };
        let Some((sent_at, attempted)) = attempted else {
            return given_back;
        };
        let before = given_back.delivery.clone();
        let event = DeliveryEvent::AttemptFinished {
            generation: before.generation,
            result: attempted.outcome,
            retry_policy: self.retry_policy(product, jitter_permille),
        };
        let delivery = before.clone().apply(event, now).unwrap_or(before);
        DeliveryRelease {
            attempt: Some(DeliveryAttempt {
                number: delivery.attempts,
                response_status: attempted.status,
                response_body: attempted.body,
                error: attempted.error.map(str::to_owned),
                duration_ms: millis(attempted.duration),
                created_at: sent_at,
            }),
            delivery,
            ..given_back
        }
    }

    /// What a subscription is told of an attempt.
    pub(crate) const fn subscription_event(
        &self,
        subscription: &Subscription,
        attempted: &AttemptResult,
    ) -> SubscriptionEvent {
        match attempted.outcome {
            DeliveryResult::Accepted => SubscriptionEvent::DeliverySucceeded,
            DeliveryResult::Failed { .. } | DeliveryResult::UrlNotAllowed => {
                SubscriptionEvent::DeliveryFailed {
                    disable_after_s: self.disable_after_s,
                }
            }
            DeliveryResult::Gone => SubscriptionEvent::EndpointGone {
                updated_at: subscription.updated_at,
            },
        }
    }

    /// A delivery that is sent anew, as far as its subscription and itself allow it.
    pub(crate) fn replay(
        &self,
        subscription: &Subscription,
        stored: StoredDelivery,
        now: Timestamp,
    ) -> Result<StoredDelivery, WebhookError> {
        if subscription.status != SubscriptionStatus::Active {
            return Err(WebhookError::SubscriptionNotActive);
        }
        let replayed = stored.delivery.replay(self.replay, now);
        Ok(StoredDelivery {
            delivery: replayed.map_err(WebhookError::ReplayNotAllowed)?,
            ..stored
        })
    }

    /// A new secret signs from now on, and the one before it for a time too.
    pub(crate) fn rotation_event(&self, now: Timestamp) -> SubscriptionEvent {
        SubscriptionEvent::Rotated {
            previous_secret_expires_at: now.plus_s(self.dual_signature_s),
        }
    }
}

/// Whether receivers of these events may end it all by 410. Whoever watches is told until
/// it is taken: nobody could resume that.
pub(crate) const fn honors_gone(product: Product) -> bool {
    match product {
        Product::Hotel | Product::Flight => true,
        Product::Watch => false,
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_never_anticipated() {
        let date = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:38 GMT");
        let before = Timestamp(784_111_777_000);
        for (later_ms, wait_s) in [
            (0, 1),
            (1, 1),
            (999, 1),
            (1_000, 0),
            (1_001, 0),
            (2_001, -1),
        ] {
            let now = before.plus_ms(later_ms);
            assert_eq!(parse_retry_after(&date, now), Some(wait_s), "{later_ms}");
        }
    }
}
