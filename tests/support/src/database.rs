//! A separate database for each test: a SQLite file in a folder of its own, or a database on the
//! PostgreSQL server that `cargo xtask test` starts. The crates under test migrate it themselves.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tempfile::TempDir;

/// The environment variable with the URL of a PostgreSQL server on which databases may be created
/// and dropped.
const VARIABLE: &str = "STOPOVER_TEST_POSTGRES";

/// An empty database.
pub struct TestDatabase {
    url: String,
    place: Place,
}

enum Place {
    Folder(TempDir),
    /// The URL of the server.
    Server(String),
}

impl TestDatabase {
    /// Creates a folder for a SQLite file.
    ///
    /// # Panics
    /// Panics if the folder cannot be created.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            url: format!("sqlite:{}", folder.path().join("stopover.db").display()),
            place: Place::Folder(folder),
        }
    }

    /// Creates a database on the server that `cargo xtask test` starts.
    ///
    /// # Panics
    /// Panics if there is no server, or if it does not create the database.
    pub async fn postgres() -> Self {
        let server = postgres_server();
        Self {
            url: create_postgres(&server).await,
            place: Place::Server(server),
        }
    }

    /// Returns the URL under which the gateway opens the database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Removes the database. All connections must be closed, or are closed by it. A database that a
    /// failed test leaves behind is removed with the server.
    ///
    /// # Panics
    /// Panics if the database cannot be removed.
    pub async fn remove(self) {
        match self.place {
            Place::Folder(folder) => folder.close().unwrap(),
            Place::Server(server) => {
                let (_, name) = self.url.rsplit_once('/').unwrap();
                execute(&server, format!("DROP DATABASE {name} WITH (FORCE)")).await;
            }
        }
    }
}

/// Creates a database on a PostgreSQL server and returns its URL.
///
/// # Panics
/// Panics if the server does not create it.
pub async fn create_postgres(server: &str) -> String {
    let name = format!("stopover_{}", uuid::Uuid::now_v7().simple());
    execute(server, format!("CREATE DATABASE {name}")).await;
    let (before, _) = server.rsplit_once('/').unwrap();
    format!("{before}/{name}")
}

/// Returns the URL of the PostgreSQL server that `cargo xtask test` starts for all tests.
///
/// # Panics
/// Panics if the tests were started in another way and without a server.
pub fn postgres_server() -> String {
    match std::env::var(VARIABLE) {
        Ok(url) => url,
        Err(_) => panic!(
            "{VARIABLE} is not set: run the tests with `cargo xtask test`, which starts PostgreSQL"
        ),
    }
}

async fn execute(server: &str, sql: String) {
    let mut connection = PgConnection::connect(server).await.unwrap();
    connection.execute(AssertSqlSafe(sql)).await.unwrap();
    connection.close().await.unwrap();
}
