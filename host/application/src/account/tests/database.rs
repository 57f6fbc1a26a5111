//! A separate database for each test.

use host_storage::{Store, StoreOptions};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// The environment variable with the URL of a PostgreSQL server on which databases may be created
/// and dropped.
const VARIABLE: &str = "STOPOVER_TEST_POSTGRES";

pub(super) struct TestDatabase {
    url: String,
    place: Place,
}

enum Place {
    Folder(TempDir),
    Server { url: String, database: String },
}

impl TestDatabase {
    pub(super) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            url: format!("sqlite:{}", folder.path().join("stopover.db").display()),
            place: Place::Folder(folder),
        }
    }

    pub(super) async fn postgres() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = server_url();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let database = format!("account_{}_{number}", std::process::id());
        execute(&server, format!("CREATE DATABASE {database}")).await;
        let (before, _) = server.rsplit_once('/').unwrap();
        Self {
            url: format!("{before}/{database}"),
            place: Place::Server {
                url: server,
                database,
            },
        }
    }

    pub(super) async fn open_store(&self) -> Store {
        let options = StoreOptions::default();
        let store = Store::open(&self.url, &options);
        let store = store.await.unwrap();
        store.migrate().await.unwrap();
        store
    }

    /// Removes the database. A database that a failed test leaves behind is removed with the
    /// server.
    pub(super) async fn remove(self) {
        match self.place {
            Place::Folder(folder) => folder.close().unwrap(),
            Place::Server { url, database } => {
                execute(&url, format!("DROP DATABASE {database} WITH (FORCE)")).await;
            }
        }
    }
}

async fn execute(url: &str, sql: String) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    connection.execute(AssertSqlSafe(sql)).await.unwrap();
    connection.close().await.unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration; the test runner passes the server's URL in the environment"
)]
fn server_url() -> String {
    match std::env::var(VARIABLE) {
        Ok(url) => url,
        Err(_) => panic!(
            "{VARIABLE} names no PostgreSQL server; `cargo xtask test -p host-application` starts one"
        ),
    }
}
