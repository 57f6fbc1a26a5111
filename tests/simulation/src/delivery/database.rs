//! Database rows of deliveries with the semantics of `host/storage/src/webhook` and of the database
//! clock.

use host_application::webhook::maintenance::PENDING_RETENTION_S;
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::time::Timestamp;
use host_domain::webhook::{
    Delivery, DeliveryAttempt, DeliveryEvent, DeliveryState, DeliveryStatus, WatchEventStatus,
};
use host_domain::webhook::{Subscription, SubscriptionEvent, SubscriptionStatus};
use host_storage::{DeliveryRelease, StoredDelivery};
use secrecy::SecretString;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Database {
    pub(super) subscribers: Vec<Subscriber>,
    pub(super) rows: Vec<Row>,
    /// Creation time and delivery status of each event.
    pub(super) log: BTreeMap<EventId, (Timestamp, WatchEventStatus)>,
}

pub(super) struct Subscriber {
    pub(super) subscription: Subscription,
    pub(super) current: SecretString,
    pub(super) previous: Option<SecretString>,
    pub(super) deleted_at: Option<Timestamp>,
}

impl Subscriber {
    fn is_active(&self) -> bool {
        self.deleted_at.is_none() && self.subscription.status == SubscriptionStatus::Active
    }
}

pub(super) struct Row {
    pub(super) stored: StoredDelivery,
    pub(super) lease: Option<(String, Timestamp)>,
    pub(super) attempts: Vec<DeliveryAttempt>,
}

impl Row {
    /// Returns the time from which the delivery can be claimed, or `None` if it can only become due
    /// by a change.
    fn claimable_at(&self) -> Option<Timestamp> {
        let next_at = self.stored.delivery.next_at()?;
        let lease = self.lease.as_ref();
        Some(lease.map_or(next_at, |(_, until)| next_at.max(*until)))
    }

    fn is_held_at(&self, now: Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|(_, until)| *until > now)
    }
}

impl Database {
    pub(super) fn subscriber(&self, id: &SubscriptionId) -> Option<&Subscriber> {
        let mut known = self.subscribers.iter();
        known.find(|one| one.subscription.id == *id && one.deleted_at.is_none())
    }

    pub(super) fn subscriber_mut(&mut self, id: &SubscriptionId) -> Option<&mut Subscriber> {
        let mut known = self.subscribers.iter_mut();
        known.find(|one| one.subscription.id == *id && one.deleted_at.is_none())
    }

    pub(super) fn row(&self, id: &DeliveryId) -> Option<&Row> {
        self.rows.iter().find(|row| row.stored.delivery.id == *id)
    }

    fn row_mut(&mut self, id: &DeliveryId) -> Option<&mut Row> {
        let mut rows = self.rows.iter_mut();
        rows.find(|row| row.stored.delivery.id == *id)
    }

    fn subscriber_of(&self, row: &Row) -> Option<&Subscriber> {
        self.subscriber(&row.stored.delivery.subscription)
    }

    /// Mirrors `UnitOfWork::insert_deliveries` for one subscription.
    pub(super) fn insert_delivery(
        &mut self,
        event: &EventId,
        to: &Subscription,
        created_at: Timestamp,
    ) -> DeliveryId {
        let id = Delivery::derive_id(event, &to.id).unwrap();
        let delivery = Delivery {
            id: id.clone(),
            subscription: to.id.clone(),
            event: event.clone(),
            state: DeliveryState::Pending,
            generation: 0,
            attempts: 0,
            created_at,
            pending_since: created_at,
        };
        if self.row(&delivery.id).is_none() {
            self.rows.push(Row {
                stored: StoredDelivery {
                    tenant: to.tenant.clone(),
                    delivery,
                    payload: format!(r#"{{"id":"{}"}}"#, event.as_str()),
                },
                lease: None,
                attempts: Vec::new(),
            });
        }
        id
    }

    /// Mirrors `UnitOfWork::replace_watch_endpoint`: creates the deliveries as if the endpoint had
    /// existed when the events were created.
    pub(super) fn insert_pending_deliveries(&mut self, endpoint: &Subscription, since: Timestamp) {
        for (event, (at, status)) in self.log.clone() {
            if status == WatchEventStatus::Pending && at >= since {
                self.insert_delivery(&event, endpoint, at);
            }
        }
    }

    /// Mirrors `UnitOfWork::update_watch_event_statuses`.
    fn update_event_status(&mut self, delivery: &Delivery) {
        let counts = delivery.status() == DeliveryStatus::Delivered
            || self.subscriber(&delivery.subscription).is_some();
        if let Some((_, status)) = self.log.get_mut(&delivery.event)
            && *status != WatchEventStatus::Delivered
            && WatchEventStatus::from(delivery.status()) != WatchEventStatus::Pending
            && counts
        {
            *status = WatchEventStatus::from(delivery.status());
        }
    }

    /// Returns the time from which a poll finds a due delivery.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let is_sendable = |row: &&Row| self.subscriber_of(row).is_some_and(Subscriber::is_active);
        let sendable = self.rows.iter().filter(is_sendable);
        sendable.filter_map(Row::claimable_at).min()
    }

