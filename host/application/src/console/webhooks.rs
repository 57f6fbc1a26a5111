//! Webhooks as people manage them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::context::RequestContext;
use crate::storage_failure::StorageFailure;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::error::WebhookError;
use crate::webhook::service::{
    NewSubscription, SubscriptionUpdate, SubscriptionWithSecret, WebhookService,
};
use crate::webhook::subscription_rules::{WebhookProblem, check_properties};
use host_domain::account::Permission;
use host_domain::console::webhook::{ListedDelivery, ListedSubscription};
use host_domain::event::Product;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::page::CursorRequest;
use host_domain::time::Timestamp;
use host_domain::webhook::list::{DeliveryScopeFilter, SubscriptionScopeFilter};
use host_domain::webhook::{ListenSession, Subscription, SubscriptionEvent, SubscriptionStatus};
use host_storage::DatabaseError;
use std::sync::Arc;

/// Number of deliveries on the page of a webhook.
const RECENT_DELIVERIES: u32 = 10;
/// Maximum number of programs without a webhook on the list.
const LISTENERS_MAX: u32 = 20;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleWebhookError {
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The rules that the form breaks, at least one.
    #[error("the webhook is not valid")]
    Invalid(Vec<WebhookProblem>),
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    #[error("the webhooks could not be read")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for ConsoleWebhookError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

/// The fields of the form of a webhook.
#[derive(Debug, Clone)]
pub struct WebhookFields {
    pub url: String,
    /// Names of event types, or `*`.
    pub event_types: Vec<String>,
    /// Empty for none.
    pub description: String,
}

/// A webhook as a person sees it.
#[derive(Debug, Clone)]
pub struct WebhookView {
    pub listed: ListedSubscription,
    /// Whether the person may change, pause and delete it. Nobody may do so with the endpoint of
    /// watches, which programs register.
    pub can_manage: bool,
    /// Whether the person may resume it, also the endpoint of watches: the gateway disables it when
    /// its receiver fails for long.
    pub can_resume: bool,
    /// Whether the person may send a test event and replay deliveries.
    pub can_replay: bool,
}

/// A webhook with its latest deliveries.
#[derive(Debug, Clone)]
pub struct WebhookWithDeliveries {
    pub view: WebhookView,
    /// Latest first.
    pub deliveries: Vec<ListedDelivery>,
}

/// A page of webhooks with the programs that receive events without one.
#[derive(Debug, Clone)]
pub struct WebhookList {
    pub webhooks: ConsoleList<WebhookView>,
    /// Newest first. Only the first page has them.
    pub listeners: Vec<ListenSession>,
}

/// Reads and changes webhooks within the roles of a person.
pub struct ConsoleWebhooks {
    pub(crate) base: Base,
    pub(crate) webhooks: Arc<WebhookService>,
    pub(crate) deliveries: Arc<DeliveryService>,
}

impl ConsoleWebhooks {
    /// Returns a page of webhooks of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleWebhookError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<SubscriptionScopeFilter>,
    ) -> Result<WebhookList, ConsoleWebhookError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, page) = (&self.base.store, request.page());
        let listeners = async {
            match page.after {
                Some(_) => Ok(Vec::new()),
                None if request.matches_nothing => Ok(Vec::new()),
                None if request.filter != SubscriptionScopeFilter::default() => Ok(Vec::new()),
                None => {
                    store
                        .listen_sessions(&scope, self.base.now(), LISTENERS_MAX)
                        .await
                }
            }
        };
        let (listed, organizations, listeners) = futures::try_join!(
            request.read_page(self.webhooks.list_unscoped(&scope, &request.filter, &page)),
            readable_organizations(store, viewer),
            listeners,
        )?;
        let webhooks = ConsoleList {
            page: listed.map(|listed| view(viewer, listed)),
            organizations,
        };
        Ok(WebhookList {
            webhooks,
            listeners,
        })
    }

    /// Returns a webhook of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleWebhookError::Access`].
    pub async fn find(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<WebhookWithDeliveries, ConsoleWebhookError> {
        let listed = self.webhooks.find_unscoped(id).await?;
        let tenant = &listed.subscription.tenant;
        viewer.require_on(Permission::Read, tenant)?;
        let scope = viewer.scope(Some(&tenant.organization))?;
        let filter = DeliveryScopeFilter {
            subscription: Some(id.clone()),
            ..DeliveryScopeFilter::default()
        };
        let page = CursorRequest {
            after: None,
            limit: RECENT_DELIVERIES,
        };
        let deliveries = self
            .deliveries
            .list_unscoped(&scope, &filter, &page)
            .await?;
        Ok(WebhookWithDeliveries {
            view: view(viewer, listed),
            deliveries: deliveries.items,
        })
    }

    /// Creates a webhook in the session's mode and returns it with its secret.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn create(
        &self,
        viewer: &Viewer,
        organization: &str,
        product: Product,
        fields: WebhookFields,
    ) -> Result<SubscriptionWithSecret, ConsoleWebhookError> {
        let tenant = Tenant {
            organization: organization.to_owned(),
            mode: viewer.mode,
        };
        viewer.require_on(Permission::ManageWebhooks, &tenant)?;
        check(product, &fields)?;
        let new = NewSubscription {
            product,
            url: fields.url,
            event_types: fields.event_types,
            description: some_text(fields.description),
        };
        let context = RequestContext::for_change(viewer.actor(), tenant);
        Ok(self.webhooks.create(&context, new, None).await?)
    }

    /// Replaces URL, event types and description.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn update(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
        fields: WebhookFields,
    ) -> Result<(), ConsoleWebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.managed(viewer, id).await?;
        check(product, &fields)?;
        let change = SubscriptionUpdate {
            url: Some(fields.url),
            event_types: Some(fields.event_types),
            description: Some(some_text(fields.description)),
        };
        let context = RequestContext::for_change(viewer.actor(), tenant);
        let updated = self.webhooks.update(&context, product, id, change);
        updated.await?;
        Ok(())
    }

    /// Pauses a webhook. Its deliveries wait.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn pause(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<(), ConsoleWebhookError> {
        let subscription = self.managed(viewer, id).await?;
        self.apply(viewer, subscription, SubscriptionEvent::Paused)
            .await
    }

    /// Resumes a webhook that is paused or disabled. Its waiting deliveries are sent.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn resume(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<(), ConsoleWebhookError> {
        let permission = Permission::ManageWebhooks;
        let subscription = self.subscription(viewer, id, permission).await?;
        self.apply(viewer, subscription, SubscriptionEvent::Resumed)
            .await
    }

    async fn apply(
        &self,
        viewer: &Viewer,
        subscription: Subscription,
        event: SubscriptionEvent,
    ) -> Result<(), ConsoleWebhookError> {
        let Subscription {
            id,
            tenant,
            product,
            ..
        } = subscription;
        let context = RequestContext::for_change(viewer.actor(), tenant);
        let webhooks = &self.webhooks;
        let applied = webhooks.apply_for_caller(&context, product, &id, &event, None);
        applied.await?;
        Ok(())
    }

    /// Replaces the signing secret. The previous one signs too for a time.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn rotate_secret(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<SubscriptionWithSecret, ConsoleWebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.managed(viewer, id).await?;
        let context = RequestContext::for_change(viewer.actor(), tenant);
        let rotated = self.webhooks.rotate_secret(&context, product, id, None);
        Ok(rotated.await?)
    }

    /// Deletes a webhook with its deliveries.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn delete(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<(), ConsoleWebhookError> {
        let Subscription {
            tenant, product, ..
        } = self.managed(viewer, id).await?;
        let context = RequestContext::for_change(viewer.actor(), tenant);
        Ok(self.webhooks.delete(&context, product, id).await?)
    }

    /// Sends a `ping` and returns its delivery.
    ///
    /// # Errors
    /// [`WebhookError::SubscriptionNotActive`] if the event would wait until the webhook is resumed;
    /// [`ConsoleWebhookError`].
    pub async fn send_test_event(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<DeliveryId, ConsoleWebhookError> {
        let permission = Permission::ReplayDeliveries;
        let Subscription {
            tenant,
            product,
            status,
            ..
        } = self.subscription(viewer, id, permission).await?;
        if product == Product::Watch {
            return Err(AccessError::Forbidden.into());
        }
        if status != SubscriptionStatus::Active {
            return Err(WebhookError::SubscriptionNotActive.into());
        }
        let context = RequestContext::for_change(viewer.actor(), tenant);
        let sent = self.webhooks.send_test_event(&context, product, id, None);
        Ok(sent.await?.delivery.id)
    }

    /// Replays the deliveries that failed since a time, and returns their number.
    ///
    /// # Errors
    /// [`ConsoleWebhookError`].
    pub async fn recover(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
        since: Timestamp,
    ) -> Result<u64, ConsoleWebhookError> {
        let permission = Permission::ReplayDeliveries;
        let Subscription {
            tenant, product, ..
        } = self.subscription(viewer, id, permission).await?;
        let context = RequestContext::for_change(viewer.actor(), tenant);
        let recovered = self.deliveries.recover(&context, product, id, since, None);
        Ok(recovered.await?)
    }

    /// Returns a webhook that the person may change.
    ///
    /// # Errors
    /// [`ConsoleWebhookError::Access`].
    pub async fn managed(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
    ) -> Result<Subscription, ConsoleWebhookError> {
        let permission = Permission::ManageWebhooks;
        let subscription = self.subscription(viewer, id, permission).await?;
        match subscription.product {
            Product::Hotel | Product::Flight => Ok(subscription),
            Product::Watch => Err(AccessError::Forbidden.into()),
        }
    }

    async fn subscription(
        &self,
        viewer: &Viewer,
        id: &SubscriptionId,
        permission: Permission,
    ) -> Result<Subscription, ConsoleWebhookError> {
        let found = self.base.store.subscription_unscoped(id).await?;
        let subscription = found.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &subscription.tenant)?;
        Ok(subscription)
    }
}

fn view(viewer: &Viewer, listed: ListedSubscription) -> WebhookView {
    let Subscription {
        tenant, product, ..
    } = &listed.subscription;
    let may = |permission| viewer.require_on(permission, tenant).is_ok();
    WebhookView {
        can_manage: *product != Product::Watch && may(Permission::ManageWebhooks),
        can_resume: may(Permission::ManageWebhooks),
        can_replay: may(Permission::ReplayDeliveries),
        listed,
    }
}

fn some_text(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn check(product: Product, fields: &WebhookFields) -> Result<(), ConsoleWebhookError> {
    let (url, description) = (Some(fields.url.as_str()), Some(fields.description.as_str()));
    check_properties(product, url, Some(&fields.event_types), description)
        .map_err(ConsoleWebhookError::Invalid)
}
