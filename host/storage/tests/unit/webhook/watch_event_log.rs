//! The event log of watches: one order for all readers, with the delivery status of each event.

use super::*;
use crate::{DeliveryRelease, WatchLogEntry};
use futures::future::join;
use host_domain::webhook::WatchEventStatus;
use sqlx::{Connection, Executor, PgConnection};
use std::cell::Cell;
use std::collections::BTreeSet;

on_both_databases!(
    log_is_paged_oldest_first,
    reader_sees_all_events_during_concurrent_writes,
    pending_events_are_sent_to_new_endpoint,
    second_endpoint_is_rejected,
    events_during_endpoint_replacement_are_delivered,
    log_contains_status_of_each_event,
    replaced_endpoint_cannot_fail_an_event,
);

fn watch_event(number: u32) -> OutboxEvent {
    OutboxEvent {
        product: Product::Watch,
        ..event(number, "travel.hotel.watch.triggered")
    }
}

fn watch_events(numbers: std::ops::RangeInclusive<u32>) -> Vec<OutboxEvent> {
    numbers.map(watch_event).collect()
}

fn endpoint(number: u32) -> Subscription {
    subscription(number, Product::Watch, &["*"])
}

/// Builds a unit of work that registers an endpoint, replacing `replaced`. Events pending since
/// `since` are sent to it.
fn registering(number: u32, replaced: Option<u32>, since: Timestamp) -> UnitOfWork {
    let replaced = replaced.map(subscription_id);
    unit(|write| {
        write.replace_watch_endpoint(&endpoint(number), b"sealed", replaced.as_ref(), since)
    })
}

async fn logged(store: &Store, after: Option<&EventId>, limit: u32) -> Vec<WatchLogEntry> {
    let found = store.watch_log_entries(&tenant(), after, limit).await;
    found.unwrap().unwrap()
}

async fn statuses(store: &Store) -> Vec<WatchEventStatus> {
    let all = logged(store, None, 100).await;
    all.into_iter().map(|one| one.status).collect()
}

/// Returns the events with a delivery to an endpoint.
async fn recorded_for(store: &Store, number: u32) -> BTreeSet<EventId> {
    let recorded = deliveries(store, number).await.into_iter();
    recorded.map(|one| one.delivery.event).collect()
}

fn event_ids(numbers: impl IntoIterator<Item = u32>) -> BTreeSet<EventId> {
    ids(EventId::from_bits, numbers).into_iter().collect()
}

/// Claims all due deliveries of an endpoint and stores `outcome` for them.
async fn attempt_all(store: &Store, number: u32, outcome: DeliveryResult) {
    let claimed = claim(store, &[(number, 100)], NOW.plus_s(1), "t").await;
    release_all(store, claimed, outcome).await;
}

async fn release_all(store: &Store, claimed: Vec<Delivery>, outcome: DeliveryResult) {
    let releases = claimed.iter().map(|delivery| DeliveryRelease {
        token: "t".to_owned(),
        tenant: tenant(),
        product: Product::Watch,
        delivery: finished(delivery, outcome, NOW.plus_s(1)),
        attempt: None,
    });
    commit(store, |write| {
        write.release_deliveries(&releases.collect::<Vec<_>>())
    })
    .await;
}

async fn log_is_paged_oldest_first(db: &TestStore) {
    let store = &db.store;
    assert!(logged(store, None, 10).await.is_empty());
    // The log keeps the order of publication, whatever the creation times are.
    let events: Vec<_> = [3, 1, 2].map(watch_event).into();
    publish(store, &events).await;
    publish(store, &[event(4, "hotel.booking.confirmed")]).await;
    let [_, live, _] = other_owners().map(|owner| owner.tenant);
    commit(store, |write| write.publish(&live, &watch_event(5))).await;
    let expected = events.iter().map(|event| WatchLogEntry {
        event: event.clone(),
        status: WatchEventStatus::Pending,
    });
    let expected: Vec<_> = expected.collect();
    assert_eq!(logged(store, None, 2).await, expected[..2]);
    assert_eq!(logged(store, Some(&events[0].id), 9).await, expected[1..]);
    assert!(logged(store, Some(&events[2].id), 9).await.is_empty());
    for unknown in [4, 5, 6] {
        let after = EventId::from_bits(unknown);
        let found = store.watch_log_entries(&tenant(), Some(&after), 9).await;
        assert_eq!(found.unwrap(), None, "{unknown}");
    }
}

