//! Deliveries and bulk replays as people see them.

use super::super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names, scans};
use super::plan::FILL;
use super::*;
use crate::statement::{Statement, statement};
use crate::{CommitError, Conflict};
use host_domain::console::TenantScope;
use host_domain::console::webhook::ListedSubscription;
use host_domain::event::EventType;
use host_domain::id::{AccountId, BulkReplayId};
use host_domain::owner::Mode;
use host_domain::page::{Cursor, CursorRequest};
use host_domain::webhook::list::{DeliveryScopeFilter, SubscriptionScopeFilter};
use host_domain::webhook::{
    BulkReplay, BulkReplayProgress, BulkReplaySelection, BulkReplayState, SubscriptionStatus,
};

on_both_databases!(
    scope_deliveries_match_filter,
    event_is_found_with_its_deliveries,
    rare_filter_examines_a_limited_number_of_deliveries,
    subscriptions_are_listed_with_their_health,
    ended_bulk_replay_is_not_changed,
);

fn scope(organizations: Option<&[&str]>) -> TenantScope {
    let organizations = organizations.map(|names| names.iter().map(|&name| name.into()).collect());
    TenantScope {
        organizations,
        mode: Mode::Test,
    }
}

fn first(limit: u32) -> CursorRequest {
    CursorRequest { after: None, limit }
}

/// Marks a delivery as failed at a time.
async fn fail(store: &Store, id: &DeliveryId, at: Timestamp) {
    let update = statement!(
        "UPDATE webhook_delivery SET status = 'FAILED', failure_reason = 'gone', failed_at = $2, \
         next_attempt_at = NULL WHERE id = $1",
        id.as_str(),
        at,
    );
    store.execute_statement(update).await.unwrap();
}

/// Publishes three events to two subscriptions and one to a subscription of another organization.
/// One delivery has failed.
async fn insert_four_events(db: &TestStore) {
    let store = &db.store;
    filled(db, 2, 2).await;
    publish(store, &[event(3, EventType::PaymentCaptured.as_str())]).await;
    let foreign = Subscription {
        tenant: Tenant {
            organization: "another".to_owned(),
            mode: Mode::Test,
        },
        ..hotel_subscription(9)
    };
    insert(store, std::slice::from_ref(&foreign)).await;
    commit(store, |write| {
        write.publish(&foreign.tenant, &event(4, "ping"))
    })
    .await;
    fail(store, &delivery_id(1, 2), NOW).await;
}

/// Returns the deliveries in the order of a bulk replay, which reads them in steps of two.
async fn replayed(
    store: &Store,
    scope: &TenantScope,
    filter: &DeliveryScopeFilter,
) -> Vec<DeliveryId> {
    let (until, mut after, mut replayed) = (NOW.plus_ms(9), None, Vec::new());
    loop {
        let batch = store.scope_deliveries_after(scope, filter, until, after.as_ref(), 2);
        let batch = batch.await.unwrap();
        let Some(last) = batch.last() else {
            return replayed;
        };
        let id = last.delivery.id.as_str();
        after = Some(Cursor::new(last.delivery.created_at, id));
        replayed.extend(batch.into_iter().map(|stored| stored.delivery.id));
    }
}

