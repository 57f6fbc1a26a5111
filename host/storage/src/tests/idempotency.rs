//! Idempotency keys: one of several concurrent requests succeeds.

use super::*;
use crate::{IdempotencyKey, IdempotencyRecord};
use host_domain::hotel::booking::HotelBookingDetails;

on_both_databases!(
    concurrent_requests_with_one_key_store_one,
    key_is_scoped_to_owner_and_operation,
    refusal_is_stored_and_deleted_key_is_reusable,
);

fn key() -> IdempotencyKey {
    IdempotencyKey {
        owner: owner(),
        operation: "prebook_hotel".into(),
        key: "k-1".into(),
    }
}

fn taking(key: &IdempotencyKey, resource: &str) -> UnitOfWork {
    unit(|write| write.insert_idempotency_key(key, "fingerprint", resource))
}

async fn concurrent_requests_with_one_key_store_one(db: &TestDatabase) {
    let other = db.second_store().await;
    for round in 0..8_u32 {
        let mut key = key();
        key.key = format!("round-{round}");
        let attempts = (0..64_u32).map(|number| {
            let booking = booking(round * 64 + number);
            let mut write = taking(&key, booking.id.as_str());
            write.insert_booking(&booking);
            let store = if number % 2 == 0 { &db.store } else { &other };
            async move { (booking.id, conflict(store, write).await) }
        });
        let results = join_all(attempts).await;
        let winners: Vec<_> = results.iter().filter(|(_, lost)| lost.is_none()).collect();
        assert_eq!(winners.len(), 1);
        let record = db.store.idempotency_record(&key).await.unwrap().unwrap();
        assert_eq!(record.resource_id, winners[0].0.as_str());
        for (id, lost) in &results {
            assert!(lost.is_none() || *lost == Some(Conflict::IdempotencyKeyExists));
            let made = db
                .store
                .booking_unscoped::<HotelBookingDetails>(id)
                .await
                .unwrap();
            assert_eq!(made.is_some(), lost.is_none());
        }
    }
    other.close().await;
}

async fn key_is_scoped_to_owner_and_operation(db: &TestDatabase) {
    let mut keys = vec![key(); 6];
    keys[1].owner.user = "another".into();
    keys[2].owner.tenant.mode = Mode::Live;
    keys[3].owner.tenant.organization = "another".into();
    keys[4].operation = "book_hotel".into();
    keys[5].key = "K-1".into();
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(db.store.idempotency_record(key).await.unwrap(), None);
        let taken = conflict(&db.store, taking(key, &number.to_string())).await;
        assert_eq!(taken, None, "{key:?}");
    }
    for (number, key) in keys.iter().enumerate() {
        let record = db.store.idempotency_record(key).await.unwrap();
        let expected = IdempotencyRecord {
            fingerprint: "fingerprint".into(),
            resource_id: number.to_string(),
            refusal: None,
            created_at: NOW,
        };
        assert_eq!(record, Some(expected));
    }
}

async fn refusal_is_stored_and_deleted_key_is_reusable(db: &TestDatabase) {
    let refusal = r#"{"code":"offer_price_changed"}"#;
    let keep = unit(|write| write.store_idempotent_refusal(&key(), refusal));
    let early = conflict(&db.store, keep.clone()).await;
    assert_eq!(early, Some(Conflict::IdempotencyKeyNotFound));
    db.store.commit(taking(&key(), "bkg_1")).await.unwrap();
    db.store.commit(keep).await.unwrap();
    let record = db.store.idempotency_record(&key()).await.unwrap().unwrap();
    assert_eq!(record.refusal.as_deref(), Some(refusal));

    let free = unit(|write| write.delete_idempotency_key(&key()));
    db.store.commit(free.clone()).await.unwrap();
    assert_eq!(db.store.idempotency_record(&key()).await.unwrap(), None);
    db.store.commit(free).await.unwrap();
    assert_eq!(conflict(&db.store, taking(&key(), "bkg_2")).await, None);
}
