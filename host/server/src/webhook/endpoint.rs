//! What this host does at once for one subscription. A receiver that is slow is given
//! less and less at a time, one that is quick more and more, so that the slow delay
//! nobody but themselves.

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use host_domain::time::Timestamp;
use host_domain::webhook::{Subscription, SubscriptionEvent};
use secrecy::SecretString;
use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Deliveries that are held at once for a receiver of which nothing is known yet.
const WINDOW_INITIAL: u32 = 16;
/// For one that is quick: enough to be sent while the next are being claimed.
const WINDOW_MAX: u32 = 128;
/// For one that is neither: no smaller than what is sent to it at once by default.
const WINDOW_FLOOR: u32 = 8;
/// An exchange that takes no longer makes the window larger.
const FAST_RESPONSE: Duration = Duration::from_secs(1);
/// One that takes longer makes it smaller, down to one at a time.
const SLOW_RESPONSE: Duration = Duration::from_secs(5);

/// One subscription, as this host sends to it.
pub(crate) struct Endpoint {
    in_flight: AtomicU32,
    /// Whether something failed since the last success here.
    has_failed: AtomicBool,
    window: AtomicU32,
    permits: Arc<Semaphore>,
    rate_limiter: DefaultDirectRateLimiter,
}

impl Endpoint {
    pub(crate) fn new(concurrency: u32, per_s: u32) -> Self {
        let concurrency = usize::try_from(concurrency).unwrap_or(usize::MAX);
        let per_s = NonZeroU32::new(per_s).unwrap_or(NonZeroU32::MIN);
        Self {
            in_flight: AtomicU32::new(0),
            has_failed: AtomicBool::new(false),
            window: AtomicU32::new(WINDOW_INITIAL),
            permits: Arc::new(Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS))),
            rate_limiter: RateLimiter::direct(Quota::per_second(per_s)),
        }
    }

    /// How many deliveries may be claimed for it now. None while most of those it has
    /// are still to be sent, so that many are claimed together.
    pub(crate) fn available_capacity(&self) -> u32 {
        let (held, window) = (self.in_flight(), self.window.load(Ordering::Relaxed));
        if held > window / 2 { 0 } else { window - held }
    }

    /// How many of its deliveries this host holds.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts one more, until what is returned is dropped.
    pub(crate) fn track(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(self))
    }

    /// Waits until one more request may be sent; the place is kept while it is.
    pub(crate) async fn acquire_permit(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        self.rate_limiter.until_ready().await;
        Some(place)
    }

    /// Notes how long an exchange took.
    pub(crate) fn record_latency(&self, time: Duration) {
        let adapted = |window: u32| {
            Some(if time <= FAST_RESPONSE {
                window.saturating_mul(2).min(WINDOW_MAX)
            } else if time <= SLOW_RESPONSE {
                (window / 2).max(WINDOW_FLOOR.min(window))
            } else {
                (window / 2).max(1)
            })
        };
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        // Always adapted, hence never refused.
        let _ = self.window.fetch_update(set, fetch, adapted);
    }
}

/// A delivery that this host holds.
pub(crate) struct InFlight(Arc<Endpoint>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Secrets of a subscription.
pub(crate) struct ActiveSecrets {
    /// The one that signs.
    pub(crate) current: SecretString,
    /// The one before it, and until when it signs too.
    pub(crate) previous: Option<(SecretString, Timestamp)>,
}

impl ActiveSecrets {
    /// Those that sign at an instant.
    pub(crate) fn valid_at(&self, now: Timestamp) -> impl Iterator<Item = &SecretString> {
        let previous = self.previous.iter().filter(move |(_, until)| now < *until);
        std::iter::once(&self.current).chain(previous.map(|(secret, _)| secret))
    }
}

/// A subscription as it was when its deliveries were claimed.
pub(crate) struct Recipient {
    pub(crate) subscription: Subscription,
    pub(crate) secrets: ActiveSecrets,
    pub(crate) endpoint: Arc<Endpoint>,
}

impl Recipient {
    /// Whether the stored subscription is to be told, as far as can be known without
    /// reading it. Most attempts change nothing about it.
    fn changes_subscription(&self, event: &SubscriptionEvent, now: Timestamp) -> bool {
        let failing = &self.endpoint.has_failed;
        let failed_here = match event {
            SubscriptionEvent::DeliverySucceeded => failing.swap(false, Ordering::Relaxed),
            SubscriptionEvent::DeliveryFailed { .. } => {
                failing.store(true, Ordering::Relaxed);
                false
            }
            SubscriptionEvent::Changed { .. }
            | SubscriptionEvent::Paused
            | SubscriptionEvent::Resumed
            | SubscriptionEvent::Rotated { .. }
            | SubscriptionEvent::EndpointGone { .. } => false,
        };
        failed_here
            || self
                .subscription
                .clone()
                .apply(event.clone(), now)
                .is_some()
    }
}

/// What of what was heard the stored subscriptions are to know, of each the same once.
#[derive(Default)]
pub(crate) struct SubscriptionUpdates<'a> {
    /// Their receivers took something: stored together with the deliveries, since nobody
    /// says it again.
    pub(crate) succeeded: Vec<&'a Subscription>,
    /// What else they are told, then.
    pub(crate) others: Vec<(&'a Subscription, &'a SubscriptionEvent)>,
}

