//! PostgreSQL: two pools. A write is one statement, shared with its like, where it can
//! be, and else a transaction of its own; the server groups the flushes.

use crate::StoreOptions;
use crate::batch::{CombinedStatement, CombinedStatementCache, combinable_runs};
use crate::dialect::{Dialect, classify_error, is_serialization_failure, is_connection_error, is_syntax_error};
use crate::error::{CommitError, DatabaseError, OpenError};
use crate::exchange::PgNotifier;
use crate::group::{BatchQueues, STALL_THRESHOLD, QueuedWrite, BatchWriter};
use crate::migration;
use crate::pool::{PoolConfig, DeadConnectionCounter, Pool};
use crate::statement::{Row, Statement, postgres_args};
use crate::wake::{OutgoingWakeups, WakeupSender};
use crate::write::{ExecutionResult, ConditionalStatement, UnitOfWork};
use futures::future::join_all;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row as _};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How often a transaction is begun anew after the server undid it for
/// another's sake, or the connection was found dead before its commit.
const ATTEMPTS_MAX: u32 = 4;

/// A connection that was used this recently is not tested before it is used again.
const SKIP_PING_WITHIN: Duration = Duration::from_secs(1);

/// What a connection keeps at the server grows with the statements that it met.
const LIFETIME_MAX: Duration = Duration::from_secs(30 * 60);

