//! PostgreSQL: writes with the same steps that come while such a write is under way are
//! one statement, and so one commit, when it has ended. Nobody waits for company: a write
//! of which none is under way goes at once.

use crate::batch::CombinedStatement;
use crate::error::CommitError;
use crate::write::UnitOfWork;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Who takes longer waits for somebody else's lock, or the server is slow: others do not
/// wait with them.
pub(crate) const STALL_THRESHOLD: Duration = Duration::from_millis(50);

/// Writes that wait for their like, by the steps that they have.
#[derive(Debug, Default)]
pub(crate) struct BatchQueues {
    /// By the address of the texts, which whoever carries them out holds.
    queues: Mutex<HashMap<usize, BatchQueue>>,
    /// The number of the next carrier.
    next: AtomicU64,
}

#[derive(Debug, Default)]
struct BatchQueue {
    waiting: Vec<QueuedWrite>,
    /// Who carries them out, by number, and since when each is at what they took last.
    writers: HashMap<u64, Instant>,
}

/// A write and who waits for it.
#[derive(Debug)]
pub(crate) struct QueuedWrite {
    pub(crate) write: UnitOfWork,
    reply: oneshot::Sender<Result<(), CommitError>>,
}

/// What comes of a write. An error: who carried it out is gone.
pub(crate) type CommitReceiver = oneshot::Receiver<Result<(), CommitError>>;

/// Carries out what waits in a line, until nothing does.
pub(crate) struct BatchWriter {
    groups: Arc<BatchQueues>,
    joint: Arc<CombinedStatement>,
    number: u64,
}

impl BatchQueues {
    /// Puts a write in line.
    pub(crate) fn enqueue(&self, write: UnitOfWork, joint: &Arc<CombinedStatement>) -> CommitReceiver {
        let (reply, answer) = oneshot::channel();
        let mut lines = self.lock();
        let line = lines.entry(key(joint)).or_default();
        line.waiting.push(QueuedWrite { write, reply });
        answer
    }

    /// The turn to carry out what waits, where nobody does, or all who do are late.
    pub(crate) fn try_start_writer(self: &Arc<Self>, joint: &Arc<CombinedStatement>) -> Option<BatchWriter> {
        let mut lines = self.lock();
        let line = lines.get_mut(&key(joint))?;
        let late = |since: &Instant| since.elapsed() >= STALL_THRESHOLD;
        if line.waiting.is_empty() || !line.writers.values().all(late) {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        line.writers.insert(number, Instant::now());
        Some(BatchWriter {
            groups: Arc::clone(self),
            joint: Arc::clone(joint),
            number,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, BatchQueue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BatchWriter {
    /// The next to be carried out together, and their statement; none: nothing waits, and
    /// the turn is over.
    pub(crate) fn next_batch(&self) -> Option<(Vec<QueuedWrite>, Arc<str>)> {
        let mut lines = self.groups.lock();
        let line = lines.get_mut(&key(&self.joint))?;
        let Some((number, text)) = self.joint.largest_batch(line.waiting.len()) else {
            // Under the same lock: who comes now takes a turn of their own.
            self.deregister(&mut lines);
            return None;
        };
        line.writers.insert(self.number, Instant::now());
        Some((line.waiting.drain(..number).collect(), Arc::clone(text)))
    }

    fn deregister(&self, lines: &mut HashMap<usize, BatchQueue>) {
        let key = key(&self.joint);
        if let Some(line) = lines.get_mut(&key)
            && line.writers.remove(&self.number).is_some()
            && line.writers.is_empty()
        {
            lines.remove(&key);
        }
    }
}

impl Drop for BatchWriter {
    /// Where it ended early, who still waits and has no other carrier is told.
    fn drop(&mut self) {
        self.deregister(&mut self.groups.lock());
    }
}

impl QueuedWrite {
    /// Whoever asked may be gone; the write stands all the same.
    pub(crate) fn answer(self, result: Result<(), CommitError>) {
        let _ = self.reply.send(result);
    }
}

fn key(joint: &Arc<CombinedStatement>) -> usize {
    Arc::as_ptr(joint).addr()
}