const WRITERS: u32 = 16;
const WRITES: u32 = 20;
/// Total number of events: every other unit of work publishes two.
const EVENTS: u32 = WRITERS * (WRITES + WRITES / 2);

async fn reader_sees_all_events_during_concurrent_writes(db: &TestStore) {
    let second = db.second_store().await;
    let writers = (0..WRITERS).map(|writer| async move {
        let mut number = writer * 1000;
        for write in 1..=WRITES {
            let events = watch_events(number + 1..=number + 1 + write % 2);
            publish(&db.store, &events).await;
            number += 2;
        }
    });
    let are_done = Cell::new(false);
    let writing = async {
        join_all(writers).await;
        are_done.set(true);
    };
    let reading = async {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let is_last = are_done.get();
            let page = logged(&second, after.as_ref(), 100).await;
            if page.is_empty() && is_last {
                return seen;
            }
            seen.extend(page.into_iter().map(|one| one.event.id));
            after = seen.last().cloned();
        }
    };
    let ((), seen) = join(writing, reading).await;
    let all = logged(&second, None, EVENTS + 1).await.into_iter();
    let all: Vec<_> = all.map(|one| one.event.id).collect();
    assert_eq!(all.len(), EVENTS as usize);
    assert_eq!(seen, all);
    second.close().await;
}

/// The first event has a sequence number but cannot be committed yet; the second must not overtake
/// it.
#[tokio::test]
async fn event_is_not_visible_before_earlier_sequence_numbers() {
    let db = TestStore::postgres().await;
    let locked = hotel_subscription(1);
    insert(&db.store, std::slice::from_ref(&locked)).await;
    let mut holder = PgConnection::connect(db.url()).await.unwrap();
    let hold = "BEGIN; SELECT id FROM webhook_subscription FOR UPDATE";
    holder.execute(hold).await.unwrap();
    let mut slow = UnitOfWork::new(NOW);
    slow.publish(&tenant(), &watch_event(1));
    let paused = locked.apply(SubscriptionEvent::Paused, NOW).unwrap();
    slow.append(updating(&paused));
    let publishing = async {
        let first = db.store.commit(slow);
        let second = async {
            until_waiting(&db.store, 1).await;
            publish(&db.store, &[watch_event(2)]).await;
        };
        let (first, ()) = join(first, second).await;
        first.unwrap();
    };
    let reading = async {
        until_waiting(&db.store, 2).await;
        let seen = logged(&db.store, None, 10).await;
        holder.execute("COMMIT").await.unwrap();
        seen
    };
    let ((), mut seen) = join(publishing, reading).await;
    let after = seen.last().map(|one: &WatchLogEntry| one.event.id.clone());
    seen.extend(logged(&db.store, after.as_ref(), 10).await);
    let seen: Vec<_> = seen.into_iter().map(|one| one.event).collect();
    assert_eq!(seen, watch_events(1..=2));
    holder.close().await.unwrap();
    db.remove().await;
}

/// Waits until `transactions` transactions wait for a lock, or the log contains an event.
async fn until_waiting(store: &Store, transactions: u64) {
    loop {
        let waiting = statement!(
            "SELECT COUNT(*) AS number FROM pg_stat_activity \
             WHERE datname = current_database() AND wait_event_type = 'Lock'"
        );
        let waiting = store.read_count(waiting).await.unwrap();
        let overtaken = !logged(store, None, 1).await.is_empty();
        if waiting >= transactions || overtaken {
            return;
        }
    }
}

async fn pending_events_are_sent_to_new_endpoint(db: &TestStore) {
    let store = &db.store;
    publish(store, &watch_events(1..=3)).await;
    let since = watch_event(2).created_at;
    store.commit(registering(1, None, since)).await.unwrap();
    let (second, third) = (recorded(2, 1), recorded(3, 1));
    assert_eq!(
        deliveries(store, 1).await,
        [third, second],
        "the deliveries are the same as with an earlier registration"
    );
    attempt_all(store, 1, DeliveryResult::Accepted).await;
    publish(store, &watch_events(4..=5)).await;
    assert_eq!(recorded_for(store, 1).await, event_ids(2..=5));
    let replacing = registering(2, Some(1), NOW);
    store.commit(replacing).await.unwrap();
    assert_eq!(
        recorded_for(store, 2).await,
        event_ids([1, 4, 5]),
        "accepted events are not sent again"
    );
    publish(store, &watch_events(6..=6)).await;
    assert_eq!(
        recorded_for(store, 1).await,
        event_ids(2..=5),
        "no later events"
    );
    assert_eq!(recorded_for(store, 2).await, event_ids([1, 4, 5, 6]));
}

