//! Operations on subscriptions.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::conflict_backoff::ConflictBackoff;
use crate::context::RequestContext;
use crate::idempotency::{IdempotentRequest, claim_in};
use crate::sealer::Sealer;
use crate::webhook::audited::{audited_event, audited_subscription};
use crate::webhook::delivery_details::{DeliveryDetails, find_delivery};
use crate::webhook::error::WebhookError;
use crate::webhook::ping::ping_event;
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::signing_secret::{self, SecretOrigin, SecretSlot};
use crate::webhook::url_policy;
use host_domain::audit::AuditAction;
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::page::{Page, PageRequest};
use host_domain::webhook::{Delivery, Subscription, SubscriptionEvent, SubscriptionStatus};
use host_storage::{Conflict, SealedSecrets, UnitOfWork};
use secrecy::SecretString;
use std::sync::Arc;

/// Maximum number of subscriptions of a tenant to a product. An event is recorded for each of them
/// in the transaction that creates it.
const SUBSCRIPTIONS_MAX: u64 = 100;

/// A caller's request for a subscription. Its event types are already validated.
#[derive(Debug, Clone)]
pub struct NewSubscription {
    pub product: Product,
    pub url: String,
    /// Names of event types, or `*`.
    pub event_types: Vec<String>,
    pub description: Option<String>,
}

/// A caller's changes to a subscription. `None` leaves a field as it is. The event types are
/// already validated.
#[derive(Debug, Clone, Default)]
pub struct SubscriptionUpdate {
    pub url: Option<String>,
    pub event_types: Option<Vec<String>>,
    /// The new description, or `Some(None)` to remove it.
    pub description: Option<Option<String>>,
}

#[derive(Debug)]
pub struct SubscriptionWithSecret {
    pub subscription: Subscription,
    /// Its secret, returned only once: `None` if another response to the same key contains it.
    pub signing_secret: Option<SecretString>,
}

#[derive(Debug)]
pub struct SubscriptionTransition {
    /// The status before the event. It differs from the current one if this event changed it.
    pub from: SubscriptionStatus,
    pub subscription: Subscription,
}

pub struct WebhookService {
    pub(crate) base: Base,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) policy: Arc<DeliveryPolicy>,
}

impl WebhookService {
    pub async fn create(
        &self,
        context: &RequestContext,
        new: NewSubscription,
        key: Option<&IdempotentRequest>,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let tenant = &context.owner.tenant;
        let origin = SecretOrigin::Creation;
        let replay = self.find_replay(tenant, new.product, key, origin);
        if let Some(existing) = replay.await? {
            return Ok(existing);
        }
        let store = &self.base.store;
        let count = store.count_subscriptions(tenant, new.product).await?;
        if count >= SUBSCRIPTIONS_MAX {
            let max = SUBSCRIPTIONS_MAX;
            return Err(WebhookError::SubscriptionLimitReached { max });
        }
        self.validate_url(tenant, &new.url).await?;
        let id = SubscriptionId::from_bits(self.base.ids.generate());
        let (signing_secret, sealed) = signing_secret::generate_sealed(&self.sealer, tenant, &id)?;
        let now = self.base.now();
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
        let change = AuditChange::new(AuditAction::WebhookCreated, subscription.id.as_str());
        let change = change
            .of_tenant(tenant)
            .after(audited_subscription(&subscription));
        audit_in(&mut write, &self.base, &context.actor, change);
        let conflict = Conflict::IdempotencyKeyExists;
        if !self.base.commit_unless(conflict, write).await? {
            let replay = self.find_replay(tenant, new.product, key, origin);
            return replay.await?.ok_or(WebhookError::TooManyConflicts);
        }
        let disclosed = self.disclose_once(key, &subscription.id, signing_secret);
        let signing_secret = disclosed.await;
        Ok(SubscriptionWithSecret {
            subscription,
            signing_secret,
        })
    }

    pub async fn update(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        change: SubscriptionUpdate,
    ) -> Result<Subscription, WebhookError> {
        let tenant = &context.owner.tenant;
        // The subscription is looked up first, so that a caller without access to it learns nothing
        // about the URL.
        let current = self.find(tenant, product, id).await?;
        if let Some(url) = change.url.as_deref().filter(|url| *url != current.url) {
            self.validate_url(tenant, url).await?;
        }
        let event = SubscriptionEvent::Changed {
            url: change.url,
            event_types: change.event_types,
            description: change.description,
        };
        let changed = self.apply_for_caller(context, product, id, &event, None);
        changed.await
    }

