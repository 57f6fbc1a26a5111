//! A due delivery is claimed by one sender at a time, and its result is stored once.

use super::*;
use crate::DeliveryRelease;
use host_domain::webhook::DeliveryAttempt;
use std::collections::HashSet;

on_both_databases!(
    claimed_delivery_matches_domain_transition,
    leased_delivery_is_not_claimed,
    concurrent_claims_return_each_delivery_once,
    claim_respects_capacity_of_each_subscription,
    due_subscriptions_are_listed_longest_due_first,
    attempts_are_stored_with_delivery_results,
    late_result_is_discarded,
    delivery_without_attempt_is_released,
    stalled_deliveries_and_oldest_undelivered_are_found,
    replayed_delivery_is_stalled_from_its_replay,
    successful_delivery_clears_failing_since,
);

pub(super) fn attempt(number: i64) -> DeliveryAttempt {
    DeliveryAttempt {
        number,
        request_headers: [("webhook-id".to_owned(), "evt_1".to_owned())].into(),
        response_status: Some(500),
        response_body: Some("b\u{fffd}roken \"ü' \\ $1".to_owned()),
        error: None,
        duration_ms: 12,
        created_at: NOW.plus_ms(number),
    }
}

pub(super) fn outcome(
    token: &str,
    delivery: Delivery,
    attempt: Option<DeliveryAttempt>,
) -> DeliveryRelease {
    DeliveryRelease {
        token: token.to_owned(),
        tenant: tenant(),
        product: Product::Hotel,
        delivery,
        attempt,
    }
}

async fn store_outcomes(store: &Store, outcomes: &[DeliveryRelease]) {
    commit(store, |write| write.release_deliveries(outcomes)).await;
}

async fn attempts(store: &Store, ids: &[DeliveryId]) -> Vec<(DeliveryId, DeliveryAttempt)> {
    let ids: Vec<&DeliveryId> = ids.iter().collect();
    store.delivery_attempts(&tenant(), &ids).await.unwrap()
}

async fn due(store: &Store, without: &[u32]) -> Vec<(SubscriptionId, Timestamp)> {
    let without = without.iter().copied().map(subscription_id);
    let without: Vec<_> = without.collect();
    let without: Vec<_> = without.iter().collect();
    let due = store.due_subscriptions(&without, 10).await.unwrap();
    due.into_iter()
        .map(|one| (one.subscription.id, one.due_at))
        .collect()
}

async fn claimed_delivery_matches_domain_transition(db: &TestStore) {
    filled(db, 1, 1).await;
    let now = NOW.plus_s(5);
    let expected = claimed(recorded(1, 1), now);
    let taken = claim(&db.store, &[(1, 5)], now, "t").await;
    assert_eq!(taken, std::slice::from_ref(&expected.delivery));
    assert_eq!(deliveries(&db.store, 1).await, [expected]);
}

async fn leased_delivery_is_not_claimed(db: &TestStore) {
    filled(db, 1, 1).await;
    let now = NOW.plus_s(5);
    let early = claim(&db.store, &[(1, 5)], NOW, "t").await;
    assert!(early.is_empty(), "not due");
    // A lease with a duration of 0 expires at once.
    assert_eq!(claim_for(&db.store, &[(1, 5)], now, "t", 0).await.len(), 1);
    let again = claim(&db.store, &[(1, 5)], now.plus_s(1), "u").await;
    let first_claim = Some(now);
    assert_eq!(again[0].published_at(), first_claim, "the time is kept");
    assert!(claim(&db.store, &[(1, 5)], now, "v").await.is_empty());
    assert!(due(&db.store, &[]).await.is_empty());
}

async fn concurrent_claims_return_each_delivery_once(db: &TestStore) {
    filled(db, 2, 20).await;
    let claims = on_two_stores(db, 16, async |store: &Store, number| {
        claim(store, &[(1, 2), (2, 2)], NOW.plus_s(1), &number.to_string()).await
    });
    let mut all = claims.await.concat();
    all.extend(claim(&db.store, &[(1, 99), (2, 99)], NOW.plus_s(1), "rest").await);
    let ids: HashSet<_> = all.iter().map(|delivery| &delivery.id).collect();
    assert_eq!((ids.len(), all.len()), (40, 40));
}

async fn claim_respects_capacity_of_each_subscription(db: &TestStore) {
    filled(db, 3, 5).await;
    let claimed = claim(&db.store, &[(1, 2), (3, 4)], NOW.plus_s(1), "t").await;
    let of = |number| {
        let id = subscription_id(number);
        let of_it = claimed.iter().filter(move |one| one.subscription == id);
        of_it.map(|one| one.id.clone()).collect::<Vec<_>>()
    };
    let longest_due = [delivery_id(1, 1), delivery_id(2, 1)];
    assert_eq!(of(1), longest_due);
    assert_eq!((of(2).len(), of(3).len()), (0, 4));
}

