//! SQLite: one task owns the only connection that writes and puts everything
//! that waits into one transaction, because what costs is the flush to disk at
//! its end. Reads have connections of their own and never wait for it.

use crate::StoreOptions;
use crate::dialect::{Dialect, classify_error};
use crate::error::{CommitError, DatabaseError, OpenError};
use crate::migration;
use crate::pool::{PoolConfig, DeadConnectionCounter, Pool};
use crate::statement::{Row, Statement};
use crate::write::{ExecutionResult, UnitOfWork};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Connections and the way to the writer.
pub(crate) struct Sqlite {
    options: SqliteConnectOptions,
    readers: Pool<SqliteConnection>,
    writer: mpsc::Sender<WriterCommand>,
}

/// What the writer is asked for.
enum WriterCommand {
    Commit(UnitOfWork, oneshot::Sender<Result<ExecutionResult, CommitError>>),
    Close(oneshot::Sender<()>),
}

/// A write and who waits for it.
struct QueuedWrite {
    write: UnitOfWork,
    reply: oneshot::Sender<Result<ExecutionResult, CommitError>>,
}

impl Sqlite {
    pub(crate) async fn open(path: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let file = path.strip_prefix("//").unwrap_or(path);
        if file.is_empty() || file == ":memory:" {
            return Err(OpenError::InMemory);
        }
        let writing = SqliteConnectOptions::new()
            .filename(Path::new(file))
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            // The mark before a call leaves must survive a power failure.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(options.acquire_timeout)
            .pragma("journal_size_limit", "67108864");
        let connection = SqliteConnection::connect_with(&writing)
            .await
            .map_err(OpenError::Connect)?;
        let reading = SqliteConnectOptions::new()
            .filename(Path::new(file))
            .busy_timeout(options.acquire_timeout)
            .pragma("query_only", "ON");
        let keeping = PoolConfig {
            connections_max: options.sqlite_readers,
            acquire_timeout: options.acquire_timeout,
            // A file does not go away.
            skip_ping_within: Duration::MAX,
            lifetime_max: Duration::MAX,
        };
        let readers = Pool::new(reading, keeping, DeadConnectionCounter::default()).map_err(OpenError::Connect)?;
        let (writer, requests) = mpsc::channel(options.sqlite_queue_capacity);
        let task = SqliteWriter {
            options: writing.clone(),
            connection: Some(connection),
            batch_max: options.sqlite_batch_max.max(1),
        };
        spawn(task.run(requests));
        Ok(Self {
            options: writing,
            readers,
            writer,
        })
    }

    pub(crate) async fn migrate(&self) -> Result<(), sqlx::migrate::MigrateError> {
        let mut connection = SqliteConnection::connect_with(&self.options).await?;
        // Another process may be doing the same: the second waits and finds it done.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        migration::SQLITE.run(&mut *transaction).await?;
        transaction.commit().await?;
        connection.close().await?;
        Ok(())
    }

    pub(crate) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, DatabaseError> {
        let sql = AssertSqlSafe(Dialect::Sqlite.render(statement));
        let args = statement.sqlite_args().map_err(classify_error)?;
        let mut reader = self.readers.acquire().await.map_err(classify_error)?;
        let connection = reader.connection().map_err(classify_error)?;
        let rows = sqlx::query_with(sql, args).fetch_all(connection).await;
        let rows = rows.map_err(classify_error)?;
        reader.release_clean();
        Ok(rows.into_iter().map(Row::Sqlite).collect())
    }

