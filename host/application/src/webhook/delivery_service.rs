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
use host_domain::audit::{ActorKind, AuditAction};
use host_domain::event::Product;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::page::{Page, PageRequest};
use host_domain::webhook::Subscription;
use host_domain::webhook::list::DeliveryFilter;
use host_storage::{StoredDelivery, UnitOfWork};
use std::sync::Arc;

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
    pub(super) fn audit_in(
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
