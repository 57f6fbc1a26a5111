//! Expires deliveries that waited too long, purges deleted subscriptions, and reports the age of
//! the oldest undelivered event.

use crate::base::Base;
use crate::metric_names::WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS;
use futures::stream::{self, StreamExt};
use host_domain::webhook::DeliveryEvent;
use host_storage::{DatabaseError, StoredDelivery, UnitOfWork};
use std::time::Duration;

pub(crate) const INTERVAL: Duration = Duration::from_secs(60);
/// Seconds after which a delivery to a subscription that is not ACTIVE expires.
pub const PENDING_RETENTION_S: i64 = 30 * 24 * 60 * 60;
/// Seconds to wait before the data of a deleted subscription is purged. Writes that were in
/// progress at the deletion have ended by then.
const DELETION_GRACE_S: i64 = 60;
const BATCH_SIZE: u32 = 200;
const CONCURRENT_WRITES_MAX: usize = 8;

pub struct WebhookMaintenance {
    pub(crate) base: Base,
}

impl WebhookMaintenance {
    pub(crate) async fn run_once(&self) -> Result<(), DatabaseError> {
        let (store, now) = (&self.base.store, self.base.now());
        let oldest = store.oldest_undelivered().await?;
        let age_s = oldest.map_or(0, |at| now.since(at).max(0) / 1000);
        metrics::gauge!(WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS)
            .set(u32::try_from(age_s).unwrap_or(u32::MAX));
        loop {
            let before = now.plus_s(-PENDING_RETENTION_S);
            let stalled = store.stalled_deliveries(before, BATCH_SIZE).await?;
            if stalled.is_empty() {
                break;
            }
            stream::iter(stalled)
                .map(|stored| self.expire_delivery(stored))
                .buffer_unordered(CONCURRENT_WRITES_MAX)
                .collect::<()>()
                .await;
        }
        let deleted_before = now.plus_s(-DELETION_GRACE_S);
        let purge = || store.purge_deleted_subscriptions(deleted_before, BATCH_SIZE);
        while purge().await? > 0 {}
        Ok(())
    }

    async fn expire_delivery(&self, stored: StoredDelivery) {
        let (now, read_status) = (self.base.now(), stored.delivery.status());
        let Some(expired) = stored.delivery.apply(DeliveryEvent::Expired, now) else {
            return;
        };
        let mut write = UnitOfWork::new(now);
        write.expire_delivery(&stored.tenant, &expired, read_status);
        if let Err(error) = self.base.store.commit(write).await {
            // The delivery was changed meanwhile, or it is tried again at the next interval.
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "a delivery could not be expired; it is tried again at the next interval"
            );
        }
    }
}
