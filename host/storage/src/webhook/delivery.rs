//! Deliveries for their owners: created with their event, listed, and replayed.

use crate::condition::ConditionBuilder;
use crate::event::OutboxEvent;
use crate::statement::{Row, statement};
use crate::wakeup::WorkQueue;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::page::{Page, PageRequest};
use host_domain::time::Timestamp;
use host_domain::webhook::list::DeliveryFilter;
use host_domain::webhook::{Delivery, DeliveryFailureReason, DeliveryState, DeliveryStatus};

/// A delivery with its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDelivery {
    pub tenant: Tenant,
    pub delivery: Delivery,
    /// The body, byte for byte as it is signed.
    pub payload: String,
}

impl UnitOfWork {
    /// Inserts a delivery of an event for every subscription that matches it, whether or not the
    /// subscription is ACTIVE.
    pub(crate) fn insert_deliveries_for_event(
        &mut self,
        tenant: &Tenant,
        event: &OutboxEvent,
    ) -> &mut Self {
        self.insert_deliveries(
            tenant,
            event,
            "s.product = $7 AND s.deleted_at IS NULL AND EXISTS \
               (SELECT 1 FROM webhook_subscription_event_type AS t \
                WHERE t.organization = s.organization AND t.mode = s.mode \
                AND t.subscription_id = s.id AND t.event_type IN ($6, '*'))",
            event.product.as_str(),
        )
    }

    /// Stores an event and its delivery to one subscription only. Fails with
    /// [`Conflict::EventExists`] if the event exists. No delivery is inserted if the subscription
    /// no longer exists.
    pub fn publish_to_subscription(
        &mut self,
        tenant: &Tenant,
        event: &OutboxEvent,
        subscription: &SubscriptionId,
    ) -> &mut Self {
        self.insert_outbox_event(tenant, event);
        self.insert_deliveries(
            tenant,
            event,
            "s.id = $7 AND s.deleted_at IS NULL",
            subscription.as_str(),
        )
    }

    /// Inserts deliveries for the subscriptions that meet the condition `which`. Its parameters are
    /// the event's type, `$6`, and `argument`, `$7`.
    fn insert_deliveries(
        &mut self,
        tenant: &Tenant,
        event: &OutboxEvent,
        which: &str,
        argument: &str,
    ) -> &mut Self {
        let (_, id) = event.id.as_str().split_once('_').unwrap_or_default();
        let insert = statement!(
            format!(
                "INSERT INTO webhook_delivery (organization, mode, id, subscription_id, \
                 event_id, status, generation, attempt_count, next_attempt_at, created_at, \
                 pending_since, event_type) \
                 SELECT s.organization, s.mode, $3 || substr(s.id, {}), s.id, $4, 'PENDING', \
                 0, 0, $5, $5, $5, $6 FROM webhook_subscription AS s \
                 WHERE s.organization = $1 AND s.mode = $2 AND {which} ON CONFLICT DO NOTHING",
                SubscriptionId::PREFIX.len() + 1
            ),
            tenant,
            format!("{}{id}-", DeliveryId::PREFIX),
            event.id.as_str(),
            event.created_at,
            event.event_type.as_str(),
            argument,
        );
        self.wakeups.insert(WorkQueue::Deliveries);
        self.add(insert)
    }

    /// Stores a delivery after [`Delivery::replay`]. Fails with [`Conflict::DeliveryChanged`]
    /// unless the stored delivery has the status `read_status` and the previous generation. The
    /// result of an attempt in progress is then discarded.
    pub fn replay_delivery(
        &mut self,
        tenant: &Tenant,
        delivery: &Delivery,
        read_status: DeliveryStatus,
    ) -> &mut Self {
        self.wakeups.insert(WorkQueue::Deliveries);
        self.update_delivery(tenant, delivery, delivery.generation - 1, read_status)
    }

    /// Stores that a delivery will not be sent any more. Fails with [`Conflict::DeliveryChanged`]
    /// if it was changed since it was read.
    pub fn expire_delivery(
        &mut self,
        tenant: &Tenant,
        delivery: &Delivery,
        read_status: DeliveryStatus,
    ) -> &mut Self {
        self.update_delivery(tenant, delivery, delivery.generation, read_status);
        self.update_watch_event_statuses(std::iter::once((tenant, delivery)))
    }

    fn update_delivery(
        &mut self,
        tenant: &Tenant,
        delivery: &Delivery,
        read_generation: i64,
        read_status: DeliveryStatus,
    ) -> &mut Self {
        let failure = delivery.failure();
        let update = statement!(
            "UPDATE webhook_delivery SET status = $6, generation = $7, attempt_count = $8, \
             next_attempt_at = $9, pending_since = $10, published_at = $11, delivered_at = $12, \
             failed_at = $13, failure_reason = $14, lease_token = NULL, lease_expires_at = NULL \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND generation = $4 \
             AND status = $5",
            tenant,
            delivery.id.as_str(),
            read_generation,
            read_status.as_str(),
            delivery.status().as_str(),
            delivery.generation,
            delivery.attempts,
            delivery.next_at(),
            delivery.pending_since,
            delivery.published_at(),
            delivery.delivered_at(),
            failure.map(|(at, _)| at),
            failure.map(|(_, reason)| reason.as_str()),
        );
        self.add_expecting_one(update, Conflict::DeliveryChanged)
    }
}

