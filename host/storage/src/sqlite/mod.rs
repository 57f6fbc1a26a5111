//! SQLite backend. One thread writes ([`writer`]). Reads use connections of their own and never wait
//! for it ([`reader`]).

mod connection;
mod file;
mod migration;
mod reader;
pub(crate) mod row;
mod writer;

use crate::StoreOptions;
use crate::error::{CommitError, DatabaseError, MigrateError, OpenError};
use crate::migration::SQLITE;
use crate::statement::{Row, Statement, statement};
use crate::unit_of_work::{ExecutionResult, UnitOfWork};
use file::SqliteFile;
use host_domain::time::Timestamp;
use migration::has_earlier_schema;
use reader::Readers;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::spawn_blocking;
use writer::{WriterOptions, WriterQueue};

/// Upserts the only row of `write_probe`, which holds no data.
const WRITE_PROBE: &str = "INSERT INTO write_probe (slot, written_at) VALUES (0, {now_ms}) \
     ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at";

pub(crate) struct Sqlite {
    file: Arc<SqliteFile>,
    readers: Readers,
    writer: WriterQueue,
}

impl Sqlite {
    pub(crate) async fn open(path: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path == ":memory:" {
            return Err(OpenError::InMemory);
        }
        let (path, busy_timeout) = (PathBuf::from(path), options.acquire_timeout);
        let opened = spawn_blocking(move || {
            if has_earlier_schema(&path).map_err(OpenError::connect)? {
                return Err(OpenError::EarlierSchema);
            }
            SqliteFile::open(&path, busy_timeout).map_err(OpenError::connect)
        });
        let (file, connection) = opened.await.map_err(OpenError::connect)??;
        let file = Arc::new(file);
        let readers = Readers::new(
            Arc::clone(&file),
            usize::try_from(options.sqlite_readers.max(1)).unwrap_or(1),
            options.acquire_timeout,
            options.response_timeout,
        );
        let writer = WriterOptions {
            queue_capacity: options.sqlite_queue_capacity,
            batch_max: options.sqlite_batch_max,
            time_max: options.response_timeout,
        };
        let writer = WriterQueue::start(Arc::clone(&file), connection, &writer);
        Ok(Self {
            file,
            readers,
            writer: writer.map_err(OpenError::connect)?,
        })
    }

    pub(crate) async fn migrate(&self) -> Result<(), MigrateError> {
        let file = Arc::clone(&self.file);
        let migrated = spawn_blocking(move || {
            let mut connection = file.connect_writer()?;
            migration::migrate(connection.inner(), &SQLITE)
        });
        let migrated = migrated.await.map_err(MigrateError::new)?;
        migrated.map_err(MigrateError::new)
    }

    pub(crate) async fn rows(&self, statement: Statement) -> Result<Vec<Row>, DatabaseError> {
        self.readers.fetch_rows(statement).await
    }

    /// Queues a unit of work and waits for its result. Once queued, the unit is executed even if the
    /// caller stops waiting.
    pub(crate) async fn commit(&self, write: UnitOfWork) -> Result<ExecutionResult, CommitError> {
        self.writer.commit(write).await
    }

    /// Upserts the only row of `write_probe` through the writer, as any unit of work is committed.
    pub(crate) async fn probe_write(&self) -> Result<(), DatabaseError> {
        let mut probe = UnitOfWork::new(Timestamp(0));
        probe.add(statement!(WRITE_PROBE));
        let committed = self.commit(probe).await;
        committed.map(|_| ()).map_err(CommitError::into_database)
    }

    pub(crate) async fn close(&self) {
        self.writer.close().await;
        self.readers.close();
    }
}
