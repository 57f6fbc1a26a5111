//! Lists of watches and mandates across users, and the prices that are kept of a watch.

use super::console::{first_page, scope};
use super::mandate::mandate;
use super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names};
use super::watch::{claim, query, watch, watch_of};
use super::*;
use crate::statement::Statement;
use crate::{PriceCheckRelease, PriceObservation, ScheduledWatch};
use host_domain::console::watch::{MandateScopeFilter, WatchScopeFilter};
use host_domain::id::{MandateId, WatchId};
use host_domain::mandate::{Mandate, MandateScope, MandateState, MandateStatus};
use host_domain::watch::{ObservedPrice, Watch, WatchStatus, WatchTransitionEvent};

on_both_databases!(
    watches_are_listed_by_scope_and_filter,
    price_is_kept_if_it_differs_from_the_previous_one,
    mandates_are_listed_by_scope_and_filter,
);

/// Number of prices that are kept.
const PRICES_MAX: usize = 50;

fn watch_ids(watches: &[ScheduledWatch]) -> Vec<WatchId> {
    let watches = watches.iter();
    watches.map(|found| found.stored.watch.id.clone()).collect()
}

async fn watches_are_listed_by_scope_and_filter(db: &TestStore) {
    let foreign = Watch {
        owner: Owner {
            user: "ann".to_owned(),
            tenant: super::console::tenant_of("another", Mode::Test),
        },
        ..watch(3)
    };
    let live = Watch {
        owner: Owner {
            tenant: super::console::tenant_of("demo", Mode::Live),
            ..owner()
        },
        ..watch(4)
    };
    for watch in [&watch(1), &watch(2), &foreign, &live] {
        commit(&db.store, |write| write.insert_watch(watch)).await;
    }
    let canceled = watch(2).apply(WatchTransitionEvent::Canceled, NOW);
    let canceled = canceled.unwrap().unwrap().watch;
    commit(&db.store, |write| write.update_watch(&canceled, 1)).await;
    let filter = |status, user: Option<&str>| WatchScopeFilter {
        status,
        user: user.map(str::to_owned),
    };
    let (all, demo) = (scope(None, Mode::Test), scope(Some(&["demo"]), Mode::Test));
    for (scope, filter, expected) in [
        (&all, filter(None, None), &[3_u32, 2, 1][..]),
        (&demo, filter(None, None), &[2, 1]),
        (&scope(None, Mode::Live), filter(None, None), &[4]),
        (&scope(Some(&[]), Mode::Test), filter(None, None), &[]),
        (&all, filter(Some(WatchStatus::Active), None), &[3, 1]),
        (&demo, filter(Some(WatchStatus::Canceled), None), &[2]),
        (&all, filter(None, Some("ann")), &[3]),
        (&demo, filter(None, Some("ann")), &[]),
    ] {
        let found = db.store.watch_page(scope, &filter, &first_page(10)).await;
        let found = watch_ids(&found.unwrap().items);
        let expected = ids(WatchId::from_bits, expected.iter().copied());
        assert_eq!(found, expected, "{scope:?} {filter:?}");
    }
    let (any, mut request) = (filter(None, None), first_page(2));
    let first = db.store.watch_page(&all, &any, &request).await.unwrap();
    assert_eq!(watch_ids(&first.items), ids(WatchId::from_bits, [3_u32, 2]));
    request.after = first.next;
    let second = db.store.watch_page(&all, &any, &request).await.unwrap();
    assert_eq!(watch_ids(&second.items), ids(WatchId::from_bits, [1_u32]));
    assert_eq!(second.next, None);
    let found = db
        .store
        .scheduled_watch_unscoped(&watch(3).id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.stored.watch, foreign);
    assert_eq!(found.next_check_at, Some(NOW));
    let ended = db
        .store
        .scheduled_watch_unscoped(&canceled.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(ended.next_check_at, None);
}

/// Observes a price of the only price check, `minute` minutes from now.
async fn observe(store: &Store, minute: i64, total: Option<i64>) {
    let claimed = claim(store).await;
    let observed = ObservedPrice {
        observed_at: NOW.plus_s(minute * 60),
        total: total.map(euros),
    };
    let release = PriceCheckRelease {
        observed: Some(observed),
        next_at: NOW,
    };
    commit(store, |write| {
        write.release_price_check(&claimed[0], release)
    })
    .await;
}

async fn price_is_kept_if_it_differs_from_the_previous_one(db: &TestStore) {
    let store = &db.store;
    // Two watches share a price check. Another one has a query of its own.
    for watch in [&watch(1), &watch(2)] {
        commit(store, |write| write.insert_watch(watch)).await;
    }
    let prices = async || {
        let page = store
            .watch_page(
                &scope(None, Mode::Test),
                &WatchScopeFilter::default(),
                &first_page(10),
            )
            .await;
        let watches = page.unwrap().items;
        let found = store.watch_details(Mode::Test, &watches).await;
        let mut prices = found.unwrap().prices.into_values();
        let first = prices.next().unwrap_or_default();
        assert_eq!(prices.next(), None);
        first
    };
    assert_eq!(prices().await, []);
    for (minute, total) in [
        (1, Some(500)),
        (2, Some(500)),
        (3, None),
        (4, None),
        (5, Some(500)),
        (6, Some(400)),
    ] {
        observe(store, minute, total).await;
    }
    let observation = |minute: i64, total_minor| PriceObservation {
        observed_at: NOW.plus_s(minute * 60),
        total_minor,
    };
    let expected = [
        observation(1, Some(500)),
        observation(3, None),
        observation(5, Some(500)),
        observation(6, Some(400)),
    ];
    assert_eq!(prices().await, expected);
    for minute in 7..70 {
        observe(store, minute, Some(minute)).await;
    }
    let kept = prices().await;
    assert_eq!(kept.len(), PRICES_MAX);
    assert_eq!(kept.last(), Some(&observation(69, Some(69))));

    let foreign = watch_of(3, query(2), 1);
    commit(store, |write| write.insert_watch(&foreign)).await;
    for number in 1..=2 {
        let canceled = watch(number).apply(WatchTransitionEvent::Canceled, NOW);
        let canceled = canceled.unwrap().unwrap().watch;
        commit(store, |write| write.update_watch(&canceled, 1)).await;
    }
    let claimed = claim(store).await;
    let unused = claimed.iter().find(|check| check.query == query(1));
    commit(store, |write| write.delete_price_check(unused.unwrap())).await;
    assert_eq!(prices().await, [], "the prices are deleted with the check");
}

async fn mandates_are_listed_by_scope_and_filter(db: &TestStore) {
    let expired = Mandate {
        terms: host_domain::mandate::MandateTerms {
            expires_at: NOW,
            created_at: NOW.plus_ms(2),
            ..mandate(2, MandateScope::Any).terms
        },
        ..mandate(2, MandateScope::Any)
    };
    let mut revoked = mandate(3, MandateScope::Any);
    revoked.state = MandateState::Revoked;
    revoked.terms.created_at = NOW.plus_ms(3);
    let mut foreign = mandate(4, MandateScope::Any);
    foreign.terms.owner.tenant.organization = "another".to_owned();
    foreign.terms.owner.user = "ann".to_owned();
    foreign.terms.created_at = NOW.plus_ms(4);
    for mandate in [&mandate(1, MandateScope::Any), &expired, &revoked, &foreign] {
        commit(&db.store, |write| write.insert_mandate(mandate)).await;
    }
    let filter = |status, user: Option<&str>| MandateScopeFilter {
        status,
        user: user.map(str::to_owned),
    };
    let (all, demo) = (scope(None, Mode::Test), scope(Some(&["demo"]), Mode::Test));
    for (scope, filter, expected) in [
        (&all, filter(None, None), &[4_u32, 3, 2, 1][..]),
        (&demo, filter(None, None), &[3, 2, 1]),
        (&scope(None, Mode::Live), filter(None, None), &[]),
        (&all, filter(Some(MandateStatus::Active), None), &[4, 1]),
        (&demo, filter(Some(MandateStatus::Active), None), &[1]),
        (&all, filter(Some(MandateStatus::Expired), None), &[2]),
        (&all, filter(Some(MandateStatus::Revoked), None), &[3]),
        (&all, filter(Some(MandateStatus::Consumed), None), &[]),
        (&all, filter(None, Some("ann")), &[4]),
    ] {
        let first = first_page(10);
        let page = db.store.mandate_page(scope, &filter, NOW, &first).await;
        let found: Vec<MandateId> = page
            .unwrap()
            .items
            .into_iter()
            .map(|mandate| mandate.terms.id)
            .collect();
        let expected = ids(MandateId::from_bits, expected.iter().copied());
        assert_eq!(found, expected, "{scope:?} {filter:?}");
    }
    let found = db.store.mandate_unscoped(&foreign.terms.id).await.unwrap();
    assert_eq!(found, Some(foreign));
}

async fn expectations() -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let (all, demo) = (scope(None, Mode::Test), scope(Some(&["demo"]), Mode::Test));
    let (watches, page) = (WatchScopeFilter::default(), first_page(50));
    let canceled = WatchScopeFilter {
        status: Some(WatchStatus::Canceled),
        ..WatchScopeFilter::default()
    };
    for (scope, index) in [(&all, "watch_mode"), (&demo, "watch_scope")] {
        for filter in [&watches, &canceled] {
            plans
                .add(index, store.watch_page(scope, filter, &page))
                .await;
        }
    }
    let mandates = MandateScopeFilter::default();
    for (scope, index) in [(&all, "mandate_mode"), (&demo, "mandate_scope")] {
        let list = store.mandate_page(scope, &mandates, NOW, &page);
        plans.add(index, list).await;
    }
    let id = WatchId::from_bits(1);
    plans
        .add("watch_id", store.scheduled_watch_unscoped(&id))
        .await;
    let id = MandateId::from_bits(1);
    plans.add("mandate_id", store.mandate_unscoped(&id)).await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_plans_of_watches_and_mandates_use_expected_indexes() {
    check_sqlite_plans(expectations().await, |_, _| true).await;
}

#[tokio::test]
async fn postgres_plans_of_watches_and_mandates_use_expected_indexes() {
    check_postgres_plans(FILL, expectations().await, |plan, index| {
        names(plan, index) && !plan.contains("Seq Scan")
    })
    .await;
}

/// Inserts enough rows to make a full scan a bad plan.
const FILL: &[&str] = &[
    "INSERT INTO watch SELECT CASE WHEN n % 2 = 0 THEN 'demo' ELSE 'org' || n % 50 END, 'test', \
       'wtc_' || n, 'org', 'chk_' || n, CASE WHEN n % 9 = 0 THEN 'canceled' ELSE 'active' END, \
       1, NULL, NULL, n, n, 1, '{}' FROM generate_series(1, 40000) AS n",
    "INSERT INTO price_check SELECT 'demo', 'test', 'chk_' || n, '{}', n, NULL, NULL, 1, n, n, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO mandate SELECT CASE WHEN n % 2 = 0 THEN 'demo' ELSE 'org' || n % 50 END, 'test', \
       'mnd_' || n, 'org', 1, 'EUR', 'inst_1', '{}', n, n, '', 'ACTIVE', NULL, NULL, 1 \
     FROM generate_series(1, 40000) AS n",
    "VACUUM ANALYZE",
];
