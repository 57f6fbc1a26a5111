//! The overview: work that waits for a person, and the state of the gateway.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::plugin_report::SupplierSummary;
use crate::task_supervisor::TaskSupervisor;
use host_domain::console::{BookingCount, OpenItem, OverviewCounts, TenantScope};
use host_domain::money::Money;
use host_domain::statistics::{RemarkableCall, StatisticsGroup, TimeResolution};
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, OverviewLimits};
use moka::future::Cache;
use std::sync::Arc;
use std::time::Duration;

/// Time before the expiry of a key in which the overview names it.
const KEY_EXPIRY_NOTICE_DAYS: i64 = 14;
/// Maximum number of waiting deliveries that are counted.
pub const DELIVERIES_MAX: u32 = 10_000;

const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Time after which a call without an outcome is no longer considered in progress. It is longer than
/// calls usually may take.
const CALL_MS_MAX: i64 = 5 * 60 * 1000;
/// Maximum number of items of each kind.
const ITEMS_MAX: u32 = 20;
/// Maximum number of remarkable calls.
const REMARKABLE_MAX: u32 = 8;

/// Time in which several people share a count of bookings and the statistics. Each open page is
/// refreshed every ten seconds.
const COUNTS_TTL: Duration = Duration::from_secs(5);
/// Counting reads an index of all bookings, which takes a second for some millions. A page waits no
/// longer for it; it then shows the previous count.
const COUNT_WAIT_MAX: Duration = Duration::from_millis(20);
/// Time that a page waits for a count if there is no previous one. It then shows none.
const FIRST_COUNT_WAIT_MAX: Duration = Duration::from_secs(1);
/// Time after which a previous count is no longer shown.
const PREVIOUS_COUNTS_TTL: Duration = Duration::from_secs(10 * 60);
const COUNTED_SCOPES_MAX: u64 = 1000;

/// The time that the statistics of the overview cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverviewWindow {
    Hour,
    Day,
    Week,
}

impl OverviewWindow {
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    /// Returns the length in milliseconds.
    pub const fn ms(self) -> i64 {
        match self {
            Self::Hour => HOUR_MS,
            Self::Day => DAY_MS,
            Self::Week => 7 * DAY_MS,
        }
    }

    /// Returns the beginning of the first minute or hour of its charts. The part that is not over yet
    /// belongs to the window.
    const fn since(self, now: Timestamp) -> Timestamp {
        let resolution = self.resolution();
        resolution.floor(Timestamp(now.0 + resolution.ms() - self.ms()))
    }

    /// Returns the resolution of its charts.
    pub const fn resolution(self) -> TimeResolution {
        match self {
            Self::Hour => TimeResolution::Minute,
            Self::Day | Self::Week => TimeResolution::Hour,
        }
    }
}

/// Calls of programs and their bookings in a window of time.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// Beginning of the first minute or hour.
    pub since: Timestamp,
    /// Counters of the window, as `Store::statistics` returns them.
    pub statistics: Arc<[StatisticsGroup]>,
    /// Amounts of bookings that suppliers confirmed, with the number of bookings.
    pub booked: Vec<(Money, u64)>,
    /// Calls of suppliers in the last hour that failed, then the slowest.
    pub remarkable: Vec<RemarkableCall>,
}

/// The content of the overview.
#[derive(Debug, Clone)]
pub struct Overview {
    /// Time of the read.
    pub at: Timestamp,
    /// Oldest first. Of each kind at most 20.
    pub open_items: Vec<OpenItem>,
    pub counts: OverviewCounts,
    /// Whether the person sees parked jobs, which only operators do.
    pub includes_jobs: bool,
    /// In the order of a booking's life, without statuses that no booking has. `None` if they are
    /// still being counted.
    pub bookings: Option<Arc<[BookingCount]>>,
    /// The suppliers of the mode.
    pub suppliers: Vec<SupplierSummary>,
    pub traffic: Traffic,
}

type BookingCounts = Cache<TenantScope, Arc<[BookingCount]>>;

/// Reads the overview of what a person may read.
pub struct ConsoleOverview {
    base: Base,
    suppliers: Arc<SupplierDirectory>,
    tasks: TaskSupervisor,
    booking_counts: BookingCounts,
    previous_booking_counts: BookingCounts,
    statistics: Cache<(TenantScope, OverviewWindow), Arc<[StatisticsGroup]>>,
}

