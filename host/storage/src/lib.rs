//! Where everything is kept: the only crate that knows SQL.
//!
//! Reads are methods of [`Store`], one file a noun; what is to be written is
//! gathered in a [`Write`] and stored by [`Store::commit`], all or nothing.
//! Knows no clock but the database's own, which leases are measured by, and no
//! randomness: ids, tokens and instants come in.

mod attempt;
mod batch;
mod content;
mod dialect;
mod error;
mod event;
mod exchange;
mod flight;
mod flight_count;
mod flight_list;
mod group;
mod hotel;
mod hotel_map;
mod idempotency;
mod job;
mod key;
mod mandate;
mod migration;
mod payment;
mod place;
mod pool;
mod postgres;
mod reference;
mod setting;
mod sqlite;
mod statement;
mod supplier_event;
#[cfg(test)]
mod tests;
mod wake;
mod watch;
mod watch_log;
mod webhook;
mod write;

pub use attempt::{Attempt, AttemptOutcome, NewAttempt};
pub use content::{ContentPart, StoredContent};
pub use error::{CommitError, DatabaseError, MigrateError, OpenError};
pub use event::{BookingHistoryEntry, OutboxEvent};
pub use flight_list::{FlightBookingFilter, FlightBookingSort};
pub use hotel::{HotelBookingFilter, Page, PageRequest};
pub use hotel_map::{HotelProfile, HotelMapping, HotelObservation};
pub use idempotency::{IdempotencyKey, IdempotencyRecord};
pub use job::{JobClaim, ClaimedJobs, Job, ParkedJobFilter};
pub use key::ApiKey;
pub use mandate::MandateKey;
pub use payment::StoredInstrument;
pub use place::{PlaceObservation, StoredPlace};
pub use reference::{AirportObservation, StoredAirline};
pub use supplier_event::{StoredSupplierEvent, SupplierEventState};
pub use wake::{WorkQueue, WakeupReceiver};
pub use watch::{PriceCheckClaim, PriceCheckRelease, ClaimedPriceCheck, ObservedPrice, StoredWatch, WatchFilter};
pub use watch_log::WatchLogEntry;
pub use webhook::{
    DeliveryRelease, DeliveryAttempt, DeliveryClaim, DeliveryFilter, DueSubscription,
    SealedSecrets, StoredDelivery,
};
pub use write::{Conflict, UnitOfWork};

use crate::statement::{Row, Statement};
use crate::wake::{WorkQueueSet, WakeupSender};
use crate::write::ExecutionResult;
use std::sync::Arc;
use std::time::Duration;

/// A SQLite file or a PostgreSQL database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    wakes: WakeupSender,
}

enum Backend {
    Sqlite(Box<sqlite::Sqlite>),
    Postgres(Arc<postgres::Postgres>),
}

/// Limits of a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Connections to PostgreSQL, half of them for writes; one more listens for other hosts.
    pub postgres_connections: u32,
    /// Connections that read from SQLite; one more writes.
    pub sqlite_readers: u32,
    /// Writes that wait for SQLite's writer; who comes later waits to wait.
    pub sqlite_queue_capacity: usize,
    /// Writes that SQLite commits together: more of them wait longer for the
    /// flush to disk that they share.
    pub sqlite_batch_max: usize,
    /// For a free connection, or for another process that holds SQLite's lock.
    pub acquire_timeout: Duration,
    /// For one answer of PostgreSQL.
    pub response_timeout: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            postgres_connections: 10,
            sqlite_readers: 4,
            sqlite_queue_capacity: 1024,
            sqlite_batch_max: 64,
            acquire_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(10),
        }
    }
}

impl Store {
    /// Opens `sqlite:PATH` (made when missing; its folder must exist) or
    /// `postgres://…`. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// An address that cannot be read, or a database that does not answer.
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let wakes = WakeupSender::new();
        let backend = if let Some(path) = url.strip_prefix("sqlite:") {
            Backend::Sqlite(Box::new(sqlite::Sqlite::open(path, options).await?))
        } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let opened = postgres::Postgres::open(url, options, wakes.clone()).await?;
            Backend::Postgres(Arc::new(opened))
        } else {
            return Err(OpenError::UnknownScheme);
        };
        Ok(Self {
            inner: Arc::new(Inner { backend, wakes }),
        })
    }

    /// Brings the schema up to date. Several hosts may do so at once.
    ///
    /// # Errors
    /// When a migration fails, or the schema is newer than this program.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.migrate().await,
            Backend::Postgres(postgres) => postgres.migrate().await,
        }
        .map_err(MigrateError)
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), DatabaseError> {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.ping().await,
            Backend::Postgres(postgres) => postgres.ping().await,
        }
    }

    /// Finishes what is queued and closes every connection.
    pub async fn close(&self) {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Stores all of a write, or nothing of it. When this returns, it survives
    /// a crash of the process and of the machine.
    ///
    /// # Errors
    /// The first expectation that was not met, or the database's own trouble.
    pub async fn commit(&self, write: UnitOfWork) -> Result<(), CommitError> {
        let Some((write, wakes)) = prepare(write)? else {
            return Ok(());
        };
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.commit(write).await.map(|_| ()),
            Backend::Postgres(postgres) => postgres.commit_batched(write).await,
        }?;
        self.inner.wakes.send(wakes);
        Ok(())
    }

    /// Word that something of a queue may have become due earlier than was known: here,
    /// or on another host of the same PostgreSQL. Polling remains necessary.
    #[must_use]
    pub fn subscribe_wakeups(&self, queue: WorkQueue) -> WakeupReceiver {
        self.inner.wakes.subscribe(queue)
    }

    /// A write whose last step's result is wanted.
    pub(crate) async fn execute(&self, write: UnitOfWork) -> Result<ExecutionResult, CommitError> {
        let Some((write, wakes)) = prepare(write)? else {
            return Ok(ExecutionResult::default());
        };
        let outcome = match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.commit(write).await,
            Backend::Postgres(postgres) => postgres.commit(&write).await,
        }?;
        self.inner.wakes.send(wakes);
        Ok(outcome)
    }

    pub(crate) async fn fetch_all(&self, statement: Statement) -> Result<Vec<Row>, DatabaseError> {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.rows(&statement).await,
            Backend::Postgres(postgres) => postgres.rows(&statement).await,
        }
    }

    pub(crate) async fn fetch_optional(&self, statement: Statement) -> Result<Option<Row>, DatabaseError> {
        Ok(self.fetch_all(statement).await?.into_iter().next())
    }
}

/// A write that can be stored, and what it wakes here; none: there is nothing in it.
fn prepare(write: UnitOfWork) -> Result<Option<(UnitOfWork, WorkQueueSet)>, CommitError> {
    if let Some(error) = write.encode_error {
        return Err(error.into());
    }
    let mut wakes = write.wakes;
    wakes.union(write.local_wakeups);
    Ok((!write.is_empty()).then_some((write, wakes)))
}
