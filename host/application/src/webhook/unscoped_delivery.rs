//! Deliveries and events of all organizations, for people and operators.

use crate::context::RequestContext;
use crate::webhook::delivery_details::DeliveryDetails;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::error::WebhookError;
use crate::webhook::event_payload::{masked_attempt, masked_payload};
use host_domain::audit::Actor;
use host_domain::console::TenantScope;
use host_domain::console::webhook::ListedDelivery;
use host_domain::id::{BookingId, DeliveryId, EventId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_domain::webhook::list::DeliveryScopeFilter;
use host_domain::webhook::{Delivery, DeliveryAttempt, Subscription};
use host_storage::DatabaseError;

/// A delivery with the attempts of all its replays.
#[derive(Debug, Clone)]
pub struct DeliveryHistory {
    pub subscription: Subscription,
    pub delivery: Delivery,
    /// Name of the event's type.
    pub event_type: String,
    /// The attempts of all generations, each with its generation, latest first.
    pub attempts: Vec<(i64, DeliveryAttempt)>,
    /// The body of the request.
    pub payload: String,
}

/// An event with its deliveries.
#[derive(Debug, Clone)]
pub struct EventHistory {
    pub tenant: Tenant,
    pub id: EventId,
    /// Name of the type.
    pub event_type: String,
    pub booking: Option<BookingId>,
    pub created_at: Timestamp,
    /// The body that receivers get.
    pub payload: String,
    pub deliveries: Vec<ListedDelivery>,
}

impl DeliveryHistory {
    /// Returns the delivery without personal data in the payload and in the responses.
    #[must_use]
    pub fn masked(self) -> Self {
        let attempts = self.attempts.into_iter();
        let masked = Self {
            attempts: attempts.map(masked_attempt).collect(),
            ..self
        };
        masked.with_masked_payload()
    }

    /// Returns the delivery without personal data in the payload.
    #[must_use]
    pub fn with_masked_payload(self) -> Self {
        Self {
            payload: masked_payload(&self.payload),
            ..self
        }
    }
}

impl EventHistory {
    /// Returns the event without personal data in the payload.
    #[must_use]
    pub fn masked(self) -> Self {
        Self {
            payload: masked_payload(&self.payload),
            ..self
        }
    }
}

impl DeliveryService {
    /// Returns a page of the deliveries of a scope, latest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_unscoped(
        &self,
        scope: &TenantScope,
        filter: &DeliveryScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedDelivery>, DatabaseError> {
        self.base.store.delivery_page(scope, filter, page).await
    }

    /// Returns a delivery of any tenant.
    ///
    /// # Errors
    /// [`WebhookError::DeliveryNotFound`] or [`WebhookError::Storage`].
    pub async fn find_unscoped(&self, id: &DeliveryId) -> Result<DeliveryHistory, WebhookError> {
        let subscription = self.subscription_of(id).await?;
        let (store, tenant) = (&self.base.store, &subscription.tenant);
        let found = store.delivery_with_event(tenant, id).await?;
        let (stored, event_type) = found.ok_or(WebhookError::DeliveryNotFound)?;
        // The attempts are read last, so that the one that ended the delivery is among them.
        let attempts = store.all_delivery_attempts(tenant, id).await?;
        Ok(DeliveryHistory {
            subscription,
            delivery: stored.delivery,
            event_type,
            attempts,
            payload: stored.payload,
        })
    }

    /// Returns an event of any tenant, if there is one with this id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_event_unscoped(
        &self,
        id: &EventId,
    ) -> Result<Option<EventHistory>, DatabaseError> {
        let Some((tenant, event)) = self.base.store.outbox_event_unscoped(id).await? else {
            return Ok(None);
        };
        let deliveries = self.base.store.event_deliveries(&tenant, id).await?;
        Ok(Some(EventHistory {
            tenant,
            id: event.id,
            event_type: event.event_type,
            booking: event.booking_id,
            created_at: event.created_at,
            payload: event.payload,
            deliveries,
        }))
    }

    /// Replays a delivery of any tenant, as [`DeliveryService::replay`] does.
    ///
    /// # Errors
    /// As of [`DeliveryService::replay`].
    pub async fn replay_unscoped(
        &self,
        actor: Actor,
        id: &DeliveryId,
    ) -> Result<DeliveryDetails, WebhookError> {
        let subscription = self.subscription_of(id).await?;
        let context = RequestContext::for_change(actor, subscription.tenant.clone());
        self.replay_of(&context, subscription, id, None).await
    }

    /// Replays the failed deliveries of a subscription of any tenant, as
    /// [`DeliveryService::recover`] does, and returns their number.
    ///
    /// # Errors
    /// As of [`DeliveryService::recover`].
    pub async fn recover_unscoped(
        &self,
        actor: Actor,
        id: &SubscriptionId,
        since: Timestamp,
    ) -> Result<u64, WebhookError> {
        let found = self.base.store.subscription_unscoped(id).await?;
        let Subscription {
            tenant, product, ..
        } = found.ok_or(WebhookError::NotFound)?;
        let context = RequestContext::for_change(actor, tenant);
        self.recover(&context, product, id, since, None).await
    }

    /// Returns the subscription of a delivery, whose tenant is the delivery's.
    pub(crate) async fn subscription_of(
        &self,
        id: &DeliveryId,
    ) -> Result<Subscription, WebhookError> {
        let id = Delivery::subscription_of(id).ok_or(WebhookError::DeliveryNotFound)?;
        let found = self.base.store.subscription_unscoped(&id).await?;
        found.ok_or(WebhookError::DeliveryNotFound)
    }
}
