//! Subscriptions of all organizations, for people and operators.

use crate::context::RequestContext;
use crate::webhook::delivery_details::DeliveryDetails;
use crate::webhook::error::WebhookError;
use crate::webhook::service::{
    NewSubscription, SubscriptionUpdate, SubscriptionWithSecret, WebhookService,
};
use crate::webhook::subscription_rules::{WebhookProblem, check_properties};
use host_domain::audit::Actor;
use host_domain::console::TenantScope;
use host_domain::console::webhook::ListedSubscription;
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_domain::webhook::list::SubscriptionScopeFilter;
use host_domain::webhook::{Subscription, SubscriptionEvent};
use host_storage::DatabaseError;

/// Failed deliveries of this time count for the health of a subscription.
const HEALTH_WINDOW_S: i64 = 24 * 60 * 60;

/// Reason why an operator cannot create or change a subscription.
#[derive(Debug, thiserror::Error)]
pub enum OperatorWebhookError {
    /// The rules that the webhook breaks, at least one.
    #[error("the webhook is not valid: {}", join(.0))]
    Invalid(Vec<WebhookProblem>),
    #[error(transparent)]
    Webhook(#[from] WebhookError),
}

fn join(problems: &[WebhookProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

impl WebhookService {
    /// Returns a page of the subscriptions of a scope, newest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_unscoped(
        &self,
        scope: &TenantScope,
        filter: &SubscriptionScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedSubscription>, DatabaseError> {
        let store = &self.base.store;
        let failed_since = self.health_since();
        store
            .subscription_page(scope, filter, failed_since, page)
            .await
    }

    /// Returns a subscription of any tenant.
    ///
    /// # Errors
    /// [`WebhookError::NotFound`] or [`WebhookError::Storage`].
    pub async fn find_unscoped(
        &self,
        id: &SubscriptionId,
    ) -> Result<ListedSubscription, WebhookError> {
        let store = &self.base.store;
        let found = store
            .listed_subscription_unscoped(id, self.health_since())
            .await?;
        found.ok_or(WebhookError::NotFound)
    }

    /// Applies an event, e.g. a pause, to a subscription of any tenant. The endpoint of watches,
    /// which programs register, may only be resumed.
    ///
    /// # Errors
    /// [`WebhookError::NotFound`], or as of [`WebhookService::apply_for_caller`].
    pub async fn apply_unscoped(
        &self,
        actor: Actor,
        id: &SubscriptionId,
        event: &SubscriptionEvent,
    ) -> Result<ListedSubscription, WebhookError> {
        let Subscription {
            tenant, product, ..
        } = match event {
            SubscriptionEvent::Resumed => self.any(id).await?,
            _ => self.changeable(id).await?,
        };
        let context = RequestContext::for_change(actor, tenant);
        let applied = self.apply_for_caller(&context, product, id, event, None);
        applied.await?;
        self.find_unscoped(id).await
    }

    /// Creates a subscription of a tenant and returns it with its secret.
    ///
    /// # Errors
    /// [`OperatorWebhookError`].
    pub async fn create_unscoped(
        &self,
        actor: Actor,
        tenant: Tenant,
        new: NewSubscription,
    ) -> Result<SubscriptionWithSecret, OperatorWebhookError> {
        let (event_types, description) = (Some(&*new.event_types), new.description.as_deref());
        check_properties(new.product, Some(&new.url), event_types, description)
            .map_err(OperatorWebhookError::Invalid)?;
        let context = RequestContext::for_change(actor, tenant);
        Ok(self.create(&context, new, None).await?)
    }

    /// Changes a subscription of any tenant, except the endpoint of watches.
    ///
    /// # Errors
    /// [`OperatorWebhookError`].
    pub async fn update_unscoped(
        &self,
        actor: Actor,
        id: &SubscriptionId,
        change: SubscriptionUpdate,
    ) -> Result<ListedSubscription, OperatorWebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.changeable(id).await?;
        let (url, event_types) = (change.url.as_deref(), change.event_types.as_deref());
        let description = change.description.as_ref().and_then(Option::as_deref);
        check_properties(product, url, event_types, description)
            .map_err(OperatorWebhookError::Invalid)?;
        let context = RequestContext::for_change(actor, tenant);
        self.update(&context, product, id, change).await?;
        Ok(self.find_unscoped(id).await?)
    }

    /// Replaces the secret of a subscription of any tenant, except the endpoint of watches. The
    /// previous secret signs too for a time.
    ///
    /// # Errors
    /// As of [`WebhookService::rotate_secret`].
    pub async fn rotate_secret_unscoped(
        &self,
        actor: Actor,
        id: &SubscriptionId,
    ) -> Result<SubscriptionWithSecret, WebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.changeable(id).await?;
        let context = RequestContext::for_change(actor, tenant);
        self.rotate_secret(&context, product, id, None).await
    }

    /// Sends a `ping` to a subscription of any tenant, except the endpoint of watches.
    ///
    /// # Errors
    /// As of [`WebhookService::send_test_event`].
    pub async fn send_test_event_unscoped(
        &self,
        actor: Actor,
        id: &SubscriptionId,
    ) -> Result<DeliveryDetails, WebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.changeable(id).await?;
        let context = RequestContext::for_change(actor, tenant);
        self.send_test_event(&context, product, id, None).await
    }

    /// Deletes a subscription of any tenant, except the endpoint of watches.
    ///
    /// # Errors
    /// As of [`WebhookService::delete`].
    pub async fn delete_unscoped(
        &self,
        actor: Actor,
        id: &SubscriptionId,
    ) -> Result<(), WebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.changeable(id).await?;
        let context = RequestContext::for_change(actor, tenant);
        self.delete(&context, product, id).await
    }

    /// Returns a subscription of any tenant that operators may change.
    async fn changeable(&self, id: &SubscriptionId) -> Result<Subscription, WebhookError> {
        let found = self.any(id).await?;
        match found.product {
            Product::Hotel | Product::Flight => Ok(found),
            Product::Watch => Err(WebhookError::NotFound),
        }
    }

    /// Returns a subscription of any tenant, or its endpoint of watches.
    async fn any(&self, id: &SubscriptionId) -> Result<Subscription, WebhookError> {
        let found = self.base.store.subscription_unscoped(id).await?;
        found.ok_or(WebhookError::NotFound)
    }

    fn health_since(&self) -> Timestamp {
        self.base.now().plus_s(-HEALTH_WINDOW_S)
    }
}
