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
    RotateSecret,
    ChangeUrl,
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
    ClientAction::RotateSecret,
    ClientAction::RotateSecret,
    ClientAction::ChangeUrl,
    ClientAction::Delete,
    ClientAction::Replay(None),
    ClientAction::Replay(None),
    ClientAction::Recover,
    ClientAction::Recover,
];

impl Simulation<'_> {
    /// Schedules all events and requests.
    pub(super) fn schedule_actors(&mut self) {
        for _ in 0..self.scenario.subscriptions {
            self.subscribe();
        }
        let duration_ms = self.scenario.duration_ms;
        for _ in 0..self.scenario.events {
            let after_ms = self.random.between(0, duration_ms);
            self.queue(after_ms, |simulation| simulation.publish());
        }
        for _ in 0..self.scenario.client_actions {
            let after_ms = self.random.between(0, duration_ms + 6 * HOUR_MS);
            self.schedule_action(after_ms, self.random_action());
        }
    }

    /// Returns a random request. Watch endpoints support neither pausing nor replays.
    fn random_action(&self) -> ClientAction {
        match self.scenario.product {
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

    /// Rarely schedules another request, which a client sends while deliveries are in progress.
    pub(super) fn add_concurrent_action(&mut self, within_ms: i64) {
        if self.scenario.client_actions > 3 && self.random.percent(6) {
            let after_ms = self.random.between(0, within_ms);
            self.schedule_action(after_ms, self.random_action());
        }
    }

    pub(super) fn schedule_action(&mut self, after_ms: i64, action: ClientAction) {
        self.queue(after_ms, |simulation| simulation.perform(action));
    }

    /// Returns a random existing subscription.
    fn random_subscription(&self) -> Option<SubscriptionId> {
        let subscribers = self.database.subscribers.iter();
        let subscribers = subscribers.filter(|subscriber| subscriber.deleted_at.is_none());
        let ids: Vec<_> = subscribers
            .map(|subscriber| subscriber.subscription.id.clone())
            .collect();
        (!ids.is_empty()).then(|| self.random.one_of(&ids))
    }

    pub(super) fn perform(&mut self, action: ClientAction) -> Result<()> {
        let chosen = self.random_subscription();
        if action == ClientAction::Register {
            self.note(|| "the client registers an endpoint".to_owned());
            self.register(chosen.as_ref());
            return Ok(());
        }
        let Some(id) = chosen else { return Ok(()) };
        let process = self
            .random
            .between(0, i64::try_from(self.processes.len())? - 1);
        let process_now = self.clock(usize::try_from(process)?);
        self.note(|| format!("the client requests {action:?} for {id}"));
        match action {
            ClientAction::Pause => self.pause(&id, process_now),
            ClientAction::Resume => self.resume(&id, process_now),
            ClientAction::RotateSecret => self.rotate_secret(&id, process_now),
            ClientAction::ChangeUrl => self.change_url(&id, process_now),
            ClientAction::Delete => self.delete(&id),
            ClientAction::Register => {}
            ClientAction::Replay(delivery) => {
                let delivery = delivery.or_else(|| self.random_delivery());
                return delivery.map_or(Ok(()), |one| self.replay(&one, process_now));
            }
            ClientAction::Recover => return self.recover(&id, process_now),
        }
        Ok(())
    }

    /// Mirrors `WebhookService::apply_event`.
    pub(super) fn change(
        &mut self,
        id: &SubscriptionId,
        event: SubscriptionEvent,
        process_now: Timestamp,
    ) {
        if let Some(subscriber) = self.database.subscriber_mut(id)
            && let Some(changed) = subscriber.subscription.clone().apply(event, process_now)
        {
            subscriber.subscription = changed;
        }
    }

    fn pause(&mut self, id: &SubscriptionId, process_now: Timestamp) {
        self.change(id, SubscriptionEvent::Paused, process_now);
        self.contract.subscription(id).record_pause(self.now);
        let pauses_ms = [1_000, 70_000, 3 * HOUR_MS, 2 * DAY_MS, 35 * DAY_MS];
        let longest_ms = self.random.one_of(&pauses_ms);
        let after_ms = self.random.between(1, longest_ms);
        self.schedule_action(after_ms, ClientAction::Resume);
    }

    fn resume(&mut self, id: &SubscriptionId, process_now: Timestamp) {
        self.change(id, SubscriptionEvent::Resumed, process_now);
        self.contract.subscription(id).record_resume(self.now);
        if self.random.percent(60) {
            let after_ms = self.random.between(1, 300);
            self.schedule_action(after_ms, ClientAction::Replay(None));
        }
    }

    fn rotate_secret(&mut self, id: &SubscriptionId, process_now: Timestamp) {
        let secret = self.new_secret();
        let event = self.webhooks.rotation_event(process_now);
        self.change(id, event, process_now);
        let expected_subscription = self.contract.subscription(id);
        expected_subscription.record_rotation(&secret, self.now, process_now);
        let subscriber = self.database.subscriber_mut(id).unwrap();
        subscriber.previous = Some(std::mem::replace(&mut subscriber.current, secret));
        // These events are sent shortly before the previous secret expires.
        for _ in 0..self.random.between(0, 3) {
            let after_ms = DAY_MS - self.random.between(0, 1_200);
            self.queue(after_ms, |simulation| simulation.publish());
        }
    }

    fn change_url(&mut self, id: &SubscriptionId, process_now: Timestamp) {
        let url = self.new_url();
        let event = SubscriptionEvent::Changed {
            url: Some(url.clone()),
            event_types: None,
            description: None,
        };
        self.change(id, event, process_now);
        self.contract.subscription(id).record_url(&url, self.now);
    }

    pub(super) fn delete(&mut self, id: &SubscriptionId) {
        if let Some(subscriber) = self.database.subscriber_mut(id) {
            subscriber.deleted_at = Some(self.now);
        }
        self.contract.subscriptions.remove(id);
        let deliveries = &mut self.contract.deliveries;
        deliveries.retain(|_, expected| expected.subscription != *id);
    }

    fn random_delivery(&self) -> Option<DeliveryId> {
        let ids: Vec<_> = self.contract.deliveries.keys().cloned().collect();
        (!ids.is_empty()).then(|| self.random.one_of(&ids))
    }

    /// Mirrors `DeliveryService::replay`.
    fn replay(&mut self, id: &DeliveryId, process_now: Timestamp) -> Result<()> {
        let Some(row) = self.database.row(id) else {
            return Ok(());
        };
        let Some(subscriber) = self.database.subscriber(&row.stored.delivery.subscription) else {
            return Ok(());
        };
        let is_due = self.contract.record_replay(id, process_now).is_some();
        let stored = row.stored.clone();
        let replayed = self
            .webhooks
            .replay(&subscriber.subscription, stored, process_now);
        match replayed {
            Ok(replayed) if is_due => {
                self.note(|| format!("{id} is replayed"));
                self.database.replay_delivery(replayed);
            }
            Err(WebhookError::SubscriptionNotActive | WebhookError::ReplayNotAllowed(_))
                if !is_due =>
            {
                // The client tries again at the time from which a replay is allowed, or just before
                // it.
                if let DeliveryState::Published { at, .. } = row.stored.delivery.state {
                    let allowed_at = at.plus_ms(8_100_000 + self.random.between(-1, 1));
                    let wait_ms = allowed_at.since(process_now);
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
    fn recover(&mut self, id: &SubscriptionId, process_now: Timestamp) -> Result<()> {
        let longest_ms = self.random.one_of(&[60_000, HOUR_MS, 3 * DAY_MS]);
        let since = process_now.plus_ms(-self.random.between(0, longest_ms));
        let has_failed = |row: &&super::database::Row| {
            let delivery = &row.stored.delivery;
            let failed_at = delivery.failure().map(|(at, _)| at);
            delivery.subscription == *id
                && failed_at.is_some_and(|at| since <= at && at <= process_now)
        };
        let failed = self.database.rows.iter().filter(has_failed);
        let failed: Vec<_> = failed.map(|row| row.stored.clone()).collect();
        for stored in failed {
            let subscriber = self.database.subscriber(id).unwrap();
            let expected = self
                .contract
                .record_replay(&stored.delivery.id, process_now);
            let is_due = expected.is_some();
            let replayed = self
                .webhooks
                .replay(&subscriber.subscription, stored, process_now);
            let agrees = is_due == replayed.is_ok();
            ensure!(
                agrees,
                "recovery: granted {is_due} by contract, {replayed:?}"
            );
            if let Ok(replayed) = replayed {
                self.database.replay_delivery(replayed);
            }
        }
        Ok(())
    }
}
