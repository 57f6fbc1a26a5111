//! Gives up what waited too long, removes what was deleted, and says how far behind
//! the sending is.

use crate::app::Application;
use crate::observe::WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS;
use futures::stream::{self, StreamExt};
use host_domain::webhook::DeliveryEvent;
use host_storage::{DatabaseError, StoredDelivery, UnitOfWork};
use std::time::Duration;

/// How often.
const INTERVAL: Duration = Duration::from_secs(60);
/// What waits for a subscription that is not ACTIVE is given up after so long.
pub(crate) const PENDING_RETENTION_S: i64 = 30 * 24 * 60 * 60;
/// What was being written when a subscription was deleted has come to its end by then.
const DELETION_GRACE_S: i64 = 60;
/// Rows that are touched together.
const BATCH_SIZE: u32 = 200;
/// Of those, so many are stored at the same time.
const CONCURRENT_WRITES_MAX: usize = 8;

/// Looks until the application stops.
pub(crate) async fn run_maintenance(app: &Application) {
    let complaint = "webhooks are not tended";
    app.tasks.run_periodically(INTERVAL, complaint, || run_once(app)).await;
}

async fn run_once(app: &Application) -> Result<(), DatabaseError> {
    let now = app.clock.now();
    let oldest = app.store.oldest_undelivered().await?;
    let age_s = oldest.map_or(0, |at| now.since(at).max(0) / 1000);
    metrics::gauge!(WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS).set(u32::try_from(age_s).unwrap_or(u32::MAX));
    loop {
        let before = now.plus_s(-PENDING_RETENTION_S);
        let stranded = app.store.stalled_deliveries(before, BATCH_SIZE).await?;
        if stranded.is_empty() {
            break;
        }
        expire_deliveries(app, stranded).await;
    }
    let deleted_before = now.plus_s(-DELETION_GRACE_S);
    while app
        .store
        .purge_deleted_subscriptions(deleted_before, BATCH_SIZE)
        .await?
        > 0
    {}
    Ok(())
}

async fn expire_deliveries(app: &Application, stranded: Vec<StoredDelivery>) {
    let given_up = stream::iter(stranded).map(|stored| async move {
        let (now, read_status) = (app.clock.now(), stored.delivery.status());
        let Some(expired) = stored.delivery.apply(DeliveryEvent::Expired, now) else {
            return;
        };
        let mut write = UnitOfWork::new(now);
        write.expire_delivery(&stored.tenant, &expired, read_status);
        if let Err(error) = app.store.commit(write).await {
            // Moved meanwhile, or looked at again in a minute.
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "a delivery is not given up"
            );
        }
    });
    given_up
        .buffer_unordered(CONCURRENT_WRITES_MAX)
        .collect::<()>()
        .await;
}
