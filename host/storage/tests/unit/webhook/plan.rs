//! Query plans for deliveries do not depend on the backlog of one subscription.

use super::super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names, scans};
use super::send::{attempt, outcome};
use super::*;
use crate::DeliveryRelease;
use crate::statement::Statement;

/// `whole` is the index for a subscription that is named by its whole key, for which two indexes are
/// equally suitable.
async fn expectations(whole: &'static str) -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let (tenant, id, page) = (tenant(), subscription_id(1), page(25, 50));
    let one = [&id];
    let due = store.due_subscriptions(&one, 200);
    plans.add("webhook_delivery_due", due).await;
    let claim = DeliveryClaim {
        capacities: &[(&id, 10)],
        now: NOW,
        lease_ms: LEASE_MS,
        token: "t",
    };
    let claimed = store.claim_deliveries(claim);
    plans.add("webhook_delivery_due", claimed).await;
    let delivery = self::claimed(recorded(1, 1), NOW).delivery;
    let gone = finished(&delivery, DeliveryResult::Gone, NOW);
    let release = DeliveryRelease {
        product: Product::Watch,
        ..outcome("t", gone, Some(attempt(1)))
    };
    let write = unit(|write| write.release_deliveries(&[release]));
    let keys = [
        "webhook_delivery_pkey",
        "webhook_delivery_pkey",
        "watch_event_log_event",
    ];
    plans.add_unit(write, keys);
    let endpoint = subscription(1, Product::Watch, &[]);
    let write = unit(|write| write.clear_failing_since(&[&endpoint]));
    plans.add_unit(write, [whole]);
    let write = unit(|write| write.replace_watch_endpoint(&endpoint, b"", None, NOW));
    plans.add_unit(write, ["watch_event_log_pending"]);
    let stalled = store.stalled_deliveries(NOW, 10);
    plans.add("webhook_delivery_open", stalled).await;
    plans
        .add("webhook_delivery_open", store.oldest_undelivered())
        .await;
    let purged = store.purge_deleted_subscriptions(NOW, 10);
    plans.add("webhook_subscription_deleted", purged).await;
    let failed = Some(DeliveryStatus::Failed);
    for (status, index) in [
        (None, "webhook_delivery_list"),
        (failed, "webhook_delivery_list_status"),
    ] {
        let list = store.deliveries(&tenant, &id, DeliveryFilter { status }, page);
        plans.add(index, list).await;
    }
    let delivery = delivery_id(1, 1);
    let deliveries = [&delivery];
    let attempts = store.delivery_attempts(&tenant, &deliveries);
    plans.add("webhook_delivery_attempt_pkey", attempts).await;
    let list = store.subscriptions(&tenant, Product::Hotel, page);
    plans.add("webhook_subscription_list", list).await;
    let event = event(1, "").id;
    let after_unknown = store.watch_log_entries(&tenant, Some(&event), 50);
    plans.add("watch_event_log_event", after_unknown).await;
    let entries = store.watch_log_entries(&tenant, None, 50);
    plans.add("watch_event_log_pkey", entries).await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_delivery_plans_use_expected_indexes() {
    let expectations = expectations("webhook_subscription_pkey").await;
    check_sqlite_plans(expectations, |plan, _| {
        // Small inputs may be scanned: the list of busy subscriptions, a page, and a list passed as
        // an argument.
        let small = [
            "busy",
            "page",
            "waiting",
            "item",
            "json_each",
            "list",
            "due",
            "CONSTANT",
        ];
        scans(plan).all(|source| small.iter().any(|name| source.starts_with(name)))
    })
    .await;
}

#[tokio::test]
async fn postgres_delivery_plans_use_expected_indexes() {
    let expectations = expectations("webhook_subscription_id").await;
    check_postgres_plans(FILL, expectations, |plan, index| {
        names(plan, index) && !plan.contains("Seq Scan")
    })
    .await;
}

/// Inserts many subscriptions, one of which has far more deliveries than the others.
pub(super) const FILL: &[&str] = &[
    "INSERT INTO outbox SELECT 'demo', 'test', 'evt_' || n, 'ping', 'hotel', NULL, '{}', n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO webhook_subscription SELECT 'demo', 'test', 'whs_' || n, \
       CASE WHEN n % 2 = 0 THEN 'hotel' ELSE 'flight' END, 'https://example.com', '[]', NULL, \
       CASE WHEN n % 50 = 0 THEN 'PAUSED' ELSE 'ACTIVE' END, NULL, '', NULL, NULL, n, n, 1, \
       CASE WHEN n % 100 = 1 THEN n END \
     FROM generate_series(1, 50000) AS n",
    "INSERT INTO webhook_delivery SELECT 'demo', 'test', 'dlv_' || n, \
       'whs_' || CASE WHEN n % 2 = 0 THEN 2 ELSE n % 50000 END, 'evt_' || n, \
       CASE WHEN n % 10 = 0 THEN 'PENDING' WHEN n % 10 = 1 THEN 'FAILED' ELSE 'DELIVERED' END, \
       0, 0, CASE WHEN n % 10 = 0 THEN n END, NULL, NULL, n, n, n, n, n, NULL \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO webhook_delivery_attempt SELECT 'demo', 'test', 'dlv_' || n, 0, 1, 200, '', \
     NULL, 1, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO watch_event_log_head SELECT 'organization-' || n, 'test', n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO watch_event_log SELECT 'demo', 'test', n, 'evt_' || n, \
       CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'delivered' END, n \
     FROM generate_series(1, 100000) AS n",
    "ANALYZE",
];
