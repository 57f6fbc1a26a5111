//! Every read starts on the calling thread, because a short read costs less than a context switch. If
//! it exceeds the instruction limit, meets a lock or finds no free connection, it is executed from its
//! beginning on a blocking thread.

use super::connection::{ExecutionLimit, SqliteConnection, is_interrupted};
use super::file::{SqliteFile, is_busy};
use crate::dialect::classify_sqlite_error;
use crate::error::DatabaseError;
use crate::statement::{Row, Statement};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

/// Thousands of instructions that a statement may execute on the calling thread: less than a
/// millisecond. A read by key needs about a hundred instructions, and a page of a list a few thousand.
const KILO_INSTRUCTIONS_MAX: u32 = 8;

pub(super) struct Readers {
    file: Arc<SqliteFile>,
    /// Connections for the calling thread, opened on demand. No read waits for one.
    direct: Box<[Mutex<Option<SqliteConnection>>]>,
    /// Idle connections of blocking threads.
    idle: Arc<Mutex<Vec<SqliteConnection>>>,
    /// Limits the statements on blocking threads.
    permits: Semaphore,
    /// Maximum time to wait for a connection.
    acquire_timeout: Duration,
    /// Maximum time of a statement.
    time_max: Duration,
}

impl Readers {
    /// `connections_max` is the number of connections of each kind.
    pub(super) fn new(
        file: Arc<SqliteFile>,
        connections_max: usize,
        acquire_timeout: Duration,
        time_max: Duration,
    ) -> Self {
        Self {
            file,
            direct: (0..connections_max).map(|_| Mutex::default()).collect(),
            idle: Arc::default(),
            permits: Semaphore::new(connections_max),
            acquire_timeout,
            time_max,
        }
    }

    pub(super) async fn fetch_rows(&self, statement: Statement) -> Result<Vec<Row>, DatabaseError> {
        if self.permits.is_closed() {
            return Err(DatabaseError::Closed);
        }
        let is_in_place = self.file.check_identity_sometimes();
        is_in_place.map_err(classify_sqlite_error)?;
        // Yields when the task's budget is used up, so that a loop of reads does not starve other
        // tasks.
        tokio::task::coop::consume_budget().await;
        match self.read_directly(&statement) {
            Some(rows) => rows,
            None => self.read_on_thread(statement).await,
        }
    }

    /// Executes a statement on this thread. Returns `None` if it exceeds the limit, meets a lock, or
    /// no connection is free.
    fn read_directly(&self, statement: &Statement) -> Option<Result<Vec<Row>, DatabaseError>> {
        let mut slot = self.direct.iter().find_map(|slot| match slot.try_lock() {
            Ok(slot) => Some(slot),
            // A connection is taken out while it is in use, so a panic has left none.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })?;
        let connection = match slot.take() {
            Some(connection) => Ok(connection),
            None => self.file.connect_reader(Duration::ZERO),
        };
        let result = connection.and_then(|connection| {
            connection.set_limit(ExecutionLimit::KiloInstructions(KILO_INSTRUCTIONS_MAX));
            let result = connection.fetch_rows(statement);
            if is_usable_after(&result) {
                *slot = Some(connection);
            }
            result
        });
        match result {
            Err(error) if is_repeatable(&error) => None,
            result => Some(result.map_err(classify_sqlite_error)),
        }
    }

    async fn read_on_thread(&self, statement: Statement) -> Result<Vec<Row>, DatabaseError> {
        let permit = timeout(self.acquire_timeout, self.permits.acquire()).await;
        let _permit = permit
            .map_err(DatabaseError::unavailable)?
            .map_err(|_| DatabaseError::Closed)?;
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let _guard = AbandonOnDrop(Arc::clone(&is_abandoned));
        let limit = ExecutionLimit::Deadline {
            at: Instant::now() + self.time_max,
            is_abandoned,
        };
        let (file, idle) = (Arc::clone(&self.file), Arc::clone(&self.idle));
        let read = tokio::task::spawn_blocking(move || {
            let idle_connection = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = match idle_connection {
                Some(connection) => connection,
                None => file.connect_reader(file.busy_timeout())?,
            };
            connection.set_limit(limit);
            let result = connection.fetch_rows(&statement);
            if is_usable_after(&result) {
                let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.push(connection);
            }
            result
        });
        let result = read.await.map_err(DatabaseError::unavailable)?;
        result.map_err(classify_sqlite_error)
    }

    /// Closes the connections. Statements that are being executed end first.
    pub(super) fn close(&self) {
        self.permits.close();
        for slot in &self.direct {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// Returns whether a connection can be used again after this result.
fn is_usable_after<T>(result: &rusqlite::Result<T>) -> bool {
    result.as_ref().err().is_none_or(is_repeatable)
}

/// Returns whether only the limits of this execution kept a statement from its result.
fn is_repeatable(error: &rusqlite::Error) -> bool {
    is_interrupted(error) || is_busy(error)
}

/// A guard that interrupts its statement when the caller stops waiting.
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
