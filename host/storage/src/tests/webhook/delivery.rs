//! An event gets exactly one delivery for each matching subscription.

use super::*;
use crate::combined_statement::combinable_runs;

on_both_databases!(
    event_is_delivered_to_matching_subscriptions,
    event_is_delivered_once_or_not_at_all,
    event_for_one_subscription_skips_others,
    list_is_newest_first_with_filter_and_count,
    replay_is_stored_once,
    failed_deliveries_are_found_by_failure_time,
);

const REPLAY: ReplayPolicy = ReplayPolicy {
    pending_after_s: 0,
    published_after_s: 0,
};

#[test]
fn events_of_one_unit_are_combined() {
    let mut write = publishing(&event(1, "ping"));
    write.publish(&tenant(), &event(2, "ping"));
    let sizes: Vec<usize> = combinable_runs(&write.statements).map(<[_]>::len).collect();
    assert_eq!(sizes, [4]);
}

fn publishing(event: &OutboxEvent) -> UnitOfWork {
    unit(|write| write.publish(&tenant(), event))
}

async fn event_is_delivered_to_matching_subscriptions(db: &TestDatabase) {
    let of_another = Subscription {
        tenant: Tenant {
            organization: "other".into(),
            ..tenant()
        },
        ..subscription(6, Product::Hotel, &["*"])
    };
    let paused = subscription(7, Product::Hotel, &["*"]);
    let live = Subscription {
        tenant: Tenant {
            mode: Mode::Live,
            ..tenant()
        },
        ..subscription(8, Product::Hotel, &["*"])
    };
    let subscriptions = [
        subscription(1, Product::Hotel, &["*"]),
        subscription(2, Product::Hotel, &["ping", "hotel.booking.confirmed"]),
        subscription(3, Product::Hotel, &["hotel.booking.failed"]),
        subscription(4, Product::Flight, &["*"]),
        subscription(5, Product::Hotel, &[]),
        of_another,
        paused.clone(),
        live,
    ];
    insert(&db.store, &subscriptions).await;
    let paused = paused.apply(SubscriptionEvent::Paused, NOW).unwrap();
    db.store.commit(updating(&paused)).await.unwrap();
    publish(&db.store, &[event(9, "hotel.booking.confirmed")]).await;
    for (number, wants) in [
        (1, true),
        (2, true),
        (3, false),
        (4, false),
        (5, false),
        (6, false),
        (7, true),
        (8, false),
    ] {
        let expected = wants.then(|| recorded(9, number));
        let stored = deliveries(&db.store, number).await;
        assert_eq!(stored, Vec::from_iter(expected), "{number}");
    }
}

async fn event_is_delivered_once_or_not_at_all(db: &TestDatabase) {
    insert(
        &db.store,
        &[subscription(1, Product::Hotel, &["*", "ping"])],
    )
    .await;
    let ping = event(1, "ping");
    assert_eq!(conflict(&db.store, publishing(&ping)).await, None);
    let again = conflict(&db.store, publishing(&ping)).await;
    assert_eq!(again, Some(Conflict::EventExists));
    assert_eq!(deliveries(&db.store, 1).await.len(), 1);
    // If another statement of the unit of work fails, no delivery is inserted.
    let mut write = publishing(&event(2, "ping"));
    write.insert_subscription(&subscription(1, Product::Hotel, &[]), b"");
    let refused = conflict(&db.store, write).await;
    assert_eq!(refused, Some(Conflict::SubscriptionExists));
    assert_eq!(deliveries(&db.store, 1).await.len(), 1);
    // Several events of one unit of work each get a delivery.
    publish(&db.store, &[event(3, "ping"), event(4, "ping")]).await;
    assert_eq!(deliveries(&db.store, 1).await.len(), 3);
}

async fn event_for_one_subscription_skips_others(db: &TestDatabase) {
    let both = [1, 2].map(|number| subscription(number, Product::Hotel, &["*"]));
    insert(&db.store, &both).await;
    let mut write = UnitOfWork::new(NOW);
    write.publish_to_subscription(&tenant(), &event(1, "ping"), &subscription_id(2));
    write.publish_to_subscription(&tenant(), &event(2, "ping"), &subscription_id(3));
    db.store.commit(write).await.unwrap();
    assert!(deliveries(&db.store, 1).await.is_empty());
    assert_eq!(deliveries(&db.store, 2).await, [recorded(1, 2)]);
}