/// How long writes that are carried out together wait for somebody else's lock: longer
/// waits only the one that meets it.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// How writes that are carried out together are planned.
pub(crate) const PLANNER_SETTINGS: [(&str, &str); 4] = [
    // They find their rows by keys, so that one plan is good for all values. The texts are
    // many and long: else each is planned six times on each connection.
    ("plan_cache_mode", "force_generic_plan"),
    // Such a plan is kept while a new table grows: it must not be one for few rows.
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// The pool, and what wakes the other hosts.
pub(crate) struct Postgres {
    pool: Pool<PgConnection>,
    /// For writes that are carried out together.
    writers: Pool<PgConnection>,
    statement_cache: CombinedStatementCache,
    batch_queues: Arc<BatchQueues>,
    /// How to connect without limits of time.
    migration_options: PgConnectOptions,
    answer_timeout: Duration,
    announce: Arc<OutgoingWakeups>,
    /// Ends the exchange with other hosts.
    closed: watch::Sender<bool>,
}

/// How a transaction failed.
enum TransactionError {
    /// For good.
    Permanent(CommitError),
    /// Nothing was written, and a new try may succeed.
    Retryable(sqlx::Error),
    /// The server did not answer in time, before the commit.
    TimedOut,
    /// The commit was sent and not answered.
    CommitUnknown(DatabaseError),
}

#[derive(Debug, thiserror::Error)]
#[error("no answer in {0:?}")]
struct ResponseTimeout(Duration);

impl Postgres {
    pub(crate) async fn open(
        url: &str,
        options: &StoreOptions,
        wakes: WakeupSender,
    ) -> Result<Self, OpenError> {
        let answer_ms = options.response_timeout.as_millis().to_string();
        let unlimited = PgConnectOptions::from_str(url)
            .map_err(OpenError::Address)?
            .application_name("stopover")
            .statement_cache_capacity(200);
        let connect = unlimited
            .clone()
            // A host that vanishes must not keep rows locked.
            .options([
                ("statement_timeout", answer_ms.as_str()),
                ("idle_in_transaction_session_timeout", answer_ms.as_str()),
                // What a request asks is small: it is done before helpers have started.
                ("max_parallel_workers_per_gather", "0"),
                ("jit", "off"),
            ]);
        let lock_ms = LOCK_TIMEOUT.as_millis().to_string();
        let writing = connect.clone().options(PLANNER_SETTINGS);
        let writing = writing.options([("lock_timeout", lock_ms)]);
        let writers = options.postgres_connections / 2;
        let keeping = PoolConfig {
            connections_max: options.postgres_connections - writers,
            acquire_timeout: options.acquire_timeout,
            skip_ping_within: SKIP_PING_WITHIN,
            lifetime_max: LIFETIME_MAX,
        };
        let losses = DeadConnectionCounter::default();
        let pool = Pool::<PgConnection>::new(connect.clone(), keeping, losses.clone());
        let pool = pool.map_err(OpenError::Connect)?;
        pool.acquire().await.map_err(OpenError::Connect)?.release_clean();
        let keeping = PoolConfig {
            connections_max: writers.max(1),
            ..keeping
        };
        let writers = Pool::new(writing, keeping, losses).map_err(OpenError::Connect)?;
        let announce = Arc::<OutgoingWakeups>::default();
        let (closed, until) = watch::channel(false);
        let exchange = PgNotifier {
            connect,
            answer_timeout: options.response_timeout,
            announce: Arc::clone(&announce),
            wakes,
        };
        spawn(exchange.run(until));
        Ok(Self {
            pool,
            writers,
            statement_cache: CombinedStatementCache::default(),
            batch_queues: Arc::default(),
            migration_options: unlimited,
            answer_timeout: options.response_timeout,
            announce,
            closed,
        })
    }

    pub(crate) async fn migrate(&self) -> Result<(), sqlx::migrate::MigrateError> {
        // Without the limits of a request: it may wait for another host that
        // migrates, and touch every row.
        let mut connection = PgConnection::connect_with(&self.migration_options).await?;
        migration::POSTGRES.run(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }

    pub(crate) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, DatabaseError> {
        let mut tries = 1;
        loop {
            let mut held = self.pool.acquire().await.map_err(classify_error)?;
            let connection = held.connection().map_err(classify_error)?;
            match timeout(self.answer_timeout, fetch(connection, statement)).await {
                Ok(Ok(rows)) => {
                    held.release_clean();
                    return Ok(rows);
                }
                Ok(Err(error)) if tries < ATTEMPTS_MAX && is_connection_error(&error) => {
                    self.pool.discard(held);
                    tries += 1;
                }
                Ok(Err(error)) => return Err(classify_error(error)),
                Err(_) => {
                    self.pool.discard(held);
                    return Err(DatabaseError::unavailable(ResponseTimeout(self.answer_timeout)));
                }
            }
        }
    }

    /// With others that have the same steps, where there are any.
    pub(crate) async fn commit_batched(
        self: &Arc<Self>,
        write: UnitOfWork,
    ) -> Result<(), CommitError> {
        let Some(joint) = self.batchable_statement(&write) else {
            return self.commit(&write).await.map(|_| ());
        };
        let mut answer = self.batch_queues.enqueue(write, &joint);
        loop {
            if let Some(turn) = self.batch_queues.try_start_writer(&joint) {
                // Whoever waits may go away; what others wait for goes on.
                spawn(Arc::clone(self).run_batch_writer(turn));
            }
            if let Ok(answer) = timeout(STALL_THRESHOLD, &mut answer).await {
                let gone = |error| Err(DatabaseError::commit_unknown(error).into());
                return answer.unwrap_or_else(gone);
            }
        }
    }

    /// The statement that a write shares with others; none: it is more than one, or not
    /// one that others may join.
    fn batchable_statement(&self, write: &UnitOfWork) -> Option<Arc<CombinedStatement>> {
        let steps = &*write.steps;
        let is_one = combinable_runs(steps)
            .next()
            .is_some_and(|first| first.len() == steps.len() && first.len() > 1);
        if !is_one {
            return None;
        }
        let joint = self.statement_cache.get_or_build(steps)?;
        joint.can_batch(steps).then_some(joint)
    }

    async fn run_batch_writer(self: Arc<Self>, turn: BatchWriter) {
        while let Some((together, text)) = turn.next_batch() {
            self.commit_batch(together, text).await;
        }
    }

    async fn commit_batch(&self, together: Vec<QueuedWrite>, text: Arc<str>) {
        let steps = together.iter().flat_map(|queued| &queued.write.steps);
        let one = OneStatement {
            text,
            steps: steps.collect(),
        };
        match self.until_stored(&Plan::Together(&one)).await {
            Ok(_) => {
                for queued in together {
                    self.announce.add(queued.write.wakes);
                    queued.answer(Ok(()));
                }
            }
            // One of them fails, and only by itself does it tell how.
            Err(Unstored::Refused(_)) => {
                let is_alone = together.len() == 1;
                let alone = together.into_iter().map(async |queued| {
                    let stored = match is_alone {
                        true => self.commit_one_by_one(&queued.write).await,
                        false => self.commit(&queued.write).await,
                    };
                    queued.answer(stored.map(|_| ()));
                });
                join_all(alone).await;
            }
            Err(Unstored::Lost(error)) => {
                for queued in together {
                    queued.answer(Err(error.clone().into()));
                }
            }
        }
    }

    pub(crate) async fn commit(&self, write: &UnitOfWork) -> Result<ExecutionResult, CommitError> {
        let plan: Vec<&[ConditionalStatement]> = combinable_runs(&write.steps).collect();
        match self.until_stored(&Plan::Sequential(&plan)).await {
            Err(Unstored::Refused(_)) if plan.len() < write.steps.len() => {
                self.commit_one_by_one(write).await
            }
            stored => self.finish_commit(write, stored),
        }
    }

    /// Only so do steps tell which of them fails, and how.
    async fn commit_one_by_one(&self, write: &UnitOfWork) -> Result<ExecutionResult, CommitError> {
        let plan: Vec<&[ConditionalStatement]> = write.steps.chunks(1).collect();
        let stored = self.until_stored(&Plan::Sequential(&plan)).await;
        self.finish_commit(write, stored)
    }

    fn finish_commit(
        &self,
        write: &UnitOfWork,
        stored: Result<ExecutionResult, Unstored>,
    ) -> Result<ExecutionResult, CommitError> {
        let outcome = stored.map_err(|unstored| match unstored {
            Unstored::Refused(error) => error,
            Unstored::Lost(error) => error.into(),
        })?;
        self.announce.add(write.wakes);
        Ok(outcome)
    }

    /// Begins anew where nothing was written.
    async fn until_stored(&self, plan: &Plan<'_>) -> Result<ExecutionResult, Unstored> {
        let pool = match plan {
            Plan::Sequential(_) => &self.pool,
            Plan::Together(_) => &self.writers,
        };
        let mut tries = 1;
        loop {
            let lost = |error| Unstored::Lost(classify_error(error));
            let mut held = pool.acquire().await.map_err(lost)?;
            let connection = held.connection().map_err(lost)?;
            match self.execute_plan(connection, plan).await {
                Ok(outcome) => {
                    held.release_clean();
                    return Ok(outcome);
                }
                Err(TransactionError::Permanent(error)) => return Err(Unstored::Refused(error)),
                Err(TransactionError::Retryable(error)) => {
                    if is_connection_error(&error) {
                        pool.discard(held);
                    }
                    if tries == ATTEMPTS_MAX {
                        return Err(Unstored::Lost(DatabaseError::unavailable(error)));
                    }
                    tries += 1;
                }
                Err(TransactionError::TimedOut) => {
                    pool.discard(held);
                    let error = DatabaseError::unavailable(ResponseTimeout(self.answer_timeout));
                    return Err(Unstored::Lost(error));
                }
                Err(TransactionError::CommitUnknown(error)) => {
                    pool.discard(held);
                    return Err(Unstored::Lost(error));
                }
            }
        }
    }

    async fn execute_plan(
        &self,
        connection: &mut PgConnection,
        plan: &Plan<'_>,
    ) -> Result<ExecutionResult, TransactionError> {
        let plan = match plan {
            Plan::Sequential(plan) => *plan,
            Plan::Together(one) => return self.alone(one.run(connection)).await,
        };
        // One that gives rows is a claim, which lapses when its answer is lost, or makes
        // sure of something, which may be done twice: it needs no transaction around it.
        if let [[step]] = plan
            && step.returns_rows
        {
            let mut outcome = ExecutionResult::default();
            let run = run_step(connection, step, &mut outcome);
            let run = timeout(self.answer_timeout, run).await;
            return run.map_err(|_| TransactionError::TimedOut)?.map(|()| outcome);
        }
        // One statement is a transaction by itself: a third of the ways to the server.
        if let [batch] = plan {
            let run = async {
                let mut outcome = ExecutionResult::default();
                let run = self.run_batch(connection, batch, &mut outcome).await;
                run.map(|()| outcome)
            };
            return self.alone(run).await;
        }
        let begun = timeout(self.answer_timeout, connection.begin()).await;
        let mut transaction = begun.map_err(|_| TransactionError::TimedOut)?.map_err(classify_transaction_error)?;
        let steps = timeout(self.answer_timeout, self.run_steps(&mut transaction, plan)).await;
        let outcome = match steps {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(failure)) => {
                // Where this fails too, the server undoes it with the connection.
                let _ = timeout(self.answer_timeout, transaction.rollback()).await;
                return Err(failure);
            }
            Err(_) => return Err(TransactionError::TimedOut),
        };
        match timeout(self.answer_timeout, transaction.commit()).await {
            Ok(Ok(())) => Ok(outcome),
            Ok(Err(error)) if is_connection_error(&error) => {
                Err(TransactionError::CommitUnknown(DatabaseError::commit_unknown(error)))
            }
            Ok(Err(error)) => Err(classify_transaction_error(error)),
            Err(_) => Err(self.unknown()),
        }
    }

    /// What a commit is of which nothing was heard.
    fn unknown(&self) -> TransactionError {
        let silence = ResponseTimeout(self.answer_timeout);
        TransactionError::CommitUnknown(DatabaseError::commit_unknown(silence))
    }

    /// A statement without a transaction around it.
    async fn alone(
        &self,
        run: impl Future<Output = Result<ExecutionResult, TransactionError>>,
    ) -> Result<ExecutionResult, TransactionError> {
        match timeout(self.answer_timeout, run).await {
            // Where the server says that it ends the connection, it undid the statement.
            Ok(Err(TransactionError::Retryable(error)))
                if is_connection_error(&error) && error.as_database_error().is_none() =>
            {
                Err(TransactionError::CommitUnknown(DatabaseError::commit_unknown(error)))
            }
            Ok(done) => done,
            Err(_) => Err(self.unknown()),
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
        let joint = match batch {
            [_] => None,
            several => self.statement_cache.get_or_build(several),
        };
        let text = joint.as_ref().and_then(|joint| joint.largest_batch(1));
        if let Some((_, text)) = text {
            let one = OneStatement {
                text: Arc::clone(text),
                steps: batch.iter().collect(),
            };
            outcome.rows_affected = one.run(connection).await?.rows_affected;
            return Ok(());
        }
        for step in batch {
            run_step(connection, step, outcome).await?;
        }
        Ok(())
    }

    pub(crate) async fn ping(&self) -> Result<(), DatabaseError> {
        self.rows(&crate::statement::statement!("SELECT 1"))
            .await
            .map(|_| ())
    }

    pub(crate) async fn close(&self) {
        self.closed.send_replace(true);
        // Connections that a server does not answer any more are not waited for.
        let both = async { tokio::join!(self.pool.close(), self.writers.close()) };
        if timeout(self.answer_timeout, both).await.is_err() {
            tracing::warn!("the database did not answer while its connections were closed");
        }
    }
}

/// How a write is carried out.
enum Plan<'a> {
    /// One run of steps after the other.
    Sequential(&'a [&'a [ConditionalStatement]]),
    Together(&'a OneStatement<'a>),
}

