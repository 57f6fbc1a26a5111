//! PostgreSQL backend with two pools. A unit of work is one statement if possible, batched with
//! units that have the same statements. Otherwise it is a transaction of its own; the server groups
//! the flushes to disk.

use crate::StoreOptions;
use crate::batch_queue::{BatchQueues, BatchWriter, QueuedWrite, STALL_THRESHOLD};
use crate::combined_statement::{CombinedStatement, CombinedStatementCache, combinable_runs};
use crate::dialect::{
    Dialect, classify_error, is_commit_unknown, is_connection_useless, is_serialization_failure,
    is_syntax_error,
};
use crate::error::{CommitError, DatabaseError, OpenError};
use crate::migration;
use crate::pg_notify::PgNotifier;
use crate::pool::{Access, Pool, PoolConfig, ServerHealth};
use crate::postgres_session::{batch_settings, session_settings};
use crate::statement::{Row, Statement, postgres_args, statement};
use crate::unit_of_work::{ConditionalStatement, ExecutionResult, UnitOfWork};
use crate::wakeup::{OutgoingWakeups, WakeupSender};
use futures::future::join_all;
use host_domain::time::Timestamp;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row as _};
use std::error::Error;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Maximum attempts of a transaction that the server rolled back because of another one, or whose
/// connection was found dead before the commit.
const ATTEMPTS_MAX: u32 = 4;

/// Time since its last use within which a connection is used again without a test.
const SKIP_PING_WITHIN: Duration = Duration::from_secs(1);

/// Lifetime of a connection. It is limited because the state that the server keeps for a connection
/// grows with the statements executed on it.
const LIFETIME_MAX: Duration = Duration::from_secs(30 * 60);

/// Connections that writes leave to reads, unless there is only one.
const READ_ONLY_CONNECTIONS: u32 = 1;

/// Upserts a row of `write_probe`, which holds no data. The server processes of PostgreSQL share 64
/// rows, so gateway processes that probe at the same time rarely wait for each other.
const WRITE_PROBE: &str = "INSERT INTO write_probe (slot, written_at) \
     VALUES (pg_backend_pid() % 64, {now_ms}) \
     ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at";

/// The pools, the batch queues and the wake-ups for other processes.
pub(crate) struct Postgres {
    pool: Pool,
    /// The connections for batched units of work.
    writers: Pool,
    statement_cache: CombinedStatementCache,
    batch_queues: Arc<BatchQueues>,
    /// Connection options. They set no time limits, which migrations must not have.
    connect: PgConnectOptions,
    response_timeout: Duration,
    outgoing_wakeups: Arc<OutgoingWakeups>,
    /// Stops the [`PgNotifier`].
    closed: watch::Sender<bool>,
}

enum TransactionError {
    Permanent(CommitError),
    /// Nothing was written, and another attempt may succeed.
    Retryable(sqlx::Error),
    /// The server did not respond in time, before the commit.
    TimedOut,
    /// The commit was sent but not confirmed.
    CommitUnknown(DatabaseError),
}

#[derive(Debug, thiserror::Error)]
#[error("no response from the database within {0:?}")]
struct ResponseTimeout(Duration);