async fn scope_deliveries_match_filter(db: &TestStore) {
    insert_four_events(db).await;
    let store = &db.store;
    let own = tenant().organization;
    let own = Some(&[own.as_str()][..]);
    let all = DeliveryScopeFilter::default();
    let of = |subscription| DeliveryScopeFilter {
        subscription: Some(subscription_id(subscription)),
        ..all.clone()
    };
    let with = |status| DeliveryScopeFilter {
        status: Some(status),
        ..all.clone()
    };
    let (failed, pending) = (DeliveryStatus::Failed, DeliveryStatus::Pending);
    let failed_of_two = DeliveryScopeFilter {
        status: Some(failed),
        ..of(2)
    };
    let captured = DeliveryScopeFilter {
        event_type: Some(EventType::PaymentCaptured),
        ..all.clone()
    };
    let waiting = DeliveryScopeFilter {
        is_waiting: true,
        ..all.clone()
    };
    let waiting_of_two = DeliveryScopeFilter {
        is_waiting: true,
        ..of(2)
    };
    let by_time = DeliveryScopeFilter {
        from: Some(NOW.plus_ms(2)),
        to: Some(NOW.plus_ms(3)),
        ..all.clone()
    };
    for (organizations, filter, expected) in [
        (
            own,
            all.clone(),
            &[(3, 2), (3, 1), (2, 2), (2, 1), (1, 2), (1, 1)][..],
        ),
        (
            None,
            all.clone(),
            &[(4, 9), (3, 2), (3, 1), (2, 2), (2, 1), (1, 2), (1, 1)],
        ),
        (Some(&["another", "unknown"]), all.clone(), &[(4, 9)]),
        (Some(&[]), all.clone(), &[]),
        (own, of(2), &[(3, 2), (2, 2), (1, 2)]),
        (own, of(9), &[]),
        (None, of(9), &[(4, 9)]),
        (None, with(failed), &[(1, 2)]),
        (
            own,
            with(pending),
            &[(3, 2), (3, 1), (2, 2), (2, 1), (1, 1)],
        ),
        (Some(&["another"]), with(pending), &[(4, 9)]),
        (own, with(DeliveryStatus::Delivered), &[]),
        (own, waiting, &[(3, 2), (3, 1), (2, 2), (2, 1), (1, 1)]),
        (own, waiting_of_two, &[(3, 2), (2, 2)]),
        (own, failed_of_two, &[(1, 2)]),
        (None, captured, &[(3, 2), (3, 1)]),
        (None, by_time, &[(3, 2), (3, 1), (2, 2), (2, 1)]),
    ] {
        let scope = scope(organizations);
        expect_deliveries(store, &scope, &filter, expected).await;
    }
}

/// Checks that the list, the count and a bulk replay find these deliveries, the latest first.
async fn expect_deliveries(
    store: &Store,
    scope: &TenantScope,
    filter: &DeliveryScopeFilter,
    expected: &[(u32, u32)],
) {
    let expected: Vec<_> = expected.iter().map(|(e, s)| delivery_id(*e, *s)).collect();
    let page = store.delivery_page(scope, filter, &first(10)).await;
    let page = page.unwrap();
    let found: Vec<_> = page.items.into_iter().map(|one| one.delivery.id).collect();
    assert_eq!(found, expected, "{scope:?} {filter:?}");
    assert_eq!(page.next, None);
    let count = store.count_scope_deliveries(scope, filter, NOW.plus_ms(9), 10);
    let matching = count.await.unwrap().matching;
    assert_eq!(matching, expected.len() as u64, "{filter:?}");
    // A bulk replay reads the same deliveries in the opposite order.
    let mut replayed = replayed(store, scope, filter).await;
    replayed.sort_by(|one, other| other.cmp(one));
    assert_eq!(replayed, expected, "{scope:?} {filter:?}");
}

async fn event_is_found_with_its_deliveries(db: &TestStore) {
    insert_four_events(db).await;
    let store = &db.store;
    let event = event(2, "").id;
    let deliveries = store.event_deliveries(&tenant(), &event).await.unwrap();
    let found: Vec<_> = deliveries.into_iter().map(|one| one.delivery.id).collect();
    assert_eq!(found, [delivery_id(2, 1), delivery_id(2, 2)]);
    assert_eq!(
        store
            .outbox_event_unscoped(&event)
            .await
            .unwrap()
            .unwrap()
            .0,
        tenant()
    );
}

async fn rare_filter_examines_a_limited_number_of_deliveries(db: &TestStore) {
    let insert = statement!(
        "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5001) \
         INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, status, \
         generation, attempt_count, created_at, pending_since, published_at, delivered_at, \
         event_type) \
         SELECT 'acme', 'test', 'dlv_' || (100000 + n), 'whs_1', 'evt_' || n, 'DELIVERED', 0, 1, \
         n / 4, n, n, n, CASE WHEN n IN (1, 3) THEN 'ping' ELSE 'payment.captured' END FROM numbers"
    );
    db.store.execute_statement(insert).await.unwrap();
    let filter = DeliveryScopeFilter {
        event_type: Some(EventType::Ping),
        ..DeliveryScopeFilter::default()
    };
    let scope = scope(Some(&["acme"]));
    let page = db
        .store
        .delivery_page(&scope, &filter, &first(5))
        .await
        .unwrap();
    assert_eq!(page.items, []);
    // The examined ones end amid the four of the time 0. The position has no id, because it may be
    // somebody else's.
    assert_eq!(page.next, Some(Cursor::new(Timestamp(0), "z")));
    let request = CursorRequest {
        after: page.next,
        limit: 5,
    };
    let page = db
        .store
        .delivery_page(&scope, &filter, &request)
        .await
        .unwrap();
    let found: Vec<_> = page
        .items
        .iter()
        .map(|one| one.delivery.id.as_str())
        .collect();
    assert_eq!((found, page.next), (vec!["dlv_100003", "dlv_100001"], None));
}

