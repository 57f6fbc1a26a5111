//! Versions, secrets and deletion of subscriptions. `tests/it/http/webhook_subscription.rs` covers
//! what is read and listed.

use super::*;

on_both_databases!(
    second_update_of_a_version_fails,
    rotation_stores_both_secrets,
    deleted_subscription_loses_secrets_then_deliveries,
);

fn secrets(previous: Option<&[u8]>) -> SealedSecrets {
    SealedSecrets {
        current: b"sealed".to_vec(),
        previous: previous.map(<[u8]>::to_vec),
    }
}

async fn read(store: &Store, number: u32, product: Product) -> Option<Subscription> {
    let (tenant, id) = (tenant(), subscription_id(number));
    store.subscription(&tenant, product, &id).await.unwrap()
}

async fn second_update_of_a_version_fails(db: &TestStore) {
    let made = hotel_subscription(1);
    insert(&db.store, std::slice::from_ref(&made)).await;
    let moved = |event| made.clone().apply(event, NOW.plus_s(1)).unwrap();
    let first = moved(SubscriptionEvent::DeliveryFailed {
        disable_after_s: 10,
    });
    let second = moved(SubscriptionEvent::Paused);
    assert_eq!(conflict(&db.store, updating(&first)).await, None);
    let refused = conflict(&db.store, updating(&second)).await;
    assert_eq!(refused, Some(Conflict::SubscriptionVersion));
    assert_eq!(read(&db.store, 1, Product::Hotel).await, Some(first));
}

async fn rotation_stores_both_secrets(db: &TestStore) {
    let made = hotel_subscription(1);
    insert(&db.store, std::slice::from_ref(&made)).await;
    let event = SubscriptionEvent::Rotated {
        previous_secret_expires_at: NOW.plus_s(86_400),
    };
    let rotated = made.apply(event, NOW.plus_s(1)).unwrap();
    let sealed = secrets(Some(b"older"));
    let rotate = || unit(|write| write.rotate_subscription_secret(&rotated, 1, &sealed));
    assert_eq!(conflict(&db.store, rotate()).await, None);
    let read_back = db.store.sealed_secrets(&tenant(), &rotated.id).await;
    assert_eq!(read_back.unwrap(), Some(sealed.clone()));
    let read = read(&db.store, 1, Product::Hotel).await;
    assert_eq!(read.as_ref(), Some(&rotated));
    let again = conflict(&db.store, rotate()).await;
    assert_eq!(again, Some(Conflict::SubscriptionVersion));
}

async fn deleted_subscription_loses_secrets_then_deliveries(db: &TestStore) {
    filled(db, 2, 5).await;
    let id = subscription_id(1);
    let delete = |product| unit(|write| write.delete_subscription(&tenant(), product, &id));
    let unknown = Some(Conflict::SubscriptionNotFound);
    assert_eq!(conflict(&db.store, delete(Product::Flight)).await, unknown);
    assert_eq!(conflict(&db.store, delete(Product::Hotel)).await, None);
    assert_eq!(conflict(&db.store, delete(Product::Hotel)).await, unknown);
    assert_eq!(read(&db.store, 1, Product::Hotel).await, None);
    let sealed = db.store.sealed_secrets(&tenant(), &id).await;
    assert_eq!(sealed.unwrap(), None);
    let paused = hotel_subscription(1).apply(SubscriptionEvent::Paused, NOW);
    let late = conflict(&db.store, updating(&paused.unwrap())).await;
    assert_eq!(late, Some(Conflict::SubscriptionVersion));
    // Its deliveries cannot be claimed, and no more deliveries are inserted for it.
    let claimed = claim(&db.store, &[(1, 10)], NOW.plus_s(9), "t").await;
    assert!(claimed.is_empty());
    publish(&db.store, &[event(6, "ping")]).await;
    // Deliveries are deleted only after writes in progress at the deletion have ended.
    for (before, forgotten) in [(0, 0), (1, 2), (1, 2), (1, 1), (1, 0)] {
        let removed = db.store.purge_deleted_subscriptions(NOW.plus_ms(before), 2);
        assert_eq!(removed.await.unwrap(), forgotten);
    }
    assert!(deliveries(&db.store, 1).await.is_empty());
    assert_eq!(deliveries(&db.store, 2).await.len(), 6);
    let rows = statement!("SELECT COUNT(*) AS number FROM webhook_subscription");
    assert_eq!(
        db.store.read_count(rows).await.unwrap(),
        1,
        "the row is deleted"
    );
}
