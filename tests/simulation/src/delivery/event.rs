//! Creation of events and of subscriptions.

use super::actors::ClientAction;
use super::database::Subscriber;
use super::receiver::Receiver;
use super::subscription_contract::ExpectedSubscription;
use super::{DAY_MS, Simulation};
use crate::sample::tenant;
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_application::id_generator::IdGenerator;
use host_application::webhook::maintenance::PENDING_RETENTION_S;
use host_domain::event::Product;
use host_domain::id::{EventId, SubscriptionId};
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;
use host_domain::webhook::{Delivery, Subscription, WatchEventStatus};
use secrecy::SecretString;

impl Simulation<'_> {
    pub(super) fn new_secret(&mut self) -> SecretString {
        let mut bytes = [0_u8; 32];
        bytes[..16].copy_from_slice(&self.random.generate().to_be_bytes());
        format!("whsec_{}", STANDARD.encode(bytes)).into()
    }

    pub(super) fn new_url(&mut self) -> String {
        let url = format!(
            "https://receiver-{}.example/",
            self.event_queue.next_number()
        );
        self.receivers
            .insert(url.clone(), Receiver::draw(self.random));
        url
    }

    /// Creates a subscription to all event types.
    pub(super) fn subscribe(&mut self) -> Subscription {
        let tenant = tenant("acme");
        let id = SubscriptionId::from_bits(self.random.generate());
        let (url, current) = (self.new_url(), self.new_secret());
        let tolerance_ms = 2 * self.scenario.skew_ms;
        let expected_subscription =
            ExpectedSubscription::new(&url, &current, self.now, tolerance_ms);
        self.contract
            .subscriptions
            .insert(id.clone(), expected_subscription);
        let (types, product) = (vec![WILDCARD_EVENT_TYPE.to_owned()], self.scenario.product);
        let subscription = Subscription::new(id, tenant, product, url, types, None, self.now);
        self.database.subscribers.push(Subscriber {
            subscription: subscription.clone(),
            current,
            previous: None,
            deleted_at: None,
        });
        subscription
    }

    /// Mirrors the transaction that creates an event.
    pub(super) fn publish(&mut self) -> Result<()> {
        let (event, now) = (EventId::from_bits(self.random.generate()), self.now);
        self.note(|| format!("{} is made", event.as_str()));
        let log = &mut self.database.log;
        log.insert(event.clone(), (now, WatchEventStatus::Pending));
        self.contract.log.insert(event.clone(), (now, "pending"));
        let wanted = self.database.subscribers.iter();
        let wanted = wanted.filter(|one| one.deleted_at.is_none());
        let wanted: Vec<_> = wanted.map(|one| one.subscription.clone()).collect();
        for subscription in wanted {
            let id = self.database.insert_delivery(&event, &subscription, now);
            self.contract
                .expect_delivery(&id, &subscription.id, &event, now);
            if self.random.percent(20) && self.scenario.product != Product::Watch {
                let at_ms = 60_000 + self.random.between(-1, 1);
                self.schedule_action(at_ms, ClientAction::Replay(Some(id)));
            }
        }
        Ok(())
    }

    /// Mirrors `WatchEndpointService::register`: a new endpoint replaces the existing one and
    /// receives its undelivered events.
    pub(super) fn register(&mut self, replaced: Option<&SubscriptionId>) {
        if let Some(replaced) = replaced {
            self.delete(replaced);
        }
        let (endpoint, now) = (self.subscribe(), self.now);
        for (event, (at, status)) in self.contract.log.clone() {
            if status == "pending" && now.since(at) <= 30 * DAY_MS {
                let id = Delivery::derive_id(&event, &endpoint.id).unwrap();
                self.contract.expect_delivery(&id, &endpoint.id, &event, at);
            }
        }
        self.database
            .insert_pending_deliveries(&endpoint, now.plus_s(-PENDING_RETENTION_S));
    }
}
