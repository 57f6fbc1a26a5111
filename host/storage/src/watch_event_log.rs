//! The event log of watches and the endpoint that receives the events.
//!
//! Readers continue after the last event they saw, so no event may appear before it later. Sequence
//! numbers are therefore assigned serially per tenant: the transaction that advances the head row
//! locks it until commit. Replacing the endpoint locks the same row, so each event is recorded for
//! the old endpoint or the new one, never for neither.

use crate::event::{OutboxEvent, read_outbox};
use crate::statement::{Row, statement};
use crate::wakeup::WorkQueue;
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::event::Product;
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::webhook::{Delivery, Subscription, WatchEventStatus};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchLogEntry {
    pub event: OutboxEvent,
    pub status: WatchEventStatus,
}

impl UnitOfWork {
    /// Assigns an event the next sequence number of its tenant's log. Other units of work that
    /// append to the log wait until this one is committed.
    pub(crate) fn append_watch_event(&mut self, tenant: &Tenant, event: &OutboxEvent) -> &mut Self {
        self.advance_log_head(tenant, 1);
        self.add(statement!(
            "INSERT INTO watch_event_log (organization, mode, sequence, event_id, status, \
             created_at) \
             SELECT head.organization, head.mode, head.last_sequence, $3, $4, $5 \
             FROM watch_event_log_head AS head WHERE head.organization = $1 AND head.mode = $2",
            tenant,
            event.id.as_str(),
            WatchEventStatus::Pending.as_str(),
            event.created_at,
        ))
    }

    /// Advances the last sequence number of a tenant's log by `by` and locks it until the commit. A
    /// statement that depends on the lock must name the table of this row. It is then not combined
    /// with this statement, and sees everything that was committed before the lock was acquired.
    fn advance_log_head(&mut self, tenant: &Tenant, by: i64) -> &mut Self {
        self.add(statement!(
            "INSERT INTO watch_event_log_head (organization, mode, last_sequence) \
             VALUES ($1, $2, $3) ON CONFLICT (organization, mode) \
             DO UPDATE SET last_sequence = watch_event_log_head.last_sequence + $3",
            tenant,
            by,
        ))
    }

    /// Stores the endpoint for the events of a tenant's watches, replacing `replaced`; there is
    /// only one at a time. Pending events that were created at or after `since` are sent to it.
    /// Fails with [`crate::Conflict::SubscriptionNotFound`] if `replaced` does not exist, and with
    /// [`crate::Conflict::SubscriptionExists`] if another endpoint exists.
    pub fn replace_watch_endpoint(
        &mut self,
        endpoint: &Subscription,
        sealed_secret: &[u8],
        replaced: Option<&SubscriptionId>,
        since: Timestamp,
    ) -> &mut Self {
        let tenant = &endpoint.tenant;
        self.advance_log_head(tenant, 0);
        if let Some(replaced) = replaced {
            self.delete_subscription(tenant, Product::Watch, replaced);
        }
        self.insert_subscription(endpoint, sealed_secret);
        self.wakeups.insert(WorkQueue::Deliveries);
        let (_, id) = endpoint.id.as_str().split_once('_').unwrap_or_default();
        // The deliveries are inserted as if the endpoint had existed when the events were created.
        // The statement names the head table so that it runs alone, after the lock is acquired.
        self.add(statement!(
            format!(
                "INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, \
                 status, generation, attempt_count, next_attempt_at, created_at, pending_since, \
                 event_type) \
                 SELECT l.organization, l.mode, '{}' || substr(l.event_id, {}) || '-' || $4, $3, \
                 l.event_id, 'PENDING', 0, 0, l.created_at, l.created_at, l.created_at, \
                 o.event_type \
                 FROM watch_event_log AS l JOIN watch_event_log_head AS head \
                   ON head.organization = l.organization AND head.mode = l.mode \
                 JOIN outbox AS o \
                   ON o.organization = l.organization AND o.mode = l.mode AND o.id = l.event_id \
                 WHERE l.organization = $1 AND l.mode = $2 AND l.status = 'pending' \
                   AND l.created_at >= $5 ON CONFLICT DO NOTHING",
                DeliveryId::PREFIX,
                EventId::PREFIX.len() + 1,
            ),
            tenant,
            endpoint.id.as_str(),
            id,
            since,
        ))
    }

