//! Subscriptions, deliveries and events as people read them: across organizations, by id alone.

use super::attempt::read_attempt;
use super::delivery::{StoredDelivery, read as read_stored, read_delivery};
use super::subscription::{COLUMNS as SUBSCRIPTION_COLUMNS, read as read_subscription};
use crate::bounded_search::{
    EXAMINED_ROWS_MAX, NEWEST_FIRST, RangesEnd, last_of_range, page_of_examined,
};
use crate::condition::{ConditionBuilder, escape_pattern, ordered_parts};
use crate::event::{OutboxEvent, read_outbox};
use crate::statement::{Row, Statement, Value, statement, union_all};
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;
use host_domain::console::webhook::{HEALTH_COUNT_MAX, ListedDelivery, ListedSubscription};
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_domain::webhook::list::{DeliveryScopeFilter, SubscriptionScopeFilter};
use host_domain::webhook::{DeliveryAttempt, DeliveryStatus, Subscription};

/// Maximum number of deliveries of one event, and of attempts of one delivery, that are read.
const DETAILS_MAX: u32 = 200;

/// The result of a count that examines a limited number of deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeDeliveryCount {
    pub examined: u64,
    /// The examined deliveries that match.
    pub matching: u64,
}

impl Store {
    /// Returns a page of the subscriptions of a scope, newest first. Deleted ones are omitted.
    /// Deliveries that failed are counted if they were created at `failed_since` or later.
    pub async fn subscription_page(
        &self,
        scope: &TenantScope,
        filter: &SubscriptionScopeFilter,
        failed_since: Timestamp,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedSubscription>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        conditions.add_text("deleted_at IS NULL".to_owned());
        conditions.add_some("status =", filter.status.map(|status| status.as_str()));
        if let Some(text) = &filter.text {
            let pattern = conditions.bind(format!("%{}%", escape_pattern(text)));
            conditions.add_text(format!(
                "(LOWER(url) LIKE {pattern} ESCAPE '!' \
                 OR LOWER(COALESCE(description, '')) LIKE {pattern} ESCAPE '!')"
            ));
        }
        let order = conditions.cursor_order("created_at", "id", page);
        let condition = conditions.text();
        let found = format!(
            "SELECT {SUBSCRIPTION_COLUMNS} FROM webhook_subscription AS s \
             WHERE {condition} {order}"
        );
        let select = with_health(conditions, &found, failed_since);
        let cursor = |listed: &ListedSubscription| {
            let subscription = &listed.subscription;
            Cursor::new(subscription.created_at, subscription.id.as_str())
        };
        self.read_cursor_page(select, page, read_listed_subscription, cursor)
            .await
    }