impl Store {
    pub async fn delivery(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        id: &DeliveryId,
    ) -> Result<Option<StoredDelivery>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM {WITH_EVENT} WHERE d.organization = $1 AND d.mode = $2 \
                 AND d.id = $3 AND d.subscription_id = $4"
            ),
            tenant,
            id.as_str(),
            subscription.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns a page of the deliveries to a subscription, newest first.
    pub async fn deliveries(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        filter: DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<StoredDelivery>, DatabaseError> {
        let mut conditions = conditions(tenant, subscription, filter);
        let (condition, limit) = (conditions.text(), conditions.limit(page));
        let newest_first = "ORDER BY d.created_at DESC, d.id DESC";
        // The ids of the page are selected first, because an index contains them: skipped
        // deliveries are not read.
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM {WITH_EVENT} JOIN \
             (SELECT d.organization, d.mode, d.id FROM webhook_delivery AS d \
              WHERE {condition} {newest_first} {limit}) AS page \
             ON page.organization = d.organization AND page.mode = d.mode AND page.id = d.id \
             {newest_first}"
        ));
        self.read_page(select, page, read).await
    }

    /// Returns the number of matching deliveries on all pages.
    pub async fn count_deliveries(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        filter: DeliveryFilter,
    ) -> Result<u64, DatabaseError> {
        let conditions = conditions(tenant, subscription, filter);
        self.read_count(conditions.count("webhook_delivery AS d"))
            .await
    }

    /// Counts the deliveries to a subscription that failed between `since` and `until`, both
    /// inclusive.
    pub async fn count_failed_deliveries(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<u64, DatabaseError> {
        let conditions = failed_between(tenant, subscription, since, until);
        self.read_count(conditions.count("webhook_delivery AS d"))
            .await
    }

    /// Returns at most `limit` deliveries to a subscription that failed between `since` and
    /// `until`, both inclusive, in any order.
    pub async fn failed_deliveries(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        since: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, DatabaseError> {
        let mut conditions = failed_between(tenant, subscription, since, until);
        let (condition, limit) = (conditions.text(), conditions.bind(limit));
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM {WITH_EVENT} WHERE {condition} LIMIT {limit}"
        ));
        self.read_all(select, read).await
    }
}

const COLUMNS: &str = "d.organization, d.mode, d.id, d.subscription_id, d.event_id, d.status, \
    d.generation, d.attempt_count, d.next_attempt_at, d.created_at, d.pending_since, \
    d.published_at, d.delivered_at, d.failed_at, d.failure_reason, o.payload";

const WITH_EVENT: &str = "webhook_delivery AS d JOIN outbox AS o \
    ON o.organization = d.organization AND o.mode = d.mode AND o.id = d.event_id";

fn conditions(
    tenant: &Tenant,
    subscription: &SubscriptionId,
    filter: DeliveryFilter,
) -> ConditionBuilder {
    let mut conditions = ConditionBuilder::for_tenant("d.", tenant);
    conditions.add("d.subscription_id =", subscription.as_str());
    conditions.add_some("d.status =", filter.status.map(DeliveryStatus::as_str));
    conditions
}

/// Builds the conditions of deliveries that failed between two times, both inclusive.
fn failed_between(
    tenant: &Tenant,
    subscription: &SubscriptionId,
    since: Timestamp,
    until: Timestamp,
) -> ConditionBuilder {
    let filter = DeliveryFilter {
        status: Some(DeliveryStatus::Failed),
    };
    let mut conditions = conditions(tenant, subscription, filter);
    conditions.add("d.failed_at >=", since);
    conditions.add("d.failed_at <=", until);
    conditions
}

pub(crate) fn read(row: &Row) -> Result<StoredDelivery, DatabaseError> {
    Ok(StoredDelivery {
        tenant: row.tenant()?,
        delivery: read_delivery(row)?,
        payload: row.get("payload")?,
    })
}

pub(crate) fn read_delivery(row: &Row) -> Result<Delivery, DatabaseError> {
    Ok(Delivery {
        id: row.parsed("id", DeliveryId::parse)?,
        subscription: row.parsed("subscription_id", SubscriptionId::parse)?,
        event: row.parsed("event_id", EventId::parse)?,
        state: read_state(row)?,
        generation: row.get("generation")?,
        attempts: row.get("attempt_count")?,
        created_at: row.timestamp("created_at")?,
        pending_since: row.timestamp("pending_since")?,
    })
}

fn read_state(row: &Row) -> Result<DeliveryState, DatabaseError> {
    Ok(match row.enum_value("status", DeliveryStatus::parse)? {
        DeliveryStatus::Pending => DeliveryState::Pending,
        DeliveryStatus::Published => DeliveryState::Published {
            at: row.timestamp("published_at")?,
            next_at: row.timestamp("next_attempt_at")?,
        },
        DeliveryStatus::Delivered => DeliveryState::Delivered {
            published_at: row.timestamp("published_at")?,
            at: row.timestamp("delivered_at")?,
        },
        DeliveryStatus::Failed => DeliveryState::Failed {
            published_at: row.timestamp_opt("published_at")?,
            at: row.timestamp("failed_at")?,
            reason: row.enum_value("failure_reason", DeliveryFailureReason::parse)?,
        },
    })
}
