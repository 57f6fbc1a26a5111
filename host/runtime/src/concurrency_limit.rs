//! Limits on concurrent calls. An exhausted instance pool returns an error instead of waiting, so
//! two semaphores guard it: one for each plugin and one for all plugins. Waiting is bounded in time
//! and in number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Number of calls that may wait for each permit. Further calls are rejected at once.
const WAITING_PER_PERMIT: u32 = 16;

/// The concurrent calls of a plugin at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallUsage {
    /// Calls under way.
    pub in_flight: u32,
    /// Maximum number of calls under way.
    pub limit: u32,
    /// Calls that wait for another one to end.
    pub waiting: u32,
}

#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
    permits_max: u32,
    waiting: AtomicU32,
    waiting_max: u32,
}

/// The call was rejected because no permit was free in time or the queue was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConcurrencyLimitReached;

impl ConcurrencyLimit {
    pub(crate) fn new(places: u32) -> Self {
        let places = places.max(1);
        Self {
            permits: Arc::new(Semaphore::new(
                usize::try_from(places)
                    .unwrap_or(Semaphore::MAX_PERMITS)
                    .min(Semaphore::MAX_PERMITS),
            )),
            permits_max: places,
            waiting: AtomicU32::new(0),
            waiting_max: places.saturating_mul(WAITING_PER_PERMIT),
        }
    }

    /// Returns how many permits are held and how many calls wait for one.
    pub(crate) fn usage(&self) -> CallUsage {
        let free = u32::try_from(self.permits.available_permits()).unwrap_or(u32::MAX);
        CallUsage {
            in_flight: self.permits_max.saturating_sub(free),
            limit: self.permits_max,
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    /// Waits for a permit, which is held until it is dropped.
    pub(crate) async fn acquire(
        &self,
        wait: Duration,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, ConcurrencyLimitReached> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = self.queue()?;
        let until = deadline.min(Instant::now() + wait);
        match tokio::time::timeout_at(until, Arc::clone(&self.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(ConcurrencyLimitReached),
        }
    }

    fn queue(&self) -> Result<WaiterGuard<'_>, ConcurrencyLimitReached> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = WaiterGuard(&self.waiting);
        if before < self.waiting_max {
            Ok(waiting)
        } else {
            Err(ConcurrencyLimitReached)
        }
    }
}

struct WaiterGuard<'a>(&'a AtomicU32);

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// Asserts that a call that may wait for `wait` is rejected after `waited_s`.
    async fn assert_rejected(
        limit: &ConcurrencyLimit,
        wait_s: u64,
        deadline: Instant,
        waited_s: u64,
    ) {
        let start = Instant::now();
        let entered = limit.acquire(Duration::from_secs(wait_s), deadline).await;
        assert!(entered.is_err());
        assert_eq!(start.elapsed(), Duration::from_secs(waited_s));
    }

    #[tokio::test(start_paused = true)]
    async fn released_permit_goes_to_waiting_call() {
        let admission = ConcurrencyLimit::new(1);
        let permit = admission.acquire(Duration::ZERO, soon()).await.unwrap();
        let waiting = admission.acquire(Duration::from_secs(5), soon());
        let (entered, ()) = tokio::join!(waiting, async { drop(permit) });
        assert!(entered.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_at_queue_wait_limit_or_deadline() {
        let admission = ConcurrencyLimit::new(1);
        let _held = admission.acquire(Duration::ZERO, soon()).await.unwrap();
        assert_rejected(&admission, 2, soon(), 2).await;
        let deadline = Instant::now() + Duration::from_secs(1);
        assert_rejected(&admission, 9, deadline, 1).await;
        assert_eq!(admission.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn full_queue_rejects_immediately() {
        let admission = ConcurrencyLimit::new(1);
        let _held = admission.acquire(Duration::ZERO, soon()).await.unwrap();
        let mut queue = Vec::new();
        for _ in 0..WAITING_PER_PERMIT {
            queue.push(Box::pin(admission.acquire(Duration::from_secs(30), soon())));
        }
        for waiting in &mut queue {
            assert!(futures::poll!(waiting).is_pending());
        }
        assert_rejected(&admission, 30, soon(), 0).await;
    }
}
