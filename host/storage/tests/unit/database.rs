//! A store with a separate database for each test.

use super::*;
use test_support::TestDatabase;

pub(super) struct TestStore {
    pub(super) store: Store,
    database: TestDatabase,
}

impl TestStore {
    pub(super) async fn sqlite() -> Self {
        Self::open(TestDatabase::sqlite()).await.migrated().await
    }

    pub(super) async fn postgres() -> Self {
        Self::empty_postgres().await.migrated().await
    }

    /// Creates a database without a schema.
    pub(super) async fn empty_postgres() -> Self {
        Self::open(TestDatabase::postgres().await).await
    }

    pub(super) fn url(&self) -> &str {
        self.database.url()
    }

    /// Returns the path of a SQLite database.
    pub(super) fn sqlite_file(&self) -> &str {
        self.url().strip_prefix("sqlite:").unwrap()
    }

    async fn open(database: TestDatabase) -> Self {
        Self {
            store: open_store(database.url()).await,
            database,
        }
    }

    async fn migrated(self) -> Self {
        self.store.migrate().await.unwrap();
        self
    }

    /// Opens a second store, which to the database looks like another process.
    pub(super) async fn second_store(&self) -> Store {
        open_store(self.url()).await
    }

    pub(super) async fn remove(self) {
        self.store.close().await;
        self.database.remove().await;
    }
}

async fn open_store(url: &str) -> Store {
    let options = StoreOptions::default();
    Store::open(url, &options).await.unwrap()
}