async fn second_endpoint_is_rejected(db: &TestStore) {
    let store = &db.store;
    store.commit(registering(1, None, NOW)).await.unwrap();
    for (write, expected) in [
        (registering(2, None, NOW), Conflict::SubscriptionExists),
        (registering(2, Some(3), NOW), Conflict::SubscriptionNotFound),
    ] {
        assert_eq!(conflict(store, write).await, Some(expected));
    }
    store.commit(registering(2, Some(1), NOW)).await.unwrap();
    let listed = store.subscriptions(&tenant(), Product::Watch, ALL).await;
    assert_eq!(listed.unwrap().items, [endpoint(2)]);
    commit(store, |write| {
        write.delete_subscription(&tenant(), Product::Watch, &subscription_id(2))
    })
    .await;
    store.commit(registering(3, None, NOW)).await.unwrap();
}

async fn events_during_endpoint_replacement_are_delivered(db: &TestStore) {
    const ENDPOINTS: u32 = 12;
    let publishing = (0..4).map(|writer| async move {
        for number in 1..=20 {
            publish(&db.store, &[watch_event(writer * 100 + number)]).await;
        }
    });
    let replacing = async {
        for number in 1..=ENDPOINTS {
            let replaced = number.checked_sub(1).filter(|before| *before > 0);
            let write = registering(number, replaced, NOW);
            db.store.commit(write).await.unwrap();
        }
    };
    join(join_all(publishing), replacing).await;
    let log = logged(&db.store, None, 100).await.into_iter();
    let log: Vec<EventId> = log.map(|one| one.event.id).collect();
    // Each endpoint received all events up to its replacement.
    for number in 1..=ENDPOINTS {
        let recorded = recorded_for(&db.store, number).await;
        let until = log.iter().take(recorded.len()).cloned();
        assert_eq!(recorded, until.collect(), "endpoint {number}");
    }
    assert_eq!(recorded_for(&db.store, ENDPOINTS).await.len(), log.len());
}

async fn log_contains_status_of_each_event(db: &TestStore) {
    let store = &db.store;
    store.commit(registering(1, None, NOW)).await.unwrap();
    let outcomes = [
        (DeliveryResult::Accepted, WatchEventStatus::Delivered),
        (DeliveryResult::Gone, WatchEventStatus::Failed),
        (DeliveryResult::UrlNotAllowed, WatchEventStatus::Pending),
        (FAILURE, WatchEventStatus::Pending),
    ];
    let mut expected = Vec::new();
    for (number, (outcome, status)) in (1..).zip(outcomes) {
        publish(store, &[watch_event(number)]).await;
        attempt_all(store, 1, outcome).await;
        expected.push(status);
        assert_eq!(statuses(store).await, expected);
    }
    // Another process has leased deliveries, so this process must not change their status.
    publish(store, &[watch_event(5)]).await;
    let claimed = claim_for(store, &[(1, 1)], NOW.plus_s(1), "t", 0).await;
    claim(store, &[(1, 1)], NOW.plus_s(1), "u").await;
    release_all(store, claimed, DeliveryResult::Gone).await;
    publish(store, &[watch_event(6)]).await;
    let waiting = stored(store, 6, 1).await;
    let expired = waiting.apply(DeliveryEvent::Expired, NOW).unwrap();
    let status = DeliveryStatus::Pending;
    commit(store, |write| {
        write.expire_delivery(&tenant(), &expired, status)
    })
    .await;
    expected.extend([WatchEventStatus::Pending, WatchEventStatus::Failed]);
    assert_eq!(statuses(store).await, expected);
}

async fn replaced_endpoint_cannot_fail_an_event(db: &TestStore) {
    let store = &db.store;
    store.commit(registering(1, None, NOW)).await.unwrap();
    publish(store, &watch_events(1..=2)).await;
    let mut claimed = claim(store, &[(1, 2)], NOW.plus_s(1), "t").await;
    store.commit(registering(2, Some(1), NOW)).await.unwrap();
    release_all(store, claimed.split_off(1), DeliveryResult::Accepted).await;
    release_all(store, claimed, DeliveryResult::Gone).await;
    let (pending, delivered) = (WatchEventStatus::Pending, WatchEventStatus::Delivered);
    assert_eq!(statuses(store).await, [pending, delivered]);
    attempt_all(store, 2, DeliveryResult::Gone).await;
    let (failed, stays) = (WatchEventStatus::Failed, delivered);
    assert_eq!(statuses(store).await, [failed, stays]);
}
