//! PostgreSQL group commit. Units of work with the same statements that arrive while such a unit is
//! being committed are queued and then committed together as one statement. A unit that finds none
//! in progress is committed at once; none waits to be batched.

use crate::combined_statement::CombinedStatement;
use crate::error::CommitError;
use crate::unit_of_work::UnitOfWork;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Time after which a batch writer counts as stalled: another session holds a lock, or the server
/// is slow. Another writer is then started for the queue.
pub(crate) const STALL_THRESHOLD: Duration = Duration::from_millis(50);

/// Queues of units of work that wait for a batch, by their statements.
#[derive(Debug, Default)]
pub(crate) struct BatchQueues {
    /// The queues by the address of their [`CombinedStatement`], which the writers keep alive.
    queues: Mutex<HashMap<usize, BatchQueue>>,
    /// The id of the next writer.
    next: AtomicU64,
}

#[derive(Debug, Default)]
struct BatchQueue {
    waiting: Vec<QueuedWrite>,
    /// The active writers by id, with the time at which each took its current batch.
    writers: HashMap<u64, Instant>,
}

/// A unit of work and the channel for its result.
#[derive(Debug)]
pub(crate) struct QueuedWrite {
    pub(crate) write: UnitOfWork,
    reply: oneshot::Sender<Result<(), CommitError>>,
}

/// The result of a queued unit of work. Receiving fails if its writer ended early.
pub(crate) type CommitReceiver = oneshot::Receiver<Result<(), CommitError>>;

/// A writer that commits the units of work of a queue until the queue is empty.
pub(crate) struct BatchWriter {
    groups: Arc<BatchQueues>,
    combined: Arc<CombinedStatement>,
    number: u64,
}

impl BatchQueues {
    /// Adds a unit of work to its queue.
    pub(crate) fn enqueue(
        &self,
        write: UnitOfWork,
        combined: &Arc<CombinedStatement>,
    ) -> CommitReceiver {
        let (reply, receiver) = oneshot::channel();
        let mut queues = self.lock();
        let queue = queues.entry(key(combined)).or_default();
        queue.waiting.push(QueuedWrite { write, reply });
        receiver
    }

    /// Starts a writer for the queue if units of work wait and no writer is active, or all active
    /// ones are stalled.
    pub(crate) fn try_start_writer(
        self: &Arc<Self>,
        combined: &Arc<CombinedStatement>,
    ) -> Option<BatchWriter> {
        let mut queues = self.lock();
        let queue = queues.get_mut(&key(combined))?;
        let late = |since: &Instant| since.elapsed() >= STALL_THRESHOLD;
        if queue.waiting.is_empty() || !queue.writers.values().all(late) {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        queue.writers.insert(number, Instant::now());
        Some(BatchWriter {
            groups: Arc::clone(self),
            combined: Arc::clone(combined),
            number,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, BatchQueue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BatchWriter {
    /// Takes the next units of work to commit together, with their SQL. Returns `None` if the queue
    /// is empty; the writer is then deregistered.
    pub(crate) fn next_batch(&self) -> Option<(Vec<QueuedWrite>, Arc<str>)> {
        let mut queues = self.groups.lock();
        let queue = queues.get_mut(&key(&self.combined))?;
        let Some((number, text)) = self.combined.largest_batch(queue.waiting.len()) else {
            // The writer is deregistered under the same lock, so a unit of work that arrives later
            // starts a new one.
            self.deregister(&mut queues);
            return None;
        };
        queue.writers.insert(self.number, Instant::now());
        Some((queue.waiting.drain(..number).collect(), Arc::clone(text)))
    }

    fn deregister(&self, queues: &mut HashMap<usize, BatchQueue>) {
        let key = key(&self.combined);
        if let Some(queue) = queues.get_mut(&key)
            && queue.writers.remove(&self.number).is_some()
            && queue.writers.is_empty()
        {
            queues.remove(&key);
        }
    }
}

impl Drop for BatchWriter {
    /// On early exit, fails the waiting callers that no other writer serves.
    fn drop(&mut self) {
        self.deregister(&mut self.groups.lock());
    }
}

impl QueuedWrite {
    /// Sends the result. The caller may have stopped waiting; the commit stands nevertheless.
    pub(crate) fn reply(self, result: Result<(), CommitError>) {
        let _ = self.reply.send(result);
    }
}

fn key(combined: &Arc<CombinedStatement>) -> usize {
    Arc::as_ptr(combined).addr()
}
