//! Deliveries with their attempts, as callers read them.

use crate::webhook::error::WebhookError;
use host_domain::id::{DeliveryId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::webhook::{Delivery, DeliveryAttempt};
use host_storage::{Store, StoredDelivery};

/// A delivery with the attempts of its current replay.
#[derive(Debug)]
pub struct DeliveryDetails {
    pub delivery: Delivery,
    pub payload: String,
    /// The attempts of the current replay, in order.
    pub attempts: Vec<DeliveryAttempt>,
}

impl DeliveryDetails {
    pub(super) async fn read(
        store: &Store,
        tenant: &Tenant,
        stored: StoredDelivery,
    ) -> Result<Self, WebhookError> {
        let mut details = Self::read_all(store, tenant, vec![stored]).await?;
        details.pop().ok_or(WebhookError::DeliveryNotFound)
    }

    pub(super) async fn read_all(
        store: &Store,
        tenant: &Tenant,
        deliveries: Vec<StoredDelivery>,
    ) -> Result<Vec<Self>, WebhookError> {
        let ids: Vec<&DeliveryId> = deliveries
            .iter()
            .map(|stored| &stored.delivery.id)
            .collect();
        let attempts = store.delivery_attempts(tenant, &ids).await?;
        let attempts_of = |id: &DeliveryId| {
            let own = attempts.iter().filter(|(delivery, _)| delivery == id);
            own.map(|(_, attempt)| attempt.clone()).collect()
        };
        let details = deliveries.into_iter().map(|stored| Self {
            attempts: attempts_of(&stored.delivery.id),
            delivery: stored.delivery,
            payload: stored.payload,
        });
        Ok(details.collect())
    }
}

pub(super) async fn find_delivery(
    store: &Store,
    tenant: &Tenant,
    subscription: &SubscriptionId,
    id: &str,
) -> Result<StoredDelivery, WebhookError> {
    let id = DeliveryId::parse(id).map_err(|_| WebhookError::DeliveryNotFound)?;
    let delivery = store.delivery(tenant, subscription, &id).await?;
    delivery.ok_or(WebhookError::DeliveryNotFound)
}
