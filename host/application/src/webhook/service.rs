//! Operations of callers on subscriptions and deliveries.

use crate::application::Application;
use crate::conflict_backoff::ConflictBackoff;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::idempotency::{IdempotentRequest, claim_in};
use crate::webhook::policy::WebhookError;
use crate::webhook::signing_secret::{self, SecretSlot};
use crate::webhook::url_policy;
use futures::stream::{self, StreamExt, TryStreamExt};
use host_domain::event::{EventType, Product};
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::owner::{Owner, Tenant};
use host_domain::time::Timestamp;
use host_domain::webhook::{Delivery, Subscription, SubscriptionEvent, SubscriptionStatus};
use host_storage::{CommitError, Conflict, OutboxEvent, SealedSecrets, StoredDelivery, UnitOfWork};
use secrecy::SecretString;
use serde_json::json;

/// Maximum number of subscriptions of a tenant to a product. An event is recorded for each of them
/// in the transaction that creates it.
const SUBSCRIPTIONS_MAX: u64 = 100;

/// Number of failed deliveries that are read in one batch to be replayed.
const RECOVERY_BATCH_SIZE: u32 = 200;

/// Number of deliveries of a batch that are stored concurrently.
const CONCURRENT_WRITES_MAX: usize = 8;

/// A caller's request for a subscription. Its event types are already validated.
#[derive(Debug, Clone)]
pub struct NewSubscription {
    /// The product whose events are sent.
    pub product: Product,
    /// The URL that receives the events.
    pub url: String,
    /// Names of event types, or `*`.
    pub event_types: Vec<String>,
    /// The caller's description.
    pub description: Option<String>,
}

/// A caller's changes to a subscription. `None` leaves a field as it is. The event types are
/// already validated.
#[derive(Debug, Clone, Default)]
pub struct SubscriptionUpdate {
    /// The new URL.
    pub url: Option<String>,
    /// The new event types.
    pub event_types: Option<Vec<String>>,
    /// The new description, or `Some(None)` to remove it.
    pub description: Option<Option<String>>,
}

/// A subscription whose secret was just created.
#[derive(Debug)]
pub struct SubscriptionWithSecret {
    /// The subscription.
    pub subscription: Subscription,
    /// Its secret, returned only this once. `None` if an earlier call with the same idempotency key
    /// has received it.
    pub signing_secret: Option<SecretString>,
}

/// A subscription after an event.
#[derive(Debug)]
pub struct SubscriptionTransition {
    /// The status before the event. It differs from the current one if this event changed it.
    pub from: SubscriptionStatus,
    /// The subscription in its current state.
    pub subscription: Subscription,
}

