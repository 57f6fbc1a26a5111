//! The overview: work that waits for a person, and the state of the gateway.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::plugin_report::SupplierSummary;
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

/// Counting reads an index of all bookings. Each open page is refreshed every ten seconds, so
/// several people share a count.
const COUNTS_TTL: Duration = Duration::from_secs(5);
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
    pub statistics: Vec<StatisticsGroup>,
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
    /// In the order of a booking's life, without statuses that no booking has.
    pub bookings: Vec<BookingCount>,
    /// The suppliers of the mode.
    pub suppliers: Vec<SupplierSummary>,
    pub traffic: Arc<Traffic>,
}

/// Reads the overview of what a person may read.
pub struct ConsoleOverview {
    base: Base,
    suppliers: Arc<SupplierDirectory>,
    booking_counts: Cache<TenantScope, Arc<[BookingCount]>>,
    traffic: Cache<(TenantScope, OverviewWindow), Arc<Traffic>>,
}

impl ConsoleOverview {
    pub(crate) fn new(base: Base, suppliers: Arc<SupplierDirectory>) -> Self {
        let counts = Cache::builder().max_capacity(COUNTED_SCOPES_MAX);
        let traffic = Cache::builder().max_capacity(COUNTED_SCOPES_MAX);
        Self {
            base,
            suppliers,
            booking_counts: counts.time_to_live(COUNTS_TTL).build(),
            traffic: traffic.time_to_live(COUNTS_TTL).build(),
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
        let limits = OverviewLimits {
            now,
            sent_before: now.plus_ms(-CALL_MS_MAX),
            expires_until: now.plus_ms(KEY_EXPIRY_NOTICE_DAYS * DAY_MS),
            deliveries_max: DELIVERIES_MAX,
            items_max: ITEMS_MAX,
            includes_jobs: viewer.is_operator(),
        };
        let (open_items, counts, bookings, traffic) = futures::try_join!(
            store.open_items(&scope, limits),
            store.overview_counts(&scope, limits),
            self.count_bookings(&scope),
            self.read_traffic(&scope, window, now),
        )?;
        Ok(Overview {
            at: now,
            open_items,
            counts,
            includes_jobs: limits.includes_jobs,
            bookings: bookings.to_vec(),
            suppliers: self.suppliers.list(scope.mode),
            traffic,
        })
    }

    async fn read_traffic(
        &self,
        scope: &TenantScope,
        window: OverviewWindow,
        now: Timestamp,
    ) -> Result<Arc<Traffic>, DatabaseError> {
        let read = async {
            let (store, resolution) = (&self.base.store, window.resolution());
            // The part that is not over yet belongs to the window.
            let first = now.plus_ms(resolution.ms() - window.ms());
            let since = resolution.floor(first);
            let (statistics, booked, remarkable) = futures::try_join!(
                store.statistics(scope, resolution, since),
                store.booked_amounts(scope, TimeResolution::Hour.floor(since)),
                store.remarkable_calls(scope, now.plus_ms(-HOUR_MS), REMARKABLE_MAX),
            )?;
            Ok(Arc::new(Traffic {
                since,
                statistics,
                booked,
                remarkable,
            }))
        };
        let key = (scope.clone(), window);
        let traffic = self.traffic.try_get_with(key, read).await;
        traffic.map_err(|error: Arc<DatabaseError>| error.as_ref().clone())
    }

    async fn count_bookings(
        &self,
        scope: &TenantScope,
    ) -> Result<Arc<[BookingCount]>, DatabaseError> {
        let count = async {
            let mut counts = self.base.store.booking_counts(scope).await?;
            counts.sort_by_key(|count| count.status);
            Ok(counts.into())
        };
        let counts = self.booking_counts.try_get_with_by_ref(scope, count).await;
        counts.map_err(|error: Arc<DatabaseError>| error.as_ref().clone())
    }
}
