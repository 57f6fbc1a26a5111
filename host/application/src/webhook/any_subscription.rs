//! Subscriptions of all organizations, for people and operators.

use crate::context::RequestContext;
use crate::webhook::error::WebhookError;
use crate::webhook::service::WebhookService;
use host_domain::audit::Actor;
use host_domain::console::TenantScope;
use host_domain::console::webhook::ListedSubscription;
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_domain::webhook::SubscriptionEvent;
use host_domain::webhook::list::SubscriptionScopeFilter;
use host_storage::DatabaseError;

/// Failed deliveries of this time count for the health of a subscription.
const HEALTH_WINDOW_S: i64 = 24 * 60 * 60;

impl WebhookService {
    /// Returns a page of the subscriptions of a scope, newest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_any(
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
    pub async fn find_any(&self, id: &SubscriptionId) -> Result<ListedSubscription, WebhookError> {
        let store = &self.base.store;
        let found = store.listed_subscription(id, self.health_since()).await?;
        found.ok_or(WebhookError::NotFound)
    }

    /// Applies an event, e.g. a pause, to a subscription of any tenant. The endpoint of watches,
    /// which programs register, is none of these subscriptions.
    ///
    /// # Errors
    /// [`WebhookError::NotFound`], or as of [`WebhookService::apply_for_caller`].
    pub async fn apply_any(
        &self,
        actor: Actor,
        id: &SubscriptionId,
        event: &SubscriptionEvent,
    ) -> Result<ListedSubscription, WebhookError> {
        let found = self.base.store.subscription_by_id(id).await?;
        let found = found.filter(|found| found.product != Product::Watch);
        let subscription = found.ok_or(WebhookError::NotFound)?;
        let product = subscription.product;
        let context = RequestContext::for_change(actor, subscription.tenant);
        let applied = self.apply_for_caller(&context, product, id, event, None);
        applied.await?;
        self.find_any(id).await
    }

    fn health_since(&self) -> Timestamp {
        self.base.now().plus_s(-HEALTH_WINDOW_S)
    }
}
