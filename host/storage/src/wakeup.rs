//! Wake-ups for workers: notifications that a queue may have an item due earlier than previously
//! known. They only reduce latency, because every queue is polled too.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::watch::{Receiver, Sender};
use tokio::time::{Instant, sleep_until, timeout};

/// Coalescing window. Wake-ups within this time of each other count as one: under load, a worker
/// looks once for what many commits made due.
const COALESCE_WINDOW: Duration = Duration::from_millis(10);

/// Coalescing window for jobs. Every finished workflow run releases a job, few of these are due
/// again at once, and jobs are less urgent than deliveries, so the window is longer.
const JOBS_COALESCE_WINDOW: Duration = Duration::from_millis(50);

/// A queue from which workers claim items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkQueue {
    Jobs,
    /// Webhook deliveries.
    Deliveries,
    /// Price checks of watches.
    PriceChecks,
}

/// A set of queues as a bit mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WorkQueueSet(u8);

/// All queues in the order of their bits. Hosts of other versions read the same bits, so the order
/// must not change.
const ALL: [WorkQueue; 3] = [
    WorkQueue::Jobs,
    WorkQueue::Deliveries,
    WorkQueue::PriceChecks,
];

impl WorkQueueSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(0b111);

    pub(crate) const fn insert(&mut self, queue: WorkQueue) {
        self.0 |= 1 << queue as u8;
    }

    pub(crate) const fn union(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn contains(self, queue: WorkQueue) -> bool {
        self.0 & (1 << queue as u8) != 0
    }

    /// Encodes the set for a notification to other processes.
    pub(crate) fn to_payload(self) -> String {
        self.0.to_string()
    }

    /// Decodes a notification of another process. Returns all queues if it cannot be parsed.
    pub(crate) fn from_payload(word: &str) -> Self {
        word.parse().map_or(Self::ALL, Self)
    }
}

/// The sender of wake-ups to the workers of this process.
#[derive(Debug, Clone)]
pub(crate) struct WakeupSender([Sender<u64>; ALL.len()]);

impl WakeupSender {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| Sender::new(0)))
    }

    pub(crate) fn subscribe(&self, queue: WorkQueue) -> WakeupReceiver {
        let [jobs, deliveries, price_checks] = &self.0;
        let (wake, together) = match queue {
            WorkQueue::Jobs => (jobs, JOBS_COALESCE_WINDOW),
            WorkQueue::Deliveries => (deliveries, COALESCE_WINDOW),
            WorkQueue::PriceChecks => (price_checks, COALESCE_WINDOW),
        };
        WakeupReceiver {
            word: wake.subscribe(),
            together,
            together_until: Instant::now(),
        }
    }

    pub(crate) fn send(&self, queues: WorkQueueSet) {
        for (queue, wake) in ALL.into_iter().zip(&self.0) {
            if queues.contains(queue) {
                wake.send_modify(|count| *count = count.wrapping_add(1));
            }
        }
    }
}

/// A receiver of wake-ups for a worker whose queue is empty.
#[derive(Debug)]
pub struct WakeupReceiver {
    word: Receiver<u64>,
    together: Duration,
    together_until: Instant,
}

impl WakeupReceiver {
    /// Waits up to `at_most` for a wake-up; returns whether one came. If the returned future is
    /// dropped, poll the queue: a wake-up may have been consumed.
    pub async fn wait(&mut self, at_most: Duration) -> bool {
        let Ok(Ok(())) = timeout(at_most, self.word.changed()).await else {
            return false;
        };
        sleep_until(self.together_until).await;
        self.word.mark_unchanged();
        self.together_until = Instant::now() + self.together;
        true
    }
}

/// Wake-ups to send to other processes. Those of many units of work form one notification.
#[derive(Debug, Default)]
pub(crate) struct OutgoingWakeups {
    queues: AtomicU8,
    more: Notify,
}

impl OutgoingWakeups {
    pub(crate) fn add(&self, queues: WorkQueueSet) {
        if queues != WorkQueueSet::NONE {
            self.queues.fetch_or(queues.0, Ordering::Relaxed);
            self.more.notify_one();
        }
    }

    /// Waits until there is a wake-up to send.
    pub(crate) async fn next(&self) -> WorkQueueSet {
        self.more.notified().await;
        WorkQueueSet(self.queues.swap(0, Ordering::Relaxed))
    }
}