    /// Returns a subscription of any tenant with the state of its receiver. Deleted ones are omitted.
    pub async fn listed_subscription_unscoped(
        &self,
        id: &SubscriptionId,
        failed_since: Timestamp,
    ) -> Result<Option<ListedSubscription>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        conditions.add("s.id =", id.as_str());
        let condition = conditions.text();
        let found = format!(
            "SELECT {SUBSCRIPTION_COLUMNS} FROM webhook_subscription AS s \
             WHERE {condition} AND s.deleted_at IS NULL"
        );
        let select = with_health(conditions, &found, failed_since);
        self.read_optional(select, read_listed_subscription).await
    }

    /// Returns a subscription of any tenant. Deleted ones are omitted.
    pub async fn subscription_unscoped(
        &self,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {SUBSCRIPTION_COLUMNS} FROM webhook_subscription AS s \
                 WHERE s.id = $1 AND s.deleted_at IS NULL"
            ),
            id.as_str(),
        );
        self.read_optional(select, read_subscription).await
    }

    /// Returns a page of the deliveries of a scope, newest first. If no index knows the filter, a
    /// limited number of deliveries is examined: the page then has fewer items than requested, and
    /// its next page begins after the last examined one.
    pub async fn delivery_page(
        &self,
        scope: &TenantScope,
        filter: &DeliveryScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedDelivery>, DatabaseError> {
        let mut search = DeliverySearch::ordered(scope, filter);
        if let Some(after) = &page.after {
            let (at, id) = (search.bind(after.at), search.bind(after.id.as_str()));
            search.add_indexed(format!("(created_at, id) < ({at}, {id})"));
        }
        let limit = search.bind(page.limit.saturating_add(1));
        let RangesEnd {
            definition,
            condition,
            row,
        } = search.end();
        // The limit keeps PostgreSQL from reading the whole table for a rare event.
        let examined = condition.map_or_else(String::new, |condition| {
            let examined_max = search.bind(EXAMINED_ROWS_MAX);
            format!(" AND {condition} {NEWEST_FIRST} LIMIT {examined_max}")
        });
        let checked = search.checked_condition();
        let parts = search.parts(|range| {
            format!(
                "SELECT *, CAST(0 AS BIGINT) AS is_last FROM (SELECT {DELIVERY_COLUMNS} \
                 FROM webhook_delivery WHERE {range}{examined}) AS examined WHERE {checked} \
                 {NEWEST_FIRST} LIMIT {limit}"
            )
        });
        let sql = format!(
            "{definition}SELECT * FROM (SELECT * FROM ({parts}) AS merged {NEWEST_FIRST} LIMIT {limit}) \
             AS page{row} {NEWEST_FIRST}"
        );
        let rows = self.read_all(search.conditions.statement(sql), read_examined);
        let (mut found, mut end) = (Vec::new(), None);
        for (cursor, listed) in rows.await? {
            match listed {
                Some(listed) => found.push((cursor, listed)),
                None => end = Some(cursor),
            }
        }
        Ok(page_of_examined(found, end, page))
    }

    /// Counts the deliveries of a scope that were created by `until`. At most `examined_max` are
    /// examined.
    pub async fn count_scope_deliveries(
        &self,
        scope: &TenantScope,
        filter: &DeliveryScopeFilter,
        until: Timestamp,
        examined_max: u32,
    ) -> Result<ScopeDeliveryCount, DatabaseError> {
        let mut search = DeliverySearch::new(scope, filter);
        let (until, limit) = (search.bind(until), search.bind(examined_max));
        let indexed = search.indexed.join(" AND ");
        let checked = search.checked_condition();
        let select = search.conditions.statement(format!(
            "SELECT COUNT(*) AS examined, COUNT(CASE WHEN {checked} THEN 1 END) AS matching \
             FROM (SELECT organization, mode, status, event_type FROM webhook_delivery \
             WHERE {indexed} AND created_at <= {until} LIMIT {limit}) AS examined"
        ));
        let count = self.read_optional(select, |row| {
            Ok(ScopeDeliveryCount {
                examined: row.get::<i64>("examined")?.unsigned_abs(),
                matching: row.get::<i64>("matching")?.unsigned_abs(),
            })
        });
        Ok(count.await?.unwrap_or_default())
    }

    /// Returns at most `limit` deliveries of a scope that match and were created by `until`, oldest
    /// first, from the one after `after`.
    pub async fn scope_deliveries_after(
        &self,
        scope: &TenantScope,
        filter: &DeliveryScopeFilter,
        until: Timestamp,
        after: Option<&Cursor>,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, DatabaseError> {
        let mut search = DeliverySearch::new(scope, filter);
        if let Some(after) = after {
            let (at, id) = (search.bind(after.at), search.bind(after.id.as_str()));
            search.add_indexed(format!("(created_at, id) > ({at}, {id})"));
        }
        let (until, limit) = (search.bind(until), search.bind(limit));
        let condition = search.whole_condition();
        let select = search.conditions.statement(format!(
            "SELECT page.*, o.payload FROM \
             (SELECT {DELIVERY_COLUMNS} FROM webhook_delivery \
              WHERE {condition} AND created_at <= {until} \
              ORDER BY created_at, id LIMIT {limit}) AS page \
             JOIN outbox AS o ON o.organization = page.organization AND o.mode = page.mode \
               AND o.id = page.event_id \
             ORDER BY page.created_at, page.id"
        ));
        self.read_all(select, read_stored).await
    }

    /// Returns a delivery with its event's payload and the name of its event's type.
    pub async fn delivery_with_event(
        &self,
        tenant: &Tenant,
        id: &DeliveryId,
    ) -> Result<Option<(StoredDelivery, String)>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT d.*, o.payload FROM \
                 (SELECT {DELIVERY_COLUMNS} FROM webhook_delivery \
                  WHERE organization = $1 AND mode = $2 AND id = $3) AS d \
                 JOIN outbox AS o ON o.organization = d.organization AND o.mode = d.mode \
                   AND o.id = d.event_id"
            ),
            tenant,
            id.as_str(),
        );
        self.read_optional(select, |row| {
            Ok((read_stored(row)?, row.get("event_type")?))
        })
        .await
    }

    /// Returns the attempts of all generations of a delivery, each with its generation, latest
    /// first.
    pub async fn all_delivery_attempts(
        &self,
        tenant: &Tenant,
        id: &DeliveryId,
    ) -> Result<Vec<(i64, DeliveryAttempt)>, DatabaseError> {
        let select = statement!(
            "SELECT generation, attempt_number, request_headers, response_status, response_body, \
             error, duration_ms, created_at FROM webhook_delivery_attempt \
             WHERE organization = $1 AND mode = $2 AND delivery_id = $3 \
             ORDER BY generation DESC, attempt_number DESC LIMIT $4",
            tenant,
            id.as_str(),
            DETAILS_MAX,
        );
        self.read_all(select, |row| {
            Ok((row.get("generation")?, read_attempt(row)?))
        })
        .await
    }

    /// Returns an event of any tenant.
    pub async fn outbox_event_unscoped(
        &self,
        id: &EventId,
    ) -> Result<Option<(Tenant, OutboxEvent)>, DatabaseError> {
        let select = statement!(
            "SELECT organization, mode, id, event_type, product, booking_id, payload, created_at \
             FROM outbox WHERE id = $1",
            id.as_str(),
        );
        self.read_optional(select, |row| Ok((row.tenant()?, read_outbox(row)?)))
            .await
    }

    /// Returns the deliveries of an event, in the order of their subscriptions.
    pub async fn event_deliveries(
        &self,
        tenant: &Tenant,
        event: &EventId,
    ) -> Result<Vec<ListedDelivery>, DatabaseError> {
        // The id of a delivery begins with that of its event, so the primary key finds them.
        let (_, event) = event.as_str().split_once('_').unwrap_or_default();
        let select = statement!(
            format!(
                "SELECT {DELIVERY_COLUMNS} FROM webhook_delivery \
                 WHERE organization = $1 AND mode = $2 AND id > $3 AND id < $4 \
                 ORDER BY id LIMIT $5"
            ),
            tenant,
            format!("{}{event}-", DeliveryId::PREFIX),
            // The character after the hyphen.
            format!("{}{event}.", DeliveryId::PREFIX),
            DETAILS_MAX,
        );
        self.read_all(select, read_listed_delivery).await
    }
}

