//! Sessions at a PostgreSQL server.

use sqlx::{AssertSqlSafe, Error, PgConnection, Row};
use std::time::Duration;

/// Time for which batched units of work wait for a lock of another session. Only the unit that
/// needs the lock then waits longer, on its own.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// Planner settings for batched units of work.
pub(crate) const PLANNER_SETTINGS: [(&str, &str); 4] = [
    // These statements find rows by key, so one plan suits all values. There are many long SQL
    // texts, and without this setting each is planned six times on each connection.
    ("plan_cache_mode", "force_generic_plan"),
    // A generic plan is kept while a new table grows, so it must not be a plan for few rows.
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// Settings of every session. They are statements rather than startup parameters, because
/// connection poolers reject or ignore the latter.
const SETTINGS: [(&str, &str); 5] = [
    // Request queries are small: they finish before parallel workers or the JIT compiler have
    // started.
    ("max_parallel_workers_per_gather", "0"),
    ("jit", "off"),
    // The server ends the session of a process that vanished within a minute.
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
];

/// Whether the server accepts no writes.
const IS_READ_ONLY: &str =
    "(pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on')";

/// Returns the statements that configure a session which waits at most `response_timeout`.
pub(crate) fn session_settings(response_timeout: Duration) -> String {
    // Without these limits, a process that vanishes would keep rows locked.
    let limits = ["statement_timeout", "idle_in_transaction_session_timeout"];
    let timeout_ms = response_timeout.as_millis();
    let limits = limits.map(|name| format!("SET {name} = {timeout_ms};"));
    limits.concat() + &settings_sql(&SETTINGS)
}

/// Returns the statements that configure a session for batched units of work, in addition to
/// [`session_settings`].
pub(crate) fn batch_settings() -> String {
    let lock_ms = LOCK_TIMEOUT.as_millis();
    format!("SET lock_timeout = {lock_ms};") + &settings_sql(&PLANNER_SETTINGS)
}

fn settings_sql(settings: &[(&str, &str)]) -> String {
    let settings = settings.iter();
    settings
        .map(|(name, value)| format!("SET {name} = {value};"))
        .collect()
}

/// Identifies a session: the number of the server's process, which is used again, and its start.
#[derive(Debug)]
pub(crate) struct PgSessionId {
    process: i32,
    started_at: String,
}

/// Applies `settings` to a new connection and returns its session. Fails with [`ReadOnlyServer`] if the
/// server accepts no writes.
pub(crate) async fn start_session(
    connection: &mut PgConnection,
    settings: &str,
) -> Result<PgSessionId, Error> {
    let sql = format!(
        "{settings} SELECT {IS_READ_ONLY} AS is_read_only, pid, \
         CAST(EXTRACT(EPOCH FROM backend_start) AS text) AS started_at \
         FROM pg_stat_get_activity(pg_backend_pid())"
    );
    let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection);
    let rows = rows.await?;
    let row = rows.first().ok_or(Error::RowNotFound)?;
    if row.try_get::<bool, _>("is_read_only")? {
        return Err(ReadOnlyServer.into_error());
    }
    Ok(PgSessionId {
        process: row.try_get("pid")?,
        started_at: row.try_get("started_at")?,
    })
}

/// Tests that the server responds. Fails with [`ReadOnlyServer`] if it accepts no writes.
pub(crate) async fn test_session(connection: &mut PgConnection) -> Result<(), Error> {
    let sql = AssertSqlSafe(format!("SELECT {IS_READ_ONLY} AS is_read_only"));
    let row = sqlx::raw_sql(sql).fetch_one(connection).await?;
    match row.try_get::<bool, _>("is_read_only")? {
        true => Err(ReadOnlyServer.into_error()),
        false => Ok(()),
    }
}

/// Returns whether the server still works for another session.
pub(crate) async fn is_session_busy(
    connection: &mut PgConnection,
    other: &PgSessionId,
) -> Result<bool, Error> {
    let select = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_stat_get_activity($1) \
         WHERE CAST(EXTRACT(EPOCH FROM backend_start) AS text) = $2 \
           AND state IS DISTINCT FROM 'idle')",
    );
    let select = select.bind(other.process).bind(&other.started_at);
    select.fetch_one(connection).await
}

/// A server on which every write fails.
#[derive(Debug, thiserror::Error)]
#[error("the database server accepts no writes: it is a standby, or set to be read-only")]
pub(crate) struct ReadOnlyServer;

impl ReadOnlyServer {
    pub(crate) fn into_error(self) -> Error {
        Error::Configuration(self.into())
    }

    pub(crate) fn is_cause_of(error: &Error) -> bool {
        matches!(error, Error::Configuration(source) if source.is::<Self>())
    }
}
