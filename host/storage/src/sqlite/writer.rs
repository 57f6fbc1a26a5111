//! The writer: one thread owns the only writing connection. It commits up to
//! [`WriterOptions::batch_max`] queued units of work in one transaction, because the flush to disk at
//! its end dominates the cost.

use super::connection::{ExecutionLimit, SqliteConnection};
use super::file::SqliteFile;
use crate::dialect::classify_sqlite_error;
use crate::error::{CommitError, DatabaseError};
use crate::statement::Row;
use crate::unit_of_work::{ExecutionResult, UnitOfWork};
use rusqlite::ErrorCode;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

type CommitResult = Result<ExecutionResult, CommitError>;

enum WriterCommand {
    /// A unit of work and the channel for its result.
    Commit(UnitOfWork, oneshot::Sender<CommitResult>),
    Close(oneshot::Sender<()>),
}

/// The queue of the writer.
pub(super) struct WriterQueue(mpsc::Sender<WriterCommand>);

/// Limits of the writer.
pub(super) struct WriterOptions {
    /// Capacity of the queue. Further callers wait until the queue has room.
    pub(super) queue_capacity: usize,
    /// Maximum number of units of work in a transaction.
    pub(super) batch_max: usize,
    /// Maximum time of a transaction before its commit.
    pub(super) time_max: Duration,
}

impl WriterQueue {
    /// Starts the writer's thread. It ends when the queue is closed or dropped.
    pub(super) fn start(
        file: Arc<SqliteFile>,
        connection: SqliteConnection,
        options: &WriterOptions,
    ) -> io::Result<Self> {
        let (sender, commands) = mpsc::channel(options.queue_capacity);
        let writer = Writer {
            file,
            connection: Some(connection),
            batch_max: options.batch_max.max(1),
            time_max: options.time_max,
        };
        let thread = thread::Builder::new().name("sqlite-writer".to_owned());
        thread.spawn(move || writer.run(commands))?;
        Ok(Self(sender))
    }

    /// Queues a unit of work and waits for its result. Waits while the queue is full. Once queued,
    /// the unit is executed even if the caller stops waiting.
    pub(super) async fn commit(&self, write: UnitOfWork) -> CommitResult {
        let (reply, receiver) = oneshot::channel();
        let sent = self.0.send(WriterCommand::Commit(write, reply)).await;
        sent.map_err(|_| DatabaseError::Closed)?;
        // The writer replies to every unit that it receives, unless it panics.
        receiver
            .await
            .unwrap_or_else(|error| Err(DatabaseError::commit_unknown(error).into()))
    }

    /// Finishes the queued units of work and ends the writer.
    pub(super) async fn close(&self) {
        let (reply, done) = oneshot::channel();
        if self.0.send(WriterCommand::Close(reply)).await.is_ok() {
            // The writer drops the sender when it ends, at the latest.
            let _ = done.await;
        }
    }
}

struct Writer {
    file: Arc<SqliteFile>,
    /// The connection; `None` after a failure that left its state uncertain.
    connection: Option<SqliteConnection>,
    batch_max: usize,
    time_max: Duration,
}

impl Writer {
    fn run(mut self, mut commands: mpsc::Receiver<WriterCommand>) {
        let mut waiting = Vec::with_capacity(self.batch_max);
        let mut closing = None;
        while commands.blocking_recv_many(&mut waiting, self.batch_max) > 0 {
            let mut batch = Vec::with_capacity(waiting.len());
            for command in waiting.drain(..) {
                match command {
                    WriterCommand::Commit(write, reply) => batch.push((write, reply)),
                    WriterCommand::Close(reply) => {
                        // Units of work that are already queued are still committed.
                        commands.close();
                        closing = Some(reply);
                    }
                }
            }
            // A panic drops the connection and the channels of the batch's results. The callers then
            // know that their units of work may be committed.
            let committed = catch_unwind(AssertUnwindSafe(|| self.commit_batch(batch)));
            if committed.is_err() {
                tracing::error!("the writer of the database panicked; its connection is replaced");
            }
        }
        if let Some(connection) = self.connection
            && let Err(error) = connection.close()
        {
            tracing::warn!(%error, "cannot close the database connection; the process stops all the same");
        }
        drop(closing);
    }