/// Adds the health to the subscriptions that `found` selects.
fn with_health(
    mut conditions: ConditionBuilder,
    found: &str,
    failed_since: Timestamp,
) -> Statement {
    let since = conditions.bind(failed_since);
    let max = conditions.bind(HEALTH_COUNT_MAX);
    let of_subscription = "d.subscription_id = s.id AND d.organization = s.organization \
        AND d.mode = s.mode";
    conditions.statement(format!(
        "SELECT s.*, \
           (SELECT COUNT(*) FROM (SELECT 1 AS one FROM webhook_delivery AS d \
              WHERE d.subscription_id = s.id AND d.next_attempt_at IS NOT NULL \
              LIMIT {max}) AS waiting) AS waiting, \
           (SELECT COUNT(*) FROM (SELECT 1 AS one FROM webhook_delivery AS d \
              WHERE {of_subscription} AND d.status = 'FAILED' AND d.created_at >= {since} \
              LIMIT {max}) AS failed) AS failed, \
           (SELECT d.delivered_at FROM webhook_delivery AS d \
              WHERE {of_subscription} AND d.status = 'DELIVERED' \
              ORDER BY d.created_at DESC, d.id DESC LIMIT 1) AS last_success_at \
         FROM ({found}) AS s ORDER BY s.created_at DESC, s.id DESC"
    ))
}

