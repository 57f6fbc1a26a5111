//! Claiming and releasing of deliveries by senders. A sender leases the deliveries that it claims:
//! it has a token, valid until a time of the database's clock. The result of an attempt is stored
//! only while the sender's lease is valid. A late sender can therefore not change a delivery that
//! was replayed or taken over.

use super::delivery::{self, StoredDelivery};
use super::subscription;
use super::subscription::SealedSecrets;
use crate::statement::{statement, text_array};
use crate::wakeup::WorkQueue;
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::webhook::{Delivery, DeliveryAttempt, Subscription};
use serde_json::json;

/// An ACTIVE subscription that has deliveries to send, now or later.
#[derive(Debug, Clone)]
pub struct DueSubscription {
    pub subscription: Subscription,
    pub secrets: SealedSecrets,
    /// Time at which its first delivery without a lease is due.
    pub due_at: Timestamp,
}

#[derive(Debug, Clone, Copy)]
pub struct DeliveryClaim<'a> {
    /// The subscriptions, each with the maximum number of deliveries to claim.
    pub capacities: &'a [(&'a SubscriptionId, u32)],
    /// The current time. Deliveries due by then are claimed.
    pub now: Timestamp,
    pub lease_ms: i64,
    /// The lease token, unique to the claim.
    pub token: &'a str,
}

/// A delivery after an attempt.
#[derive(Debug, Clone)]
pub struct DeliveryRelease {
    pub token: String,
    pub tenant: Tenant,
    pub product: Product,
    /// The delivery's new state; unchanged if no attempt was made.
    pub delivery: Delivery,
    /// The attempt; `None` if the delivery is released without one.
    pub attempt: Option<DeliveryAttempt>,
}

impl UnitOfWork {
    /// Stores the results of attempts and releases the deliveries. For a delivery that the token no
    /// longer leases, nothing is stored.
    pub fn release_deliveries(&mut self, releases: &[DeliveryRelease]) -> &mut Self {
        let attempts: Vec<_> = releases.iter().filter_map(attempt_item).collect();
        if !attempts.is_empty() {
            let attempts = self.encode_json(&attempts);
            // Only attempts whose delivery is still leased by their token are inserted. The next
            // statement ends the lease, so this one must run before it.
            self.add(statement!(
                "INSERT INTO webhook_delivery_attempt (organization, mode, delivery_id, \
                 generation, attempt_number, request_headers, response_status, response_body, \
                 error, duration_ms, created_at) \
                 SELECT d.organization, d.mode, d.id, d.generation, \
                   CAST(item.value ->> 'number' AS BIGINT), item.value ->> 'request_headers', \
                   CAST(item.value ->> 'response_status' AS BIGINT), \
                   item.value ->> 'response_body', item.value ->> 'error', \
                   CAST(item.value ->> 'duration_ms' AS BIGINT), \
                   CAST(item.value ->> 'at' AS BIGINT) \
                 FROM {each $1} JOIN webhook_delivery AS d \
                   ON d.organization = item.value ->> 'organization' \
                   AND d.mode = item.value ->> 'mode' AND d.id = item.value ->> 'id' \
                 WHERE d.lease_token = item.value ->> 'token' \
                   AND d.generation = CAST(item.value ->> 'generation' AS BIGINT) \
                 ON CONFLICT DO NOTHING",
                attempts,
            ));
        }
        let updates: Vec<_> = releases.iter().map(update_item).collect();
        let updates = self.encode_json(&updates);
        // Deliveries that are released without an attempt are due at once.
        if releases.iter().any(|release| release.attempt.is_none()) {
            self.wakeups.insert(WorkQueue::Deliveries);
        }
        self.add(statement!(
            "UPDATE webhook_delivery SET status = item.value ->> 'status', \
               attempt_count = CAST(item.value ->> 'attempt_count' AS BIGINT), \
               next_attempt_at = CAST(item.value ->> 'next_attempt_at' AS BIGINT), \
               delivered_at = CAST(item.value ->> 'delivered_at' AS BIGINT), \
               failed_at = CAST(item.value ->> 'failed_at' AS BIGINT), \
               failure_reason = item.value ->> 'failure_reason', \
               lease_token = NULL, lease_expires_at = NULL \
             FROM {each $1} \
             WHERE webhook_delivery.organization = item.value ->> 'organization' \
               AND webhook_delivery.mode = item.value ->> 'mode' \
               AND webhook_delivery.id = item.value ->> 'id' \
               AND webhook_delivery.lease_token = item.value ->> 'token' \
               AND webhook_delivery.generation = CAST(item.value ->> 'generation' AS BIGINT)",
            updates,
        ));
        let of_watches = |release: &&DeliveryRelease| release.product == Product::Watch;
        let logged = releases.iter().filter(of_watches);
        self.update_watch_event_statuses(logged.map(|release| (&release.tenant, &release.delivery)))
    }