    /// Commits a batch and then sends the results to the callers.
    fn commit_batch(&mut self, batch: Vec<(UnitOfWork, oneshot::Sender<CommitResult>)>) {
        if batch.is_empty() {
            return;
        }
        let (writes, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let results = self.connect_and_commit(&writes).unwrap_or_else(|error| {
            tracing::error!(%error, "a batch of units of work failed, so none of them is stored and their callers get the error");
            let failed = |_| Err(CommitError::Database(error.clone()));
            (0..writes.len()).map(failed).collect()
        });
        for (reply, result) in replies.into_iter().zip(results) {
            // The caller may have stopped waiting; the commit stands nevertheless.
            let _ = reply.send(result);
        }
    }

    /// Commits on the connection, which is taken out meanwhile. If the commit fails, the next batch
    /// opens a new one.
    fn connect_and_commit(
        &mut self,
        writes: &[UnitOfWork],
    ) -> Result<Vec<CommitResult>, DatabaseError> {
        self.file.check_identity().map_err(classify_sqlite_error)?;
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.file.connect_writer().map_err(classify_sqlite_error)?,
        };
        connection.set_limit(ExecutionLimit::Deadline {
            at: Instant::now() + self.time_max,
            is_abandoned: Arc::default(),
        });
        let results = transact(&connection, writes)?;
        self.connection = Some(connection);
        Ok(results)
    }
}

/// Runs one transaction with a savepoint for each unit of work, so that a failed unit is rolled
/// back alone. An error means that the state of the connection is uncertain and no unit was
/// committed, unless the error says that this is unknown.
fn transact(
    connection: &SqliteConnection,
    writes: &[UnitOfWork],
) -> Result<Vec<CommitResult>, DatabaseError> {
    let control = |sql| connection.control(sql).map_err(classify_sqlite_error);
    control("BEGIN IMMEDIATE")?;
    let mut results = Vec::with_capacity(writes.len());
    for write in writes {
        control("SAVEPOINT write")?;
        let result = execute_statements(connection, write);
        match result {
            // Some errors end the whole transaction: no space, or the time limit.
            Err(CommitError::Database(error)) if !connection.is_in_transaction() => {
                return Err(error);
            }
            Err(_) => control("ROLLBACK TO write")?,
            Ok(_) => {}
        }
        control("RELEASE write")?;
        results.push(result);
    }
    // The limit must not interrupt the commit, because its outcome would be unknown.
    connection.set_limit(ExecutionLimit::Unlimited);
    connection
        .control("COMMIT")
        .map_err(|error| commit_error(connection, error))?;
    Ok(results)
}

/// Returns the error of a failed commit. A disk without space has not stored the end of the
/// transaction, and a transaction that is still open waited for a lock. After another error the
/// transaction may be on disk, where the next process would find it.
fn commit_error(connection: &SqliteConnection, error: rusqlite::Error) -> DatabaseError {
    let code = error.sqlite_error_code();
    let is_refused = matches!(
        code,
        Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    );
    let is_rolled_back = !connection.is_in_transaction() || connection.control("ROLLBACK").is_ok();
    if is_refused && is_rolled_back {
        classify_sqlite_error(error)
    } else {
        DatabaseError::commit_unknown(error)
    }
}

fn execute_statements(connection: &SqliteConnection, write: &UnitOfWork) -> CommitResult {
    let mut outcome = ExecutionResult::default();
    for statement in &write.statements {
        if statement.returns_rows {
            let rows: Vec<Row> = connection
                .fetch_rows(&statement.statement)
                .map_err(classify_sqlite_error)?;
            outcome.rows.extend(rows);
        } else {
            let changed = connection
                .execute(&statement.statement)
                .map_err(classify_sqlite_error)?;
            outcome
                .check_rows_affected(statement, changed)
                .map_err(CommitError::Conflict)?;
        }
    }
    Ok(outcome)
}