impl<'a> SubscriptionUpdates<'a> {
    /// Of what recipients said.
    pub(crate) fn collect(
        heard: impl Iterator<Item = (&'a Recipient, &'a SubscriptionEvent)>,
        now: Timestamp,
    ) -> Self {
        let (mut news, mut told) = (Self::default(), HashSet::new());
        for (recipient, event) in heard {
            let subscription = &recipient.subscription;
            let is_news = recipient.changes_subscription(event, now);
            if !is_news || !told.insert((&subscription.id, event.name())) {
                continue;
            }
            match event {
                SubscriptionEvent::DeliverySucceeded => news.succeeded.push(subscription),
                event => news.others.push((subscription, event)),
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn the_secret_before_signs_until_its_end() {
        let until = Timestamp(1_800_000_000_000);
        let signers = ActiveSecrets {
            current: "new".into(),
            previous: Some(("old".into(), until)),
        };
        assert_eq!(signers.valid_at(until.plus_ms(-1)).count(), 2);
        assert_eq!(signers.valid_at(until).count(), 1);
    }

    #[test]
    fn a_slow_receiver_is_given_less_and_a_quick_one_more() {
        let endpoint = Endpoint::new(8, 1000);
        assert_eq!(endpoint.available_capacity(), WINDOW_INITIAL);
        for _ in 0..10 {
            endpoint.record_latency(Duration::from_secs(10));
        }
        assert_eq!(endpoint.available_capacity(), 1);
        for _ in 0..10 {
            endpoint.record_latency(Duration::from_millis(2));
        }
        assert_eq!(endpoint.available_capacity(), WINDOW_MAX);
    }

    #[tokio::test]
    async fn no_more_are_sent_at_once_than_there_are_places() {
        let endpoint = Endpoint::new(2, 1000);
        let first = endpoint.acquire_permit().await;
        let _second = endpoint.acquire_permit().await;
        assert!(endpoint.acquire_permit().now_or_never().is_none(), "it is full");
        drop(first);
        assert!(endpoint.acquire_permit().await.is_some());
    }

    #[tokio::test]
    async fn no_more_are_sent_in_a_second_than_was_said() {
        let endpoint = Endpoint::new(8, 1);
        assert!(endpoint.acquire_permit().now_or_never().is_some());
        assert!(endpoint.acquire_permit().now_or_never().is_none(), "it is too soon");
        assert!(endpoint.acquire_permit().await.is_some());
    }

    #[test]
    fn one_that_is_neither_keeps_its_places() {
        let endpoint = Endpoint::new(8, 1000);
        for _ in 0..10 {
            endpoint.record_latency(Duration::from_secs(2));
        }
        assert_eq!(endpoint.available_capacity(), WINDOW_FLOOR);
    }

    #[test]
    fn more_is_claimed_when_half_is_sent() {
        let endpoint = Arc::new(Endpoint::new(8, 1000));
        let mut held: Vec<InFlight> = (0..WINDOW_INITIAL).map(|_| endpoint.track()).collect();
        while endpoint.in_flight() > WINDOW_INITIAL / 2 {
            assert_eq!(endpoint.available_capacity(), 0);
            held.pop();
        }
        assert_eq!(endpoint.available_capacity(), WINDOW_INITIAL / 2);
    }
}
