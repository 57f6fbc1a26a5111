//! The endpoint that receives the events of an organization's watches. It is a subscription to all
//! of them, and an organization has at most one.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::conflict_backoff::ConflictBackoff;
use crate::context::RequestContext;
use crate::idempotency::{IdempotentRequest, claim_in};
use crate::sealer::Sealer;
use crate::webhook::audited::audited_subscription;
use crate::webhook::error::WebhookError;
use crate::webhook::maintenance::PENDING_RETENTION_S;
use crate::webhook::service::{SubscriptionWithSecret, WebhookService};
use crate::webhook::signing_secret::{self, SecretOrigin};
use host_domain::audit::AuditAction;
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::page::PageRequest;
use host_domain::webhook::Subscription;
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;
use host_storage::UnitOfWork;
use std::sync::Arc;

const PRODUCT: Product = Product::Watch;

pub struct WatchEndpointService {
    pub(crate) base: Base,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) webhooks: Arc<WebhookService>,
}

impl WatchEndpointService {
    /// Registers a new endpoint with a new secret and replaces the previous one; once for each key.
    /// Events that no endpoint has received and that are not too old are sent to it.
    pub async fn register(
        &self,
        context: &RequestContext,
        url: &str,
        key: Option<&IdempotentRequest>,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let tenant = &context.owner.tenant;
        let mut backoff = ConflictBackoff::new(context.deadline);
        let mut is_checked = false;
        loop {
            // A repeat returns the endpoint that the same request registered, whatever its host
            // name resolves to now.
            let origin = SecretOrigin::Creation;
            let replay = self.webhooks.find_replay(tenant, PRODUCT, key, origin);
            if let Some(existing) = replay.await? {
                return Ok(existing);
            }
            if !is_checked {
                self.webhooks.validate_url(tenant, url).await?;
                is_checked = true;
            }
            let replaced = self.find(tenant).await?;
            let id = SubscriptionId::from_bits(self.base.ids.generate());
            let (signing_secret, sealed) =
                signing_secret::generate_sealed(&self.sealer, tenant, &id)?;
            let (tenant, url, now) = (tenant.clone(), url.to_owned(), self.base.now());
            let event_types = vec![WILDCARD_EVENT_TYPE.to_owned()];
            let subscription = Subscription::new(id, tenant, PRODUCT, url, event_types, None, now);
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, subscription.id.as_str());
            for change in audited_replacement(replaced.as_ref(), &subscription) {
                audit_in(&mut write, &self.base, &context.actor, change);
            }
            let replaced = replaced.as_ref().map(|endpoint| &endpoint.id);
            let since = now.plus_s(-PENDING_RETENTION_S);
            write.replace_watch_endpoint(&subscription, &sealed, replaced, since);
            if self.base.try_commit(write).await? {
                let id = &subscription.id;
                let disclosed = self.webhooks.disclose_once(key, id, signing_secret);
                let signing_secret = disclosed.await;
                return Ok(SubscriptionWithSecret {
                    subscription,
                    signing_secret,
                });
            }
            // Another call replaced the endpoint, or used the key.
            backoff.wait(self.base.ids.as_ref()).await?;
        }
    }

    pub async fn find(&self, tenant: &Tenant) -> Result<Option<Subscription>, WebhookError> {
        let page = PageRequest {
            limit: 1,
            offset: 0,
        };
        let endpoints = self.base.store.subscriptions(tenant, PRODUCT, page).await?;
        Ok(endpoints.items.into_iter().next())
    }

    /// Deletes the endpoint. Its pending events wait for the next endpoint.
    pub async fn delete(&self, context: &RequestContext) -> Result<(), WebhookError> {
        let tenant = &context.owner.tenant;
        let mut backoff = ConflictBackoff::new(context.deadline);
        loop {
            let endpoint = self.find(tenant).await?;
            let endpoint = endpoint.ok_or(WebhookError::NotFound)?;
            match self.webhooks.delete(context, PRODUCT, &endpoint.id).await {
                // The endpoint was replaced meanwhile; the new one has to be deleted, too.
                Err(WebhookError::NotFound) => backoff.wait(self.base.ids.as_ref()).await?,
                result => return result,
            }
        }
    }
}

/// Returns the changes that the audit log has of a new endpoint, which replaces the previous one.
fn audited_replacement<'a>(
    replaced: Option<&'a Subscription>,
    new: &'a Subscription,
) -> impl Iterator<Item = AuditChange<'a>> {
    let created = AuditChange::new(AuditAction::WebhookCreated, new.id.as_str());
    let created = created
        .of_tenant(&new.tenant)
        .after(audited_subscription(new));
    let deleted = replaced.map(|endpoint| {
        AuditChange::new(AuditAction::WebhookDeleted, endpoint.id.as_str())
            .of_tenant(&endpoint.tenant)
            .before(audited_subscription(endpoint))
    });
    deleted.into_iter().chain([created])
}
