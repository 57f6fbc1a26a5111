//! Operations on deliveries: reading them and sending them again.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::conflict_backoff::ConflictBackoff;
use crate::context::RequestContext;
use crate::idempotency::{IdempotentRequest, claim_in};
use crate::webhook::delivery_details::{DeliveryDetails, find_delivery};
use crate::webhook::error::WebhookError;
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::service::WebhookService;
use futures::stream::{self, StreamExt, TryStreamExt};
use host_domain::audit::{ActorKind, AuditAction};
use host_domain::event::Product;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::page::{Page, PageRequest};
use host_domain::time::Timestamp;
use host_domain::webhook::list::DeliveryFilter;
use host_domain::webhook::{Subscription, SubscriptionStatus};
use host_storage::{StoredDelivery, UnitOfWork};
use std::sync::Arc;

/// Number of failed deliveries that are read in one batch to be replayed.
const RECOVERY_BATCH_SIZE: u32 = 200;

const CONCURRENT_WRITES_MAX: usize = 8;

pub struct DeliveryService {
    pub(crate) base: Base,
    pub(crate) policy: Arc<DeliveryPolicy>,
    pub(crate) webhooks: Arc<WebhookService>,
}

impl DeliveryService {
    /// Replays a delivery if it cannot arrive by itself any more; once for each key.
    pub async fn replay(
        &self,
        context: &RequestContext,
        product: Product,
        subscription: &SubscriptionId,
        id: &DeliveryId,
        key: Option<&IdempotentRequest>,
    ) -> Result<DeliveryDetails, WebhookError> {
        let tenant = &context.owner.tenant;
        let subscription = self.webhooks.find(tenant, product, subscription).await?;
        self.replay_of(context, subscription, id, key).await
    }

    /// Replays a delivery to a subscription of the context's tenant that was just read, as
    /// [`DeliveryService::replay`] does.
    pub(crate) async fn replay_of(
        &self,
        context: &RequestContext,
        mut subscription: Subscription,
        id: &DeliveryId,
        key: Option<&IdempotentRequest>,
    ) -> Result<DeliveryDetails, WebhookError> {
        let tenant = &context.owner.tenant;
        let store = &self.base.store;
        let mut backoff = ConflictBackoff::new(context.deadline);
        loop {
            let stored = find_delivery(store, tenant, &subscription.id, id.as_str()).await?;
            if self.base.find_idempotent_result(key).await?.is_some() {
                return DeliveryDetails::read(store, tenant, stored).await;
            }
            let mut write = self.base.unit_of_work();
            claim_in(&mut write, key, id.as_str());
            self.audit_in(
                &mut write,
                context,
                AuditAction::DeliveryReplayed,
                id.as_str(),
            );
            let replayed = self.replay_in(&subscription, stored, &mut write)?;
            if self.base.try_commit(write).await? {
                return DeliveryDetails::read(store, tenant, replayed).await;
            }
            backoff.wait(self.base.ids.as_ref()).await?;
            let (product, id) = (subscription.product, &subscription.id);
            subscription = self.webhooks.find(tenant, product, id).await?;
        }
    }

    /// Replays a delivery that only its id names, as [`DeliveryService::replay`] does.
    pub async fn replay_by_id(
        &self,
        context: &RequestContext,
        id: &DeliveryId,
    ) -> Result<DeliveryDetails, WebhookError> {
        let subscription = self.subscription_of(id).await?;
        if subscription.tenant != context.owner.tenant {
            return Err(WebhookError::DeliveryNotFound);
        }
        self.replay_of(context, subscription, id, None).await
    }

    fn replay_in(
        &self,
        subscription: &Subscription,
        stored: StoredDelivery,
        write: &mut UnitOfWork,
    ) -> Result<StoredDelivery, WebhookError> {
        let read_status = stored.delivery.status();
        let now = self.base.now();
        let replayed = self.policy.replay(subscription, stored, now)?;
        write.replay_delivery(&replayed.tenant, &replayed.delivery, read_status);
        Ok(replayed)
    }