impl Application {
    /// Creates a subscription, once for each key.
    pub async fn create_subscription(
        &self,
        owner: &Owner,
        new: NewSubscription,
        key: Option<&IdempotentRequest>,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let tenant = &owner.tenant;
        if let Some(made) = self.idempotency.find_result(key).await? {
            return self.find_existing(tenant, new.product, &made).await;
        }
        let count = self.store.count_subscriptions(tenant, new.product).await?;
        if count >= SUBSCRIPTIONS_MAX {
            return Err(WebhookError::SubscriptionLimitReached {
                max: SUBSCRIPTIONS_MAX,
            });
        }
        self.validate_url(tenant, &new.url).await?;
        let id = SubscriptionId::from_bits(self.ids.generate());
        let signing_secret = signing_secret::generate()?;
        let sealed = signing_secret::seal(
            &self.sealer,
            tenant,
            &id,
            SecretSlot::Current,
            &signing_secret,
        )?;
        let now = self.clock.now();
        let subscription = Subscription::new(
            id,
            tenant.clone(),
            new.product,
            new.url,
            new.event_types,
            new.description,
            now,
        );
        let mut write = UnitOfWork::new(now);
        claim_in(&mut write, key, subscription.id.as_str());
        write.insert_subscription(&subscription, &sealed);
        match self.store.commit(write).await {
            Ok(()) => Ok(SubscriptionWithSecret {
                subscription,
                signing_secret: Some(signing_secret),
            }),
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {
                let made = self.idempotency.find_result(key).await?;
                let made = made.ok_or(WebhookError::TooManyConflicts)?;
                self.find_existing(tenant, subscription.product, &made)
                    .await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Changes the fields that are given.
    pub async fn update_subscription(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        change: SubscriptionUpdate,
    ) -> Result<Subscription, WebhookError> {
        let tenant = &context.owner.tenant;
        let SubscriptionUpdate {
            url,
            event_types,
            description,
        } = change;
        // The subscription is looked up first, so that a caller without access to it learns nothing
        // about the URL.
        let current = self.find_subscription(tenant, product, id).await?;
        if let Some(url) = url.as_deref().filter(|url| *url != current.url) {
            self.validate_url(tenant, url).await?;
        }
        let event = SubscriptionEvent::Changed {
            url,
            event_types,
            description,
        };
        self.apply_for_caller(context, product, id, &event, None)
            .await
    }

    /// Pauses a subscription: nothing is sent, and new events wait. Once for each key.
    pub async fn pause_subscription(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        key: Option<&IdempotentRequest>,
    ) -> Result<Subscription, WebhookError> {
        let event = SubscriptionEvent::Paused;
        self.apply_for_caller(context, product, id, &event, key)
            .await
    }

    /// Resumes a subscription: the events that waited are sent first. Once for each key.
    pub async fn resume_subscription(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        key: Option<&IdempotentRequest>,
    ) -> Result<Subscription, WebhookError> {
        let event = SubscriptionEvent::Resumed;
        self.apply_for_caller(context, product, id, &event, key)
            .await
    }

    /// Deletes a subscription. Its secrets are deleted at once, its deliveries soon after.
    pub async fn delete_subscription(
        &self,
        tenant: &Tenant,
        product: Product,
        id: &SubscriptionId,
    ) -> Result<(), WebhookError> {
        let mut write = UnitOfWork::new(self.clock.now());
        write.delete_subscription(tenant, product, id);
        match self.store.commit(write).await {
            Err(CommitError::Conflict(Conflict::SubscriptionNotFound)) => {
                Err(WebhookError::NotFound)
            }
            ended => Ok(ended?),
        }
    }

    /// Creates a new secret. Both secrets sign for a time. Once for each key.
    pub async fn rotate_secret(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        key: Option<&IdempotentRequest>,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let tenant = &context.owner.tenant;
        let mut tries = ConflictBackoff::new(context.deadline);
        loop {
            if let Some(made) = self.idempotency.find_result(key).await? {
                return self.find_existing(tenant, product, &made).await;
            }
            let current = self.find_subscription(tenant, product, id).await?;
            let sealed = self.store.sealed_secrets(tenant, id).await?;
            let sealed = sealed.ok_or(WebhookError::NotFound)?;
            let signing_secret = signing_secret::generate()?;
            let sealed = self.rotate_sealed_secrets(tenant, id, &sealed, &signing_secret)?;
            let now = self.clock.now();
            let event = self.webhooks.rotation_event(now);
            let read_version = current.version;
            let Some(subscription) = current.clone().apply(event, now) else {
                // A second rotation in the same millisecond changes nothing; the next attempt has
                // another time.
                tries.wait(self.ids.as_ref()).await?;
                continue;
            };
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, id.as_str());
            write.rotate_subscription_secret(&subscription, read_version, &sealed);
            match self.store.commit(write).await {
                Ok(()) => {
                    return Ok(SubscriptionWithSecret {
                        subscription,
                        signing_secret: Some(signing_secret),
                    });
                }
                Err(CommitError::Conflict(_)) => tries.wait(self.ids.as_ref()).await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn rotate_sealed_secrets(
        &self,
        tenant: &Tenant,
        id: &SubscriptionId,
        sealed: &SealedSecrets,
        signing_secret: &SecretString,
    ) -> Result<SealedSecrets, WebhookError> {
        let (sealer, current) = (&self.sealer, SecretSlot::Current);
        let before = signing_secret::open(sealer, tenant, id, current, &sealed.current)?;
        let previous = signing_secret::seal(sealer, tenant, id, SecretSlot::Previous, &before)?;
        Ok(SealedSecrets {
            current: signing_secret::seal(sealer, tenant, id, current, signing_secret)?,
            previous: Some(previous),
        })
    }

    /// Sends a `ping`, once for each key.
    pub async fn send_test_event(
        &self,
        owner: &Owner,
        product: Product,
        id: &SubscriptionId,
        key: Option<&IdempotentRequest>,
    ) -> Result<StoredDelivery, WebhookError> {
        let tenant = &owner.tenant;
        let subscription = self.find_subscription(tenant, product, id).await?;
        if let Some(made) = self.idempotency.find_result(key).await? {
            return self.find_delivery_of(tenant, id, &made).await;
        }
        let event = self.ping_event(&subscription);
        let delivery = Delivery::derive_id(&event.id, id).ok_or(WebhookError::NotFound)?;
        let mut write = UnitOfWork::new(event.created_at);
        claim_in(&mut write, key, delivery.as_str());
        write.publish_to_subscription(tenant, &event, id);
        match self.store.commit(write).await {
            Ok(()) => self.find_delivery_of(tenant, id, delivery.as_str()).await,
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {
                let made = self.idempotency.find_result(key).await?;
                let made = made.ok_or(WebhookError::TooManyConflicts)?;
                self.find_delivery_of(tenant, id, &made).await
            }
            Err(error) => Err(error.into()),
        }
    }

    fn ping_event(&self, subscription: &Subscription) -> OutboxEvent {
        let (id, now) = (EventId::from_bits(self.ids.generate()), self.clock.now());
        let event_type = EventType::Ping.as_str();
        let payload = json!({
            "id": id.as_str(),
            "type": event_type,
            "created_at": now.to_string(),
            "data": { "subscription_id": subscription.id.as_str() },
        });
        OutboxEvent {
            id,
            event_type: event_type.to_owned(),
            product: subscription.product,
            booking_id: None,
            payload: payload.to_string(),
            created_at: now,
        }
    }

    /// Replays a delivery if it cannot arrive by itself any more; once for each key.
    pub async fn replay_delivery(
        &self,
        context: &RequestContext,
        product: Product,
        subscription: &SubscriptionId,
        id: &DeliveryId,
        key: Option<&IdempotentRequest>,
    ) -> Result<StoredDelivery, WebhookError> {
        let tenant = &context.owner.tenant;
        let mut tries = ConflictBackoff::new(context.deadline);
        loop {
            let found = self
                .find_subscription(tenant, product, subscription)
                .await?;
            let stored = self
                .find_delivery_of(tenant, subscription, id.as_str())
                .await?;
            if self.idempotency.find_result(key).await?.is_some() {
                return Ok(stored);
            }
            let mut write = UnitOfWork::new(self.clock.now());
            claim_in(&mut write, key, id.as_str());
            let replayed = self.replay_in(&found, stored, &mut write)?;
            match self.store.commit(write).await {
                Ok(()) => return Ok(replayed),
                Err(CommitError::Conflict(_)) => tries.wait(self.ids.as_ref()).await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn replay_in(
        &self,
        subscription: &Subscription,
        stored: StoredDelivery,
        write: &mut UnitOfWork,
    ) -> Result<StoredDelivery, WebhookError> {
        let read_status = stored.delivery.status();
        let now = self.clock.now();
        let replayed = self.webhooks.replay(subscription, stored, now)?;
        write.replay_delivery(&replayed.tenant, &replayed.delivery, read_status);
        Ok(replayed)
    }

    /// Replays the deliveries that failed since a given time, and returns their number. If this
    /// ends early, the replays stored so far remain, and another request continues. With the same
    /// key it covers the deliveries that had failed when the key was first used.
    pub async fn recover_deliveries(
        &self,
        owner: &Owner,
        product: Product,
        id: &SubscriptionId,
        since: Timestamp,
        key: Option<&IdempotentRequest>,
    ) -> Result<u64, WebhookError> {
        let tenant = &owner.tenant;
        let subscription = self.find_subscription(tenant, product, id).await?;
        if subscription.status != SubscriptionStatus::Active {
            return Err(WebhookError::SubscriptionNotActive);
        }
        let (mut queued, until) = (0, self.recovery_cutoff(key).await?);
        loop {
            let failed = self
                .store
                .failed_deliveries(tenant, id, since, until, RECOVERY_BATCH_SIZE)
                .await?;
            if failed.is_empty() {
                return Ok(queued);
            }
            let stored: Vec<bool> = stream::iter(failed)
                .map(|stored| self.replay_failed(&subscription, stored))
                .buffer_unordered(CONCURRENT_WRITES_MAX)
                .try_collect()
                .await?;
            queued += stored.iter().map(|stored| u64::from(*stored)).sum::<u64>();
        }
    }

    /// Returns the time up to which failures are replayed: now, or the time of the first use of the
    /// key.
    async fn recovery_cutoff(
        &self,
        key: Option<&IdempotentRequest>,
    ) -> Result<Timestamp, WebhookError> {
        let now = self.clock.now();
        let Some(key) = key else { return Ok(now) };
        self.idempotency.claim(key, &now.to_string()).await?;
        let first = self.idempotency.find_result(Some(key)).await?;
        Ok(first.and_then(|at| Timestamp::parse(&at)).unwrap_or(now))
    }

    /// Replays one failed delivery. Returns `false` if another process changed it first.
    async fn replay_failed(
        &self,
        subscription: &Subscription,
        failed: StoredDelivery,
    ) -> Result<bool, WebhookError> {
        let mut write = UnitOfWork::new(self.clock.now());
        self.replay_in(subscription, failed, &mut write)?;
        match self.store.commit(write).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a tenant's subscription to a product.
    pub async fn find_subscription(
        &self,
        tenant: &Tenant,
        product: Product,
        id: &SubscriptionId,
    ) -> Result<Subscription, WebhookError> {
        let found = self.store.subscription(tenant, product, id).await?;
        found.ok_or(WebhookError::NotFound)
    }

    /// Returns a delivery to a tenant's subscription to a product.
    pub async fn find_delivery(
        &self,
        tenant: &Tenant,
        product: Product,
        subscription: &SubscriptionId,
        id: &DeliveryId,
    ) -> Result<StoredDelivery, WebhookError> {
        self.find_subscription(tenant, product, subscription)
            .await?;
        self.find_delivery_of(tenant, subscription, id.as_str())
            .await
    }

    async fn find_delivery_of(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        id: &str,
    ) -> Result<StoredDelivery, WebhookError> {
        let id = DeliveryId::parse(id).map_err(|_| WebhookError::DeliveryNotFound)?;
        let found = self.store.delivery(tenant, subscription, &id).await?;
        found.ok_or(WebhookError::DeliveryNotFound)
    }

    async fn apply_for_caller(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        event: &SubscriptionEvent,
        key: Option<&IdempotentRequest>,
    ) -> Result<Subscription, WebhookError> {
        let (tenant, deadline) = (&context.owner.tenant, context.deadline);
        let moved = self.apply_event(tenant, product, id, event, key, deadline);
        Ok(moved.await?.subscription)
    }

    /// Applies an event to a subscription in its stored state; once for each key.
    pub async fn apply_event(
        &self,
        tenant: &Tenant,
        product: Product,
        id: &SubscriptionId,
        event: &SubscriptionEvent,
        key: Option<&IdempotentRequest>,
        deadline: Deadline,
    ) -> Result<SubscriptionTransition, WebhookError> {
        let mut tries = ConflictBackoff::new(deadline);
        loop {
            let current = self.find_subscription(tenant, product, id).await?;
            let from = current.status;
            let moved = |subscription| Ok(SubscriptionTransition { from, subscription });
            if self.idempotency.find_result(key).await?.is_some() {
                return moved(current);
            }
            let (now, read_version) = (self.clock.now(), current.version);
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, id.as_str());
            let subscription = match current.clone().apply(event.clone(), now) {
                Some(subscription) => {
                    write.update_subscription(&subscription, read_version);
                    subscription
                }
                None if key.is_none() => return moved(current),
                None => current,
            };
            match self.store.commit(write).await {
                Ok(()) => return moved(subscription),
                Err(CommitError::Conflict(_)) => tries.wait(self.ids.as_ref()).await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub async fn validate_url(&self, tenant: &Tenant, url: &str) -> Result<(), WebhookError> {
        let insecure = self.webhooks.allows_insecure(tenant);
        let checked = url_policy::validate(url, insecure, &self.webhooks.lookup).await;
        checked.map_err(WebhookError::UrlNotAllowed)
    }

    pub async fn find_existing(
        &self,
        tenant: &Tenant,
        product: Product,
        made: &str,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let id = SubscriptionId::parse(made).map_err(|_| WebhookError::NotFound)?;
        Ok(SubscriptionWithSecret {
            subscription: self.find_subscription(tenant, product, &id).await?,
            signing_secret: None,
        })
    }
}