impl ConsoleOverview {
    pub(crate) fn new(
        base: Base,
        suppliers: Arc<SupplierDirectory>,
        tasks: TaskSupervisor,
    ) -> Self {
        let counts = |ttl| {
            let cache = Cache::builder().max_capacity(COUNTED_SCOPES_MAX);
            cache.time_to_live(ttl).build()
        };
        let statistics = Cache::builder().max_capacity(COUNTED_SCOPES_MAX);
        Self {
            base,
            suppliers,
            tasks,
            booking_counts: counts(COUNTS_TTL),
            previous_booking_counts: counts(PREVIOUS_COUNTS_TTL),
            statistics: statistics.time_to_live(COUNTS_TTL).build(),
        }
    }

    /// Returns the overview of all organizations that the person may read, in the session's mode.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(
        &self,
        viewer: &Viewer,
        window: OverviewWindow,
    ) -> Result<Overview, StorageFailure> {
        let scope = viewer.whole_scope();
        let (store, now) = (&self.base.store, self.base.now());
        let since = window.since(now);
        let limits = OverviewLimits {
            now,
            sent_before: now.plus_ms(-CALL_MS_MAX),
            expires_until: now.plus_ms(KEY_EXPIRY_NOTICE_DAYS * DAY_MS),
            deliveries_max: DELIVERIES_MAX,
            items_max: ITEMS_MAX,
            includes_jobs: viewer.is_operator(),
            booked_since: TimeResolution::Hour.floor(since),
            remarkable_since: now.plus_ms(-HOUR_MS),
            remarkable_max: REMARKABLE_MAX,
        };
        let (snapshot, bookings, statistics) = futures::try_join!(
            store.overview(&scope, limits),
            self.count_bookings(&scope),
            self.read_statistics(&scope, window, since),
        )?;
        Ok(Overview {
            at: now,
            open_items: snapshot.open_items,
            counts: snapshot.counts,
            includes_jobs: limits.includes_jobs,
            bookings,
            suppliers: self.suppliers.list(scope.mode),
            traffic: Traffic {
                since,
                statistics,
                booked: snapshot.booked,
                remarkable: snapshot.remarkable,
            },
        })
    }

    async fn read_statistics(
        &self,
        scope: &TenantScope,
        window: OverviewWindow,
        since: Timestamp,
    ) -> Result<Arc<[StatisticsGroup]>, DatabaseError> {
        let read = async {
            let store = &self.base.store;
            let statistics = store.statistics(scope, window.resolution(), since).await?;
            Ok(statistics.into())
        };
        let key = (scope.clone(), window);
        let statistics = self.statistics.try_get_with(key, read).await;
        statistics.map_err(|error: Arc<DatabaseError>| error.as_ref().clone())
    }

    /// Returns the numbers of bookings by status. If counting takes long, returns the previous ones,
    /// or `None`; the next page has the new ones.
    async fn count_bookings(
        &self,
        scope: &TenantScope,
    ) -> Result<Option<Arc<[BookingCount]>>, DatabaseError> {
        let (store, scope_of_task) = (self.base.store.clone(), scope.clone());
        let counts = self.booking_counts.clone();
        let previous = self.previous_booking_counts.clone();
        let count = self.tasks.run_to_completion(async move {
            let scope = scope_of_task;
            let count = async {
                let mut counts = store.booking_counts(&scope).await?;
                counts.sort_by_key(|count| count.status);
                Ok(counts.into())
            };
            let counted = counts.try_get_with_by_ref(&scope, count).await;
            let counted: Arc<[BookingCount]> =
                counted.map_err(|error: Arc<DatabaseError>| error.as_ref().clone())?;
            previous.insert(scope, Arc::clone(&counted)).await;
            Ok::<_, DatabaseError>(counted)
        });
        let known = self.previous_booking_counts.get(scope).await;
        let wait = match known {
            Some(_) => COUNT_WAIT_MAX,
            None => FIRST_COUNT_WAIT_MAX,
        };
        match tokio::time::timeout(wait, count).await {
            Ok(Ok(counted)) => counted.map(Some),
            // The task takes long, or it has panicked, which is logged.
            Err(_) | Ok(Err(_)) => Ok(known),
        }
    }
}
