//! Clients of a delivery scenario, who create and change subscriptions.

use super::{DAY_MS, HOUR_MS, Simulation};
use anyhow::{Result, bail, ensure};
use host_application::webhook::error::WebhookError;
use host_domain::event::Product;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::time::Timestamp;
use host_domain::webhook::{DeliveryState, SubscriptionEvent};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientAction {
    Pause,
    Resume,
    Rotate,
    /// Changes the URL.
    Move,
    Delete,
    /// Registers another endpoint for watch events.
    Register,
    /// Replays the given delivery, or a random one.
    Replay(Option<DeliveryId>),
    Recover,
}

/// Requests, each listed as often as its weight.
const CLIENT_ACTIONS: [ClientAction; 11] = [
    ClientAction::Pause,
    ClientAction::Pause,
    ClientAction::Resume,
    ClientAction::Rotate,
    ClientAction::Rotate,
    ClientAction::Move,
    ClientAction::Delete,
    ClientAction::Replay(None),
    ClientAction::Replay(None),
    ClientAction::Recover,
    ClientAction::Recover,
];

impl Simulation<'_> {
    /// Plans all events and requests.
    pub(super) fn plan_actors(&mut self) {
        for _ in 0..self.setting.subscriptions {
            self.subscribe();
        }
        let lasts_ms = self.setting.lasts_ms;
        for _ in 0..self.setting.events {
            let after_ms = self.random.between(0, lasts_ms);
            self.queue(after_ms, |simulation| simulation.publish());
        }
        for _ in 0..self.setting.client_actions {
            let after_ms = self.random.between(0, lasts_ms + 6 * HOUR_MS);
            self.schedule_action(after_ms, self.any_action());
        }
    }

    /// Returns a random request. Watch endpoints support neither pausing nor replays.
    fn any_action(&self) -> ClientAction {
        match self.setting.product {
            Product::Hotel | Product::Flight => self.random.one_of(&CLIENT_ACTIONS),
            Product::Watch => {
                let actions = [
                    ClientAction::Register,
                    ClientAction::Register,
                    ClientAction::Delete,
                ];
                self.random.one_of(&actions)
            }
        }
    }

    /// Adds a request by a client that ignores deliveries in progress.
    pub(super) fn second_thoughts(&mut self, within_ms: i64) {
        if self.setting.client_actions > 3 && self.random.percent(6) {
            let after_ms = self.random.between(0, within_ms);
            self.schedule_action(after_ms, self.any_action());
        }
    }

    pub(super) fn schedule_action(&mut self, after_ms: i64, action: ClientAction) {
        self.queue(after_ms, |simulation| simulation.perform(action));
    }

    /// Returns a random existing subscription.
    fn any_subscription(&self) -> Option<SubscriptionId> {
        let known = self.database.subscribers.iter();
        let known = known.filter(|one| one.deleted_at.is_none());
        let ids: Vec<_> = known.map(|one| one.subscription.id.clone()).collect();
        (!ids.is_empty()).then(|| self.random.one_of(&ids))
    }

    pub(super) fn perform(&mut self, action: ClientAction) -> Result<()> {
        let known = self.any_subscription();
        if action == ClientAction::Register {
            self.note(|| "the client registers an endpoint".to_owned());
            self.register(known.as_ref());
            return Ok(());
        }
        let Some(id) = known else { return Ok(()) };
        let host = self.random.between(0, i64::try_from(self.hosts.len())? - 1);
        let host_now = self.clock(usize::try_from(host)?);
        self.note(|| format!("the client requests {action:?} for {id}"));
        match action {
            ClientAction::Pause => self.pause(&id, host_now),
            ClientAction::Resume => self.resume(&id, host_now),
            ClientAction::Rotate => self.rotate(&id, host_now),
            ClientAction::Move => self.change_url(&id, host_now),
            ClientAction::Delete => self.delete(&id),
            ClientAction::Register => {}
            ClientAction::Replay(delivery) => {
                let delivery = delivery.or_else(|| self.any_delivery());
                return delivery.map_or(Ok(()), |one| self.replay(&one, host_now));
            }
            ClientAction::Recover => return self.recover(&id, host_now),
        }
        Ok(())
    }

    /// Mirrors the subscription service's `apply_event`.
    pub(super) fn change(
        &mut self,
        id: &SubscriptionId,
        event: SubscriptionEvent,
        host_now: Timestamp,
    ) {
        if let Some(one) = self.database.subscriber_mut(id)
            && let Some(moved) = one.subscription.clone().apply(event, host_now)
        {
            one.subscription = moved;
        }
    }

    fn pause(&mut self, id: &SubscriptionId, host_now: Timestamp) {
        self.change(id, SubscriptionEvent::Paused, host_now);
        self.contract.standing(id).paused(self.now);
        let waits = [1_000, 70_000, 3 * HOUR_MS, 2 * DAY_MS, 35 * DAY_MS];
        let longest_ms = self.random.one_of(&waits);
        let after_ms = self.random.between(1, longest_ms);
        self.schedule_action(after_ms, ClientAction::Resume);
    }

    fn resume(&mut self, id: &SubscriptionId, host_now: Timestamp) {
        self.change(id, SubscriptionEvent::Resumed, host_now);
        self.contract.standing(id).resumed(self.now);
        if self.random.percent(60) {
            let after_ms = self.random.between(1, 300);
            self.schedule_action(after_ms, ClientAction::Replay(None));
        }
    }

    fn rotate(&mut self, id: &SubscriptionId, host_now: Timestamp) {
        let secret = self.new_secret();
        let event = self.webhooks.rotation_event(host_now);
        self.change(id, event, host_now);
        let standing = self.contract.standing(id);
        standing.rotated(&secret, self.now, host_now);
        let one = self.database.subscriber_mut(id).unwrap();
        one.previous = Some(std::mem::replace(&mut one.current, secret));
        // These events are sent shortly before the previous secret expires.
        for _ in 0..self.random.between(0, 3) {
            let after_ms = DAY_MS - self.random.between(0, 1_200);
            self.queue(after_ms, |simulation| simulation.publish());
        }
    }

    fn change_url(&mut self, id: &SubscriptionId, host_now: Timestamp) {
        let url = self.new_url();
        let event = SubscriptionEvent::Changed {
            url: Some(url.clone()),
            event_types: None,
            description: None,
        };
        self.change(id, event, host_now);
        self.contract.standing(id).moved_to(&url, self.now);
    }

    pub(super) fn delete(&mut self, id: &SubscriptionId) {
        if let Some(one) = self.database.subscriber_mut(id) {
            one.deleted_at = Some(self.now);
        }
        self.contract.standings.remove(id);
        let deliveries = &mut self.contract.deliveries;
        deliveries.retain(|_, expected| expected.subscription != *id);
    }

    fn any_delivery(&self) -> Option<DeliveryId> {
        let ids: Vec<_> = self.contract.deliveries.keys().cloned().collect();
        (!ids.is_empty()).then(|| self.random.one_of(&ids))
    }

    /// Mirrors `DeliveryService::replay`.
    fn replay(&mut self, id: &DeliveryId, host_now: Timestamp) -> Result<()> {
        let Some(row) = self.database.row(id) else {
            return Ok(());
        };
        let Some(one) = self.database.subscriber(&row.stored.delivery.subscription) else {
            return Ok(());
        };
        let is_due = self.contract.replayed(id, host_now).is_some();
        let stored = row.stored.clone();
        let replayed = self.webhooks.replay(&one.subscription, stored, host_now);
        match replayed {
            Ok(replayed) if is_due => {
                self.note(|| format!("{id} is replayed"));
                self.database.replay(replayed);
            }
            Err(WebhookError::SubscriptionNotActive | WebhookError::ReplayNotAllowed(_))
                if !is_due =>
            {
                // The client tries again at the time from which a replay is allowed, or just before
                // it.
                if let DeliveryState::Published { at, .. } = row.stored.delivery.state {
                    let allowed_at = at.plus_ms(8_100_000 + self.random.between(-1, 1));
                    let wait_ms = allowed_at.since(host_now);
                    if wait_ms > 2 {
                        self.schedule_action(wait_ms, ClientAction::Replay(Some(id.clone())));
                    }
                }
            }
            got => bail!("replay of {id}: granted {is_due} by contract, {got:?}"),
        }
        Ok(())
    }

    /// Mirrors `DeliveryService::recover`, called once or twice with one idempotency key.
    fn recover(&mut self, id: &SubscriptionId, host_now: Timestamp) -> Result<()> {
        let longest_ms = self.random.one_of(&[60_000, HOUR_MS, 3 * DAY_MS]);
        let since = host_now.plus_ms(-self.random.between(0, longest_ms));
        let failed = |row: &&super::database::Row| {
            let delivery = &row.stored.delivery;
            let failed_at = delivery.failure().map(|(at, _)| at);
            delivery.subscription == *id
                && failed_at.is_some_and(|at| since <= at && at <= host_now)
        };
        let failed = self.database.rows.iter().filter(failed);
        let failed: Vec<_> = failed.map(|row| row.stored.clone()).collect();
        for stored in failed {
            let one = self.database.subscriber(id).unwrap();
            let expected = self.contract.replayed(&stored.delivery.id, host_now);
            let is_due = expected.is_some();
            let replayed = self.webhooks.replay(&one.subscription, stored, host_now);
            let agrees = is_due == replayed.is_ok();
            ensure!(agrees, "recover: {is_due} by contract, {replayed:?}");
            if let Ok(replayed) = replayed {
                self.database.replay(replayed);
            }
        }
        Ok(())
    }
}