impl Postgres {
    pub(crate) async fn open(
        url: &str,
        options: &StoreOptions,
        wakeups: WakeupSender,
    ) -> Result<Self, OpenError> {
        let connect = PgConnectOptions::from_str(url)
            .map_err(OpenError::Address)?
            .application_name("stopover")
            // A connection pooler between the gateway and the server may reject this parameter,
            // which matters only to numbers in text form.
            .extra_float_digits(None)
            .statement_cache_capacity(200);
        let writers = options.postgres_connections / 2;
        let shared = PoolConfig {
            name: "shared",
            connections_max: options.postgres_connections - writers,
            read_only_connections: READ_ONLY_CONNECTIONS,
            acquire_timeout: options.acquire_timeout,
            skip_ping_within: SKIP_PING_WITHIN,
            lifetime_max: LIFETIME_MAX,
            settings: session_settings(options.response_timeout),
        };
        let batches = PoolConfig {
            name: "batches",
            connections_max: writers.max(1),
            read_only_connections: 0,
            settings: shared.settings.clone() + &batch_settings(),
            ..shared.clone()
        };
        let health = ServerHealth::default();
        let pool = Pool::new(connect.clone(), shared, health.clone())?;
        let mut pooled = pool.acquire(Access::Read).await?;
        if has_earlier_schema(pooled.connection()?).await? {
            return Err(OpenError::EarlierSchema);
        }
        pooled.release_clean();
        let writers = Pool::new(connect.clone(), batches, health)?;
        let outgoing_wakeups = Arc::<OutgoingWakeups>::default();
        let (closed, until) = watch::channel(false);
        let notifier = PgNotifier {
            connect: connect.clone(),
            response_timeout: options.response_timeout,
            outgoing: Arc::clone(&outgoing_wakeups),
            wakeups,
        };
        spawn(notifier.run(until));
        Ok(Self {
            pool,
            writers,
            statement_cache: CombinedStatementCache::default(),
            batch_queues: Arc::default(),
            connect,
            response_timeout: options.response_timeout,
            outgoing_wakeups,
            closed,
        })
    }