    /// Replays the deliveries that failed since a given time, and returns their number. If this
    /// ends early, the replays stored so far remain, and another request continues. With the same
    /// key it covers the deliveries that had failed when the key was first used.
    pub async fn recover(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        since: Timestamp,
        key: Option<&IdempotentRequest>,
    ) -> Result<u64, WebhookError> {
        let tenant = &context.owner.tenant;
        let subscription = self.webhooks.find(tenant, product, id).await?;
        if subscription.status != SubscriptionStatus::Active {
            return Err(WebhookError::SubscriptionNotActive);
        }
        let mut write = self.base.unit_of_work();
        self.audit_in(
            &mut write,
            context,
            AuditAction::WebhookRecovered,
            id.as_str(),
        );
        if !write.is_empty() {
            self.base.store.commit(write).await?;
        }
        let (mut queued, until) = (0, self.recovery_cutoff(key).await?);
        loop {
            let store = &self.base.store;
            let failed = store.failed_deliveries(tenant, id, since, until, RECOVERY_BATCH_SIZE);
            let failed = failed.await?;
            if failed.is_empty() {
                return Ok(queued);
            }
            let are_replayed: Vec<bool> = stream::iter(failed)
                .map(|stored| self.replay_stored(&subscription, stored))
                .buffer_unordered(CONCURRENT_WRITES_MAX)
                .try_collect()
                .await?;
            queued += are_replayed.into_iter().map(u64::from).sum::<u64>();
        }
    }

    /// Returns the time up to which failures are replayed: now, or the first use of the key.
    async fn recovery_cutoff(
        &self,
        key: Option<&IdempotentRequest>,
    ) -> Result<Timestamp, WebhookError> {
        let now = self.base.now();
        let Some(key) = key else { return Ok(now) };
        self.base
            .claim_idempotency_key(key, &now.to_string())
            .await?;
        let first_use = self.base.find_idempotent_result(Some(key)).await?;
        Ok(first_use
            .and_then(|at| Timestamp::parse(&at))
            .unwrap_or(now))
    }

    /// Replays a delivery that was just read. Returns `false` if another process changed it first.
    pub(crate) async fn replay_stored(
        &self,
        subscription: &Subscription,
        stored: StoredDelivery,
    ) -> Result<bool, WebhookError> {
        let mut write = self.base.unit_of_work();
        self.replay_in(subscription, stored, &mut write)?;
        Ok(self.base.try_commit(write).await?)
    }

    /// Records what a person does with deliveries. Programs do so in the ordinary course of events.
    fn audit_in(
        &self,
        write: &mut UnitOfWork,
        context: &RequestContext,
        action: AuditAction,
        target: &str,
    ) {
        if context.actor.kind != ActorKind::ApiKey {
            let change = AuditChange::new(action, target).of_tenant(&context.owner.tenant);
            audit_in(write, &self.base, &context.actor, change);
        }
    }

    pub async fn find(
        &self,
        tenant: &Tenant,
        product: Product,
        subscription: &SubscriptionId,
        id: &DeliveryId,
    ) -> Result<DeliveryDetails, WebhookError> {
        self.webhooks.find(tenant, product, subscription).await?;
        let store = &self.base.store;
        let stored = find_delivery(store, tenant, subscription, id.as_str()).await?;
        DeliveryDetails::read(store, tenant, stored).await
    }

    /// Returns a page of a subscription's deliveries, newest first, and the number of all matches.
    pub async fn list(
        &self,
        tenant: &Tenant,
        product: Product,
        subscription: &SubscriptionId,
        filter: DeliveryFilter,
        page: PageRequest,
    ) -> Result<(Page<DeliveryDetails>, u64), WebhookError> {
        self.webhooks.find(tenant, product, subscription).await?;
        let store = &self.base.store;
        let stored = store.deliveries(tenant, subscription, filter, page).await?;
        let total = store.count_deliveries(tenant, subscription, filter).await?;
        let page = Page {
            has_more: stored.has_more,
            items: DeliveryDetails::read_all(store, tenant, stored.items).await?,
        };
        Ok((page, total))
    }
}
