//! The overview: work that waits for a person, and the state of the gateway.

use crate::base::Base;
use crate::reporting::stale_value_cache::StaleValueCache;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::plugin_report::SupplierSummary;
use crate::task_supervisor::TaskSupervisor;
use host_domain::console::{BookingCount, OpenItem, OverviewCounts, TenantScope};
use host_domain::money::Money;
use host_domain::statistics::{RemarkableCall, StatisticsGroup, TimeResolution};
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, OverviewLimits};
use std::sync::Arc;

/// Number of days before its expiry from which an API key is listed.
const KEY_EXPIRY_NOTICE_DAYS: i64 = 14;
/// Maximum number of waiting deliveries that are counted.
pub const DELIVERIES_MAX: u32 = 10_000;

const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Age from which a call without an outcome counts as unresolved. It is longer than calls usually may
/// take.
pub const IN_PROGRESS_MS_MAX: i64 = 5 * 60 * 1000;
/// Maximum number of items of each kind.
const ITEMS_MAX: u32 = 20;
/// Maximum number of remarkable calls.
const REMARKABLE_MAX: u32 = 8;

/// The time that the statistics of the overview cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverviewWindow {
    Hour,
    Day,
    Week,
}

impl OverviewWindow {
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
        }
    }

    /// Returns the window with a name, or `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        let mut windows = Self::ALL.into_iter();
        windows.find(|window| window.as_str() == name)
    }

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

/// Counters of a window of time.
#[derive(Debug, Clone)]
pub struct WindowStatistics {
    /// Beginning of the first minute or hour.
    pub since: Timestamp,
    /// Time of the read, at which the window ends. It may be ten minutes ago.
    pub at: Timestamp,
    /// Counters as `Store::statistics` returns them.
    pub groups: Arc<[StatisticsGroup]>,
}

/// API calls and confirmed bookings of a window.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// `None` if the calls are still being counted.
    pub statistics: Option<WindowStatistics>,
    /// Beginning of the hour from which `booked` counts.
    pub booked_since: Timestamp,
    /// Amounts of bookings that suppliers confirmed, with the number of bookings.
    pub booked: Vec<(Money, u64)>,
    /// Plugin calls of the last hour, whatever the window: failed ones, then the slowest.
    pub remarkable: Vec<RemarkableCall>,
}

/// The content of the overview.
#[derive(Debug, Clone)]
pub struct Overview {
    /// Time of the read.
    pub at: Timestamp,
    /// Open items ordered by time, at most `ITEMS_MAX` of each kind: the oldest, and of the keys those
    /// that expire first.
    pub open_items: Vec<OpenItem>,
    pub counts: OverviewCounts,
    /// Whether the parked jobs of the scope are among the items and counts.
    pub includes_jobs: bool,
    /// Numbers of bookings by status, in life-cycle order; statuses without bookings are absent. `None`
    /// if they are still being counted.
    pub bookings: Option<Arc<[BookingCount]>>,
    /// The suppliers of the mode.
    pub suppliers: Vec<SupplierSummary>,
    pub traffic: Traffic,
}

/// A reader of the overview of a scope.
pub struct OverviewReader {
    base: Base,
    suppliers: Arc<SupplierDirectory>,
    booking_counts: StaleValueCache<TenantScope, Arc<[BookingCount]>>,
    statistics: StaleValueCache<(TenantScope, OverviewWindow), WindowStatistics>,
}

impl OverviewReader {
    pub(crate) fn new(
        base: Base,
        suppliers: Arc<SupplierDirectory>,
        tasks: &TaskSupervisor,
    ) -> Self {
        Self {
            base,
            suppliers,
            booking_counts: StaleValueCache::new(tasks.clone()),
            statistics: StaleValueCache::new(tasks.clone()),
        }
    }

    /// Returns the overview of a scope, with parked jobs if they are to be included.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(
        &self,
        scope: &TenantScope,
        window: OverviewWindow,
        includes_jobs: bool,
    ) -> Result<Overview, StorageFailure> {
        let (store, now) = (&self.base.store, self.base.now());
        let booked_since = TimeResolution::Hour.floor(window.since(now));
        let limits = OverviewLimits {
            now,
            sent_before: now.plus_ms(-IN_PROGRESS_MS_MAX),
            expires_until: now.plus_ms(KEY_EXPIRY_NOTICE_DAYS * DAY_MS),
            deliveries_max: DELIVERIES_MAX,
            items_max: ITEMS_MAX,
            includes_jobs,
            booked_since,
            remarkable_since: now.plus_ms(-HOUR_MS),
            remarkable_max: REMARKABLE_MAX,
        };
        let (snapshot, bookings, statistics) = futures::try_join!(
            store.overview(scope, limits),
            self.count_bookings(scope),
            self.read_statistics(scope, window, now),
        )?;
        Ok(Overview {
            at: now,
            open_items: snapshot.open_items,
            counts: snapshot.counts,
            includes_jobs,
            bookings,
            suppliers: self.suppliers.list(scope.mode),
            traffic: Traffic {
                statistics,
                booked_since,
                booked: snapshot.booked,
                remarkable: snapshot.remarkable,
            },
        })
    }

    /// Returns the statistics of a window that ends now. If counting takes long, returns previous
    /// ones, or `None`.
    async fn read_statistics(
        &self,
        scope: &TenantScope,
        window: OverviewWindow,
        now: Timestamp,
    ) -> Result<Option<WindowStatistics>, DatabaseError> {
        let key = (scope.clone(), window);
        let (store, scope) = (self.base.store.clone(), scope.clone());
        let read = async move {
            let since = window.since(now);
            let groups = store.statistics(&scope, window.resolution(), since);
            Ok(WindowStatistics {
                since,
                at: now,
                groups: groups.await?.into(),
            })
        };
        self.statistics.get(key, read).await
    }

    /// Returns the numbers of bookings by status. If counting takes long, returns previous ones, or
    /// `None`.
    async fn count_bookings(
        &self,
        scope: &TenantScope,
    ) -> Result<Option<Arc<[BookingCount]>>, DatabaseError> {
        let (store, counted_scope) = (self.base.store.clone(), scope.clone());
        let count = async move {
            let mut counts = store.booking_counts(&counted_scope).await?;
            counts.sort_by_key(|count| count.status);
            Ok(counts.into())
        };
        self.booking_counts.get(scope.clone(), count).await
    }
}
