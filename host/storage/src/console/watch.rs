//! Watches across users, with their latest prices.

use crate::condition::ConditionBuilder;
use crate::statement::{Row, statement, text_array};
use crate::watch::{COLUMNS, JOIN_PRICE_CHECK, read};
use crate::{DatabaseError, Store, StoredWatch};
use host_domain::console::TenantScope;
use host_domain::console::watch::WatchScopeFilter;
use host_domain::id::{HotelId, PriceCheckId, WatchId};
use host_domain::owner::Mode;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_domain::watch::{WatchStatus, WatchTarget};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A watch with the time of its next price check.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduledWatch {
    pub stored: StoredWatch,
    /// `None` if the watch can no longer change.
    pub next_check_at: Option<Timestamp>,
}

/// A price that differed from the previous one, in the minor unit of the query's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceObservation {
    pub observed_at: Timestamp,
    /// `None` if nothing was available.
    pub total_minor: Option<i64>,
}

/// Data of other tables that the dashboard shows with watches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchDetails {
    /// The latest prices of the watches' price checks, oldest first.
    pub prices: BTreeMap<PriceCheckId, Vec<PriceObservation>>,
    /// The names of the watched hotels, as far as they are known.
    pub hotel_names: BTreeMap<HotelId, String>,
}

impl Store {
    /// Returns the watches of a scope that match, newest first.
    pub async fn watch_page(
        &self,
        scope: &TenantScope,
        filter: &WatchScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ScheduledWatch>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope_list(scope);
        conditions.add_some("status =", filter.status.map(WatchStatus::as_str));
        conditions.add_some("user_id =", filter.user.as_deref());
        let order = conditions.cursor_order("created_at", "id", page);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT {COLUMNS}, p.next_check_at FROM \
             (SELECT organization, mode, id FROM watch WHERE {condition} {order}) AS page \
             JOIN watch AS w ON w.organization = page.organization AND w.mode = page.mode \
               AND w.id = page.id {JOIN_PRICE_CHECK} \
             ORDER BY w.created_at DESC, w.id DESC"
        ));
        let cursor = |watch: &ScheduledWatch| {
            let watch = &watch.stored.watch;
            Cursor::new(watch.created_at, watch.id.as_str())
        };
        self.read_cursor_page(select, page, read_scheduled, cursor)
            .await
    }

    /// Returns a watch of any tenant. The caller decides who may see it.
    pub async fn scheduled_watch_unscoped(
        &self,
        id: &WatchId,
    ) -> Result<Option<ScheduledWatch>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS}, p.next_check_at FROM watch AS w {JOIN_PRICE_CHECK} \
                 WHERE w.id = $1"
            ),
            id.as_str(),
        );
        self.read_optional(select, read_scheduled).await
    }

    /// Returns the latest prices of watches of a mode and the names of their hotels.
    pub async fn watch_details(
        &self,
        mode: Mode,
        watches: &[ScheduledWatch],
    ) -> Result<WatchDetails, DatabaseError> {
        let mut details = WatchDetails::default();
        if watches.is_empty() {
            return Ok(details);
        }
        let select = statement!(
            "SELECT 'price' AS kind, o.price_check_id AS id, o.observed_at AS at, \
               o.total_minor AS total_minor, CAST(NULL AS TEXT) AS name \
             FROM {each $1} JOIN price_observation AS o \
               ON o.organization = item.value ->> 'organization' AND o.mode = $2 \
               AND o.price_check_id = item.value ->> 'price_check' \
             UNION ALL SELECT 'hotel', hotel_id, 0, NULL, MAX(name) FROM hotel_mapping \
               WHERE mode = $2 AND hotel_id {in $3} AND name IS NOT NULL GROUP BY hotel_id \
             ORDER BY kind, id, at",
            price_checks(watches),
            mode,
            text_array(watches.iter().filter_map(hotel_id)),
        );
        for row in self.fetch_all(select).await? {
            match row.get::<Option<String>>("name")? {
                Some(name) => {
                    let hotel = row.parsed("id", HotelId::parse)?;
                    details.hotel_names.insert(hotel, name);
                }
                None => {
                    let id = row.parsed("id", PriceCheckId::parse)?;
                    let prices = details.prices.entry(id).or_default();
                    prices.push(read_observation(&row)?);
                }
            }
        }
        Ok(details)
    }
}

/// Returns the price checks of watches as a JSON array, each once.
fn price_checks(watches: &[ScheduledWatch]) -> String {
    let checks = watches.iter().map(|watch| {
        let organization = watch.stored.watch.owner.tenant.organization.as_str();
        (watch.stored.price_check_id(), organization)
    });
    let checks: BTreeMap<_, _> = checks.collect();
    let checks = checks.iter().map(
        |(id, organization)| json!({ "organization": organization, "price_check": id.as_str() }),
    );
    Value::from_iter(checks).to_string()
}

fn hotel_id(watch: &ScheduledWatch) -> Option<&str> {
    match &watch.stored.watch.query.target {
        WatchTarget::Hotel { hotel_id } => Some(hotel_id.as_str()),
        WatchTarget::Trip { .. } => None,
    }
}

fn read_scheduled(row: &Row) -> Result<ScheduledWatch, DatabaseError> {
    Ok(ScheduledWatch {
        stored: read(row)?,
        next_check_at: row.timestamp_opt("next_check_at")?,
    })
}

fn read_observation(row: &Row) -> Result<PriceObservation, DatabaseError> {
    Ok(PriceObservation {
        observed_at: row.timestamp("at")?,
        total_minor: row.get("total_minor")?,
    })
}