    /// Records that the endpoints of these subscriptions accepted a delivery and are therefore not
    /// failing, as in [`host_domain::webhook::SubscriptionEvent::DeliverySucceeded`].
    pub fn clear_failing_since(&mut self, subscriptions: &[&Subscription]) -> &mut Self {
        if subscriptions.is_empty() {
            return self;
        }
        let items = subscriptions.iter().map(|subscription| {
            json!({
                "organization": subscription.tenant.organization,
                "mode": subscription.tenant.mode.as_str(),
                "id": subscription.id.as_str(),
            })
        });
        let items = self.encode_json(&items.collect::<Vec<_>>());
        self.add(statement!(
            "UPDATE webhook_subscription \
             SET failing_since = NULL, version = webhook_subscription.version + 1 \
             FROM {each $1} \
             WHERE webhook_subscription.organization = item.value ->> 'organization' \
               AND webhook_subscription.mode = item.value ->> 'mode' \
               AND webhook_subscription.id = item.value ->> 'id' \
               AND webhook_subscription.failing_since IS NOT NULL \
               AND webhook_subscription.deleted_at IS NULL",
            items,
        ))
    }
}

impl Store {
    /// Returns at most `limit` ACTIVE subscriptions with deliveries that are not leased, longest
    /// due first. The subscriptions in `without` are excluded.
    pub async fn due_subscriptions(
        &self,
        without: &[&SubscriptionId],
        limit: u32,
    ) -> Result<Vec<DueSubscription>, DatabaseError> {
        // The subscriptions are found by skipping through the index of due deliveries. Each takes
        // one index step, however many deliveries wait for it.
        let select = statement!(
            format!(
                "WITH RECURSIVE busy(id) AS ( \
                   SELECT (SELECT first.subscription_id FROM webhook_delivery AS first \
                           WHERE first.next_attempt_at IS NOT NULL \
                           ORDER BY first.subscription_id LIMIT 1) \
                   UNION ALL \
                   SELECT (SELECT further.subscription_id FROM webhook_delivery AS further \
                           WHERE further.next_attempt_at IS NOT NULL \
                             AND further.subscription_id > busy.id \
                           ORDER BY further.subscription_id LIMIT 1) \
                   FROM busy WHERE busy.id IS NOT NULL), \
                 waiting AS ( \
                   SELECT {}, s.sealed_secret, s.sealed_previous_secret, \
                     (SELECT d.next_attempt_at FROM webhook_delivery AS d \
                      WHERE d.subscription_id = s.id AND d.next_attempt_at IS NOT NULL \
                        AND (d.lease_token IS NULL OR d.lease_expires_at <= {{now_ms}}) \
                      ORDER BY d.next_attempt_at LIMIT 1) AS due_at \
                   FROM busy JOIN webhook_subscription AS s ON s.id = busy.id \
                   WHERE s.status = 'ACTIVE' AND s.deleted_at IS NULL AND NOT (s.id {{in $2}})) \
                 SELECT * FROM waiting WHERE due_at IS NOT NULL ORDER BY due_at LIMIT $1",
                subscription::COLUMNS
            ),
            limit,
            text_array(without.iter().map(|id| id.as_str())),
        );
        self.read_all(select, |row| {
            Ok(DueSubscription {
                subscription: subscription::read(row)?,
                secrets: subscription::read_secrets(row)?,
                due_at: row.timestamp("due_at")?,
            })
        })
        .await
    }