async fn subscriptions_are_listed_with_their_health(db: &TestStore) {
    let store = &db.store;
    filled(db, 2, 3).await;
    fail(store, &delivery_id(3, 1), NOW).await;
    let deliver = statement!(
        "UPDATE webhook_delivery SET status = 'DELIVERED', published_at = $2, delivered_at = $2, \
         next_attempt_at = NULL WHERE id = $1",
        delivery_id(1, 1).as_str(),
        NOW.plus_ms(77),
    );
    store.execute_statement(deliver).await.unwrap();
    let filter = SubscriptionScopeFilter::default();
    let page = store
        .subscription_page(&scope(None), &filter, NOW, &first(1))
        .await;
    let page = page.unwrap();
    let health =
        |listed: &ListedSubscription| (listed.waiting, listed.failed, listed.last_success_at);
    assert_eq!(
        page.items.iter().map(health).collect::<Vec<_>>(),
        [(3, 0, None)]
    );
    let request = CursorRequest {
        after: page.next,
        limit: 1,
    };
    let page = store
        .subscription_page(&scope(None), &filter, NOW, &request)
        .await;
    let page = page.unwrap();
    let expected = (1, 1, Some(NOW.plus_ms(77)));
    assert_eq!(
        page.items.iter().map(health).collect::<Vec<_>>(),
        [expected]
    );
    assert_eq!(page.next, None);
    let id = subscription_id(1);
    let later = NOW.plus_ms(4);
    let one = store
        .listed_subscription_unscoped(&id, later)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(health(&one), (1, 0, Some(NOW.plus_ms(77))));
    for (text, status, expected) in [
        (Some("RECEIVER2"), None, 1),
        (Some("ours \"ü"), None, 2),
        (Some("%"), None, 0),
        (None, Some(SubscriptionStatus::Paused), 0),
    ] {
        let filter = SubscriptionScopeFilter {
            status,
            text: text.map(str::to_owned),
        };
        let page = store
            .subscription_page(&scope(None), &filter, NOW, &first(9))
            .await;
        assert_eq!(page.unwrap().items.len(), expected, "{filter:?}");
    }
}

/// A replay that an account has begun.
fn running_bulk_replay(account: &AccountId) -> BulkReplay {
    BulkReplay {
        id: BulkReplayId::from_bits(1),
        account: Some(account.clone()),
        mode: Mode::Test,
        selection: BulkReplaySelection {
            organizations: Some(vec!["acme".to_owned()]),
            filter: DeliveryScopeFilter {
                status: Some(DeliveryStatus::Failed),
                is_waiting: false,
                subscription: Some(subscription_id(1)),
                event_type: Some(EventType::Ping),
                from: Some(NOW),
                to: None,
            },
        },
        total: 7,
        progress: BulkReplayProgress::default(),
        state: BulkReplayState::Running,
        created_at: NOW,
    }
}

