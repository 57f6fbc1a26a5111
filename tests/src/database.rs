//! The databases that everything is tested on.

use sqlx::{Connection, Executor, PgConnection, SqliteConnection};
use std::path::Path;

/// Which database a server under test uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// A file of the server's own.
    Sqlite,
    /// A database of its own on the cluster that `cargo xtask test` starts.
    Postgres,
}

impl Database {
    /// Both, for tests that must hold on each.
    pub const BOTH: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// An empty database for one server; its URL. `cluster`: where, if not on the shared one.
    pub(crate) async fn create(self, data_dir: &Path, cluster: Option<&str>) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", data_dir.join("stopover.sqlite3").display()),
            Self::Postgres => {
                let maintenance = cluster.map_or_else(shared_postgres, str::to_owned);
                let name = format!("stopover_{}", uuid::Uuid::now_v7().simple());
                let mut admin = PgConnection::connect(&maintenance)
                    .await
                    .expect("PostgreSQL does not answer");
                admin
                    .execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
                    .await
                    .unwrap();
                admin.close().await.unwrap();
                let (base, _) = maintenance
                    .rsplit_once('/')
                    .expect("a database URL ends in a name");
                format!("{base}/{name}")
            }
        }
    }
}

/// The server that `cargo xtask test` starts for all tests.
pub(crate) fn shared_postgres() -> String {
    std::env::var("STOPOVER_TEST_POSTGRES")
        .expect("STOPOVER_TEST_POSTGRES is not set: run the tests with `cargo xtask test`, which starts PostgreSQL")
}

/// What a query finds in a server's database: texts.
pub(crate) async fn query_strings(url: &str, query: &str, argument: &str) -> Vec<String> {
    if url.starts_with("sqlite:") {
        let mut rows = SqliteConnection::connect(url).await.unwrap();
        let query = sqlx::query_scalar(sqlx::AssertSqlSafe(query));
        query.bind(argument).fetch_all(&mut rows).await.unwrap()
    } else {
        let mut rows = PgConnection::connect(url).await.unwrap();
        let query = sqlx::query_scalar(sqlx::AssertSqlSafe(query));
        query.bind(argument).fetch_all(&mut rows).await.unwrap()
    }
}

/// Every row of a PostgreSQL database, as text; bytes are shown as hexadecimal digits.
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
