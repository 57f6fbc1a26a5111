//! Subscriptions and deliveries: each event is delivered to the right subscriptions, once, and
//! never lost.

mod console;
mod delivery;
mod plan;
mod send;
mod subscription;
mod watch_event_log;

use super::*;
use crate::{DeliveryClaim, SealedSecrets, StoredDelivery};
use host_domain::event::Product;
use host_domain::id::{DeliveryId, EventId, SubscriptionId};
use host_domain::webhook::list::DeliveryFilter;
use host_domain::webhook::{
    Delivery, DeliveryEvent, DeliveryResult, DeliveryState, DeliveryStatus, ReplayPolicy,
    RetryAfterLimit, RetryPolicy, Subscription, SubscriptionEvent,
};

const REPLAY: ReplayPolicy = ReplayPolicy {
    pending_after_s: 0,
    published_after_s: 0,
};

const FAILURE: DeliveryResult = DeliveryResult::Failed {
    retry_after_s: None,
};

/// Builds a subscription of the tenant. `number` determines its id and its creation time.
fn subscription(number: u32, product: Product, event_types: &[&str]) -> Subscription {
    Subscription::new(
        subscription_id(number),
        tenant(),
        product,
        format!("https://receiver{number}.example/hook"),
        event_types.iter().map(|&name| name.to_owned()).collect(),
        Some("ours \"ü'".to_owned()),
        NOW.plus_ms(i64::from(number)),
    )
}

/// Builds a subscription to all events of hotels.
fn hotel_subscription(number: u32) -> Subscription {
    subscription(number, Product::Hotel, &["*"])
}

fn subscription_id(number: u32) -> SubscriptionId {
    SubscriptionId::from_bits(u128::from(number))
}

fn event(number: u32, event_type: &str) -> OutboxEvent {
    OutboxEvent {
        id: EventId::from_bits(u128::from(number)),
        event_type: event_type.to_owned(),
        product: Product::Hotel,
        booking_id: None,
        payload: format!("{{\"id\":{number},\"ü\": \"\\u0000 $1 '\"}}"),
        created_at: NOW.plus_ms(i64::from(number)),
    }
}

fn inserting(subscription: &Subscription) -> UnitOfWork {
    unit(|write| write.insert_subscription(subscription, b"sealed"))
}

fn updating(subscription: &Subscription) -> UnitOfWork {
    unit(|write| write.update_subscription(subscription, subscription.version - 1))
}

async fn insert(store: &Store, subscriptions: &[Subscription]) {
    for subscription in subscriptions {
        store.commit(inserting(subscription)).await.unwrap();
    }
}

/// Inserts subscriptions to all events of hotels, and publishes events of hotels. Both are numbered
/// from 1.
async fn filled(db: &TestStore, subscriptions: u32, events: u32) {
    let subscriptions: Vec<_> = (1..=subscriptions).map(hotel_subscription).collect();
    insert(&db.store, &subscriptions).await;
    let events: Vec<_> = (1..=events).map(|number| event(number, "ping")).collect();
    publish(&db.store, &events).await;
}

async fn publish(store: &Store, events: &[OutboxEvent]) {
    let mut write = UnitOfWork::new(NOW);
    for event in events {
        write.publish(&tenant(), event);
    }
    store.commit(write).await.unwrap();
}

fn delivery_id(event: u32, subscription: u32) -> DeliveryId {
    let event = EventId::from_bits(u128::from(event));
    Delivery::derive_id(&event, &subscription_id(subscription)).unwrap()
}

/// Returns the delivery that is inserted for a subscription when event `number` is published.
fn recorded(number: u32, subscription: u32) -> StoredDelivery {
    let OutboxEvent {
        id,
        payload,
        created_at,
        ..
    } = event(number, "");
    StoredDelivery {
        tenant: tenant(),
        delivery: Delivery {
            id: delivery_id(number, subscription),
            subscription: subscription_id(subscription),
            event: id,
            state: DeliveryState::Pending,
            generation: 0,
            attempts: 0,
            created_at,
            pending_since: created_at,
        },
        payload,
    }
}

/// Returns the delivery after a sender claimed it.
fn claimed(stored: StoredDelivery, now: Timestamp) -> StoredDelivery {
    let delivery = stored.delivery.apply(DeliveryEvent::Claimed, now).unwrap();
    StoredDelivery { delivery, ..stored }
}

/// Returns the delivery after an attempt with this result.
fn finished(delivery: &Delivery, outcome: DeliveryResult, now: Timestamp) -> Delivery {
    let event = DeliveryEvent::AttemptFinished {
        generation: delivery.generation,
        result: outcome,
        retry_policy: RetryPolicy {
            delays_s: &[60],
            jitter_permille: 0,
            retry_after_limit: RetryAfterLimit::TwiceDelay,
        },
    };
    delivery.clone().apply(event, now).unwrap()
}

/// Returns the deliveries to a subscription, newest first.
async fn deliveries(store: &Store, number: u32) -> Vec<StoredDelivery> {
    let filter = DeliveryFilter::default();
    let (tenant, id) = (tenant(), subscription_id(number));
    let listed = store.deliveries(&tenant, &id, filter, ALL).await;
    listed.unwrap().items
}

async fn stored(store: &Store, event: u32, subscription: u32) -> Delivery {
    let (to, id) = (
        subscription_id(subscription),
        delivery_id(event, subscription),
    );
    let found = store.delivery(&tenant(), &to, &id).await;
    found.unwrap().unwrap().delivery
}

/// Claims deliveries of subscriptions, up to the given number of each.
async fn claim(store: &Store, rooms: &[(u32, u32)], now: Timestamp, token: &str) -> Vec<Delivery> {
    claim_for(store, rooms, now, token, LEASE_MS).await
}

async fn claim_for(
    store: &Store,
    rooms: &[(u32, u32)],
    now: Timestamp,
    token: &str,
    lease_ms: i64,
) -> Vec<Delivery> {
    let rooms = rooms
        .iter()
        .map(|(number, room)| (subscription_id(*number), *room));
    let rooms: Vec<_> = rooms.collect();
    let capacities: Vec<_> = rooms.iter().map(|(id, room)| (id, *room)).collect();
    let claim = DeliveryClaim {
        capacities: &capacities,
        now,
        lease_ms,
        token,
    };
    let claimed = store.claim_deliveries(claim).await.unwrap();
    claimed.into_iter().map(|stored| stored.delivery).collect()
}
