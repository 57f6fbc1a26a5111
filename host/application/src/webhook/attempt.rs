//! Interprets attempts: what each means for its delivery and its subscription, and when the next
//! attempt is due. The code uses no clock, network or database.

use crate::id_generator::IdGenerator;
use crate::webhook::error::WebhookError;
use crate::webhook::policy::DeliveryPolicy;
use host_domain::event::Product;
use host_domain::time::Timestamp;
use host_domain::webhook::delivery::JITTER_PERMILLE_MAX;
use host_domain::webhook::{
    DeliveryAttempt, DeliveryEvent, DeliveryResult, RetryAfterLimit, RetryPolicy, Subscription,
    SubscriptionEvent, SubscriptionStatus,
};
use host_storage::{DeliveryRelease, StoredDelivery};
use http::{HeaderValue, StatusCode};
use std::collections::BTreeMap;
use std::time::Duration;

/// A receiver's response, as far as it is read.
#[derive(Debug)]
pub struct ReceiverResponse {
    pub status: StatusCode,
    pub retry_after: Option<HeaderValue>,
    pub body: String,
}

#[derive(Debug, Clone, Copy)]
pub enum SendFailure {
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

#[derive(Debug)]
pub struct SendError {
    pub failure: SendFailure,
    pub cause: Option<String>,
}

impl From<SendFailure> for SendError {
    fn from(failure: SendFailure) -> Self {
        Self {
            failure,
            cause: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptResult {
    /// The headers of the request by name; empty if nothing was sent.
    pub request_headers: BTreeMap<String, String>,
    pub outcome: DeliveryResult,
    pub status: Option<u16>,
    pub body: Option<String>,
    /// Why there is no response: `url_not_allowed`, `connect`, `timeout` or `cut`.
    pub error: Option<&'static str>,
    /// Details of the error for the log, if known. They contain neither path nor query of the URL.
    pub cause: Option<String>,
    pub duration: Duration,
}

impl AttemptResult {
    /// Builds the result of a request, without its headers. `honors_gone` is whether a 410 pauses the subscription.
    pub fn new(
        response: Result<ReceiverResponse, SendError>,
        honors_gone: bool,
        sent_at: Timestamp,
        took: Duration,
    ) -> Self {
        match response {
            Ok(response) => Self {
                request_headers: BTreeMap::new(),
                outcome: response.outcome(honors_gone, sent_at),
                status: Some(response.status.as_u16()),
                body: Some(response.body),
                error: None,
                cause: None,
                duration: took,
            },
            Err(SendError { failure, cause }) => Self {
                request_headers: BTreeMap::new(),
                outcome: match failure {
                    SendFailure::UrlNotAllowed => DeliveryResult::UrlNotAllowed,
                    SendFailure::Connect
                    | SendFailure::TimedOut
                    | SendFailure::ConnectionClosed => DeliveryResult::Failed {
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

    /// Returns the metric's label: a class such as `2xx`, or why there is no response.
    pub const fn outcome_label(&self) -> &'static str {
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
    fn outcome(&self, honors_gone: bool, sent_at: Timestamp) -> DeliveryResult {
        if self.status.is_success() {
            DeliveryResult::Accepted
        } else if honors_gone && self.status == StatusCode::GONE {
            DeliveryResult::Gone
        } else {
            let retry_after = self.retry_after.as_ref();
            DeliveryResult::Failed {
                retry_after_s: retry_after.and_then(|value| parse_retry_after(value, sent_at)),
            }
        }
    }
}

/// Parses a `Retry-After` value, which is a number of seconds or a date, into seconds from now.
fn parse_retry_after(value: &HeaderValue, now: Timestamp) -> Option<i64> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(seconds.into());
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    // Rounded up, so that the wait never ends before that date.
    Some((date.timestamp().as_millisecond() - now.0 + 999).div_euclid(1000))
}

/// Returns a random jitter for the next attempt's delay, in permille.
pub fn jitter_permille(ids: &dyn IdGenerator) -> i64 {
    // The last bits of an identifier are random.
    let random = i64::from((ids.generate() & 0xffff) as u16);
    random % (JITTER_PERMILLE_MAX + 1)
}

impl DeliveryPolicy {
    /// Returns the lease time of a claimed delivery in milliseconds. It covers the wait for a
    /// permit, the exchange, and storing its result.
    pub fn lease_ms(&self) -> i64 {
        millis(self.timeout + self.lease)
    }

    /// Returns how long a claimed delivery may wait for a permit. A delivery that was not started
    /// by then is released; the rest of the lease is for storing.
    pub fn queue_timeout(&self) -> Duration {
        self.lease * 2 / 3
    }

    /// Returns the retry policy. Attempts of hotel and flight subscriptions end before their
    /// deliveries can be replayed, and before the previous secret may be discarded.
    fn retry_policy(&self, product: Product, jitter_permille: i64) -> RetryPolicy<'_> {
        let (delays_s, retry_after_limit) = match product {
            Product::Hotel | Product::Flight => {
                let within = RetryAfterLimit::WithinTotal {
                    total_ms: self.replay.published_after_s.saturating_mul(1000),
                    attempt_ms: millis(self.queue_timeout() + self.timeout),
                };
                (&self.subscription_retry_s, within)
            }
            Product::Watch => (&self.watch_retry_s, RetryAfterLimit::TwiceDelay),
        };
        RetryPolicy {
            delays_s,
            jitter_permille,
            retry_after_limit,
        }
    }

    /// Builds the release of a delivery after an attempt. `attempted` is the start of the attempt
    /// and its result, or `None` if the delivery was not tried.
    pub fn apply_attempt(
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
        let release = DeliveryRelease {
            token,
            tenant,
            product,
            delivery,
            attempt: None,
        };
        let Some((sent_at, attempted)) = attempted else {
            return release;
        };
        let before = release.delivery.clone();
        let event = DeliveryEvent::AttemptFinished {
            generation: before.generation,
            result: attempted.outcome,
            retry_policy: self.retry_policy(product, jitter_permille),
        };
        let delivery = before.clone().apply(event, now).unwrap_or(before);
        DeliveryRelease {
            attempt: Some(DeliveryAttempt {
                number: delivery.attempts,
                request_headers: attempted.request_headers,
                response_status: attempted.status,
                response_body: attempted.body,
                error: attempted.error.map(str::to_owned),
                duration_ms: millis(attempted.duration),
                created_at: sent_at,
            }),
            delivery,
            ..release
        }
    }

    pub const fn subscription_event(
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

    /// Returns a delivery that is due again, if its subscription and its own state allow a replay.
    pub fn replay(
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

    /// Returns the event of a rotation, after which the previous secret also signs for a time.
    pub fn rotation_event(&self, now: Timestamp) -> SubscriptionEvent {
        SubscriptionEvent::Rotated {
            previous_secret_expires_at: now.plus_s(self.dual_signature_s),
        }
    }
}

/// Returns whether a 410 of the receiver pauses a subscription to this product. A 410 from the endpoint
/// of watches is an ordinary failure: its schedule is guaranteed after every response that is not 2xx,
/// and the API cannot show or resume a paused endpoint.
pub const fn honors_gone(product: Product) -> bool {
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
    fn retry_after_date_is_rounded_up() {
        let date = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:38 GMT");
        let before = Timestamp(784_111_777_000);
        for (later_ms, wait_s) in [(0, 1), (999, 1), (1_000, 0), (1_001, 0), (2_001, -1)] {
            let now = before.plus_ms(later_ms);
            assert_eq!(parse_retry_after(&date, now), Some(wait_s), "{later_ms}");
        }
    }
}
