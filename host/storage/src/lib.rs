//! Persistence layer: the only crate that contains SQL.
//!
//! Reads are methods of [`Store`], one file per entity. Changes are collected in a [`UnitOfWork`]
//! and stored atomically by [`Store::commit`]. The crate reads no wall clock except the database's
//! own, which measures leases, and generates no random values: callers supply ids, tokens and
//! timestamps. Time limits use the monotonic clock.

mod abandoned;
mod account;
mod account_session;
mod api_key;
mod attempt;
mod audit;
mod batch_queue;
mod booking;
mod bounded_search;
mod bulk_replay;
mod call_log;
mod combined_statement;
mod condition;
mod conflict;
mod console;
mod content;
mod dialect;
mod error;
mod event;
mod flight;
mod flight_count;
mod flight_list;
mod hotel;
mod hotel_mapping;
mod idempotency;
mod instrument;
mod job;
mod log_retention;
mod mandate;
mod member;
mod migration;
mod pg_notify;
mod place;
mod pool;
mod postgres;
mod postgres_session;
mod reference_data;
mod request_log;
mod second_factor;
mod setting;
mod settlement;
mod sign_in;
mod sqlite;
mod statement;
mod statistics;
mod supplier_event;
mod supplier_override;
#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod tests;
mod unit_of_work;
mod wakeup;
mod watch;
mod watch_event_log;
mod webhook;

pub use abandoned::ABANDONED_CONNECTIONS;
pub use account::{PasswordHash, StoredAccount, StoredAccountLink};
pub use account_session::StoredSession;
pub use api_key::ApiKey;
pub use attempt::{Attempt, NewAttempt};
pub use audit::{AuditChainEnd, PendingAuditEntry, StoredAuditEntry};
pub use booking::{BookingTable, ReadBooking, SearchColumns};
pub use call_log::CallOfAttempt;
pub use conflict::Conflict;
pub use console::{
    ListedJob, OverviewLimits, OverviewSnapshot, PriceObservation, ScheduledWatch, WatchDetails,
};
pub use content::{ContentPart, StoredContent};
pub use error::{CommitError, DatabaseError, MigrateError, OpenError};
pub use event::{BookingHistoryEntry, OutboxEvent};
pub use hotel_mapping::{HotelMapping, HotelObservation, HotelProfile};
pub use idempotency::{IdempotencyKey, IdempotencyRecord};
pub use instrument::StoredInstrument;
pub use job::{ClaimedJobs, Job, JobClaim, ParkedJobFilter};
pub use log_retention::{LogPeriod, LogTable};
pub use mandate::MandateKey;
pub use member::Member;
pub use place::{PlaceObservation, StoredPlace};
pub use reference_data::{AirportObservation, StoredAirline};
pub use second_factor::{SignInMethods, StoredTotp};
pub use settlement::{RecentSettlement, SettlementDecision, UnresolvedAttempt};
pub use sign_in::SignInGuard;
pub use supplier_event::{StoredSupplierEvent, SupplierEventState};
pub use unit_of_work::UnitOfWork;
pub use wakeup::{WakeupReceiver, WorkQueue};
pub use watch::{ClaimedPriceCheck, PriceCheckClaim, PriceCheckRelease, StoredWatch};
pub use watch_event_log::WatchLogEntry;
pub use webhook::{
    DeliveryClaim, DeliveryRelease, DueSubscription, ScopeDeliveryCount, SealedSecrets,
    StoredDelivery,
};

use crate::statement::{Row, Statement};
use crate::unit_of_work::ExecutionResult;
use crate::wakeup::WakeupSender;
use host_domain::page::{Cursor, CursorPage, CursorRequest, Page, PageRequest};
use host_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// A SQLite file or a PostgreSQL database. Cheap to clone.
///
/// Reads return an error only if the database fails or holds a value that cannot be decoded.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    wakeups: WakeupSender,
    /// The statements of the last call, for tests of query plans.
    #[cfg(test)]
    last_statements: std::sync::Mutex<Vec<Statement>>,
}