    /// Claims due deliveries without a valid lease. No delivery is in two claims. PENDING
    /// deliveries become PUBLISHED, as in [`host_domain::webhook::DeliveryEvent::Claimed`].
    pub async fn claim_deliveries(
        &self,
        claim: DeliveryClaim<'_>,
    ) -> Result<Vec<StoredDelivery>, DatabaseError> {
        let mut write = UnitOfWork::new(claim.now);
        for (subscription, room) in claim.capacities {
            write.add_returning(statement!(
                "WITH due AS ( \
                   SELECT organization, mode, id FROM webhook_delivery \
                   WHERE subscription_id = $1 AND next_attempt_at <= $3 \
                     AND (lease_token IS NULL OR lease_expires_at <= {now_ms}) \
                     AND EXISTS (SELECT 1 FROM webhook_subscription AS s \
                                 WHERE s.id = $1 AND s.status = 'ACTIVE' AND s.deleted_at IS NULL) \
                   ORDER BY next_attempt_at LIMIT $2 {skip_locked}) \
                 UPDATE webhook_delivery SET status = 'PUBLISHED', \
                   published_at = COALESCE(published_at, $3), \
                   lease_token = $4, lease_expires_at = {now_ms} + $5 \
                 WHERE (organization, mode, id) IN (SELECT organization, mode, id FROM due) \
                 RETURNING organization, mode, id, subscription_id, event_id, status, generation, \
                   attempt_count, next_attempt_at, created_at, pending_since, published_at, \
                   delivered_at, failed_at, failure_reason, \
                   (SELECT o.payload FROM outbox AS o \
                    WHERE o.organization = webhook_delivery.organization \
                      AND o.mode = webhook_delivery.mode \
                      AND o.id = webhook_delivery.event_id) AS payload",
                subscription.as_str(),
                *room,
                claim.now,
                claim.token,
                claim.lease_ms,
            ));
        }
        let outcome = self.execute_unconditional(write).await?;
        let claimed = outcome.rows.iter().map(delivery::read);
        let mut claimed = claimed.collect::<Result<Vec<_>, _>>()?;
        claimed.sort_by_key(|one| (one.delivery.next_at(), one.delivery.created_at));
        Ok(claimed)
    }

    /// Returns the creation time of the oldest delivery that waits for an ACTIVE subscription.
    /// Returns `None` if none waits.
    pub async fn oldest_undelivered(&self) -> Result<Option<Timestamp>, DatabaseError> {
        let select = statement!(
            "SELECT d.created_at FROM webhook_delivery AS d \
             WHERE d.next_attempt_at IS NOT NULL AND EXISTS \
               (SELECT 1 FROM webhook_subscription AS s WHERE s.id = d.subscription_id \
                AND s.status = 'ACTIVE' AND s.deleted_at IS NULL) \
             ORDER BY d.created_at LIMIT 1"
        );
        self.read_optional(select, |row| row.timestamp("created_at"))
            .await
    }

