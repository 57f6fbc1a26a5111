//! An event gets exactly one delivery for each matching subscription.

use super::*;
use crate::combined_statement::combinable_runs;

on_both_databases!(
    event_is_delivered_to_matching_subscriptions,
    event_is_delivered_once_or_not_at_all,
    event_for_one_subscription_skips_others,
    replay_is_stored_once,
    failed_deliveries_are_found_by_failure_time,
);

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

async fn event_is_delivered_to_matching_subscriptions(db: &TestStore) {
    let of_tenant = |number, tenant| Subscription {
        tenant,
        ..hotel_subscription(number)
    };
    let [_, live, another] = other_owners().map(|owner| owner.tenant);
    let paused = hotel_subscription(7);
    let subscriptions = [
        hotel_subscription(1),
        subscription(2, Product::Hotel, &["ping", "hotel.booking.confirmed"]),
        subscription(3, Product::Hotel, &["hotel.booking.failed"]),
        subscription(4, Product::Flight, &["*"]),
        subscription(5, Product::Hotel, &[]),
        of_tenant(6, another),
        paused.clone(),
        of_tenant(8, live),
    ];
    insert(&db.store, &subscriptions).await;
    let paused = paused.apply(SubscriptionEvent::Paused, NOW).unwrap();
    db.store.commit(updating(&paused)).await.unwrap();
    publish(&db.store, &[event(9, "hotel.booking.confirmed")]).await;
    for number in 1..=8 {
        let expected = [1, 2, 7].contains(&number).then(|| recorded(9, number));
        let stored = deliveries(&db.store, number).await;
        assert_eq!(stored, Vec::from_iter(expected), "{number}");
    }
}

async fn event_is_delivered_once_or_not_at_all(db: &TestStore) {
    let both = subscription(1, Product::Hotel, &["*", "ping"]);
    insert(&db.store, &[both]).await;
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

async fn event_for_one_subscription_skips_others(db: &TestStore) {
    filled(db, 2, 0).await;
    let mut write = UnitOfWork::new(NOW);
    write.publish_to_subscription(&tenant(), &event(1, "ping"), &subscription_id(2));
    write.publish_to_subscription(&tenant(), &event(2, "ping"), &subscription_id(3));
    db.store.commit(write).await.unwrap();
    assert!(deliveries(&db.store, 1).await.is_empty());
    assert_eq!(deliveries(&db.store, 2).await, [recorded(1, 2)]);
}

fn replaying(delivery: &Delivery, read_status: DeliveryStatus) -> UnitOfWork {
    unit(|write| write.replay_delivery(&tenant(), delivery, read_status))
}

async fn replay_is_stored_once(db: &TestStore) {
    filled(db, 1, 1).await;
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
    let twice = conflict(&db.store, replay()).await;
    assert_eq!(twice, Some(Conflict::DeliveryChanged));
    // The delivery can be claimed again, although its previous lease has not expired.
    let taken = claim(&db.store, &[(1, 1)], now, "u").await;
    assert_eq!(taken[0].generation, 1);
}

async fn failed_deliveries_are_found_by_failure_time(db: &TestStore) {
    filled(db, 1, 4).await;
    for number in 1..=3 {
        let at = NOW.plus_s(i64::from(number));
        let stored = stored(&db.store, number, 1).await;
        let expired = stored.apply(DeliveryEvent::Expired, at).unwrap();
        let status = DeliveryStatus::Pending;
        let write = unit(|write| write.expire_delivery(&tenant(), &expired, status));
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
        let count = store.count_failed_deliveries(&tenant, &id, since, until);
        let listed = count.await.unwrap().min(limit.into());
        assert_eq!(listed, expected as u64, "{since_s} {until_s}");
    }
}
