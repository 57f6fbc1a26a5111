//! SQLite backend. One task owns the only writing connection and commits all queued units of work
//! in one transaction, because the flush to disk at its end dominates the cost. Reads use
//! connections of their own and never wait for the writer.

use crate::StoreOptions;
use crate::dialect::{Dialect, classify_error};
use crate::error::{CommitError, DatabaseError, OpenError};
use crate::migration;
use crate::pool::{Access, Pool, PoolConfig, ServerHealth};
use crate::session::Session;
use crate::statement::{Row, Statement, statement};
use crate::unit_of_work::{ExecutionResult, UnitOfWork};
use host_domain::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

/// Time between two attempts to set the journal mode of a new file.
const BUSY_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// A write that changes nothing else.
const WRITE_PROBE: &str = "INSERT INTO write_probe (slot, written_at) VALUES (0, {now_ms}) \
     ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at";

/// The read connections and the channel to the writer.
pub(crate) struct Sqlite {
    options: SqliteConnectOptions,
    readers: Pool<SqliteConnection>,
    writer: mpsc::Sender<WriterCommand>,
}

type CommitResult = Result<ExecutionResult, CommitError>;

enum WriterCommand {
    /// A unit of work and the channel for its result.
    Commit(UnitOfWork, oneshot::Sender<CommitResult>),
    Close(oneshot::Sender<()>),
}

impl Sqlite {
    pub(crate) async fn open(path: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let file = path.strip_prefix("//").unwrap_or(path);
        if file.is_empty() || file == ":memory:" {
            return Err(OpenError::InMemory);
        }
        if has_earlier_schema(Path::new(file)).await? {
            return Err(OpenError::EarlierSchema);
        }
        let writing = SqliteConnectOptions::new()
            .filename(Path::new(file))
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            // The record that a remote call is about to be sent must survive a power failure.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(options.acquire_timeout)
            .pragma("journal_size_limit", "67108864");
        let connection = connect_writer(&writing, options.acquire_timeout).await?;
        let reading = SqliteConnectOptions::new()
            .filename(Path::new(file))
            .busy_timeout(options.acquire_timeout)
            .pragma("query_only", "ON");
        let keeping = PoolConfig {
            name: "readers",
            connections_max: options.sqlite_readers,
            read_only_connections: options.sqlite_readers,
            acquire_timeout: options.acquire_timeout,
            // A local file does not disconnect, so connections need no test and no replacement.
            skip_ping_within: Duration::MAX,
            lifetime_max: Duration::MAX,
            settings: String::new(),
        };
        let readers = Pool::new(reading, keeping, ServerHealth::default())?;
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
        // Another process may be migrating: the second one waits and then finds nothing to do.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        migration::SQLITE.run(&mut *transaction).await?;
        transaction.commit().await?;
        connection.close().await?;
        Ok(())
    }

    pub(crate) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, DatabaseError> {
        let sql = AssertSqlSafe(Dialect::Sqlite.render(statement));
        let args = statement.sqlite_args().map_err(classify_error)?;
        let reader = self.readers.acquire(Access::Read).await;
        let mut reader = reader.map_err(classify_error)?;
        let connection = reader.connection().map_err(classify_error)?;
        let rows = sqlx::query_with(sql, args).fetch_all(connection).await;
        let rows = rows.map_err(classify_error)?;
        reader.release_clean();
        Ok(rows.into_iter().map(Row::Sqlite).collect())
    }

    /// Queues a unit of work and waits for its result. Waits while the queue is full. Once queued,
    /// the unit is executed even if the caller stops waiting.
    pub(crate) async fn commit(&self, write: UnitOfWork) -> Result<ExecutionResult, CommitError> {
        let (reply, receiver) = oneshot::channel();
        let sent = self.writer.send(WriterCommand::Commit(write, reply)).await;
        sent.map_err(|_| DatabaseError::Closed)?;
        // The writer replies to every unit that it receives, unless it panics.
        receiver
            .await
            .unwrap_or_else(|error| Err(DatabaseError::commit_unknown(error).into()))
    }

    /// Commits a write as every unit of work is committed.
    pub(crate) async fn probe_write(&self) -> Result<(), DatabaseError> {
        let mut probe = UnitOfWork::new(Timestamp(0));
        probe.add(statement!(WRITE_PROBE));
        let committed = self.commit(probe).await;
        committed.map(|_| ()).map_err(CommitError::into_database)
    }

    pub(crate) async fn close(&self) {
        let (reply, done) = oneshot::channel();
        if self.writer.send(WriterCommand::Close(reply)).await.is_ok() {
            // The writer drops the sender when it ends, at the latest.
            let _ = done.await;
        }
        self.readers.close().await;
    }
}

/// Opens a connection that sets the journal mode of a new file. While another process writes to that
/// file, SQLite refuses the change at once, whatever the busy timeout is. The change is then tried
/// again until `busy_for_max` has passed.
#[expect(
    clippy::disallowed_methods,
    reason = "SQLite does not report when another process ends its transaction"
)]
async fn connect_writer(
    options: &SqliteConnectOptions,
    busy_for_max: Duration,
) -> Result<SqliteConnection, sqlx::Error> {
    let deadline = Instant::now() + busy_for_max;
    loop {
        match SqliteConnection::connect_with(options).await {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                sleep(BUSY_RETRY_INTERVAL).await;
            }
            result => return result,
        }
    }
}