    /// Mirrors `Store::due_subscriptions`: returns subscriptions with the due time of their first
    /// unleased delivery.
    pub(super) fn due_subscriptions(
        &self,
        excluded: &[SubscriptionId],
        now: Timestamp,
    ) -> Vec<(&Subscriber, Timestamp)> {
        let active = self.subscribers.iter().filter(|one| one.is_active());
        let active = active.filter(|one| !excluded.contains(&one.subscription.id));
        active
            .filter_map(|one| {
                let rows = self.rows.iter();
                let own = rows.filter(|row| {
                    row.stored.delivery.subscription == one.subscription.id && !row.is_held_at(now)
                });
                let due_at = own.filter_map(|row| row.stored.delivery.next_at()).min()?;
                Some((one, due_at))
            })
            .collect()
    }

    /// Mirrors `Store::claim_deliveries`. `now` is the database's time, `process_now` that of the
    /// claiming process.
    pub(super) fn claim_deliveries(
        &mut self,
        from: &SubscriptionId,
        capacity: u32,
        token: &str,
        (process_now, now): (Timestamp, Timestamp),
        lease_ms: i64,
    ) -> Vec<StoredDelivery> {
        if !self.subscriber(from).is_some_and(Subscriber::is_active) {
            return Vec::new();
        }
        let due = self.rows.iter_mut().filter(|row| {
            let delivery = &row.stored.delivery;
            delivery.subscription == *from
                && delivery.next_at().is_some_and(|at| at <= process_now)
                && !row.is_held_at(now)
        });
        let mut due: Vec<&mut Row> = due.collect();
        due.sort_by_key(|row| row.stored.delivery.next_at());
        due.truncate(usize::try_from(capacity).unwrap());
        due.into_iter()
            .map(|row| {
                row.lease = Some((token.to_owned(), now.plus_ms(lease_ms)));
                let claimed = row.stored.delivery.clone();
                if let Some(claimed) = claimed.apply(DeliveryEvent::Claimed, process_now) {
                    row.stored.delivery = claimed;
                }
                row.stored.clone()
            })
            .collect()
    }

    /// Mirrors `UnitOfWork::release_deliveries`. Returns `false` if the lease is lost.
    pub(super) fn release_delivery(&mut self, release: &DeliveryRelease) -> bool {
        let Some(row) = self.row_mut(&release.delivery.id) else {
            return false;
        };
        let is_held = row.lease.as_ref().map(|(token, _)| token) == Some(&release.token)
            && row.stored.delivery.generation == release.delivery.generation;
        if is_held {
            row.stored.delivery = release.delivery.clone();
            row.lease = None;
            row.attempts.extend(release.attempt.clone());
            self.update_event_status(&release.delivery);
        }
        is_held
    }

    /// Mirrors `UnitOfWork::clear_failing_since`.
    pub(super) fn clear_failing_since(&mut self, id: &SubscriptionId, now: Timestamp) {
        if let Some(one) = self.subscriber_mut(id) {
            let succeeded = SubscriptionEvent::DeliverySucceeded;
            if let Some(noted) = one.subscription.clone().apply(succeeded, now) {
                one.subscription = noted;
            }
        }
    }

    /// Mirrors `UnitOfWork::replay_delivery`.
    pub(super) fn replay_delivery(&mut self, replayed: StoredDelivery) {
        if let Some(row) = self.row_mut(&replayed.delivery.id) {
            row.stored = replayed;
            row.lease = None;
            row.attempts.clear();
        }
    }

    /// Mirrors `Store::stalled_deliveries`: returns deliveries that wait for an inactive
    /// subscription, with the time at which they expire.
    pub(super) fn stalled_deliveries(&self) -> impl Iterator<Item = (Timestamp, &Delivery)> {
        let waiting = self.rows.iter().filter(|row| {
            let subscriber = self.subscriber_of(row);
            row.stored.delivery.next_at().is_some()
                && subscriber.is_some_and(|one| !one.is_active())
        });
        waiting.map(|row| {
            let delivery = &row.stored.delivery;
            let waits_since = delivery.created_at.max(delivery.pending_since);
            (waits_since.plus_s(PENDING_RETENTION_S), delivery)
        })
    }

    /// Mirrors `UnitOfWork::expire_delivery`.
    pub(super) fn expire_delivery(&mut self, expired: Delivery, read_status: DeliveryStatus) {
        if let Some(row) = self.row_mut(&expired.id)
            && row.stored.delivery.status() == read_status
            && row.stored.delivery.generation == expired.generation
        {
            row.stored.delivery = expired.clone();
            row.lease = None;
            self.update_event_status(&expired);
        }
    }

    /// Mirrors `Store::purge_deleted_subscriptions`.
    pub(super) fn purge_deleted_subscriptions(&mut self, deleted_before: Timestamp) {
        let is_purged = |one: &Subscriber| one.deleted_at.is_some_and(|at| at < deleted_before);
        for one in self.subscribers.iter().filter(|one| is_purged(one)) {
            let id = &one.subscription.id;
            let rows = &mut self.rows;
            rows.retain(|row| row.stored.delivery.subscription != *id);
        }
        self.subscribers.retain(|one| !is_purged(one));
    }
}