enum Backend {
    Sqlite(Box<sqlite::Sqlite>),
    Postgres(Arc<postgres::Postgres>),
}

#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Connections to PostgreSQL, half of them for writes. They include those on which the server
    /// still works for a caller that has stopped waiting. One more connection listens for other
    /// hosts, and one more for each half may ask the server about such sessions.
    pub postgres_connections: u32,
    /// Connections that read from SQLite on the calling thread, and as many that read on blocking
    /// threads. One more connection writes.
    pub sqlite_readers: u32,
    /// Capacity of the queue of SQLite's writer. Further callers wait until the queue has room.
    pub sqlite_queue_capacity: usize,
    /// Maximum number of units of work that SQLite commits together. A larger batch waits longer
    /// for the flush to disk that it shares.
    pub sqlite_batch_max: usize,
    /// Maximum time to wait for a free connection, or for another process that holds SQLite's lock.
    pub acquire_timeout: Duration,
    /// Maximum time to wait for one response of PostgreSQL, and for one read or transaction of SQLite.
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
    /// Opens `sqlite:PATH` (created if missing; its folder must exist) or `postgres://…`. Must be
    /// called inside a tokio runtime.
    ///
    /// # Errors
    /// Fails if the address cannot be parsed or the database does not respond. Fails with
    /// [`OpenError::EarlierSchema`], without changing the database, if an earlier development
    /// version created it.
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let wakeups = WakeupSender::new();
        let backend = if let Some(path) = url.strip_prefix("sqlite:") {
            Backend::Sqlite(Box::new(sqlite::Sqlite::open(path, options).await?))
        } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let opened = postgres::Postgres::open(url, options, wakeups.clone()).await?;
            Backend::Postgres(Arc::new(opened))
        } else {
            return Err(OpenError::UnknownScheme);
        };
        Ok(Self {
            inner: Arc::new(Inner {
                backend,
                wakeups,
                #[cfg(test)]
                last_statements: std::sync::Mutex::default(),
            }),
        })
    }

    /// Brings the schema up to date. Several processes may call this at the same time.
    ///
    /// # Errors
    /// Fails if a migration fails or the schema is newer than this program.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.migrate().await,
            Backend::Postgres(postgres) => postgres.migrate().await.map_err(MigrateError::new),
        }
    }

    /// Upserts a row of `write_probe` on a connection for writes.
    ///
    /// # Errors
    /// Fails as any other write would: if the database does not respond, is read-only, has no space
    /// or waits for a standby.
    pub async fn probe_write(&self) -> Result<(), DatabaseError> {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.probe_write().await,
            Backend::Postgres(postgres) => postgres.probe_write().await,
        }
    }

    /// Finishes the queued units of work and closes every connection.
    pub async fn close(&self) {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Stores a unit of work atomically. When this returns, the changes survive a crash of the
    /// process and of the machine.
    ///
    /// # Errors
    /// Returns the first precondition that was not met, or the error of the database.
    pub async fn commit(&self, write: UnitOfWork) -> Result<(), CommitError> {
        self.execute(write, true).await.map(|_| ())
    }

    /// Subscribes to notifications that an item of `queue` may be due earlier than previously
    /// known. They come from this process or from another process of the same PostgreSQL database.
    /// Polling remains necessary.
    #[must_use]
    pub fn subscribe_wakeups(&self, queue: WorkQueue) -> WakeupReceiver {
        self.inner.wakeups.subscribe(queue)
    }

    /// Commits a unit of work and returns the result of its last statement. A unit that may be
    /// batched with others has no result.
    pub(crate) async fn execute(
        &self,
        write: UnitOfWork,
        may_batch: bool,
    ) -> Result<ExecutionResult, CommitError> {
        if let Some(error) = write.encode_error {
            return Err(error.into());
        }
        if write.is_empty() {
            return Ok(ExecutionResult::default());
        }
        #[cfg(test)]
        self.record(write.statements.iter().map(|step| &step.statement));
        let mut wakeups = write.wakeups;
        wakeups.union(write.local_wakeups);
        let outcome = match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.commit(write).await,
            Backend::Postgres(postgres) if may_batch => postgres.commit_batched(write).await,
            Backend::Postgres(postgres) => postgres.commit(&write).await,
        }?;
        self.inner.wakeups.send(wakeups);
        Ok(outcome)
    }

    /// Commits a unit of work that has no preconditions.
    pub(crate) async fn execute_unconditional(
        &self,
        write: UnitOfWork,
    ) -> Result<ExecutionResult, DatabaseError> {
        let outcome = self.execute(write, false).await;
        outcome.map_err(CommitError::into_database)
    }

    /// Commits one statement and returns the number of changed rows.
    pub(crate) async fn execute_statement(
        &self,
        statement: Statement,
    ) -> Result<u64, DatabaseError> {
        let mut write = UnitOfWork::new(Timestamp(0));
        write.add(statement);
        let outcome = self.execute_unconditional(write).await?;
        Ok(outcome.rows_affected)
    }

    /// Commits one statement and returns its rows, each converted by `read`.
    pub(crate) async fn execute_returning<T>(
        &self,
        statement: Statement,
        read: impl Fn(&Row) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, DatabaseError> {
        let mut write = UnitOfWork::new(Timestamp(0));
        write.add_returning(statement);
        let outcome = self.execute_unconditional(write).await?;
        outcome.rows.iter().map(read).collect()
    }

    pub(crate) async fn fetch_all(&self, statement: Statement) -> Result<Vec<Row>, DatabaseError> {
        #[cfg(test)]
        self.record([&statement]);
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.rows(statement).await,
            Backend::Postgres(postgres) => postgres.rows(&statement).await,
        }
    }

    /// Returns all rows, each converted by `read`.
    pub(crate) async fn read_all<T>(
        &self,
        statement: Statement,
        read: impl Fn(&Row) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, DatabaseError> {
        self.fetch_all(statement).await?.iter().map(read).collect()
    }

    /// Returns the first row, converted by `read`.
    pub(crate) async fn read_optional<T>(
        &self,
        statement: Statement,
        read: impl FnOnce(&Row) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, DatabaseError> {
        let rows = self.fetch_all(statement).await?;
        rows.first().map(read).transpose()
    }

    /// Returns a page of the rows of a statement that requests one row more than the page has.
    pub(crate) async fn read_page<T>(
        &self,
        statement: Statement,
        page: PageRequest,
        read: impl Fn(&Row) -> Result<T, DatabaseError>,
    ) -> Result<Page<T>, DatabaseError> {
        let mut rows = self.fetch_all(statement).await?;
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Ok(Page {
            items: rows.iter().map(read).collect::<Result<_, _>>()?,
            has_more,
        })
    }

    /// Returns a page of the rows of a statement that requests one row more than the page has.
    /// `cursor` returns the position of an item.
    pub(crate) async fn read_cursor_page<T>(
        &self,
        statement: Statement,
        page: &CursorRequest,
        read: impl Fn(&Row) -> Result<T, DatabaseError>,
        cursor: impl Fn(&T) -> Cursor,
    ) -> Result<CursorPage<T>, DatabaseError> {
        let request = PageRequest {
            limit: page.limit,
            offset: 0,
        };
        let found = self.read_page(statement, request, read).await?;
        let last = found.items.last().filter(|_| found.has_more);
        Ok(CursorPage {
            next: last.map(cursor),
            items: found.items,
        })
    }

    /// Returns the column `number` of a statement that counts rows.
    pub(crate) async fn read_count(&self, statement: Statement) -> Result<u64, DatabaseError> {
        let number = self.read_optional(statement, |row| row.count("number"));
        Ok(number.await?.unwrap_or_default())
    }
}
