//! Watches: the whole document and columns to search by.

mod price_check;

pub use price_check::{ClaimedPriceCheck, PriceCheckClaim, PriceCheckRelease};

use crate::condition::ConditionBuilder;
use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{PriceCheckId, WatchId};
use host_domain::money::Money;
use host_domain::owner::{Owner, Tenant};
use host_domain::page::{Page, PageRequest};
use host_domain::watch::list::WatchFilter;
use host_domain::watch::{ObservedPrice, Watch, WatchStatus};

/// A watch with the price last observed for it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredWatch {
    pub watch: Watch,
    /// The last observed price; `None` before the first check.
    pub last_observed: Option<ObservedPrice>,
}

impl StoredWatch {
    #[must_use]
    pub fn price_check_id(&self) -> PriceCheckId {
        price_check::derive_id(&self.watch.owner.tenant, &self.watch.query)
    }
}

impl UnitOfWork {
    /// Stores a new watch and schedules its price check for now. Fails with
    /// [`Conflict::WatchExists`] if its id exists.
    pub fn insert_watch(&mut self, watch: &Watch) -> &mut Self {
        let document = self.encode_json(watch);
        let owner = &watch.owner;
        let insert = statement!(
            "INSERT INTO watch (organization, mode, id, user_id, price_check_id, status, \
             trigger_minor, created_at, updated_at, version, document) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
            &owner.tenant,
            watch.id.as_str(),
            owner.user.as_str(),
            price_check::derive_id(&owner.tenant, &watch.query).as_str(),
            watch.status().as_str(),
            watch.trigger.amount().minor,
            watch.created_at,
            watch.updated_at,
            watch.version,
            document,
        );
        self.schedule_price_check(watch);
        self.add_expecting_one(insert, Conflict::WatchExists)
    }

    /// Stores a watch that was read at version `read_version`. Fails with
    /// [`Conflict::WatchVersion`] if the stored version is another one. A watch that is no longer
    /// open keeps the price last observed.
    pub fn update_watch(&mut self, watch: &Watch, read_version: i64) -> &mut Self {
        let document = self.encode_json(watch);
        let tenant = &watch.owner.tenant;
        let update = statement!(
            "UPDATE watch SET status = $4, updated_at = $5, version = $6, document = $7, \
               last_checked_at = CASE WHEN $8 = 0 THEN (SELECT p.last_checked_at \
                 FROM price_check AS p WHERE p.organization = $1 AND p.mode = $2 \
                 AND p.id = watch.price_check_id) END, \
               last_total_minor = CASE WHEN $8 = 0 THEN (SELECT p.last_total_minor \
                 FROM price_check AS p WHERE p.organization = $1 AND p.mode = $2 \
                 AND p.id = watch.price_check_id) END \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $9",
            tenant,
            watch.id.as_str(),
            watch.status().as_str(),
            watch.updated_at,
            watch.version,
            document,
            i64::from(watch.status().is_open()),
            read_version,
        );
        self.add_expecting_one(update, Conflict::WatchVersion)
    }
}

impl Store {
    pub async fn watch(
        &self,
        owner: &Owner,
        id: &WatchId,
    ) -> Result<Option<StoredWatch>, DatabaseError> {
        // `user_id || ''` keeps the databases from using the index of the owner's list instead of
        // the primary key.
        let find = statement!(
            select("w.organization = $1 AND w.mode = $2 AND w.id = $3 AND w.user_id || '' = $4"),
            &owner.tenant,
            id.as_str(),
            owner.user.as_str(),
        );
        self.read_optional(find, read).await
    }

    /// Returns a watch of any owner. Only for background work, never for a caller's request.
    pub async fn watch_unscoped(&self, id: &WatchId) -> Result<Option<StoredWatch>, DatabaseError> {
        let find = statement!(select("w.id = $1"), id.as_str());
        self.read_optional(find, read).await
    }

    /// Returns a page of an owner's watches, newest first.
    pub async fn watches(
        &self,
        owner: &Owner,
        filter: WatchFilter,
        page: PageRequest,
    ) -> Result<Page<StoredWatch>, DatabaseError> {
        let mut conditions = conditions(owner, filter);
        let (condition, limit) = (conditions.text(), conditions.limit(page));
        let list = conditions.statement(select(&format!(
            "{condition} ORDER BY w.created_at DESC, w.id DESC {limit}"
        )));
        self.read_page(list, page, read).await
    }

