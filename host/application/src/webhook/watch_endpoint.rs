//! The endpoint that receives the events of an organization's watches. It is a subscription to all
//! of them, and an organization has at most one.

use crate::application::Application;
use crate::conflict_backoff::ConflictBackoff;
use crate::context::RequestContext;
use crate::idempotency::{IdempotentRequest, claim_in};
use crate::webhook::maintenance::PENDING_RETENTION_S;
use crate::webhook::policy::WebhookError;
use crate::webhook::service::SubscriptionWithSecret;
use crate::webhook::signing_secret::{self, SecretSlot};
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::webhook::Subscription;
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;
use host_storage::{CommitError, PageRequest, UnitOfWork};

/// The product whose events the endpoint receives.
const PRODUCT: Product = Product::Watch;

impl Application {
    /// Registers a new endpoint with a new secret and replaces the previous one; once for each key.
    /// Events that no endpoint has received and that are not too old are sent to it.
    pub async fn register_watch_endpoint(
        &self,
        context: &RequestContext,
        url: &str,
        key: Option<&IdempotentRequest>,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let tenant = &context.owner.tenant;
        let mut tries = ConflictBackoff::new(context.deadline);
        let mut is_checked = false;
        loop {
            // A repeat returns the endpoint that the same request registered, whatever its host
            // name resolves to now.
            if let Some(made) = self.idempotency.find_result(key).await? {
                return self.find_existing(tenant, PRODUCT, &made).await;
            }
            if !is_checked {
                self.validate_url(tenant, url).await?;
                is_checked = true;
            }
            let replaced = self.watch_endpoint(tenant).await?;
            let id = SubscriptionId::from_bits(self.ids.generate());
            let signing_secret = signing_secret::generate()?;
            let sealed = signing_secret::seal(
                &self.sealer,
                tenant,
                &id,
                SecretSlot::Current,
                &signing_secret,
            )?;
            let (tenant, url, now) = (tenant.clone(), url.to_owned(), self.clock.now());
            let every_type = vec![WILDCARD_EVENT_TYPE.to_owned()];
            let subscription = Subscription::new(id, tenant, PRODUCT, url, every_type, None, now);
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, subscription.id.as_str());
            let replaced = replaced.as_ref().map(|endpoint| &endpoint.id);
            let since = now.plus_s(-PENDING_RETENTION_S);
            write.replace_watch_endpoint(&subscription, &sealed, replaced, since);
            match self.store.commit(write).await {
                Ok(()) => {
                    return Ok(SubscriptionWithSecret {
                        subscription,
                        signing_secret: Some(signing_secret),
                    });
                }
                // Another call replaced the endpoint, or used the key.
                Err(CommitError::Conflict(_)) => tries.wait(self.ids.as_ref()).await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the endpoint, if there is one.
    pub async fn watch_endpoint(
        &self,
        tenant: &Tenant,
    ) -> Result<Option<Subscription>, WebhookError> {
        let page = PageRequest {
            limit: 1,
            offset: 0,
        };
        let listed = self.store.subscriptions(tenant, PRODUCT, page).await?;
        Ok(listed.items.into_iter().next())
    }

    /// Deletes the endpoint. Its pending events wait for the next endpoint.
    pub async fn delete_watch_endpoint(
        &self,
        context: &RequestContext,
    ) -> Result<(), WebhookError> {
        let tenant = &context.owner.tenant;
        let mut tries = ConflictBackoff::new(context.deadline);
        loop {
            let endpoint = self.watch_endpoint(tenant).await?;
            let endpoint = endpoint.ok_or(WebhookError::NotFound)?;
            match self
                .delete_subscription(tenant, PRODUCT, &endpoint.id)
                .await
            {
                // The endpoint was replaced meanwhile; the new one has to be deleted, too.
                Err(WebhookError::NotFound) => tries.wait(self.ids.as_ref()).await?,
                ended => return ended,
            }
        }
    }
}
