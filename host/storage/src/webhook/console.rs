//! Subscriptions, deliveries and events as people read them: across organizations, by id alone.

use super::attempt::read_attempt;
use super::delivery::{StoredDelivery, read as read_stored, read_delivery};
use super::subscription::{COLUMNS as SUBSCRIPTION_COLUMNS, read as read_subscription};
use crate::bounded_search::{
    NEWEST_FIRST, SearchEnd, continue_at, first_unexamined, read_position,
};
use crate::condition::{ConditionBuilder, escape_pattern};
use crate::event::{OutboxEvent, read_outbox};
use crate::statement::{Row, Statement, Value, statement, text_array};
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
    pub async fn listed_subscription(
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
    pub async fn subscription_by_id(
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

    /// Returns a page of the deliveries of a scope, newest first. If no index has the filter, the page
    /// may have fewer items than requested, or none, and be followed by another one.
    pub async fn delivery_page(
        &self,
        scope: &TenantScope,
        filter: &DeliveryScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedDelivery>, DatabaseError> {
        let mut search = DeliverySearch::new(scope, filter);
        if let Some(after) = &page.after {
            search.add_position("<", after);
        }
        let end = if search.checked.is_empty() {
            None
        } else {
            let unexamined = self.first_unexamined_delivery(&search).await?;
            unexamined.map(|unexamined| SearchEnd::at(unexamined, page.after.as_ref()))
        };
        if let Some(end) = &end {
            search.add_position(">=", &end.examined_to);
        }
        let limit = search.bind(page.limit.saturating_add(1));
        let condition = search.whole_condition();
        let select = search.conditions.statement(format!(
            "SELECT {DELIVERY_COLUMNS} FROM webhook_delivery WHERE {condition} \
             {NEWEST_FIRST} LIMIT {limit}"
        ));
        let cursor = |listed: &ListedDelivery| {
            Cursor::new(listed.delivery.created_at, listed.delivery.id.as_str())
        };
        let found = self.read_cursor_page(select, page, read_listed_delivery, cursor);
        Ok(continue_at(found.await?, end))
    }

    /// Returns the position of the first delivery that a search does not examine, or `None` if it
    /// examines all.
    async fn first_unexamined_delivery(
        &self,
        search: &DeliverySearch,
    ) -> Result<Option<Cursor>, DatabaseError> {
        let indexed = search.indexed.join(" AND ");
        let rows = format!("SELECT created_at, id FROM webhook_delivery WHERE {indexed}");
        // The arguments of the conditions to check are bound too, although the text omits them.
        let conditions = search.conditions.clone();
        let select = conditions.statement(first_unexamined(&rows, NEWEST_FIRST));
        self.read_optional(select, read_position).await
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
        let checked = match search.checked.is_empty() {
            true => "1 = 1".to_owned(),
            false => search.checked.join(" AND "),
        };
        let select = search.conditions.statement(format!(
            "SELECT COUNT(*) AS examined, COUNT(CASE WHEN {checked} THEN 1 END) AS matching \
             FROM (SELECT organization, mode, status, event_type FROM webhook_delivery \
             WHERE {indexed} AND created_at <= {until} LIMIT {limit}) AS examined"
        ));
        let count = self.read_optional(select, |row| {
            Ok(ScopeDeliveryCount {
                examined: row.count("examined")?,
                matching: row.count("matching")?,
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
            search.add_position(">", after);
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
    pub async fn outbox_event(
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
        waiting: row.count("waiting")?,
        failed: row.count("failed")?,
        last_success_at: row.timestamp_opt("last_success_at")?,
    })
}

const DELIVERY_COLUMNS: &str = "organization, mode, id, subscription_id, event_id, event_type, \
    status, generation, attempt_count, next_attempt_at, created_at, pending_since, published_at, \
    delivered_at, failed_at, failure_reason";

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
    /// Conditions that an index answers in the order of the list.
    indexed: Vec<String>,
    /// Conditions that are checked on the deliveries that the index finds.
    checked: Vec<String>,
}

impl DeliverySearch {
    fn new(scope: &TenantScope, filter: &DeliveryScopeFilter) -> Self {
        let mut search = match &filter.subscription {
            Some(subscription) => Self::of_subscription(scope, subscription, filter.status),
            None => Self::of_scope(scope, filter.status),
        };
        if let Some(event_type) = filter.event_type {
            let event_type = search.bind(event_type.as_str());
            search.checked.push(format!("event_type = {event_type}"));
        }
        for (at, operator) in [(filter.from, ">="), (filter.to, "<=")] {
            if let Some(at) = at {
                let at = search.bind(at);
                search.indexed.push(format!("created_at {operator} {at}"));
            }
        }
        search
    }

    /// Searches the deliveries to a subscription, which are none if it is not in the scope.
    fn of_subscription(
        scope: &TenantScope,
        subscription: &SubscriptionId,
        status: Option<DeliveryStatus>,
    ) -> Self {
        let mut conditions = ConditionBuilder::for_scope(scope);
        let in_scope = conditions.text();
        let (id, mode) = (
            conditions.bind(subscription.as_str()),
            conditions.bind(scope.mode),
        );
        let mut indexed = vec![format!(
            "subscription_id = {id} AND mode = {mode} AND organization = \
             (SELECT organization FROM webhook_subscription \
              WHERE id = {id} AND {in_scope} LIMIT 1)"
        )];
        if let Some(status) = status {
            let status = conditions.bind(status.as_str());
            indexed.push(format!("status = {status}"));
        }
        Self {
            conditions,
            indexed,
            checked: Vec::new(),
        }
    }

    fn of_scope(scope: &TenantScope, status: Option<DeliveryStatus>) -> Self {
        let mut search = Self {
            conditions: ConditionBuilder::default(),
            indexed: Vec::new(),
            checked: Vec::new(),
        };
        match status {
            // The index of waiting deliveries has those of all organizations.
            Some(DeliveryStatus::Pending | DeliveryStatus::Published) => {
                let waiting = "next_attempt_at IS NOT NULL".to_owned();
                search.indexed.push(waiting);
                let mode = search.bind(scope.mode);
                search.checked.push(format!("mode || '' = {mode}"));
                search.check_organizations(scope);
            }
            Some(DeliveryStatus::Failed | DeliveryStatus::Delivered) | None => {
                search.add_list_of_scope(scope);
            }
        }
        match status {
            // The literal lets the databases use the index of failed deliveries.
            Some(DeliveryStatus::Failed) => search.indexed.push("status = 'FAILED'".to_owned()),
            Some(status) => {
                let status = search.bind(status.as_str());
                search.checked.push(format!("status = {status}"));
            }
            None => {}
        }
        search
    }

    /// Adds the conditions of a scope. They compare expressions, as the indexes of the lists do.
    fn add_list_of_scope(&mut self, scope: &TenantScope) {
        let mode = self.bind(scope.mode);
        self.indexed.push(format!("'' || mode = {mode}"));
        match scope.organizations.as_deref() {
            Some([]) => self.indexed.push("1 = 0".to_owned()),
            Some([organization]) => {
                let organization = self.bind(organization.as_str());
                let condition = format!("'' || organization = {organization}");
                self.indexed.push(condition);
            }
            // No index has the order across several organizations.
            None | Some(_) => self.check_organizations(scope),
        }
    }

    /// Adds the organizations of a scope as a condition to check. No index has its expression, so
    /// that none but the index of the list is used.
    fn check_organizations(&mut self, scope: &TenantScope) {
        if let Some(organizations) = &scope.organizations {
            let list = self.bind(text_array(organizations.iter().map(String::as_str)));
            let condition = format!("organization || '' {{in {list}}}");
            self.checked.push(condition);
        }
    }

    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.conditions.bind(value)
    }

    /// Adds the condition of the deliveries on one side of a position.
    fn add_position(&mut self, operator: &str, position: &Cursor) {
        let (at, id) = (self.bind(position.at), self.bind(position.id.as_str()));
        let condition = format!("(created_at, id) {operator} ({at}, {id})");
        self.indexed.push(condition);
    }

    fn whole_condition(&self) -> String {
        [self.indexed.as_slice(), &self.checked]
            .concat()
            .join(" AND ")
    }
}