fn read_listed_subscription(row: &Row) -> Result<ListedSubscription, DatabaseError> {
    Ok(ListedSubscription {
        subscription: read_subscription(row)?,
        waiting: row.get::<i64>("waiting")?.unsigned_abs(),
        failed: row.get::<i64>("failed")?.unsigned_abs(),
        last_success_at: row.timestamp_opt("last_success_at")?,
    })
}

const DELIVERY_COLUMNS: &str = "organization, mode, id, subscription_id, event_id, event_type, \
    status, generation, attempt_count, next_attempt_at, created_at, pending_since, published_at, \
    delivered_at, failed_at, failure_reason";

/// The part of a query that returns the last examined delivery. Its columns are those of
/// [`DELIVERY_COLUMNS`].
const LAST_ROW: &str = " UNION ALL SELECT NULL, NULL, id, NULL, NULL, NULL, NULL, NULL, NULL, \
    NULL, created_at, NULL, NULL, NULL, NULL, NULL, 1 FROM last";

fn read_listed_delivery(row: &Row) -> Result<ListedDelivery, DatabaseError> {
    Ok(ListedDelivery {
        tenant: row.tenant()?,
        delivery: read_delivery(row)?,
        event_type: row.get("event_type")?,
    })
}

/// A search among all deliveries.
struct DeliverySearch {
    /// The arguments of both kinds of conditions.
    conditions: ConditionBuilder,
    /// Conditions that an index answers in the order of the list, one for each range of it.
    indexed: Vec<String>,
    /// Conditions that are checked on the deliveries that the index finds.
    checked: Vec<String>,
}

impl DeliverySearch {
    /// Searches in one range of an index.
    fn new(scope: &TenantScope, filter: &DeliveryScopeFilter) -> Self {
        Self::in_parts(scope, std::slice::from_ref(scope), filter)
    }

    /// Searches in the order of the list.
    fn ordered(scope: &TenantScope, filter: &DeliveryScopeFilter) -> Self {
        Self::in_parts(scope, &ordered_parts(scope), filter)
    }

    fn in_parts(scope: &TenantScope, parts: &[TenantScope], filter: &DeliveryScopeFilter) -> Self {
        let mut search = Self {
            conditions: ConditionBuilder::default(),
            indexed: Vec::new(),
            checked: Vec::new(),
        };
        match (&filter.subscription, filter.status) {
            (Some(subscription), status) => search.add_subscription(scope, subscription, status),
            (None, Some(status @ (DeliveryStatus::Pending | DeliveryStatus::Published))) => {
                search.add_open(scope, Some(status));
            }
            (None, None) if filter.is_waiting => search.add_open(scope, None),
            (None, status) => search.add_parts(parts, status),
        }
        if filter.is_waiting {
            let waiting = "status IN ('PENDING', 'PUBLISHED')";
            search.checked.push(waiting.to_owned());
        }
        if let Some(event_type) = filter.event_type {
            let event_type = search.bind(event_type.as_str());
            search.checked.push(format!("event_type = {event_type}"));
        }
        for (at, operator) in [(filter.from, ">="), (filter.to, "<=")] {
            if let Some(at) = at {
                let at = search.bind(at);
                search.add_indexed(format!("created_at {operator} {at}"));
            }
        }
        search
    }

