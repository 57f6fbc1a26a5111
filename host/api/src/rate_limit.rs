//! Rate limits: a token bucket for each API key, in the memory of this process. Several processes on one
//! database allow the sum of their buckets.

use governor::Quota;
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use host_domain::id::KeyId;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::net::IpAddr;
use std::num::NonZeroU32;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit");

/// Key of a token bucket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RateLimitKey {
    /// An API key.
    ApiKey(KeyId),
    /// The client address of requests without a valid API key.
    ClientAddress(Option<IpAddr>),
}

/// Rate limit status after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimitStatus {
    /// Requests left in the bucket.
    pub remaining: u32,
    /// Seconds until the bucket is full.
    pub reset_after_s: u32,
    /// Seconds to wait before the next request; `None` if the request is allowed.
    pub retry_after_s: Option<u32>,
}

/// The token buckets of all clients.
pub(crate) struct RateLimiter {
    buckets: governor::RateLimiter<
        RateLimitKey,
        DefaultKeyedStateStore<RateLimitKey>,
        DefaultClock,
        StateInformationMiddleware,
    >,
    per_s: NonZeroU32,
    burst: NonZeroU32,
    policy: HeaderValue,
}

impl RateLimiter {
    /// Creates buckets that hold `burst` tokens and regain `per_s` a second. Zero counts as 1.
    pub(crate) fn new(per_s: u32, burst: u32) -> Self {
        let per_s = NonZeroU32::new(per_s).unwrap_or(NonZeroU32::MIN);
        let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(per_s).allow_burst(burst);
        let window_s = burst.get().div_ceil(per_s.get());
        let policy = HeaderValue::from_str(&format!("\"default\";q={burst};w={window_s}"));
        Self {
            buckets: governor::RateLimiter::keyed(quota).with_middleware(),
            per_s,
            burst,
            policy: policy.unwrap_or(HeaderValue::from_static("\"default\"")),
        }
    }

    pub(crate) fn check(&self, bucket: &RateLimitKey) -> RateLimitStatus {
        let (remaining, wait) = match self.buckets.check_key(bucket) {
            Ok(state) => (state.remaining_burst_capacity(), None),
            Err(refused) => (
                0,
                Some(refused.wait_time_from(DefaultClock::default().now())),
            ),
        };
        let missing = self.burst.get().saturating_sub(remaining);
        RateLimitStatus {
            remaining,
            reset_after_s: missing.div_ceil(self.per_s.get()),
            retry_after_s: wait.map(|wait| {
                u32::try_from(wait.as_millis().div_ceil(1000))
                    .unwrap_or(u32::MAX)
                    .max(1)
            }),
        }
    }

    /// Inserts the headers of the IETF draft on rate limit headers.
    pub(crate) fn insert_headers(&self, status: RateLimitStatus, headers: &mut HeaderMap) {
        headers.insert(POLICY, self.policy.clone());
        let (remaining, reset_after_s) = (status.remaining, status.reset_after_s);
        let text = format!("\"default\";r={remaining};t={reset_after_s}");
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(REMAINING, value);
        }
    }

    pub(crate) fn evict_idle(&self) {
        self.buckets.retain_recent();
    }
}
