//! Direct access to a gateway's rows, for data that would take longer to create over HTTP than to
//! measure.

use anyhow::Result;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tests::{Server, open_sqlite};

/// A separate connection to a gateway's database.
pub(crate) enum Rows {
    Sqlite(rusqlite::Connection),
    Postgres(PgConnection),
}

/// The definitions of indexes that are built after a table is filled.
pub(crate) struct DroppedIndexes(Vec<String>);

impl Rows {
    pub(crate) async fn of(server: &Server) -> Result<Self> {
        let url = server.database_url();
        Ok(match open_sqlite(url) {
            Some(rows) => Self::Sqlite(rows),
            None => Self::Postgres(PgConnection::connect(url).await?),
        })
    }

    pub(crate) async fn execute(&mut self, sql: String) -> Result<()> {
        match self {
            Self::Sqlite(rows) => rows.execute_batch(&sql)?,
            Self::Postgres(rows) => rows.execute(AssertSqlSafe(sql)).await.map(|_| ())?,
        }
        Ok(())
    }

    /// Runs the maintenance that a server runs by itself some time after tables have grown.
    pub(crate) async fn vacuum(&mut self, tables: &[&str]) -> Result<()> {
        if matches!(self, Self::Postgres(_)) {
            for table in tables {
                self.execute(format!("VACUUM ANALYZE {table}")).await?;
            }
        }
        Ok(())
    }

    /// Prepares for writes that nobody else reads: without a journal, without waits for the disk, and
    /// without indexes, which are built faster afterwards. Returns the dropped indexes for
    /// [`Self::rebuild_indexes`].
    pub(crate) async fn drop_indexes(&mut self) -> Result<DroppedIndexes> {
        let (settings, select): (&[&str], _) = match self {
            Self::Sqlite(_) => (
                &[
                    "PRAGMA journal_mode = OFF",
                    "PRAGMA synchronous = OFF",
                    "PRAGMA cache_size = -1000000",
                ],
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
            ),
            Self::Postgres(_) => (
                &[
                    "SET synchronous_commit = off",
                    "SET work_mem = '256MB'",
                    "SET maintenance_work_mem = '1GB'",
                ],
                "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' \
                 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = indexname)",
            ),
        };
        for setting in settings {
            self.execute((*setting).to_owned()).await?;
        }
        let indexes: Vec<(String, String)> = match self {
            Self::Sqlite(rows) => {
                let mut select = rows.prepare(select)?;
                let found = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                found.collect::<Result<_, _>>()?
            }
            Self::Postgres(rows) => {
                sqlx::query_as(AssertSqlSafe(select))
                    .fetch_all(rows)
                    .await?
            }
        };
        for (name, _) in &indexes {
            self.execute(format!("DROP INDEX {name}")).await?;
        }
        let definitions = indexes.into_iter().map(|(_, definition)| definition);
        Ok(DroppedIndexes(definitions.collect()))
    }

    /// Builds the indexes again and runs the maintenance that a server runs by itself.
    pub(crate) async fn rebuild_indexes(&mut self, dropped: DroppedIndexes) -> Result<()> {
        for definition in dropped.0 {
            self.execute(definition).await?;
        }
        let last = match self {
            Self::Sqlite(_) => "PRAGMA journal_mode = WAL",
            Self::Postgres(_) => "VACUUM ANALYZE",
        };
        self.execute(last.to_owned()).await
    }

    /// Replaces the expressions that the databases write differently: `{hex x}` is a number as
    /// twelve hexadecimal digits, `{blob x}` are the bytes of hexadecimal digits.
    pub(crate) fn with_expressions(&self, statement: &str) -> String {
        let expressions = match self {
            Self::Sqlite(_) => [
                ("{hex ", "printf('%012x', ", ")"),
                ("{blob ", "CAST(", " AS BLOB)"),
            ],
            Self::Postgres(_) => [
                ("{hex ", "lpad(to_hex(", "), 12, '0')"),
                ("{blob ", "decode(", ", 'hex')"),
            ],
        };
        let mut text = statement.to_owned();
        for (opening, before, after) in expressions {
            while let Some((start, rest)) = text.split_once(opening) {
                let (argument, end) = rest.split_once('}').unwrap_or((rest, ""));
                text = format!("{start}{before}{argument}{after}{end}");
            }
        }
        text
    }

    /// Returns the only value of a query's result.
    pub(crate) async fn text(&mut self, sql: &str) -> Result<String> {
        Ok(match self {
            Self::Sqlite(rows) => rows.query_row(sql, [], |row| row.get(0))?,
            Self::Postgres(rows) => {
                let select = sqlx::query_scalar(AssertSqlSafe(sql));
                select.fetch_one(rows).await?
            }
        })
    }

    /// Returns the only column of a query's result.
    pub(crate) async fn numbers(&mut self, sql: &str) -> Result<Vec<i64>> {
        Ok(match self {
            Self::Sqlite(rows) => {
                let mut select = rows.prepare(sql)?;
                let found = select.query_map([], |row| row.get(0))?;
                found.collect::<Result<_, _>>()?
            }
            Self::Postgres(rows) => {
                let select = sqlx::query_scalar(AssertSqlSafe(sql));
                select.fetch_all(rows).await?
            }
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