    /// Deletes a subscription. Its secrets are deleted at once, its deliveries soon after.
    pub async fn delete(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
    ) -> Result<(), WebhookError> {
        let tenant = &context.owner.tenant;
        let subscription = self.find(tenant, product, id).await?;
        let mut write = self.base.unit_of_work();
        write.delete_subscription(tenant, product, id);
        let change = AuditChange::new(AuditAction::WebhookDeleted, id.as_str());
        let change = change
            .of_tenant(tenant)
            .before(audited_subscription(&subscription));
        audit_in(&mut write, &self.base, &context.actor, change);
        let conflict = Conflict::SubscriptionNotFound;
        match self.base.commit_unless(conflict, write).await? {
            true => Ok(()),
            false => Err(WebhookError::NotFound),
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
        let mut backoff = ConflictBackoff::new(context.deadline);
        loop {
            let replay = self.find_replay(tenant, product, key, SecretOrigin::Rotation);
            if let Some(existing) = replay.await? {
                return Ok(existing);
            }
            let current = self.find(tenant, product, id).await?;
            let sealed = self.base.store.sealed_secrets(tenant, id).await?;
            let sealed = sealed.ok_or(WebhookError::NotFound)?;
            let signing_secret = signing_secret::generate()?;
            let sealed = self.rotate_sealed_secrets(tenant, id, &sealed, &signing_secret)?;
            let now = self.base.now();
            let event = self.policy.rotation_event(now);
            let read_version = current.version;
            let Some(subscription) = current.clone().apply(event.clone(), now) else {
                // A second rotation in the same millisecond changes nothing; the next attempt has
                // another time.
                backoff.wait(self.base.ids.as_ref()).await?;
                continue;
            };
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, id.as_str());
            write.rotate_subscription_secret(&subscription, read_version, &sealed);
            if let Some(change) = audited_event(&event, &current, &subscription) {
                audit_in(&mut write, &self.base, &context.actor, change);
            }
            if self.base.try_commit(write).await? {
                return Ok(SubscriptionWithSecret {
                    subscription,
                    signing_secret: self.disclose_once(key, id, signing_secret).await,
                });
            }
            backoff.wait(self.base.ids.as_ref()).await?;
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
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        key: Option<&IdempotentRequest>,
    ) -> Result<DeliveryDetails, WebhookError> {
        let tenant = &context.owner.tenant;
        self.find(tenant, product, id).await?;
        if let Some(delivery_id) = self.base.find_idempotent_result(key).await? {
            return self.find_test_delivery(tenant, id, &delivery_id).await;
        }
        let event = ping_event(&self.base, product, id);
        let delivery = Delivery::derive_id(&event.id, id).ok_or(WebhookError::NotFound)?;
        let mut write = UnitOfWork::new(event.created_at);
        claim_in(&mut write, key, delivery.as_str());
        write.publish_to_subscription(tenant, &event, id);
        let change = AuditChange::new(AuditAction::WebhookTested, id.as_str()).of_tenant(tenant);
        audit_in(&mut write, &self.base, &context.actor, change);
        let conflict = Conflict::IdempotencyKeyExists;
        if self.base.commit_unless(conflict, write).await? {
            return self.find_test_delivery(tenant, id, delivery.as_str()).await;
        }
        let delivery_id = self.base.find_idempotent_result(key).await?;
        let delivery_id = delivery_id.ok_or(WebhookError::TooManyConflicts)?;
        self.find_test_delivery(tenant, id, &delivery_id).await
    }

    pub async fn find(
        &self,
        tenant: &Tenant,
        product: Product,
        id: &SubscriptionId,
    ) -> Result<Subscription, WebhookError> {
        let subscription = self.base.store.subscription(tenant, product, id).await?;
        subscription.ok_or(WebhookError::NotFound)
    }

    /// Returns a page of a tenant's subscriptions to a product, oldest first, and their number.
    pub async fn list(
        &self,
        tenant: &Tenant,
        product: Product,
        page: PageRequest,
    ) -> Result<(Page<Subscription>, u64), WebhookError> {
        let subscriptions = self.base.store.subscriptions(tenant, product, page).await?;
        let total = self.base.store.count_subscriptions(tenant, product).await?;
        Ok((subscriptions, total))
    }

    async fn find_test_delivery(
        &self,
        tenant: &Tenant,
        subscription: &SubscriptionId,
        id: &str,
    ) -> Result<DeliveryDetails, WebhookError> {
        let store = &self.base.store;
        let delivery = find_delivery(store, tenant, subscription, id).await?;
        DeliveryDetails::read(store, tenant, delivery).await
    }

    /// Applies the event of a caller, e.g. a pause; once for each key.
    pub async fn apply_for_caller(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        event: &SubscriptionEvent,
        key: Option<&IdempotentRequest>,
    ) -> Result<Subscription, WebhookError> {
        let transition = self.apply_event(context, product, id, event, key).await?;
        Ok(transition.subscription)
    }

    /// Applies an event to a subscription in its stored state; once for each key.
    pub async fn apply_event(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        event: &SubscriptionEvent,
        key: Option<&IdempotentRequest>,
    ) -> Result<SubscriptionTransition, WebhookError> {
        let tenant = &context.owner.tenant;
        let mut backoff = ConflictBackoff::new(context.deadline);
        loop {
            let current = self.find(tenant, product, id).await?;
            let from = current.status;
            let transition = |subscription| Ok(SubscriptionTransition { from, subscription });
            if self.base.find_idempotent_result(key).await?.is_some() {
                return transition(current);
            }
            if *event == SubscriptionEvent::Paused && !current.can_be_paused() {
                return Err(WebhookError::SubscriptionNotActive);
            }
            let (now, read_version) = (self.base.now(), current.version);
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, id.as_str());
            let subscription = match current.clone().apply(event.clone(), now) {
                Some(subscription) => {
                    write.update_subscription(&subscription, read_version);
                    if let Some(change) = audited_event(event, &current, &subscription) {
                        audit_in(&mut write, &self.base, &context.actor, change);
                    }
                    subscription
                }
                None if key.is_none() => return transition(current),
                None => current,
            };
            if self.base.try_commit(write).await? {
                return transition(subscription);
            }
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }

    pub async fn validate_url(&self, tenant: &Tenant, url: &str) -> Result<(), WebhookError> {
        let insecure = self.policy.allows_insecure(tenant);
        let checked = url_policy::validate(url, insecure, &self.policy.lookup).await;
        checked.map_err(WebhookError::UrlNotAllowed)
    }
}
