//! Direct access to a gateway's rows, for data that would take longer to create over HTTP than to
//! measure.

use anyhow::Result;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use tests::Server;

/// A separate connection to a gateway's database.
pub(crate) enum Rows {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Rows {
    pub(crate) async fn of(server: &Server) -> Result<Self> {
        let url = server.database_url();
        Ok(if url.starts_with("sqlite:") {
            Self::Sqlite(SqliteConnection::connect(url).await?)
        } else {
            Self::Postgres(PgConnection::connect(url).await?)
        })
    }

    pub(crate) async fn execute(&mut self, sql: String) -> Result<()> {
        match self {
            Self::Sqlite(rows) => rows.execute(AssertSqlSafe(sql)).await.map(|_| ())?,
            Self::Postgres(rows) => rows.execute(AssertSqlSafe(sql)).await.map(|_| ())?,
        }
        Ok(())
    }

    /// Runs the maintenance that a server runs by itself some time after tables have grown.
    pub(crate) async fn settle(&mut self, tables: &[&str]) -> Result<()> {
        if matches!(self, Self::Postgres(_)) {
            for table in tables {
                self.execute(format!("VACUUM ANALYZE {table}")).await?;
            }
        }
        Ok(())
    }

    /// Returns the only column of a query's result.
    pub(crate) async fn numbers(&mut self, sql: &str) -> Result<Vec<i64>> {
        let sql = AssertSqlSafe(sql);
        Ok(match self {
            Self::Sqlite(rows) => sqlx::query_scalar(sql).fetch_all(rows).await?,
            Self::Postgres(rows) => sqlx::query_scalar(sql).fetch_all(rows).await?,
        })
    }
}

/// Returns the beginning of a SELECT that can select `n` from `numbers`, from `from` to `to`
/// inclusive.
pub(crate) fn numbers(from: u32, to: u32) -> String {
    format!(
        "WITH RECURSIVE numbers (n) AS \
           (SELECT {from} UNION ALL SELECT n + 1 FROM numbers WHERE n < {to})"
    )
}

/// Returns an expression for the id of copy `n` of the id in a column. `n` has at most seven
/// digits.
pub(crate) fn copied(id: &str) -> String {
    format!("substr({id}, 1, length({id}) - 8) || CAST(10000000 + n AS TEXT)")
}
