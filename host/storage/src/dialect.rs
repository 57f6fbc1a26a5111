//! The SQL fragments in which the two databases differ, and the classification of their errors.

use crate::error::DatabaseError;
use crate::postgres_session::ReadOnlyServer;
use crate::statement::Statement;
use rusqlite::ErrorCode;
use sqlx::postgres::PgDatabaseError;
use std::borrow::Cow;
use std::sync::Arc;

/// The database for which SQL is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Fills in the placeholders of a statement:
    ///
    /// - `{now_ms}`: the database's clock in milliseconds since 1970. It measures leases, because
    ///   the clocks of several processes differ.
    /// - `{skip_locked}`: skips rows that another transaction has locked. SQLite has a single
    ///   writer, so there are none.
    /// - `{row_id}`: the physical row id, for a table that has no other key.
    /// - `{in $n}`: tests for membership in the JSON array of texts in argument `n`. On PostgreSQL
    ///   it is an array, because a join would be planned for 100 rows.
    /// - `{each $n}`: the rows of the JSON array of objects in argument `n`, read as `item.value
    ///   ->> 'member'`.
    /// - `{texts $n}`: the rows of the JSON array of texts in argument `n`, read as `item.value`.
    /// - `{json column}`: a column of JSON text, read as `{json column} ->> 'member'`.
    pub(crate) fn render(self, statement: &Statement) -> Cow<'static, str> {
        let sql = &statement.sql;
        if !sql.contains('{') {
            return sql.clone();
        }
        let (now_ms, skip_locked, row_id) = match self {
            Self::Sqlite => ("CAST(unixepoch('subsec') * 1000 AS INTEGER)", "", "rowid"),
            Self::Postgres => (
                "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
                "FOR UPDATE SKIP LOCKED",
                "ctid",
            ),
        };
        let text = sql
            .replace("{now_ms}", now_ms)
            .replace("{skip_locked}", skip_locked)
            .replace("{row_id}", row_id);
        let text = substitute(&text, "{in ", |list| match self {
            Self::Sqlite => format!("IN (SELECT value FROM json_each({list}))"),
            Self::Postgres => {
                format!("= ANY(ARRAY(SELECT json_array_elements_text(CAST({list} AS json))))")
            }
        });
        let text = substitute(&text, "{texts ", |list| match self {
            Self::Sqlite => format!("json_each({list}) AS item"),
            Self::Postgres => {
                format!("json_array_elements_text(CAST({list} AS json)) AS item(value)")
            }
        });
        let text = substitute(&text, "{json ", |column| match self {
            Self::Sqlite => column.to_owned(),
            Self::Postgres => format!("CAST({column} AS json)"),
        });
        Cow::Owned(substitute(&text, "{each ", |list| match self {
            // `json_each` writes the object again for each expression that reads it, unless its
            // rows are stored first.
            Self::Sqlite => format!(
                "(WITH list AS MATERIALIZED (SELECT value FROM json_each({list})) \
                 SELECT value FROM list) AS item"
            ),
            Self::Postgres => format!("json_array_elements(CAST({list} AS json)) AS item(value)"),
        }))
    }
}

/// Replaces each `{name argument}`; `opening` is `{name `.
fn substitute(text: &str, opening: &str, with: impl Fn(&str) -> String) -> String {
    let mut pieces = text.split(opening);
    let mut rendered = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (argument, rest) = piece.split_once('}').unwrap_or((piece, ""));
        rendered.push_str(&with(argument));
        rendered.push_str(rest);
    }
    rendered
}

/// Classifies the error of a statement of SQLite, provided that nothing was committed.
pub(crate) fn classify_sqlite_error(error: rusqlite::Error) -> DatabaseError {
    // Space or time ran out, another process holds the lock, or the file cannot be used.
    let is_unavailable = matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OutOfMemory
                | ErrorCode::ReadOnly
                | ErrorCode::OperationInterrupted
                | ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
        )
    );
    if is_unavailable {
        DatabaseError::unavailable(error)
    } else {
        DatabaseError::InvalidStatement(Arc::new(error))
    }
}

/// Classifies the error of a statement of PostgreSQL, provided that nothing was committed.
pub(crate) fn classify_error(error: sqlx::Error) -> DatabaseError {
    if matches!(error, sqlx::Error::PoolClosed) {
        DatabaseError::Closed
    } else if matches!(error, sqlx::Error::Encode(_)) {
        DatabaseError::Encode(Arc::new(error))
    } else if is_connection_error(&error)
        || is_serialization_failure(&error)
        || is_resource_exhausted(&error)
    {
        DatabaseError::unavailable(error)
    } else {
        DatabaseError::InvalidStatement(Arc::new(error))
    }
}

/// Returns whether the connection was lost or could not be opened.
pub(crate) fn is_connection_error(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::BeginFailed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            code.starts_with("08") || is_end_of_session(&code) || code == COMPLETION_UNKNOWN
        }),
        error => ReadOnlyServer::is_cause_of(error),
    }
}

/// The code with which distributed servers report that a commit may have happened.
const COMPLETION_UNKNOWN: &str = "40003";

/// Returns whether PostgreSQL ends a session with this code, or refuses to begin one: it stops,
/// starts, or the session was idle for too long. The transaction in progress is rolled back.
fn is_end_of_session(code: &str) -> bool {
    code.starts_with("57P0") || matches!(code, "25P03" | "25P04")
}

/// Returns whether a commit may have happened, given the error that came instead of its response.
/// Only the server knows that it rolled back. A proxy that lost the server reports a connection
/// exception, or a code of the server without the place in the server's source.
pub(crate) fn is_commit_unknown(error: &sqlx::Error) -> bool {
    if !is_connection_error(error) {
        return false;
    }
    let reported = error.as_database_error();
    let reported = reported.and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
    reported.is_none_or(|error| error.routine().is_none() || !is_end_of_session(error.code()))
}

/// Returns whether PostgreSQL rejected a write because the server has become a standby or was set
/// to be read-only. Every write on the same connection fails.
pub(crate) fn is_read_only_error(error: &sqlx::Error) -> bool {
    code_is(error, |code| code == "25006")
}

/// Returns whether a connection is of no further use after an error.
pub(crate) fn is_connection_useless(error: &sqlx::Error) -> bool {
    is_connection_error(error) || is_read_only_error(error)
}

/// Returns whether PostgreSQL rolled a transaction back because of another one. A repetition may
/// succeed.
pub(crate) fn is_serialization_failure(error: &sqlx::Error) -> bool {
    code_is(error, |code| matches!(code, "40001" | "40P01"))
}

/// Returns whether PostgreSQL rejected the SQL text as invalid.
pub(crate) fn is_syntax_error(error: &sqlx::Error) -> bool {
    code_is(error, |code| code.starts_with("42"))
}

/// Returns whether PostgreSQL has no space or connection left, or waited too long: insufficient
/// resources, lock and statement timeouts, read-only server.
fn is_resource_exhausted(error: &sqlx::Error) -> bool {
    code_is(error, |code| {
        code.starts_with("53") || matches!(code, "55P03" | "57014" | "25006")
    })
}

fn code_is(error: &sqlx::Error, test: impl FnOnce(&str) -> bool) -> bool {
    let database = error.as_database_error();
    database
        .and_then(|e| e.code())
        .is_some_and(|code| test(&code))
}