    /// Returns the number of matching watches on all pages.
    pub async fn count_watches(
        &self,
        owner: &Owner,
        filter: WatchFilter,
    ) -> Result<u64, DatabaseError> {
        let count = conditions(owner, filter).count("watch AS w");
        self.read_count(count).await
    }

    /// Returns at most `limit` watches of a price check whose status the price changes: active ones
    /// whose trigger is reached, and triggered ones whose trigger is no longer reached. A `total`
    /// of `None` means that nothing is available.
    pub async fn watches_affected_by_price(
        &self,
        tenant: &Tenant,
        price_check: &PriceCheckId,
        total: Option<Money>,
        limit: u32,
    ) -> Result<Vec<Watch>, DatabaseError> {
        let select = statement!(
            "SELECT document FROM watch WHERE organization = $1 AND mode = $2 \
               AND price_check_id = $3 AND status = 'active' AND trigger_minor >= $4 \
             UNION ALL \
             SELECT document FROM watch WHERE organization = $1 AND mode = $2 \
               AND price_check_id = $3 AND status = 'triggered' AND trigger_minor < $4 \
             LIMIT $5",
            tenant,
            price_check.as_str(),
            // An unavailable offer counts as more expensive than any price.
            total.map_or(i64::MAX, |total| total.minor),
            limit,
        );
        self.read_all(select, |row| row.json("document")).await
    }

    /// Returns the highest trigger price of the active watches of a price check, in minor units.
    /// Returns `None` if no watch is active.
    pub async fn highest_trigger(
        &self,
        tenant: &Tenant,
        price_check: &PriceCheckId,
    ) -> Result<Option<i64>, DatabaseError> {
        let select = statement!(
            "SELECT trigger_minor FROM watch WHERE organization = $1 AND mode = $2 \
             AND price_check_id = $3 AND status = 'active' ORDER BY trigger_minor DESC LIMIT 1",
            tenant,
            price_check.as_str(),
        );
        self.read_optional(select, |row| row.get("trigger_minor"))
            .await
    }

    /// Returns at most `limit` watches of a price check that are open and have no purchase in
    /// progress.
    pub async fn watches_awaiting_price(
        &self,
        tenant: &Tenant,
        price_check: &PriceCheckId,
        limit: u32,
    ) -> Result<Vec<Watch>, DatabaseError> {
        let select = statement!(
            "SELECT document FROM watch WHERE organization = $1 AND mode = $2 \
             AND price_check_id = $3 AND status IN ('active', 'triggered') LIMIT $4",
            tenant,
            price_check.as_str(),
            limit,
        );
        self.read_all(select, |row| row.json("document")).await
    }
}

/// The columns that [`read`] needs, of the watch `w` and its price check `p`. An open watch has the
/// price last observed by its price check. A closed one keeps the price stored in its own row.
pub(crate) const COLUMNS: &str = "w.document, \
    COALESCE(w.last_checked_at, p.last_checked_at) AS last_checked_at, \
    COALESCE(w.last_total_minor, p.last_total_minor) AS last_total_minor";

/// Joins the price check of an open watch.
pub(crate) const JOIN_PRICE_CHECK: &str = "LEFT JOIN price_check AS p \
    ON p.organization = w.organization AND p.mode = w.mode AND p.id = w.price_check_id \
    AND w.status IN ('active', 'triggered', 'purchasing')";

/// Builds a query of watches that meet a condition.
fn select(condition: &str) -> String {
    format!("SELECT {COLUMNS} FROM watch AS w {JOIN_PRICE_CHECK} WHERE {condition}")
}

fn conditions(owner: &Owner, filter: WatchFilter) -> ConditionBuilder {
    let mut conditions = ConditionBuilder::for_owner("w.", owner);
    conditions.add_some("w.status =", filter.status.map(WatchStatus::as_str));
    conditions
}

pub(crate) fn read(row: &Row) -> Result<StoredWatch, DatabaseError> {
    let watch: Watch = row.json("document")?;
    let currency = watch.query.stay.currency;
    Ok(StoredWatch {
        last_observed: price_check::read_observed_price(row, currency)?,
        watch,
    })
}
