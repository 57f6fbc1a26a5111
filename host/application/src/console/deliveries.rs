//! Deliveries and events as people see them.

use crate::account::viewer::Viewer;
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::context::RequestContext;
use crate::storage_failure::StorageFailure;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::error::WebhookError;
use crate::webhook::event_payload::pretty_payload;
use crate::webhook::unscoped_delivery::{DeliveryHistory, EventHistory};
use host_domain::account::Permission;
use host_domain::audit::AuditAction;
use host_domain::console::webhook::ListedDelivery;
use host_domain::id::{DeliveryId, EventId};
use host_domain::owner::Tenant;
use host_domain::page::CursorPage;
use host_domain::webhook::list::DeliveryScopeFilter;
use host_storage::DatabaseError;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum ConsoleDeliveryError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    #[error("the deliveries could not be read")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for ConsoleDeliveryError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

/// A delivery as a person sees it. Its payload is masked unless it is revealed.
#[derive(Debug, Clone)]
pub struct DeliveryView {
    pub history: DeliveryHistory,
    pub is_revealed: bool,
    /// Whether the person may see the personal data.
    pub can_reveal: bool,
    /// Whether the person may replay the delivery.
    pub can_replay: bool,
}

/// An event as a person sees it. Its payload is masked unless it is revealed.
#[derive(Debug, Clone)]
pub struct EventView {
    pub history: EventHistory,
    pub is_revealed: bool,
    /// Whether the person may see the personal data.
    pub can_reveal: bool,
}

/// Reads and replays deliveries within the roles of a person.
pub struct ConsoleDeliveries {
    pub(crate) base: Base,
    pub(crate) deliveries: Arc<DeliveryService>,
}

impl ConsoleDeliveries {
    /// Returns a page of deliveries of the session's mode, with the organizations to choose from.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<DeliveryScopeFilter>,
    ) -> Result<ConsoleList<ListedDelivery>, ConsoleError> {
        let organizations = async {
            let organizations = readable_organizations(&self.base.store, viewer).await;
            organizations.map_err(ConsoleError::from)
        };
        let (page, organizations) = futures::try_join!(self.page(viewer, request), organizations)?;
        Ok(ConsoleList {
            page,
            organizations,
        })
    }

    /// Returns a page of deliveries of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn page(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<DeliveryScopeFilter>,
    ) -> Result<CursorPage<ListedDelivery>, ConsoleError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let page = request.page();
        let page = self
            .deliveries
            .list_unscoped(&scope, &request.filter, &page);
        Ok(request.read_page(page).await?)
    }

    /// Returns a delivery of the session's mode. Its payload is masked. Responses are shown to those
    /// who test webhooks, because the response of their own receiver is what they look for.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError::Access`].
    pub async fn find(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
    ) -> Result<DeliveryView, ConsoleDeliveryError> {
        let page = self.unmasked(viewer, id, Permission::Read).await?;
        Ok(DeliveryView {
            history: match page.can_replay {
                true => page.history.with_masked_payload(),
                false => page.history.masked(),
            },
            ..page
        })
    }

    /// Returns a delivery with the personal data in its bodies, which is recorded.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError::Access`].
    pub async fn reveal(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
    ) -> Result<DeliveryView, ConsoleDeliveryError> {
        let permission = Permission::RevealPersonalData;
        let page = self.unmasked(viewer, id, permission).await?;
        let history = page.history;
        let tenant = &history.subscription.tenant;
        self.record_reveal(viewer, tenant, &history.delivery.event)
            .await?;
        Ok(DeliveryView {
            history: DeliveryHistory {
                payload: pretty_payload(&history.payload),
                ..history
            },
            is_revealed: true,
            ..page
        })
    }

    async fn unmasked(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
        permission: Permission,
    ) -> Result<DeliveryView, ConsoleDeliveryError> {
        let history = self.deliveries.find_unscoped(id).await?;
        let tenant = &history.subscription.tenant;
        viewer.require_on(permission, tenant)?;
        let may = |permission| viewer.require_on(permission, tenant).is_ok();
        Ok(DeliveryView {
            can_replay: may(Permission::ReplayDeliveries),
            can_reveal: may(Permission::RevealPersonalData),
            is_revealed: false,
            history,
        })
    }

    async fn record_reveal(
        &self,
        viewer: &Viewer,
        tenant: &Tenant,
        event: &EventId,
    ) -> Result<(), ConsoleDeliveryError> {
        let mut write = self.base.unit_of_work();
        let change = AuditChange::new(AuditAction::EventRevealed, event.as_str());
        audit_in(
            &mut write,
            &self.base,
            &viewer.actor(),
            change.of_tenant(tenant),
        );
        let recorded = self.base.store.commit(write).await;
        Ok(recorded.map_err(WebhookError::from)?)
    }

    /// Sends a delivery again.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError`]; [`WebhookError::ReplayNotAllowed`] while it may still arrive by
    /// itself.
    pub async fn replay(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
    ) -> Result<(), ConsoleDeliveryError> {
        let subscription = self.deliveries.subscription_of(id).await?;
        viewer.require_on(Permission::ReplayDeliveries, &subscription.tenant)?;
        let context = RequestContext::for_change(viewer.actor(), subscription.tenant.clone());
        let replayed = self.deliveries.replay_of(&context, subscription, id, None);
        replayed.await?;
        Ok(())
    }

    /// Returns an event of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError::Access`].
    pub async fn event(
        &self,
        viewer: &Viewer,
        id: &EventId,
    ) -> Result<EventView, ConsoleDeliveryError> {
        let page = self.unmasked_event(viewer, id, Permission::Read).await?;
        Ok(EventView {
            history: page.history.masked(),
            ..page
        })
    }

    /// Returns an event with the permission to show its personal data, which is recorded.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError::Access`].
    pub async fn reveal_event(
        &self,
        viewer: &Viewer,
        id: &EventId,
    ) -> Result<EventView, ConsoleDeliveryError> {
        let permission = Permission::RevealPersonalData;
        let page = self.unmasked_event(viewer, id, permission).await?;
        let history = page.history;
        self.record_reveal(viewer, &history.tenant, id).await?;
        Ok(EventView {
            history: EventHistory {
                payload: pretty_payload(&history.payload),
                ..history
            },
            is_revealed: true,
            ..page
        })
    }

    async fn unmasked_event(
        &self,
        viewer: &Viewer,
        id: &EventId,
        permission: Permission,
    ) -> Result<EventView, ConsoleDeliveryError> {
        let found = self.deliveries.find_event_unscoped(id).await?;
        let history = found.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &history.tenant)?;
        let reveal = Permission::RevealPersonalData;
        Ok(EventView {
            can_reveal: viewer.require_on(reveal, &history.tenant).is_ok(),
            is_revealed: false,
            history,
        })
    }
}
