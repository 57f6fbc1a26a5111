//! What wakes the workers: word that there may be something to take from a queue
//! earlier than was known. A shortcut only, for every queue is polled too.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::watch::{Receiver, Sender};
use tokio::time::{Instant, sleep_until, timeout};

/// Words that come within this time of one another are heard as one: under load a
/// worker looks once for what many commits made due.
const COALESCE_WINDOW: Duration = Duration::from_millis(10);

/// The same for jobs. Every walk that ends frees one, of which few are wanted again, and
/// nobody waits for one as for an event.
const JOBS_COALESCE_WINDOW: Duration = Duration::from_millis(50);

/// What a worker takes its work from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkQueue {
    /// [`crate::Job`]s.
    Jobs,
    /// Events on their way to subscribers.
    Deliveries,
    /// Questions of watches.
    PriceChecks,
}

/// Some of the queues, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WorkQueueSet(u8);

/// One of them by its own name to all hosts, also of other versions: in this order.
const ALL: [WorkQueue; 3] = [WorkQueue::Jobs, WorkQueue::Deliveries, WorkQueue::PriceChecks];

impl WorkQueueSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(0b111);

    pub(crate) const fn add(&mut self, queue: WorkQueue) {
        self.0 |= 1 << queue as u8;
    }

    pub(crate) const fn union(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn contains(self, queue: WorkQueue) -> bool {
        self.0 & (1 << queue as u8) != 0
    }

    /// As one host tells it to another.
    pub(crate) fn to_payload(self) -> String {
        self.0.to_string()
    }

    /// What another host tells; all of them where it tells something else.
    pub(crate) fn from_payload(word: &str) -> Self {
        word.parse().map_or(Self::ALL, Self)
    }
}

/// Who wakes the workers of this host.
#[derive(Debug, Clone)]
pub(crate) struct WakeupSender([Sender<u64>; ALL.len()]);

impl WakeupSender {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| Sender::new(0)))
    }

    pub(crate) fn subscribe(&self, queue: WorkQueue) -> WakeupReceiver {
        let [jobs, deliveries, asks] = &self.0;
        let (wake, together) = match queue {
            WorkQueue::Jobs => (jobs, JOBS_COALESCE_WINDOW),
            WorkQueue::Deliveries => (deliveries, COALESCE_WINDOW),
            WorkQueue::PriceChecks => (asks, COALESCE_WINDOW),
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

/// What a worker waits for when its queue has nothing more.
#[derive(Debug)]
pub struct WakeupReceiver {
    word: Receiver<u64>,
    together: Duration,
    together_until: Instant,
}

impl WakeupReceiver {
    /// Waits for word, at most so long: whether it came. Who stops waiting looks at the
    /// queue, too, for word that had come is lost.
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

/// What other hosts are to be told of. Many writes make one notification.
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

    /// Waits until there is something to tell.
    pub(crate) async fn next(&self) -> WorkQueueSet {
        self.more.notified().await;
        WorkQueueSet(self.queues.swap(0, Ordering::Relaxed))
    }
}
