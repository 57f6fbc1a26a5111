//! The concurrency of this process's deliveries to one subscription. A slow receiver gets fewer
//! deliveries at a time and a fast one gets more, so that slow receivers delay only their own
//! deliveries.

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Initial window: number of deliveries in flight for a receiver whose speed is unknown.
const WINDOW_INITIAL: u32 = 16;
/// Maximum window, enough to keep sending while the next deliveries are claimed.
const WINDOW_MAX: u32 = 128;
/// Minimum window of a receiver that is neither fast nor slow: not less than the default number of
/// concurrent requests to it.
const WINDOW_FLOOR: u32 = 8;
/// Response time up to which the window is doubled.
const FAST_RESPONSE: Duration = Duration::from_secs(1);
/// Response time above which the window is halved down to one delivery at a time. Between the two
/// times it is halved down to the floor.
const SLOW_RESPONSE: Duration = Duration::from_secs(5);

/// The delivery state of one subscription on this process.
pub struct Endpoint {
    in_flight: AtomicU32,
    /// Whether an attempt of this process has failed since its last success.
    has_failed: AtomicBool,
    window: AtomicU32,
    permits: Arc<Semaphore>,
    rate_limiter: DefaultDirectRateLimiter,
}

impl Endpoint {
    pub fn new(concurrency: u32, per_s: u32) -> Self {
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

    /// Returns how many deliveries may be claimed for the endpoint now. Returns 0 while more than
    /// half of the window is in flight, so that deliveries are claimed in larger batches.
    pub fn available_capacity(&self) -> u32 {
        let (in_flight, window) = (self.in_flight(), self.window.load(Ordering::Relaxed));
        if in_flight > window / 2 {
            0
        } else {
            window - in_flight
        }
    }

    pub fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts one more delivery as in flight until the returned guard is dropped.
    pub fn track(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(self))
    }

    pub fn record_failure(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Records a success. Returns whether an attempt of this process has failed since the last one.
    pub fn record_success(&self) -> bool {
        self.has_failed.swap(false, Ordering::Relaxed)
    }

    /// Waits until one more request may be sent, with a permit to keep while it is in progress.
    pub async fn acquire_permit(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        self.rate_limiter.until_ready().await;
        Some(place)
    }

    /// Adapts the window to the response time of an exchange.
    pub fn record_latency(&self, time: Duration) {
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
        // The closure always returns `Some`, so the update cannot fail.
        let _ = self.window.fetch_update(set, fetch, adapted);
    }
}

/// A guard that counts a delivery as in flight on this process.
pub struct InFlight(Arc<Endpoint>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn window_follows_the_response_time() {
        let endpoint = Endpoint::new(8, 1000);
        assert_eq!(endpoint.available_capacity(), WINDOW_INITIAL);
        for (ms, window) in [(2_000, WINDOW_FLOOR), (10_000, 1), (2, WINDOW_MAX)] {
            for _ in 0..10 {
                endpoint.record_latency(Duration::from_millis(ms));
            }
            assert_eq!(endpoint.available_capacity(), window, "{ms} ms");
        }
    }

    #[tokio::test]
    async fn requests_beyond_the_concurrency_wait() {
        let endpoint = Endpoint::new(2, 1000);
        let first = endpoint.acquire_permit().await;
        let _second = endpoint.acquire_permit().await;
        assert!(endpoint.acquire_permit().now_or_never().is_none());
        drop(first);
        assert!(endpoint.acquire_permit().await.is_some());
    }

    #[tokio::test]
    async fn requests_beyond_the_rate_limit_wait() {
        let endpoint = Endpoint::new(8, 1);
        assert!(endpoint.acquire_permit().now_or_never().is_some());
        assert!(endpoint.acquire_permit().now_or_never().is_none());
        assert!(endpoint.acquire_permit().await.is_some());
    }

    #[test]
    fn capacity_is_available_once_half_of_the_window_is_sent() {
        let endpoint = Arc::new(Endpoint::new(8, 1000));
        let mut in_flight: Vec<InFlight> = (0..WINDOW_INITIAL).map(|_| endpoint.track()).collect();
        while endpoint.in_flight() > WINDOW_INITIAL / 2 {
            assert_eq!(endpoint.available_capacity(), 0);
            in_flight.pop();
        }
        assert_eq!(endpoint.available_capacity(), WINDOW_INITIAL / 2);
    }
}