    pub(crate) async fn migrate(&self) -> Result<(), sqlx::migrate::MigrateError> {
        // A migration has no time limits: it may wait for another process that migrates, and it may
        // touch every row.
        let mut connection = PgConnection::connect_with(&self.connect).await?;
        migration::POSTGRES.run(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }

    pub(crate) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, DatabaseError> {
        let mut attempt = 1;
        loop {
            let pooled = self.pool.acquire(Access::Read).await;
            let mut pooled = pooled.map_err(classify_error)?;
            let connection = pooled.connection().map_err(classify_error)?;
            match timeout(self.response_timeout, fetch(connection, statement)).await {
                Ok(Ok(rows)) => {
                    pooled.release_clean();
                    return Ok(rows);
                }
                Ok(Err(error)) if is_connection_useless(&error) => {
                    self.pool.discard(pooled);
                    if attempt == ATTEMPTS_MAX {
                        return Err(classify_error(error));
                    }
                    attempt += 1;
                }
                Ok(Err(error)) => return Err(classify_error(error)),
                Err(_) => {
                    self.pool.abandon(pooled);
                    return Err(DatabaseError::unavailable(ResponseTimeout(
                        self.response_timeout,
                    )));
                }
            }
        }
    }

    /// Commits a unit of work, batched with queued units that have the same statements.
    pub(crate) async fn commit_batched(
        self: &Arc<Self>,
        write: UnitOfWork,
    ) -> Result<ExecutionResult, CommitError> {
        let Some(combined) = self.batchable_statement(&write) else {
            return self.commit(&write).await;
        };
        let mut receiver = self.batch_queues.enqueue(write, &combined);
        loop {
            if let Some(writer) = self.batch_queues.try_start_writer(&combined) {
                // A separate task runs the writer: the caller may be cancelled, but the other units
                // must still be committed.
                spawn(Arc::clone(self).run_batch_writer(writer));
            }
            if let Ok(result) = timeout(STALL_THRESHOLD, &mut receiver).await {
                result.map_err(DatabaseError::commit_unknown)??;
                return Ok(ExecutionResult::default());
            }
        }
    }

    /// Returns the combined statement that the unit of work can share with others. Returns `None`
    /// if it needs more than one statement, or one that cannot be batched.
    fn batchable_statement(&self, write: &UnitOfWork) -> Option<Arc<CombinedStatement>> {
        let statements = &*write.statements;
        let is_one = combinable_runs(statements)
            .next()
            .is_some_and(|first| first.len() == statements.len() && first.len() > 1);
        if !is_one {
            return None;
        }
        let combined = self.statement_cache.get_or_build(statements)?;
        combined.can_batch(statements).then_some(combined)
    }

    async fn run_batch_writer(self: Arc<Self>, writer: BatchWriter) {
        while let Some((together, text)) = writer.next_batch() {
            self.commit_batch(together, text).await;
        }
    }

    async fn commit_batch(&self, together: Vec<QueuedWrite>, text: Arc<str>) {
        let statements = together.iter().flat_map(|queued| &queued.write.statements);
        let one = BoundStatement {
            text,
            statements: statements.collect(),
        };
        let plan = ExecutionPlan::Batched(&one);
        match self.commit_with_retry(&self.writers, &plan).await {
            Ok(_) => {
                for queued in together {
                    self.outgoing_wakeups.add(queued.write.wakeups);
                    queued.reply(Ok(()));
                }
            }
            // One unit of work fails; only a separate execution shows which one and why.
            Err(CommitFailure::Rejected(_)) => {
                let is_alone = together.len() == 1;
                let alone = together.into_iter().map(async |queued| {
                    let stored = match is_alone {
                        true => self.commit_sequentially(&queued.write).await,
                        false => self.commit(&queued.write).await,
                    };
                    queued.reply(stored.map(|_| ()));
                });
                join_all(alone).await;
            }
            Err(CommitFailure::Database(error)) => {
                for queued in together {
                    queued.reply(Err(error.clone().into()));
                }
            }
        }
    }

    pub(crate) async fn commit(&self, write: &UnitOfWork) -> Result<ExecutionResult, CommitError> {
        let plan: Vec<&[ConditionalStatement]> = combinable_runs(&write.statements).collect();
        match self
            .commit_with_retry(&self.pool, &ExecutionPlan::Sequential(&plan))
            .await
        {
            Err(CommitFailure::Rejected(_)) if plan.len() < write.statements.len() => {
                self.commit_sequentially(write).await
            }
            stored => self.finish_commit(write, stored),
        }
    }

    /// Executes the statements one by one, which is the only way to learn which one fails and why.
    async fn commit_sequentially(
        &self,
        write: &UnitOfWork,
    ) -> Result<ExecutionResult, CommitError> {
        let plan: Vec<&[ConditionalStatement]> = write.statements.chunks(1).collect();
        let stored = self
            .commit_with_retry(&self.pool, &ExecutionPlan::Sequential(&plan))
            .await;
        self.finish_commit(write, stored)
    }

    fn finish_commit(
        &self,
        write: &UnitOfWork,
        stored: Result<ExecutionResult, CommitFailure>,
    ) -> Result<ExecutionResult, CommitError> {
        let outcome = stored.map_err(|failure| match failure {
            CommitFailure::Rejected(error) => error,
            CommitFailure::Database(error) => error.into(),
        })?;
        self.outgoing_wakeups.add(write.wakeups);
        Ok(outcome)
    }

    /// Executes the plan, and repeats it as long as nothing was written and the error is transient.
    async fn commit_with_retry(
        &self,
        pool: &Pool,
        plan: &ExecutionPlan<'_>,
    ) -> Result<ExecutionResult, CommitFailure> {
        let mut attempt = 1;
        loop {
            let lost = |error| CommitFailure::Database(classify_error(error));
            let mut pooled = pool.acquire(Access::Write).await.map_err(lost)?;
            let connection = pooled.connection().map_err(lost)?;
            match self.execute_plan(connection, plan).await {
                Ok(outcome) => {
                    pooled.release_clean();
                    return Ok(outcome);
                }
                Err(TransactionError::Permanent(error)) => {
                    return Err(CommitFailure::Rejected(error));
                }
                Err(TransactionError::Retryable(error)) => {
                    if is_connection_useless(&error) {
                        pool.discard(pooled);
                    }
                    if attempt == ATTEMPTS_MAX {
                        return Err(CommitFailure::Database(DatabaseError::unavailable(error)));
                    }
                    attempt += 1;
                }
                Err(TransactionError::TimedOut) => {
                    pool.abandon(pooled);
                    let error = DatabaseError::unavailable(ResponseTimeout(self.response_timeout));
                    return Err(CommitFailure::Database(error));
                }
                Err(TransactionError::CommitUnknown(error)) => {
                    pool.abandon(pooled);
                    return Err(CommitFailure::Database(error));
                }
            }
        }
    }

    async fn execute_plan(
        &self,
        connection: &mut PgConnection,
        plan: &ExecutionPlan<'_>,
    ) -> Result<ExecutionResult, TransactionError> {
        let plan = match plan {
            ExecutionPlan::Sequential(plan) => *plan,
            ExecutionPlan::Batched(one) => return self.run_autocommit(one.run(connection)).await,
        };
        // A single statement that returns rows needs no transaction. It is a claim, which expires
        // if the response is lost, or an idempotent operation.
        if let [[step]] = plan
            && step.returns_rows
        {
            let mut outcome = ExecutionResult::default();
            let run = run_step(connection, step, &mut outcome);
            let run = timeout(self.response_timeout, run).await;
            return run
                .map_err(|_| TransactionError::TimedOut)?
                .map(|()| outcome);
        }
        // A single statement is a transaction by itself and takes a third of the round trips.
        if let [batch] = plan {
            let run = async {
                let mut outcome = ExecutionResult::default();
                let run = self.run_batch(connection, batch, &mut outcome).await;
                run.map(|()| outcome)
            };
            return self.run_autocommit(run).await;
        }
        let begun = timeout(self.response_timeout, connection.begin()).await;
        let mut transaction = begun
            .map_err(|_| TransactionError::TimedOut)?
            .map_err(classify_transaction_error)?;
        let steps = timeout(
            self.response_timeout,
            self.run_steps(&mut transaction, plan),
        )
        .await;
        let outcome = match steps {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(failure)) => {
                // If the rollback fails too, the server rolls back when the connection closes.
                let _ = timeout(self.response_timeout, transaction.rollback()).await;
                return Err(failure);
            }
            Err(_) => return Err(TransactionError::TimedOut),
        };
        match timeout(self.response_timeout, transaction.commit()).await {
            Ok(Ok(())) => Ok(outcome),
            Ok(Err(error)) if is_commit_unknown(&error) => Err(unknown(error)),
            Ok(Err(error)) => Err(classify_transaction_error(error)),
            Err(_) => Err(unknown(ResponseTimeout(self.response_timeout))),
        }
    }

