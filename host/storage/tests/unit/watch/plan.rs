//! Query plans for due price checks and for watches affected by a price do not depend on the number
//! of watches.

use super::super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names, scans};
use super::*;
use crate::statement::Statement;
use host_domain::id::PriceCheckId;
use host_domain::watch::WatchStatus;

async fn expectations() -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let (owner, tenant, price_check) = (owner(), tenant(), PriceCheckId::from_bits(1));
    let any = WatchFilter::default();
    let canceled = WatchFilter {
        status: Some(WatchStatus::Canceled),
    };
    let claim = PriceCheckClaim {
        now: NOW,
        limit: 16,
        lease_ms: LEASE_MS,
        token: "t",
    };
    plans
        .add("price_check_due", store.claim_price_checks(claim))
        .await;
    plans
        .add("price_check_due", store.next_price_check_due_at())
        .await;
    let id = WatchId::from_bits(1);
    plans.add("watch_id", store.watch_unscoped(&id)).await;
    let list = store.watches(&owner, any, page(25, 50));
    plans.add("watch_list", list).await;
    let list = store.watches(&owner, canceled, page(25, 50));
    plans.add("watch_list_status", list).await;
    let count = store.count_watches(&owner, canceled);
    plans.add("watch_list_status", count).await;
    let total = Some(euros(500));
    let affected = store.watches_affected_by_price(&tenant, &price_check, total, 100);
    plans.add("watch_price_check", affected).await;
    let highest = store.highest_trigger(&tenant, &price_check);
    plans.add("watch_price_check", highest).await;
    let waiting = store.watches_awaiting_price(&tenant, &price_check, 100);
    plans.add("watch_price_check", waiting).await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_watch_plans_use_expected_indexes() {
    check_sqlite_plans(expectations().await, |plan, _| {
        // The list of due price checks is short, so it may be scanned.
        scans(plan).all(|source| source == "due") && !plan.contains("TEMP B-TREE")
    })
    .await;
}

#[tokio::test]
async fn postgres_watch_plans_use_expected_indexes() {
    check_postgres_plans(FILL, expectations().await, |plan, index| {
        names(plan, index) && !plan.contains("Seq Scan") && !plan.contains("Sort")
    })
    .await;
}

/// Inserts many price checks, one that many watches use, and a user with many watches.
const FILL: &[&str] = &[
    "INSERT INTO price_check SELECT 'demo', 'test', 'ask_' || n, '{}', \
       CAST(1800000000000 AS bigint) + n - 100, NULL, NULL, 1, n, n, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO watch SELECT 'demo', 'test', 'wtc_' || n, \
       CASE WHEN n % 3 = 0 THEN 'org' ELSE 'u' || n END, \
       'ask_' || CASE WHEN n % 100 = 7 THEN '00000000000000000000000000000001' \
                      ELSE CAST(n AS text) END, \
       CASE WHEN n % 10 = 0 THEN 'triggered' WHEN n % 10 = 1 THEN 'canceled' ELSE 'active' END, \
       n % 1000, NULL, NULL, n, n, 1, '{}' \
     FROM generate_series(1, 40000) AS n",
    "ANALYZE",
];
