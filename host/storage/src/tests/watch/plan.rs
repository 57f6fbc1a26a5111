//! Query plans for due price checks and for watches affected by a price do not depend on the number
//! of watches.

use super::super::plan::{check_postgres_plans, names, sqlite_plan};
use super::*;
use crate::statement::Statement;
use crate::watch;
use host_domain::id::PriceCheckId;

/// Statements with the index that each must use.
fn expectations() -> Vec<(Statement, &'static str)> {
    let price_check = PriceCheckId::from_bits(1);
    let page = PageRequest {
        limit: 25,
        offset: 50,
    };
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
    let total = Some(euros(500));
    vec![
        (watch::claim_price_checks(claim), "price_check_due"),
        (watch::next_price_check(), "price_check_due"),
        (watch::load(&WatchId::from_bits(1)), "watch_id"),
        (watch::list(&owner(), any, page), "watch_list"),
        (watch::list(&owner(), canceled, page), "watch_list_status"),
        (watch::count(&owner(), canceled), "watch_list_status"),
        (
            watch::select_affected_by_price(&tenant(), &price_check, total, 100),
            "watch_price_check",
        ),
        (
            watch::select_highest_trigger(&tenant(), &price_check),
            "watch_price_check",
        ),
        (
            watch::select_awaiting_price(&tenant(), &price_check, 100),
            "watch_price_check",
        ),
    ]
}

#[tokio::test]
async fn sqlite_watch_plans_use_expected_indexes() {
    let db = TestDatabase::sqlite().await;
    for (statement, index) in expectations() {
        let plan = sqlite_plan(&db, &statement).await;
        let all = plan.join("\n");
        assert!(names(&all, index), "{}\n{all}", statement.sql);
        let scans = |line: &String| line.starts_with("SCAN ") && !line.contains("INDEX");
        // The list of due price checks is short, so it may be scanned.
        let scanned = plan.iter().filter(|line| scans(line));
        let scanned: Vec<_> = scanned.filter(|line| *line != "SCAN due").collect();
        assert!(scanned.is_empty(), "{}\n{all}", statement.sql);
        assert!(!all.contains("TEMP B-TREE"), "{}\n{all}", statement.sql);
    }
    db.remove().await;
}

#[tokio::test]
async fn postgres_watch_plans_use_expected_indexes() {
    check_postgres_plans(FILL, expectations(), |plan, index| {
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