    /// Adds the deliveries to a subscription, which are none if it is not in the scope.
    fn add_subscription(
        &mut self,
        scope: &TenantScope,
        subscription: &SubscriptionId,
        status: Option<DeliveryStatus>,
    ) {
        let in_scope = self.conditions.bind_scope_without_index(scope);
        let (id, mode) = (self.bind(subscription.as_str()), self.bind(scope.mode));
        self.indexed.push(format!(
            "subscription_id = {id} AND mode = {mode} AND organization = \
             (SELECT organization FROM webhook_subscription \
              WHERE id = {id} AND {in_scope} LIMIT 1)"
        ));
        if let Some(status) = status {
            let status = self.bind(status.as_str());
            self.add_indexed(format!("status = {status}"));
        }
    }

    /// Adds deliveries that wait. Their index has those of all organizations.
    fn add_open(&mut self, scope: &TenantScope, status: Option<DeliveryStatus>) {
        self.indexed.push("next_attempt_at IS NOT NULL".to_owned());
        let in_scope = self.conditions.bind_scope_without_index(scope);
        self.checked.push(in_scope);
        if let Some(status) = status {
            let status = self.bind(status.as_str());
            self.checked.push(format!("status = {status}"));
        }
    }

    /// Adds the deliveries of parts of a scope.
    fn add_parts(&mut self, parts: &[TenantScope], status: Option<DeliveryStatus>) {
        for part in parts {
            let (range, in_scope) = self.conditions.bind_ordered_part(part);
            self.indexed.push(range);
            self.checked.extend(in_scope);
        }
        match status {
            // The literal lets the databases use the index of failed deliveries.
            Some(DeliveryStatus::Failed) => self.add_indexed("status = 'FAILED'".to_owned()),
            Some(status) => {
                let status = self.bind(status.as_str());
                self.checked.push(format!("status = {status}"));
            }
            None => {}
        }
    }

    /// Adds a condition that an index answers to each range.
    fn add_indexed(&mut self, condition: String) {
        for range in &mut self.indexed {
            range.push_str(" AND ");
            range.push_str(&condition);
        }
    }

    /// Returns the queries of all ranges as one.
    fn parts(&self, part: impl Fn(&str) -> String) -> String {
        let parts: Vec<String> = self.indexed.iter().map(|range| part(range)).collect();
        union_all(&parts)
    }

    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.conditions.bind(value)
    }

    /// Returns the end of what is examined. There is none if an index answers all conditions.
    fn end(&mut self) -> RangesEnd {
        if self.checked.is_empty() {
            return RangesEnd::default();
        }
        let skipped = self.bind(EXAMINED_ROWS_MAX - 1);
        let parts = self.parts(|range| last_of_range("webhook_delivery", range, &skipped));
        RangesEnd::at_last_examined(&parts, LAST_ROW)
    }

    /// Returns the conditions that are checked as one.
    fn checked_condition(&self) -> String {
        match self.checked.is_empty() {
            true => "1 = 1".to_owned(),
            false => self.checked.join(" AND "),
        }
    }

    fn whole_condition(&self) -> String {
        [self.indexed.as_slice(), &self.checked]
            .concat()
            .join(" AND ")
    }
}

/// Reads a delivery with its position, or only the position of the last examined one.
fn read_examined(row: &Row) -> Result<(Cursor, Option<ListedDelivery>), DatabaseError> {
    let cursor = Cursor::new(row.timestamp("created_at")?, row.get::<String>("id")?);
    let is_last = row.get::<i64>("is_last")? != 0;
    let listed = match is_last {
        true => None,
        false => Some(read_listed_delivery(row)?),
    };
    Ok((cursor, listed))
}