    /// Runs a statement without an explicit transaction.
    async fn run_autocommit(
        &self,
        run: impl Future<Output = Result<ExecutionResult, TransactionError>>,
    ) -> Result<ExecutionResult, TransactionError> {
        match timeout(self.response_timeout, run).await {
            Ok(Err(TransactionError::Retryable(error))) if is_commit_unknown(&error) => {
                Err(unknown(error))
            }
            Ok(done) => done,
            Err(_) => Err(unknown(ResponseTimeout(self.response_timeout))),
        }
    }

    async fn run_steps(
        &self,
        connection: &mut PgConnection,
        plan: &[&[ConditionalStatement]],
    ) -> Result<ExecutionResult, TransactionError> {
        let mut outcome = ExecutionResult::default();
        for batch in plan {
            self.run_batch(connection, batch, &mut outcome).await?;
        }
        Ok(outcome)
    }

    async fn run_batch(
        &self,
        connection: &mut PgConnection,
        batch: &[ConditionalStatement],
        outcome: &mut ExecutionResult,
    ) -> Result<(), TransactionError> {
        let combined = match batch {
            [_] => None,
            several => self.statement_cache.get_or_build(several),
        };
        let text = combined
            .as_ref()
            .and_then(|combined| combined.largest_batch(1));
        if let Some((_, text)) = text {
            let one = BoundStatement {
                text: Arc::clone(text),
                statements: batch.iter().collect(),
            };
            outcome.rows_affected = one.run(connection).await?.rows_affected;
            return Ok(());
        }
        for step in batch {
            run_step(connection, step, outcome).await?;
        }
        Ok(())
    }

    /// Upserts a row of `write_probe` on a connection for batched units of work.
    pub(crate) async fn probe_write(&self) -> Result<(), DatabaseError> {
        let mut write = UnitOfWork::new(Timestamp(0));
        write.add(statement!(WRITE_PROBE));
        let plan = [&*write.statements];
        let plan = ExecutionPlan::Sequential(&plan);
        match self.commit_with_retry(&self.writers, &plan).await {
            Ok(_) => Ok(()),
            Err(CommitFailure::Rejected(error)) => Err(error.into_database()),
            Err(CommitFailure::Database(error)) => Err(error),
        }
    }

