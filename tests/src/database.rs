//! The databases on which the tests run.

use sqlx::{Connection, Executor, PgConnection};
use std::path::Path;

/// Database of a server under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// A file of the server.
    Sqlite,
    /// A database on the cluster that `cargo xtask test` starts.
    Postgres,
}

impl Database {
    /// Both databases, for tests that must hold on each.
    pub const BOTH: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// Creates an empty database for one server and returns its URL. `cluster` is the URL of a
    /// cluster other than the shared one.
    pub(crate) async fn create(self, data_dir: &Path, cluster: Option<&str>) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", data_dir.join("stopover.sqlite3").display()),
            Self::Postgres => {
                let server = cluster.map_or_else(test_support::postgres_server, str::to_owned);
                test_support::create_postgres(&server).await
            }
        }
    }
}

/// Runs a query with one argument on a server's database and returns its first column as strings.
pub(crate) async fn query_strings(url: &str, query: &str, argument: &str) -> Vec<String> {
    if let Some(sqlite) = open_sqlite(url) {
        let mut query = sqlite.prepare(query).unwrap();
        let rows = query.query_map([argument], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    } else {
        let mut rows = PgConnection::connect(url).await.unwrap();
        let query = sqlx::query_scalar(sqlx::AssertSqlSafe(query));
        query.bind(argument).fetch_all(&mut rows).await.unwrap()
    }
}

/// Executes statements on a server's database. Returns the message of the database if it refuses
/// one.
pub(crate) async fn execute(url: &str, sql: &str) -> Result<(), String> {
    if let Some(sqlite) = open_sqlite(url) {
        let done = sqlite.execute_batch(sql);
        done.map_err(|error| error.to_string())
    } else {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let done = connection.execute(sqlx::AssertSqlSafe(sql.to_owned()));
        done.await.map(drop).map_err(|error| error.to_string())
    }
}

/// Opens the database of a URL if it is a file. Waits for locks as the gateway does.
pub fn open_sqlite(url: &str) -> Option<rusqlite::Connection> {
    let file = url.strip_prefix("sqlite:")?;
    let connection = rusqlite::Connection::open(file).unwrap();
    connection
        .execute_batch("PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000")
        .unwrap();
    Some(connection)
}

/// Returns every row of a table as text.
pub(crate) async fn dump_table(url: &str, table: &str) -> Vec<String> {
    let row = if url.starts_with("sqlite:") {
        let columns = "SELECT group_concat('quote(' || name || ')', ' || '' '' || ') \
                       FROM pragma_table_info($1)";
        query_strings(url, columns, table).await.concat()
    } else {
        "t::text".to_owned()
    };
    let all = format!("SELECT {row} FROM {table} AS t WHERE $1 = ''");
    query_strings(url, &all, "").await
}

/// Returns every row of a PostgreSQL database as text. Bytes appear as hexadecimal digits.
pub(crate) async fn dump_rows(url: &str) -> Vec<String> {
    let tables =
        "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = $1";
    let mut rows = Vec::new();
    for table in query_strings(url, tables, "public").await {
        let all = format!("SELECT t::text FROM {table} t WHERE $1 = ''");
        rows.extend(query_strings(url, &all, "").await);
    }
    rows
}