    /// Updates the log's status of the events of ended deliveries, if the stored deliveries have
    /// the same status. Events of other products are in no log.
    pub(crate) fn update_watch_event_statuses<'a>(
        &mut self,
        deliveries: impl Iterator<Item = (&'a Tenant, &'a Delivery)>,
    ) -> &mut Self {
        let ended: Vec<_> = deliveries.filter_map(outcome_item).collect();
        if ended.is_empty() {
            return self;
        }
        let ended = self.encode_json(&ended);
        // An event may have been sent to several endpoints, one after the other. A failure counts
        // only for the current endpoint; a success at any endpoint is final.
        self.add(statement!(
            "UPDATE watch_event_log SET status = item.value ->> 'event_status' FROM {each $1} \
             WHERE watch_event_log.organization = item.value ->> 'organization' \
               AND watch_event_log.mode = item.value ->> 'mode' \
               AND watch_event_log.event_id = item.value ->> 'event' \
               AND watch_event_log.status <> 'delivered' \
               AND EXISTS (SELECT 1 FROM webhook_delivery AS d JOIN webhook_subscription AS s \
                   ON s.organization = d.organization AND s.mode = d.mode \
                   AND s.id = d.subscription_id \
                 WHERE d.organization = item.value ->> 'organization' \
                   AND d.mode = item.value ->> 'mode' AND d.id = item.value ->> 'id' \
                   AND d.status = item.value ->> 'status' \
                   AND (d.status = 'DELIVERED' OR s.deleted_at IS NULL))",
            ended,
        ))
    }
}

impl Store {
    /// Returns at most `limit` entries of a tenant's log, oldest first, starting after the event
    /// `after` or with the first entry. Returns `None` if the log does not contain `after`.
    pub async fn watch_log_entries(
        &self,
        tenant: &Tenant,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<WatchLogEntry>>, DatabaseError> {
        let mut place = 0;
        if let Some(after) = after {
            let select = statement!(
                "SELECT sequence FROM watch_event_log \
                 WHERE organization = $1 AND mode = $2 AND event_id = $3",
                tenant,
                after.as_str(),
            );
            let sequence = self.read_optional(select, |row| row.get::<i64>("sequence"));
            match sequence.await? {
                Some(sequence) => place = sequence,
                None => return Ok(None),
            }
        }
        let select = statement!(
            "SELECT l.status, o.id, o.event_type, o.product, o.booking_id, o.payload, o.created_at \
             FROM watch_event_log AS l JOIN outbox AS o \
               ON o.organization = l.organization AND o.mode = l.mode AND o.id = l.event_id \
             WHERE l.organization = $1 AND l.mode = $2 AND l.sequence > $3 \
             ORDER BY l.sequence LIMIT $4",
            tenant,
            place,
            limit,
        );
        self.read_all(select, read).await.map(Some)
    }
}

fn outcome_item((tenant, delivery): (&Tenant, &Delivery)) -> Option<serde_json::Value> {
    let status = delivery.status();
    let event_status = WatchEventStatus::from(status);
    (event_status != WatchEventStatus::Pending).then(|| {
        json!({
            "organization": tenant.organization,
            "mode": tenant.mode.as_str(),
            "id": delivery.id.as_str(),
            "event": delivery.event.as_str(),
            "status": status.as_str(),
            "event_status": event_status.as_str(),
        })
    })
}

fn read(row: &Row) -> Result<WatchLogEntry, DatabaseError> {
    Ok(WatchLogEntry {
        event: read_outbox(row)?,
        status: row.enum_value("status", WatchEventStatus::parse)?,
    })
}
