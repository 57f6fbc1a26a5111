//! Deliveries and events as people see them.

use crate::account::viewer::Viewer;
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::event_payload::{masked_attempt, masked_payload, pretty_payload};
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::console::viewer_context::viewer_context;
use crate::storage_failure::StorageFailure;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::error::WebhookError;
use host_domain::account::Permission;
use host_domain::audit::AuditAction;
use host_domain::console::webhook::ListedDelivery;
use host_domain::id::{BookingId, DeliveryId, EventId};
use host_domain::owner::Tenant;
use host_domain::page::CursorPage;
use host_domain::time::Timestamp;
use host_domain::webhook::list::DeliveryScopeFilter;
use host_domain::webhook::{Delivery, DeliveryAttempt, Subscription};
use host_storage::{DatabaseError, OutboxEvent};
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

/// A delivery with everything that happened to it.
#[derive(Debug, Clone)]
pub struct DeliveryPage {
    pub subscription: Subscription,
    pub delivery: Delivery,
    /// Name of the event's type.
    pub event_type: String,
    /// The attempts of all generations, each with its generation, latest first.
    pub attempts: Vec<(i64, DeliveryAttempt)>,
    /// The body of the request.
    pub payload: String,
    /// Whether payload and responses have their personal data. Otherwise they are masked.
    pub is_revealed: bool,
    pub can_reveal: bool,
    /// Whether the person may replay the delivery.
    pub can_replay: bool,
}

/// An event with its deliveries.
#[derive(Debug, Clone)]
pub struct EventPage {
    pub tenant: Tenant,
    pub id: EventId,
    /// Name of the type.
    pub event_type: String,
    pub booking: Option<BookingId>,
    pub created_at: Timestamp,
    /// The body that receivers get, masked unless it is revealed.
    pub payload: String,
    pub is_revealed: bool,
    pub deliveries: Vec<ListedDelivery>,
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
        let store = &self.base.store;
        let page = request.page();
        let page = store.delivery_page(&scope, &request.filter, &page);
        Ok(page.await?)
    }

    /// Returns a delivery of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError::Access`].
    pub async fn find(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
    ) -> Result<DeliveryPage, ConsoleDeliveryError> {
        let page = self.unmasked(viewer, id, Permission::Read).await?;
        let attempts = page.attempts.into_iter();
        Ok(DeliveryPage {
            attempts: attempts.map(masked_attempt).collect(),
            payload: masked_payload(&page.payload),
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
    ) -> Result<DeliveryPage, ConsoleDeliveryError> {
        let permission = Permission::RevealPersonalData;
        let page = self.unmasked(viewer, id, permission).await?;
        let tenant = &page.subscription.tenant;
        self.record_reveal(viewer, tenant, &page.delivery.event)
            .await?;
        Ok(DeliveryPage {
            payload: pretty_payload(&page.payload),
            is_revealed: true,
            ..page
        })
    }

    async fn unmasked(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
        permission: Permission,
    ) -> Result<DeliveryPage, ConsoleDeliveryError> {
        let subscription = self.subscription(viewer, id, permission).await?;
        let (store, tenant) = (&self.base.store, &subscription.tenant);
        let (found, attempts) = futures::try_join!(
            store.delivery_with_event(tenant, id),
            store.all_delivery_attempts(tenant, id),
        )?;
        let (stored, event_type) = found.ok_or(AccessError::NotFound)?;
        let may = |permission| viewer.require_on(permission, tenant).is_ok();
        Ok(DeliveryPage {
            can_replay: may(Permission::ReplayDeliveries),
            can_reveal: may(Permission::RevealPersonalData),
            delivery: stored.delivery,
            event_type,
            attempts,
            payload: stored.payload,
            is_revealed: false,
            subscription,
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
        let permission = Permission::ReplayDeliveries;
        let subscription = self.subscription(viewer, id, permission).await?;
        let context = viewer_context(viewer, subscription.tenant);
        let (product, subscription) = (subscription.product, &subscription.id);
        let replayed = self
            .deliveries
            .replay(&context, product, subscription, id, None);
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
    ) -> Result<EventPage, ConsoleDeliveryError> {
        let (tenant, mut event) = self.outbox_event(viewer, id, Permission::Read).await?;
        event.payload = masked_payload(&event.payload);
        self.event_page(viewer, tenant, event).await
    }

    /// Returns an event with the permission to show its personal data, which is recorded.
    ///
    /// # Errors
    /// [`ConsoleDeliveryError::Access`].
    pub async fn reveal_event(
        &self,
        viewer: &Viewer,
        id: &EventId,
    ) -> Result<EventPage, ConsoleDeliveryError> {
        let permission = Permission::RevealPersonalData;
        let (tenant, event) = self.outbox_event(viewer, id, permission).await?;
        self.record_reveal(viewer, &tenant, id).await?;
        let page = self.event_page(viewer, tenant, event).await?;
        Ok(EventPage {
            payload: pretty_payload(&page.payload),
            is_revealed: true,
            ..page
        })
    }

    async fn event_page(
        &self,
        viewer: &Viewer,
        tenant: Tenant,
        event: OutboxEvent,
    ) -> Result<EventPage, ConsoleDeliveryError> {
        let deliveries = self.base.store.event_deliveries(&tenant, &event.id).await?;
        let permission = Permission::RevealPersonalData;
        Ok(EventPage {
            can_reveal: viewer.require_on(permission, &tenant).is_ok(),
            tenant,
            id: event.id,
            event_type: event.event_type,
            booking: event.booking_id,
            created_at: event.created_at,
            payload: event.payload,
            is_revealed: false,
            deliveries,
        })
    }

    async fn outbox_event(
        &self,
        viewer: &Viewer,
        id: &EventId,
        permission: Permission,
    ) -> Result<(Tenant, OutboxEvent), ConsoleDeliveryError> {
        let found = self.base.store.outbox_event(id).await?;
        let (tenant, event) = found.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &tenant)?;
        Ok((tenant, event))
    }

    /// Returns the subscription of a delivery, whose tenant is the delivery's.
    async fn subscription(
        &self,
        viewer: &Viewer,
        id: &DeliveryId,
        permission: Permission,
    ) -> Result<Subscription, ConsoleDeliveryError> {
        let subscription = Delivery::subscription_of(id).ok_or(AccessError::NotFound)?;
        let found = self.base.store.subscription_by_id(&subscription).await?;
        let subscription = found.ok_or(AccessError::NotFound)?;
        viewer.require_on(permission, &subscription.tenant)?;
        Ok(subscription)
    }
}