async fn list_is_newest_first_with_filter_and_count(db: &TestDatabase) {
    let both = [1, 2].map(|number| subscription(number, Product::Hotel, &["*"]));
    insert(&db.store, &both).await;
    let events: Vec<_> = (1..=5).map(|number| event(number, "ping")).collect();
    publish(&db.store, &events).await;
    assert_eq!(
        claim(&db.store, &[(1, 2)], NOW.plus_s(1), "t").await.len(),
        2
    );
    let page = |limit, offset| PageRequest { limit, offset };
    for (status, page, numbers, has_more, total) in [
        (None, page(3, 0), &[5, 4, 3][..], true, 5),
        (None, page(3, 3), &[2, 1], false, 5),
        (Some(DeliveryStatus::Pending), ALL, &[5, 4, 3], false, 3),
        (Some(DeliveryStatus::Published), page(1, 0), &[2], true, 2),
        (Some(DeliveryStatus::Failed), ALL, &[], false, 0),
    ] {
        let (tenant, id) = (tenant(), subscription_id(1));
        let filter = DeliveryFilter { status };
        let listed = db
            .store
            .deliveries(&tenant, &id, filter, page)
            .await
            .unwrap();
        let ids: Vec<_> = listed
            .items
            .into_iter()
            .map(|one| one.delivery.id)
            .collect();
        let expected: Vec<_> = numbers.iter().map(|&event| delivery_id(event, 1)).collect();
        assert_eq!((ids, listed.has_more), (expected, has_more), "{status:?}");
        let count = db.store.count_deliveries(&tenant, &id, filter).await;
        assert_eq!(count.unwrap(), total, "{status:?}");
    }
    let (tenant, id) = (tenant(), delivery_id(1, 1));
    let of_another = db.store.delivery(&tenant, &both[1].id, &id).await;
    assert_eq!(of_another.unwrap(), None);
}

fn replaying(delivery: &Delivery, read_status: DeliveryStatus) -> UnitOfWork {
    unit(|write| write.replay_delivery(&tenant(), delivery, read_status))
}

async fn replay_is_stored_once(db: &TestDatabase) {
    insert(&db.store, &[subscription(1, Product::Hotel, &["*"])]).await;
    publish(&db.store, &[event(1, "ping")]).await;
    let later = NOW.plus_s(1);
    let again = stored(&db.store, 1, 1).await.replay(REPLAY, later).unwrap();
    // A sender claims the delivery between the read and the replay.
    assert_eq!(claim(&db.store, &[(1, 1)], later, "t").await.len(), 1);
    let write = replaying(&again, DeliveryStatus::Pending);
    let refused = conflict(&db.store, write).await;
    assert_eq!(refused, Some(Conflict::DeliveryChanged));
    let now = later.plus_s(1);
    let again = stored(&db.store, 1, 1).await.replay(REPLAY, now).unwrap();
    let replay = || replaying(&again, DeliveryStatus::Published);
    assert_eq!(conflict(&db.store, replay()).await, None);
    assert_eq!(stored(&db.store, 1, 1).await, again);
    assert_eq!(
        conflict(&db.store, replay()).await,
        Some(Conflict::DeliveryChanged)
    );
    // The delivery can be claimed again, although its previous lease has not expired.
    let taken = claim(&db.store, &[(1, 1)], now, "u").await;
    assert_eq!(taken[0].generation, 1);
}

async fn failed_deliveries_are_found_by_failure_time(db: &TestDatabase) {
    insert(&db.store, &[subscription(1, Product::Hotel, &["*"])]).await;
    let events: Vec<_> = (1..=4).map(|number| event(number, "ping")).collect();
    publish(&db.store, &events).await;
    for number in 1..=3 {
        let at = NOW.plus_s(i64::from(number));
        let stored = stored(&db.store, number, 1).await;
        let expired = stored.apply(DeliveryEvent::Expired, at).unwrap();
        assert_eq!(
            expired.failure(),
            Some((at, DeliveryFailureReason::Expired))
        );
        let write =
            unit(|write| write.expire_delivery(&tenant(), &expired, DeliveryStatus::Pending));
        assert_eq!(conflict(&db.store, write.clone()).await, None);
        let again = conflict(&db.store, write).await;
        assert_eq!(again, Some(Conflict::DeliveryChanged));
    }
    for (since_s, until_s, limit, expected) in [
        (0, 9, 10, 3),
        (2, 9, 10, 2),
        (2, 2, 10, 1),
        (4, 9, 10, 0),
        (0, 9, 2, 2),
    ] {
        let (since, until) = (NOW.plus_s(since_s), NOW.plus_s(until_s));
        let (tenant, id) = (tenant(), subscription_id(1));
        let store = &db.store;
        let found = store.failed_deliveries(&tenant, &id, since, until, limit);
        assert_eq!(found.await.unwrap().len(), expected, "{since_s} {until_s}");
    }
}