    pub(crate) async fn close(&self) {
        self.closed.send_replace(true);
        // A server that no longer responds must not delay the shutdown.
        let both = async { tokio::join!(self.pool.close(), self.writers.close()) };
        if timeout(self.response_timeout, both).await.is_err() {
            tracing::warn!(
                "the database did not respond while its connections were being closed; the process stops all the same"
            );
        }
    }
}

/// Returns whether an earlier development version created the schema.
async fn has_earlier_schema(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let table = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL");
    if !table.fetch_one(&mut *connection).await? {
        return Ok(false);
    }
    let select = sqlx::query(migration::SELECT_EARLIER_SCHEMA);
    Ok(select.fetch_optional(connection).await?.is_some())
}

enum ExecutionPlan<'a> {
    /// Runs of statements, one after the other.
    Sequential(&'a [&'a [ConditionalStatement]]),
    Batched(&'a BoundStatement<'a>),
}

/// Several statements combined into one, with their arguments.
struct BoundStatement<'a> {
    text: Arc<str>,
    statements: Vec<&'a ConditionalStatement>,
}

impl BoundStatement<'_> {
    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<ExecutionResult, TransactionError> {
        let args = self.statements.iter().flat_map(|step| &step.statement.args);
        let args = postgres_args(args).map_err(classify_transaction_error)?;
        let query = sqlx::query_with(AssertSqlSafe(Arc::clone(&self.text)), args);
        // The commit is confirmed only by the end of the response, so all of it must be read.
        let rows = query.fetch_all(connection).await.map_err(|error| {
            if is_syntax_error(&error) {
                // The statements are executed one by one instead, so only this log entry reveals
                // the defect.
                tracing::error!(%error, sql = %self.text, "the database rejected a combined statement as invalid; its statements are executed one by one");
            }
            classify_transaction_error(error)
        })?;
        let row = rows.first().ok_or(sqlx::Error::RowNotFound);
        let changed = row.and_then(|row| row.try_get::<i64, _>("changed"));
        Ok(ExecutionResult {
            rows: Vec::new(),
            rows_affected: changed.map_err(classify_transaction_error)?.unsigned_abs(),
        })
    }
}

enum CommitFailure {
    /// The unit of work itself was rejected; nothing of it was stored.
    Rejected(CommitError),
    Database(DatabaseError),
}

/// Builds the error of a commit that was sent but not confirmed.
fn unknown(error: impl Error + Send + Sync + 'static) -> TransactionError {
    TransactionError::CommitUnknown(DatabaseError::commit_unknown(error))
}

fn classify_transaction_error(error: sqlx::Error) -> TransactionError {
    if is_connection_useless(&error) || is_serialization_failure(&error) {
        TransactionError::Retryable(error)
    } else {
        TransactionError::Permanent(classify_error(error).into())
    }
}

async fn fetch(
    connection: &mut PgConnection,
    statement: &Statement,
) -> Result<Vec<Row>, sqlx::Error> {
    let sql = AssertSqlSafe(Dialect::Postgres.render(statement));
    let query = sqlx::query_with(sql, postgres_args(&statement.args)?);
    let rows = query.fetch_all(connection).await?;
    Ok(rows.into_iter().map(Row::Postgres).collect())
}

async fn run_step(
    connection: &mut PgConnection,
    step: &ConditionalStatement,
    outcome: &mut ExecutionResult,
) -> Result<(), TransactionError> {
    if step.returns_rows {
        let rows = fetch(connection, &step.statement).await;
        outcome
            .rows
            .extend(rows.map_err(classify_transaction_error)?);
        return Ok(());
    }
    let sql = AssertSqlSafe(Dialect::Postgres.render(&step.statement));
    let args = postgres_args(&step.statement.args).map_err(classify_transaction_error)?;
    let done = sqlx::query_with(sql, args).execute(connection).await;
    let done = done.map_err(classify_transaction_error)?;
    outcome
        .check_rows_affected(step, done.rows_affected())
        .map_err(|conflict| TransactionError::Permanent(CommitError::Conflict(conflict)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the notifier ends with its store; callers await the results of the batch writers"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}