/// Steps that are one statement.
struct OneStatement<'a> {
    text: Arc<str>,
    steps: Vec<&'a ConditionalStatement>,
}

impl OneStatement<'_> {
    async fn run(&self, connection: &mut PgConnection) -> Result<ExecutionResult, TransactionError> {
        let args = self.steps.iter().flat_map(|step| &step.statement.args);
        let args = postgres_args(args).map_err(classify_transaction_error)?;
        let query = sqlx::query_with(AssertSqlSafe(Arc::clone(&self.text)), args);
        // To the last word: before it nothing is committed.
        let rows = query.fetch_all(connection).await.map_err(|error| {
            if is_syntax_error(&error) {
                // The steps are carried out one by one: nobody would notice otherwise.
                tracing::error!(%error, sql = %self.text, "a statement was put together wrongly");
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

/// Why something is not stored.
enum Unstored {
    /// For a reason of its own: nothing of it is.
    Refused(CommitError),
    /// For the database's.
    Lost(DatabaseError),
}

fn classify_transaction_error(error: sqlx::Error) -> TransactionError {
    if is_connection_error(&error) || is_serialization_failure(&error) {
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
    let query = sqlx::query_with(sql, statement.postgres_args()?);
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
        outcome.rows.extend(rows.map_err(classify_transaction_error)?);
        return Ok(());
    }
    let sql = AssertSqlSafe(Dialect::Postgres.render(&step.statement));
    let args = step.statement.postgres_args().map_err(classify_transaction_error)?;
    let query = sqlx::query_with(sql, args);
    let done = query.execute(connection).await.map_err(classify_transaction_error)?;
    outcome
        .check_rows_affected(step, done.rows_affected())
        .map_err(|conflict| TransactionError::Permanent(CommitError::Conflict(conflict)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the listener ends with its store; who carries out writes is awaited by those who wait for them"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}