async fn ended_bulk_replay_is_not_changed(db: &TestStore) {
    let store = &db.store;
    let account = AccountId::from_bits(1);
    let bulk_replay = running_bulk_replay(&account);
    commit(store, |write| write.insert_bulk_replay(&bulk_replay, NOW)).await;
    let progress = BulkReplayProgress {
        replayed: 2,
        skipped: 1,
        after: Some(Cursor::new(NOW, "dlv_1")),
    };
    let id = &bulk_replay.id;
    let running = BulkReplayState::Running;
    commit(store, |write| {
        write.update_bulk_replay(id, &progress, running)
    })
    .await;
    let latest = store.latest_bulk_replay(&account, Mode::Test, NOW);
    let expected = BulkReplay {
        progress: progress.clone(),
        ..bulk_replay.clone()
    };
    assert_eq!(latest.await.unwrap(), Some(expected));
    let another = BulkReplay {
        id: BulkReplayId::from_bits(2),
        ..bulk_replay.clone()
    };
    let second = unit(|write| write.insert_bulk_replay(&another, NOW));
    let refused = conflict(store, second).await;
    assert_eq!(refused, Some(Conflict::BulkReplayRunning));
    let of_admin_listener = BulkReplay {
        id: BulkReplayId::from_bits(3),
        account: None,
        ..bulk_replay.clone()
    };
    commit(store, |write| {
        write.insert_bulk_replay(&of_admin_listener, NOW)
    })
    .await;
    let stored = store
        .bulk_replay_unscoped(&of_admin_listener.id)
        .await
        .unwrap();
    assert_eq!(stored, Some(of_admin_listener));
    let much_later = NOW.plus_s(86_400);
    let latest = store.latest_bulk_replay(&account, Mode::Test, much_later);
    assert!(latest.await.unwrap().is_some(), "it runs");
    commit(store, |write| write.stop_bulk_replay(id)).await;
    for write in [
        unit(|write| write.update_bulk_replay(id, &progress, BulkReplayState::Finished)),
        unit(|write| write.stop_bulk_replay(id)),
    ] {
        let error = store.commit(write).await.unwrap_err();
        assert!(matches!(
            error,
            CommitError::Conflict(Conflict::BulkReplayEnded)
        ));
    }
    let stored = store.bulk_replay_unscoped(id).await.unwrap().unwrap();
    assert_eq!(stored.state, BulkReplayState::Stopped);
}

/// Lists that an index answers, each with the index. Those of `is_bounded` examine a limited number
/// of deliveries.
async fn list_plans(is_bounded: bool) -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let page = CursorRequest {
        after: Some(Cursor::new(NOW, "dlv_1")),
        limit: 50,
    };
    let all = DeliveryScopeFilter::default();
    let with = |status| DeliveryScopeFilter {
        status: Some(status),
        ..all.clone()
    };
    let of_one = DeliveryScopeFilter {
        subscription: Some(subscription_id(1)),
        ..all.clone()
    };
    let ping = DeliveryScopeFilter {
        event_type: Some(EventType::Ping),
        ..all.clone()
    };
    let (failed, pending) = (DeliveryStatus::Failed, DeliveryStatus::Pending);
    let (demo, two) = (Some(&["demo"][..]), Some(&["demo", "other"][..]));
    for (organizations, filter, index, is_of_kind) in [
        (None, &all, "webhook_delivery_mode", false),
        (demo, &all, "webhook_delivery_scope", false),
        (None, &with(failed), "webhook_delivery_mode_failed", false),
        (demo, &with(failed), "webhook_delivery_scope_failed", false),
        (None, &of_one, "webhook_delivery_list", false),
        (None, &ping, "webhook_delivery_mode", true),
        (demo, &ping, "webhook_delivery_scope", true),
        (two, &all, "webhook_delivery_scope", false),
        (demo, &with(pending), "webhook_delivery_open", true),
    ] {
        if is_of_kind == is_bounded {
            let scope = scope(organizations);
            let list = store.delivery_page(&scope, filter, &page);
            plans.add(index, list).await;
        }
    }
    let event = event(1, "").id;
    plans
        .add("outbox_id", store.outbox_event_unscoped(&event))
        .await;
    let tenant = tenant();
    let deliveries = store.event_deliveries(&tenant, &event);
    plans.add("webhook_delivery_pkey", deliveries).await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_lists_of_deliveries_use_expected_indexes() {
    let plans = [list_plans(false).await, list_plans(true).await].concat();
    check_sqlite_plans(plans, |plan, _| {
        let small = [
            "last",
            "ends",
            "examined",
            "merged",
            "page",
            "part_",
            "(subquery",
            "json_each",
        ];
        scans(plan).all(|source| small.iter().any(|name| source.starts_with(name)))
    })
    .await;
}

#[tokio::test]
async fn postgres_lists_of_deliveries_use_expected_indexes() {
    check_postgres_plans(FILL, list_plans(false).await, |plan, index| {
        // All deliveries are of one organization, so the index of all is as good as its own.
        let of_all = index.replace("_scope", "_mode");
        let has_index = names(plan, index) || names(plan, &of_all);
        has_index && !plan.contains("Seq Scan")
    })
    .await;
}