    /// Waits while the queue is full. Once queued, the write is carried out
    /// even when nobody waits for it any more.
    pub(crate) async fn commit(&self, write: UnitOfWork) -> Result<ExecutionResult, CommitError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.writer.send(WriterCommand::Commit(write, reply)).await;
        sent.map_err(|_| DatabaseError::Closed)?;
        answer
            .await
            .unwrap_or(Err(CommitError::Database(DatabaseError::Closed)))
    }

    /// Whether both the file and the writer answer.
    pub(crate) async fn ping(&self) -> Result<(), DatabaseError> {
        let probe = UnitOfWork::new(host_domain::time::Timestamp(0));
        self.commit(probe)
            .await
            .map_err(CommitError::into_database)?;
        self.rows(&crate::statement::statement!("SELECT 1"))
            .await
            .map(|_| ())
    }

    pub(crate) async fn close(&self) {
        let (reply, done) = oneshot::channel();
        if self.writer.send(WriterCommand::Close(reply)).await.is_ok() {
            // The writer drops the sender at the latest when it has ended.
            let _ = done.await;
        }
        self.readers.close().await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the writer lives as long as its queue and is awaited by `close`"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// The owner of the writing connection.
struct SqliteWriter {
    options: SqliteConnectOptions,
    /// None after a failure that left its state in doubt.
    connection: Option<SqliteConnection>,
    batch_max: usize,
}

impl SqliteWriter {
    async fn run(mut self, mut requests: mpsc::Receiver<WriterCommand>) {
        let mut waiting = Vec::with_capacity(self.batch_max);
        let mut closing = None;
        while requests.recv_many(&mut waiting, self.batch_max).await > 0 {
            let mut batch = Vec::with_capacity(waiting.len());
            for request in waiting.drain(..) {
                match request {
                    WriterCommand::Commit(write, reply) => batch.push(QueuedWrite { write, reply }),
                    WriterCommand::Close(reply) => {
                        // What is queued already is still written.
                        requests.close();
                        closing = Some(reply);
                    }
                }
            }
            if !batch.is_empty() {
                self.commit_batch(batch).await;
            }
        }
        if let Some(connection) = self.connection
            && let Err(error) = connection.close().await
        {
            tracing::warn!(error = %error, "closing the database failed");
        }
        drop(closing);
    }

    /// Commits a batch and only then tells those who wait.
    async fn commit_batch(&mut self, batch: Vec<QueuedWrite>) {
        // The connection is taken out while it is used: if anything ends early,
        // the next batch begins with a new one.
        let connection = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => SqliteConnection::connect_with(&self.options).await,
        };
        let (writes, replies): (Vec<_>, Vec<_>) = batch
            .into_iter()
            .map(|queued| (queued.write, queued.reply))
            .unzip();
        let results = match connection {
            Ok(mut connection) => match transact(&mut connection, &writes).await {
                Ok(results) => {
                    self.connection = Some(connection);
                    results
                }
                Err(error) => {
                    tracing::error!(error = %error, "a batch of writes was given up");
                    let _ = connection.close().await;
                    fail_all(&error, writes.len())
                }
            },
            Err(error) => fail_all(&classify_error(error), writes.len()),
        };
        for (reply, result) in replies.into_iter().zip(results) {
            // Whoever asked may be gone; the write stands all the same.
            let _ = reply.send(result);
        }
    }
}

fn fail_all(error: &DatabaseError, count: usize) -> Vec<Result<ExecutionResult, CommitError>> {
    (0..count)
        .map(|_| Err(CommitError::Database(error.clone())))
        .collect()
}

/// One transaction with a savepoint a write: one that fails is undone alone.
/// An error means that the connection is in doubt and nobody was served.
async fn transact(
    connection: &mut SqliteConnection,
    writes: &[UnitOfWork],
) -> Result<Vec<Result<ExecutionResult, CommitError>>, DatabaseError> {
    if let [write] = writes
        && write.steps.is_empty()
    {
        return Ok(vec![Ok(ExecutionResult::default())]);
    }
    execute_control(connection, "BEGIN IMMEDIATE")
        .await
        .map_err(classify_error)?;
    let mut results = Vec::with_capacity(writes.len());
    for write in writes {
        execute_control(connection, "SAVEPOINT write")
            .await
            .map_err(classify_error)?;
        let result = run_steps(connection, write).await;
        // Where the error ended the whole transaction, the savepoint is gone,
        // this fails, and the batch is given up.
        let end = match &result {
            Ok(_) => "RELEASE write",
            Err(_) => "ROLLBACK TO write; RELEASE write",
        };
        execute_control(connection, end).await.map_err(classify_error)?;
        results.push(result);
    }
    execute_control(connection, "COMMIT")
        .await
        .map_err(DatabaseError::commit_unknown)?;
    Ok(results)
}

async fn execute_control(connection: &mut SqliteConnection, sql: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(sql).execute(connection).await.map(|_| ())
}

async fn run_steps(
    connection: &mut SqliteConnection,
    write: &UnitOfWork,
) -> Result<ExecutionResult, CommitError> {
    let mut outcome = ExecutionResult::default();
    for step in &write.steps {
        let sql = AssertSqlSafe(Dialect::Sqlite.render(&step.statement));
        let args = step.statement.sqlite_args().map_err(classify_error)?;
        let query = sqlx::query_with(sql, args);
        if step.returns_rows {
            let rows = query.fetch_all(&mut *connection).await.map_err(classify_error)?;
            outcome.rows.extend(rows.into_iter().map(Row::Sqlite));
        } else {
            let done = query.execute(&mut *connection).await.map_err(classify_error)?;
            outcome
                .check_rows_affected(step, done.rows_affected())
                .map_err(CommitError::Conflict)?;
        }
    }
    Ok(outcome)
}