async fn due_subscriptions_are_listed_longest_due_first(db: &TestStore) {
    assert!(due(&db.store, &[]).await.is_empty());
    filled(db, 4, 2).await;
    let now = NOW.plus_s(1);
    // All deliveries of the second subscription are leased; the first delivery of the third failed
    // and must wait.
    claim(&db.store, &[(2, 9), (3, 1)], now, "t").await;
    let failed = stored(&db.store, 1, 3).await;
    let failed = finished(&failed, FAILURE, now);
    store_outcomes(&db.store, &[outcome("t", failed, Some(attempt(1)))]).await;
    let expected = [(1, 1), (3, 2)].map(|(n, ms)| (subscription_id(n), NOW.plus_ms(ms)));
    assert_eq!(due(&db.store, &[4]).await, expected);
    let subscriptions = db.store.due_subscriptions(&[], 1).await.unwrap();
    assert_eq!(subscriptions[0].subscription, hotel_subscription(1));
    assert_eq!(subscriptions[0].secrets.current, b"sealed");
    // The next delivery of the third subscription is due after its retry delay.
    let rest = claim(&db.store, &[(3, 9)], now, "t").await;
    assert_eq!(rest.len(), 1);
    let third = due(&db.store, &[1, 4]).await;
    assert_eq!(third, [(subscription_id(3), now.plus_s(60))]);
}

async fn attempts_are_stored_with_delivery_results(db: &TestStore) {
    filled(db, 1, 4).await;
    let now = NOW.plus_s(1);
    let claimed = claim(&db.store, &[(1, 9)], now, "t").await;
    let kinds = [
        FAILURE,
        DeliveryResult::Accepted,
        DeliveryResult::Gone,
        DeliveryResult::UrlNotAllowed,
    ];
    let after: Vec<_> = claimed
        .iter()
        .zip(kinds)
        .map(|(delivery, kind)| finished(delivery, kind, now.plus_s(1)))
        .collect();
    let silent = DeliveryAttempt {
        response_status: None,
        response_body: None,
        error: Some("timeout".to_owned()),
        ..attempt(1)
    };
    let made = [attempt(1), attempt(1), silent.clone(), silent];
    let outcomes = after.iter().zip(&made);
    let outcomes = outcomes.map(|(one, made)| outcome("t", one.clone(), Some(made.clone())));
    store_outcomes(&db.store, &outcomes.collect::<Vec<_>>()).await;
    for (number, expected) in (1..).zip(&after) {
        assert_eq!(stored(&db.store, number, 1).await, *expected);
    }
    let ids: Vec<_> = after.iter().map(|one| one.id.clone()).collect();
    let expected: Vec<_> = ids.iter().cloned().zip(made).collect();
    assert_eq!(attempts(&db.store, &ids).await, expected);
    // Failed deliveries are retried, and their attempts are returned in order.
    let again = claim(&db.store, &[(1, 9)], now.plus_s(99), "u").await;
    assert_eq!(again.len(), 2);
    let zeroes = DeliveryAttempt {
        response_body: Some("b\0roken \"ü' \\ $1".to_owned()),
        ..attempt(2)
    };
    let delivered = finished(&again[0], DeliveryResult::Accepted, now.plus_s(99));
    let failed = finished(&again[1], DeliveryResult::UrlNotAllowed, now.plus_s(99));
    let outcomes = [
        outcome("u", delivered, Some(zeroes)),
        outcome("u", failed.clone(), Some(attempt(2))),
    ];
    store_outcomes(&db.store, &outcomes).await;
    assert_eq!(stored(&db.store, 4, 1).await, failed);
    let stored = attempts(&db.store, &ids[..1]).await;
    let stored: Vec<_> = stored.into_iter().map(|(_, attempt)| attempt).collect();
    assert_eq!(stored, [attempt(1), attempt(2)]);
}

