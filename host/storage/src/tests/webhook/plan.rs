//! Query plans for deliveries do not depend on the backlog of one subscription.

use super::super::plan::{check_postgres_plans, in_sqlite, names, sqlite_plan};
use super::*;
use crate::statement::Statement;
use crate::watch_event_log;
use crate::webhook::{attempt, delivery, dispatch, subscription as subscriptions};

/// Statements with the index that each must use. `whole` is the index for a subscription that is
/// named by its whole key, for which two indexes are equally suitable.
fn expectations(whole: &'static str) -> Vec<(Statement, &'static str)> {
    let id = subscription_id(1);
    let page = PageRequest {
        limit: 25,
        offset: 50,
    };
    let failed = DeliveryFilter {
        status: Some(DeliveryStatus::Failed),
    };
    let claim = DeliveryClaim {
        capacities: &[],
        now: NOW,
        lease_ms: LEASE_MS,
        token: "t",
    };
    let item = || "[{\"organization\":\"demo\",\"mode\":\"test\",\"id\":\"dlv_1\"}]".to_owned();
    let one = delivery_id(1, 1);
    vec![
        (dispatch::due(&[&id], 200), "webhook_delivery_due"),
        (dispatch::claim(claim, &id, 10), "webhook_delivery_due"),
        (dispatch::update_deliveries(item()), "webhook_delivery_pkey"),
        (dispatch::insert_attempts(item()), "webhook_delivery_pkey"),
        (dispatch::note_successes(item()), whole),
        (dispatch::select_stalled(NOW, 10), "webhook_delivery_open"),
        (dispatch::oldest(), "webhook_delivery_open"),
        (dispatch::deleted(NOW), "webhook_subscription_deleted"),
        (
            delivery::list(&tenant(), &id, DeliveryFilter::default(), page),
            "webhook_delivery_list",
        ),
        (
            delivery::list(&tenant(), &id, failed, page),
            "webhook_delivery_list_status",
        ),
        (
            attempt::select_attempts(&tenant(), &[&one]),
            "webhook_delivery_attempt_pkey",
        ),
        (
            subscriptions::list(&tenant(), Product::Hotel, page),
            "webhook_subscription_list",
        ),
        (
            watch_event_log::select_sequence(&tenant(), &event(1, "").id),
            "watch_event_log_event",
        ),
        (
            watch_event_log::select_entries_after(&tenant(), 10, 50),
            "watch_event_log_pkey",
        ),
        (
            watch_event_log::backfill_pending_deliveries(
                &subscription(1, Product::Watch, &[]),
                NOW,
            ),
            "watch_event_log_pending",
        ),
        (
            watch_event_log::log_outcomes(item()),
            "watch_event_log_event",
        ),
    ]
}

#[tokio::test]
async fn sqlite_delivery_plans_use_expected_indexes() {
    let db = TestDatabase::sqlite().await;
    for (statement, index) in expectations("webhook_subscription_pkey") {
        let plan = sqlite_plan(&db, &statement).await;
        let index = in_sqlite(index);
        let all = plan.join("\n");
        assert!(names(&all, &index), "{}\n{all}", statement.sql);
        // Small inputs may be scanned: the list of busy subscriptions, a page, and a list passed as
        // an argument.
        let scans = |line: &String| {
            let scanned = line.strip_prefix("SCAN ");
            scanned.is_some_and(|rest| !rest.contains("INDEX") && !is_small(rest))
        };
        assert!(!plan.iter().any(scans), "{}\n{all}", statement.sql);
    }
    db.remove().await;
}

fn is_small(scanned: &str) -> bool {
    let small = [
        "busy",
        "page",
        "waiting",
        "item",
        "json_each",
        "due",
        "CONSTANT",
    ];
    small.iter().any(|name| scanned.starts_with(name))
}

#[tokio::test]
async fn postgres_delivery_plans_use_expected_indexes() {
    let expectations = expectations("webhook_subscription_id");
    check_postgres_plans(FILL, expectations, |plan, index| {
        names(plan, index) && !plan.contains("Seq Scan")
    })
    .await;
}

/// Inserts many subscriptions, one of which has far more deliveries than the others.
const FILL: &[&str] = &[
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