    /// Returns at most `limit` deliveries, oldest first, that still wait because their subscription
    /// is not ACTIVE. They were created, and last replayed, before `before`.
    pub async fn stalled_deliveries(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, DatabaseError> {
        let select = statement!(
            "SELECT d.*, o.payload FROM webhook_delivery AS d JOIN outbox AS o \
               ON o.organization = d.organization AND o.mode = d.mode AND o.id = d.event_id \
             WHERE d.next_attempt_at IS NOT NULL AND d.created_at < $1 AND d.pending_since < $1 \
             AND EXISTS \
               (SELECT 1 FROM webhook_subscription AS s WHERE s.id = d.subscription_id \
                AND s.status <> 'ACTIVE' AND s.deleted_at IS NULL) \
             ORDER BY d.created_at LIMIT $2",
            before,
            limit,
        );
        self.read_all(select, delivery::read).await
    }

    /// Deletes deliveries of subscriptions that were deleted before `deleted_before`, at most
    /// `limit` for each subscription so that other writes do not wait long. Also deletes
    /// subscriptions without any deliveries left. Returns the number of deleted deliveries. Writes
    /// in progress when a subscription was deleted must have ended by `deleted_before`.
    pub async fn purge_deleted_subscriptions(
        &self,
        deleted_before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let mut deleted = 0;
        let select = statement!(
            "SELECT organization, mode, id FROM webhook_subscription \
             WHERE deleted_at IS NOT NULL AND deleted_at < $1 ORDER BY deleted_at LIMIT 100",
            deleted_before,
        );
        for row in self.fetch_all(select).await? {
            let (tenant, id) = (row.tenant()?, row.parsed("id", SubscriptionId::parse)?);
            deleted += self.delete_deliveries_of(&tenant, &id, limit).await?;
        }
        Ok(deleted)
    }

    async fn delete_deliveries_of(
        &self,
        tenant: &Tenant,
        id: &SubscriptionId,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        // All statements use one list of ids, so that they delete the same deliveries.
        let select = statement!(
            "SELECT id FROM webhook_delivery \
             WHERE organization = $1 AND mode = $2 AND subscription_id = $3 LIMIT $4",
            tenant,
            id.as_str(),
            limit,
        );
        let ids = self.read_all(select, |row| row.get::<String>("id")).await?;
        let mut write = UnitOfWork::new(Timestamp(0));
        if ids.is_empty() {
            write.add(statement!(
                "DELETE FROM webhook_subscription \
                 WHERE organization = $1 AND mode = $2 AND id = $3 AND deleted_at IS NOT NULL",
                tenant,
                id.as_str(),
            ));
        }
        for (table, key) in [
            ("webhook_delivery_attempt", "delivery_id"),
            ("webhook_delivery", "id"),
        ] {
            write.add(statement!(
                format!(
                    "DELETE FROM {table} WHERE organization = $1 AND mode = $2 AND {key} {{in $3}}"
                ),
                tenant,
                text_array(ids.iter().map(String::as_str)),
            ));
        }
        let outcome = self.execute_unconditional(write).await?;
        Ok(outcome.rows_affected)
    }
}

fn attempt_item(release: &DeliveryRelease) -> Option<serde_json::Value> {
    let attempt = release.attempt.as_ref()?;
    // PostgreSQL cannot store NUL characters in text.
    let body = attempt.response_body.as_deref();
    let body = body.map(|body| body.replace('\0', "\u{fffd}"));
    Some(json!({
        "organization": release.tenant.organization,
        "mode": release.tenant.mode.as_str(),
        "id": release.delivery.id.as_str(),
        "token": release.token,
        "generation": release.delivery.generation,
        "number": attempt.number,
        "request_headers": attempt.request_headers,
        "response_status": attempt.response_status,
        "response_body": body,
        "error": attempt.error,
        "duration_ms": attempt.duration_ms,
        "at": attempt.created_at.0,
    }))
}

fn update_item(release: &DeliveryRelease) -> serde_json::Value {
    let delivery = &release.delivery;
    let failure = delivery.failure();
    json!({
        "organization": release.tenant.organization,
        "mode": release.tenant.mode.as_str(),
        "id": delivery.id.as_str(),
        "token": release.token,
        "generation": delivery.generation,
        "status": delivery.status().as_str(),
        "attempt_count": delivery.attempts,
        "next_attempt_at": delivery.next_at().map(|at| at.0),
        "delivered_at": delivery.delivered_at().map(|at| at.0),
        "failed_at": failure.map(|(at, _)| at.0),
        "failure_reason": failure.map(|(_, reason)| reason.as_str()),
    })
}