async fn late_result_is_discarded(db: &TestStore) {
    filled(db, 1, 1).await;
    let now = NOW.plus_s(1);
    let first = claim_for(&db.store, &[(1, 1)], now, "first", 0).await;
    let second = claim(&db.store, &[(1, 1)], now, "second").await;
    let late = finished(&first[0], DeliveryResult::Accepted, now);
    let late = outcome("first", late, Some(attempt(1)));
    store_outcomes(&db.store, std::slice::from_ref(&late)).await;
    assert_eq!(stored(&db.store, 1, 1).await, second[0]);
    assert!(attempts(&db.store, &[delivery_id(1, 1)]).await.is_empty());
    // The result of an attempt is also discarded if the delivery was replayed in the meantime.
    let replayed = second[0].clone().replay(REPLAY, now.plus_s(1)).unwrap();
    commit(&db.store, |write| {
        write.replay_delivery(&tenant(), &replayed, DeliveryStatus::Published)
    })
    .await;
    let third = claim(&db.store, &[(1, 1)], now.plus_s(1), "second").await;
    let late = finished(&second[0], DeliveryResult::Gone, now);
    store_outcomes(&db.store, &[outcome("second", late, Some(attempt(1)))]).await;
    assert_eq!(stored(&db.store, 1, 1).await, third[0]);
    assert!(attempts(&db.store, &[delivery_id(1, 1)]).await.is_empty());
}

async fn delivery_without_attempt_is_released(db: &TestStore) {
    filled(db, 1, 2).await;
    let now = NOW.plus_s(1);
    let claimed = claim(&db.store, &[(1, 2)], now, "t").await;
    let back = outcome("t", claimed[0].clone(), None);
    let delivered = finished(&claimed[1], DeliveryResult::Accepted, now);
    let tried = outcome("t", delivered, Some(attempt(1)));
    store_outcomes(&db.store, &[back, tried]).await;
    assert_eq!(claim(&db.store, &[(1, 2)], now, "u").await, claimed[..1]);
}

async fn stalled_deliveries_and_oldest_undelivered_are_found(db: &TestStore) {
    filled(db, 2, 3).await;
    let store = &db.store;
    let oldest = store.oldest_undelivered().await.unwrap();
    assert_eq!(oldest, Some(NOW.plus_ms(1)));
    let before = NOW.plus_ms(3);
    assert_eq!(store.stalled_deliveries(before, 9).await.unwrap(), []);
    let paused = hotel_subscription(1).apply(SubscriptionEvent::Paused, NOW);
    store.commit(updating(&paused.unwrap())).await.unwrap();
    let stranded = store.stalled_deliveries(before, 9).await.unwrap();
    assert_eq!(stranded, [recorded(1, 1), recorded(2, 1)]);
    assert_eq!(store.stalled_deliveries(before, 1).await.unwrap().len(), 1);
    for delivery in claim(store, &[(2, 9)], NOW.plus_s(1), "t").await {
        let delivered = finished(&delivery, DeliveryResult::Accepted, NOW.plus_s(1));
        store_outcomes(store, &[outcome("t", delivered, None)]).await;
    }
    assert_eq!(store.oldest_undelivered().await.unwrap(), None);
}

async fn replayed_delivery_is_stalled_from_its_replay(db: &TestStore) {
    filled(db, 1, 1).await;
    let (store, now) = (&db.store, NOW.plus_s(61));
    let rule = ReplayPolicy {
        pending_after_s: 60,
        published_after_s: 8100,
    };
    let replayed = recorded(1, 1).delivery.replay(rule, now).unwrap();
    let write = unit_at(now, |write| {
        write.replay_delivery(&tenant(), &replayed, DeliveryStatus::Pending)
    });
    store.commit(write).await.unwrap();
    let paused = hotel_subscription(1).apply(SubscriptionEvent::Paused, NOW);
    store.commit(updating(&paused.unwrap())).await.unwrap();
    assert_eq!(store.stalled_deliveries(now, 9).await.unwrap(), []);
    let later = now.plus_ms(1);
    assert_eq!(store.stalled_deliveries(later, 9).await.unwrap().len(), 1);
}

async fn successful_delivery_clears_failing_since(db: &TestStore) {
    let failed = SubscriptionEvent::DeliveryFailed {
        disable_after_s: 60,
    };
    let [first, second] = [1, 2].map(hotel_subscription);
    insert(&db.store, &[first.clone(), second.clone()]).await;
    let failing = first.clone().apply(failed, NOW).unwrap();
    db.store.commit(updating(&failing)).await.unwrap();
    commit(&db.store, |write| {
        write.clear_failing_since(&[&first, &second])
    })
    .await;
    let succeeded = failing
        .apply(SubscriptionEvent::DeliverySucceeded, NOW)
        .unwrap();
    for expected in [succeeded, second] {
        let (tenant, id) = (tenant(), &expected.id);
        let stored = db.store.subscription(&tenant, Product::Hotel, id).await;
        assert_eq!(stored.unwrap(), Some(expected));
    }
}
