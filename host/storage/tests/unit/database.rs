//! A separate database for each test.

use super::*;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// The environment variable with the URL of a PostgreSQL server on which databases may be created
/// and dropped.
const VARIABLE: &str = "STOPOVER_TEST_POSTGRES";

pub(super) struct TestDatabase {
    pub(super) store: Store,
    pub(super) url: String,
    place: Place,
}

enum Place {
    Folder(TempDir),
    Server(String),
}

impl TestDatabase {
    pub(super) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("stopover.db").display());
        Self::open(url, Place::Folder(folder))
            .await
            .migrated()
            .await
    }

    pub(super) async fn postgres() -> Self {
        Self::empty_postgres().await.migrated().await
    }

    /// Creates a database without a schema.
    pub(super) async fn empty_postgres() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = server_url();
        let name = format!(
            "storage_{}_{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let mut connection = PgConnection::connect(&server).await.unwrap();
        let create = format!("CREATE DATABASE {name}");
        connection.execute(AssertSqlSafe(create)).await.unwrap();
        connection.close().await.unwrap();
        let (before, _) = server.rsplit_once('/').unwrap();
        let url = format!("{before}/{name}");
        Self::open(url, Place::Server(server)).await
    }

    /// Returns the path of a SQLite database.
    pub(super) fn sqlite_file(&self) -> &str {
        self.url.strip_prefix("sqlite:").unwrap()
    }

    async fn open(url: String, place: Place) -> Self {
        let store = Store::open(&url, &StoreOptions::default()).await.unwrap();
        Self { store, url, place }
    }

    async fn migrated(self) -> Self {
        self.store.migrate().await.unwrap();
        self
    }

    /// Opens a second store, which to the database looks like another process.
    pub(super) async fn second_store(&self) -> Store {
        Store::open(&self.url, &StoreOptions::default())
            .await
            .unwrap()
    }

    /// Removes the database. A database that a failed test leaves behind is removed with the
    /// server.
    pub(super) async fn remove(self) {
        self.store.close().await;
        match self.place {
            Place::Folder(folder) => folder.close().unwrap(),
            Place::Server(server) => {
                let (_, name) = self.url.rsplit_once('/').unwrap();
                let mut connection = PgConnection::connect(&server).await.unwrap();
                let drop = format!("DROP DATABASE {name} WITH (FORCE)");
                connection.execute(AssertSqlSafe(drop)).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration; the test runner passes the server's URL in the environment"
)]
fn server_url() -> String {
    match std::env::var(VARIABLE) {
        Ok(url) => url,
        Err(_) => panic!(
            "{VARIABLE} names no PostgreSQL server; `cargo xtask test -p host-storage` starts one"
        ),
    }
}