/// Returns whether another connection has a lock that a statement needs.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    // The lowest byte of an extended code is SQLITE_BUSY.
    let code = code.and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| code & 0xff == 5)
}

/// Returns whether an earlier development version created the file. Changes neither the file nor
/// its write-ahead log, unlike the connections of the writer, which set the journal mode.
async fn has_earlier_schema(file: &Path) -> Result<bool, sqlx::Error> {
    if !file.exists() {
        return Ok(false);
    }
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let options = SqliteConnectOptions::new()
        .filename(file)
        .read_only(true)
        // Without a log nobody writes to the file. SQLite then need not create one to read it.
        .immutable(!Path::new(&log).exists());
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let table = "SELECT 1 FROM sqlite_master WHERE name = '_sqlx_migrations'";
    let mut is_earlier = sqlx::query(table).fetch_optional(&mut connection).await?;
    if is_earlier.is_some() {
        let select = sqlx::query(migration::SELECT_EARLIER_SCHEMA);
        is_earlier = select.fetch_optional(&mut connection).await?;
    }
    connection.close().await?;
    Ok(is_earlier.is_some())
}

impl Session for SqliteConnection {
    type Id = ();

    async fn start(&mut self, _settings: &str) -> Result<(), sqlx::Error> {
        Ok(())
    }

    async fn test(&mut self) -> Result<(), sqlx::Error> {
        self.ping().await
    }

    /// A connection is its own server, so only the connection itself knows.
    async fn is_other_busy(&mut self, (): &()) -> Result<bool, sqlx::Error> {
        Ok(true)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the writer task ends with its queue, and `close` awaits it"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

struct SqliteWriter {
    options: SqliteConnectOptions,
    /// The connection; `None` after a failure that left its state uncertain.
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
                    WriterCommand::Commit(write, reply) => batch.push((write, reply)),
                    WriterCommand::Close(reply) => {
                        // Units of work that are already queued are still committed.
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
            tracing::warn!(error = %error, "cannot close the database connection");
        }
        drop(closing);
    }

    /// Commits a batch and then sends the results to the callers.
    async fn commit_batch(&mut self, batch: Vec<(UnitOfWork, oneshot::Sender<CommitResult>)>) {
        // The connection is taken out while it is in use. If the commit ends early, the next batch
        // opens a new one.
        let connection = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => SqliteConnection::connect_with(&self.options).await,
        };
        let (writes, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let results = match connection {
            Ok(mut connection) => match transact(&mut connection, &writes).await {
                Ok(results) => {
                    self.connection = Some(connection);
                    results
                }
                Err(error) => {
                    tracing::error!(error = %error, "a batch of units of work failed; the connection is replaced");
                    let _ = connection.close().await;
                    fail_all(&error, writes.len())
                }
            },
            Err(error) => fail_all(&classify_error(error), writes.len()),
        };
        for (reply, result) in replies.into_iter().zip(results) {
            // The caller may have stopped waiting; the commit stands nevertheless.
            let _ = reply.send(result);
        }
    }
}

fn fail_all(error: &DatabaseError, count: usize) -> Vec<CommitResult> {
    (0..count)
        .map(|_| Err(CommitError::Database(error.clone())))
        .collect()
}

/// Runs one transaction with a savepoint for each unit of work, so that a failed unit is rolled
/// back alone. An error means that the state of the connection is uncertain and no unit was
/// committed.
async fn transact(
    connection: &mut SqliteConnection,
    writes: &[UnitOfWork],
) -> Result<Vec<CommitResult>, DatabaseError> {
    execute_control(connection, "BEGIN IMMEDIATE").await?;
    let mut results = Vec::with_capacity(writes.len());
    for write in writes {
        execute_control(connection, "SAVEPOINT write").await?;
        let result = run_steps(connection, write).await;
        // If the error ended the whole transaction, the savepoint is gone. This statement then
        // fails, and so does the batch.
        let end = match &result {
            Ok(_) => "RELEASE write",
            Err(_) => "ROLLBACK TO write; RELEASE write",
        };
        execute_control(connection, end).await?;
        results.push(result);
    }
    let committed = sqlx::query("COMMIT").execute(connection).await;
    committed.map_err(DatabaseError::commit_unknown)?;
    Ok(results)
}

async fn execute_control(
    connection: &mut SqliteConnection,
    sql: &'static str,
) -> Result<(), DatabaseError> {
    let executed = sqlx::query(sql).execute(connection).await;
    executed.map(|_| ()).map_err(classify_error)
}

async fn run_steps(
    connection: &mut SqliteConnection,
    write: &UnitOfWork,
) -> Result<ExecutionResult, CommitError> {
    let mut outcome = ExecutionResult::default();
    for step in &write.statements {
        let sql = AssertSqlSafe(Dialect::Sqlite.render(&step.statement));
        let args = step.statement.sqlite_args().map_err(classify_error)?;
        let query = sqlx::query_with(sql, args);
        if step.returns_rows {
            let rows = query.fetch_all(&mut *connection).await;
            let rows = rows.map_err(classify_error)?;
            outcome.rows.extend(rows.into_iter().map(Row::Sqlite));
        } else {
            let done = query.execute(&mut *connection).await;
            let changed = done.map_err(classify_error)?.rows_affected();
            outcome
                .check_rows_affected(step, changed)
                .map_err(CommitError::Conflict)?;
        }
    }
    Ok(outcome)
}
