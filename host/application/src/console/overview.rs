//! The overview: work that waits for a person, and the state of the gateway.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::plugin_report::SupplierSummary;
use host_domain::console::{BookingCount, OpenItem, OverviewCounts, TenantScope};
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, OverviewLimits};
use moka::future::Cache;
use std::sync::Arc;
use std::time::Duration;

/// Time before the expiry of a key in which the overview names it.
const KEY_EXPIRY_NOTICE_DAYS: i64 = 14;
/// Maximum number of waiting deliveries that are counted.
pub const DELIVERIES_MAX: u32 = 10_000;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Time after which a call without an outcome is no longer considered in progress. It is longer than
/// calls usually may take.
const CALL_MS_MAX: i64 = 5 * 60 * 1000;
/// Maximum number of items of each kind.
const ITEMS_MAX: u32 = 20;

/// Counting reads an index of all bookings. Each open page is refreshed every ten seconds, so
/// several people share a count.
const COUNTS_TTL: Duration = Duration::from_secs(5);
const COUNTED_SCOPES_MAX: u64 = 1000;

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
}

/// Reads the overview of what a person may read.
pub struct ConsoleOverview {
    base: Base,
    suppliers: Arc<SupplierDirectory>,
    booking_counts: Cache<TenantScope, Arc<[BookingCount]>>,
}

impl ConsoleOverview {
    pub(crate) fn new(base: Base, suppliers: Arc<SupplierDirectory>) -> Self {
        let cache = Cache::builder().max_capacity(COUNTED_SCOPES_MAX);
        Self {
            base,
            suppliers,
            booking_counts: cache.time_to_live(COUNTS_TTL).build(),
        }
    }

    /// Returns the overview of all organizations that the person may read, in the session's mode.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(&self, viewer: &Viewer) -> Result<Overview, StorageFailure> {
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
        let (open_items, counts, bookings) = futures::try_join!(
            store.open_items(&scope, limits),
            store.overview_counts(&scope, limits),
            self.count_bookings(&scope),
        )?;
        Ok(Overview {
            at: now,
            open_items,
            counts,
            includes_jobs: limits.includes_jobs,
            bookings: bookings.to_vec(),
            suppliers: self.suppliers.list(scope.mode),
        })
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
