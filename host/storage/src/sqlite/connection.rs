//! A connection to SQLite: executes statements within a limit.

use super::row::SqliteRow;
use crate::dialect::Dialect;
use crate::statement::{Row, Statement, Value};
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, ErrorCode, Result};
use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Number of instructions of SQLite's virtual machine between two checks of the limit. They take
/// about 50 µs.
const CHECK_INTERVAL: c_int = 1000;

/// Target of the log lines of statements.
const LOG_TARGET: &str = "host_storage::sqlite";

/// The limit of what a statement may use. SQLite interrupts a statement that exceeds it.
#[derive(Debug, Clone)]
pub(super) enum ExecutionLimit {
    /// Thousands of instructions.
    KiloInstructions(u32),
    /// Time, unless the caller stops waiting before.
    Deadline {
        at: Instant,
        is_abandoned: Arc<AtomicBool>,
    },
    Unlimited,
}

impl ExecutionLimit {
    /// Counts `CHECK_INTERVAL` more instructions and returns whether the limit is exceeded.
    fn is_exceeded(&mut self) -> bool {
        match self {
            Self::KiloInstructions(left) => match left.checked_sub(1) {
                Some(less) => {
                    *left = less;
                    false
                }
                None => true,
            },
            Self::Deadline { at, is_abandoned } => {
                is_abandoned.load(Ordering::Relaxed) || Instant::now() >= *at
            }
            Self::Unlimited => false,
        }
    }
}

pub(super) struct SqliteConnection {
    connection: Connection,
    /// The limit of the current statement.
    limit: Arc<Mutex<ExecutionLimit>>,
}

impl SqliteConnection {
    /// Wraps a connection, which caches up to `statements_max` prepared statements.
    pub(super) fn new(connection: Connection, statements_max: usize) -> Result<Self> {
        connection.set_prepared_statement_cache_capacity(statements_max);
        let limit = Arc::new(Mutex::new(ExecutionLimit::Unlimited));
        let checked = Arc::clone(&limit);
        let is_exceeded = move || {
            let mut limit = checked.lock().unwrap_or_else(PoisonError::into_inner);
            limit.is_exceeded()
        };
        connection.progress_handler(CHECK_INTERVAL, Some(is_exceeded))?;
        // Otherwise SQLite prepares a statement again whenever it is executed with other arguments, to
        // see whether they permit another plan. That takes a tenth of a booking's processor time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self { connection, limit })
    }

    /// Sets the limit of the following statements.
    pub(super) fn set_limit(&self, limit: ExecutionLimit) {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    /// Executes a statement and returns its rows.
    pub(super) fn fetch_rows(&self, statement: &Statement) -> Result<Vec<Row>> {
        let mut prepared = self.prepare(statement)?;
        let columns = prepared.column_names().into_iter().map(Box::from).collect();
        let mut found = prepared.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            rows.push(Row::Sqlite(SqliteRow::read(row, &columns)?));
        }
        Ok(rows)
    }

    /// Executes a statement and returns the number of rows that it changed. Rows that it returns are
    /// dropped.
    pub(super) fn execute(&self, statement: &Statement) -> Result<u64> {
        let mut prepared = self.prepare(statement)?;
        let mut found = prepared.raw_query();
        while found.next()?.is_some() {}
        Ok(self.connection.changes())
    }

    /// Executes a statement that controls the transaction.
    pub(super) fn control(&self, sql: &'static str) -> Result<()> {
        self.connection.prepare_cached(sql)?.raw_execute()?;
        Ok(())
    }

    /// Returns whether a transaction is open.
    pub(super) fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    pub(super) fn close(self) -> Result<()> {
        self.connection.close().map_err(|(_, error)| error)
    }

    /// Returns the connection itself, for migrations.
    pub(super) const fn inner(&mut self) -> &mut Connection {
        &mut self.connection
    }

    fn prepare(&self, statement: &Statement) -> Result<CachedStatement<'_>> {
        let sql = Dialect::Sqlite.render(statement);
        tracing::debug!(target: LOG_TARGET, %sql, "statement");
        let mut prepared = self.connection.prepare_cached(&sql)?;
        for index in 1..=prepared.parameter_count() {
            // SQLite numbers parameters in the order in which their names first appear.
            let name = prepared.parameter_name(index);
            let number = name.and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
            let number = number.unwrap_or(index);
            match statement.args.get(number.saturating_sub(1)) {
                Some(Value::Text(text)) => prepared.raw_bind_parameter(index, text)?,
                Some(Value::Int(number)) => prepared.raw_bind_parameter(index, number)?,
                Some(Value::Blob(bytes)) => prepared.raw_bind_parameter(index, bytes)?,
                None => return Err(rusqlite::Error::InvalidParameterCount(number, index)),
            }
        }
        Ok(prepared)
    }
}

/// Returns whether a statement was interrupted by its limit.
pub(super) fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}
