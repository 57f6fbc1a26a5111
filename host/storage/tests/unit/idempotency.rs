//! Idempotency keys: one of several concurrent requests succeeds.

use super::*;
use crate::{IdempotencyKey, IdempotencyRecord};

on_both_databases!(
    concurrent_requests_with_one_key_store_one,
    key_is_scoped_to_owner_and_operation,
    refusal_is_stored_and_deleted_key_is_reusable,
);

fn key() -> IdempotencyKey {
    IdempotencyKey::new(&owner(), "prebook_hotel", "k-1")
}

fn taking(key: &IdempotencyKey, resource: &str) -> UnitOfWork {
    unit(|write| write.insert_idempotency_key(key, "fingerprint", resource))
}

async fn concurrent_requests_with_one_key_store_one(db: &TestStore) {
    for round in 0..8 {
        let key = IdempotencyKey::new(&owner(), "prebook_hotel", &format!("round-{round}"));
        let bookings: Vec<_> = (round * 64..(round + 1) * 64).map(booking).collect();
        let writes = bookings.iter().map(|booking| {
            let mut write = taking(&key, booking.id.as_str());
            write.insert_booking(booking).clone()
        });
        let winner = one_is_stored(db, writes.collect(), Conflict::IdempotencyKeyExists).await;
        let record = db.store.idempotency_record(&key).await.unwrap().unwrap();
        assert_eq!(record.resource_id, bookings[winner].id.as_str());
        for (number, booking) in bookings.iter().enumerate() {
            let stored = stored(&db.store, &booking.id).await;
            assert_eq!(stored.is_some(), number == winner);
        }
    }
}

async fn key_is_scoped_to_owner_and_operation(db: &TestStore) {
    let mut keys = vec![
        key(),
        IdempotencyKey::new(&owner(), "book_hotel", "k-1"),
        IdempotencyKey::new(&owner(), "prebook_hotel", "K-1"),
    ];
    keys.extend(other_owners().map(|owner| IdempotencyKey { owner, ..key() }));
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

async fn refusal_is_stored_and_deleted_key_is_reusable(db: &TestStore) {
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
    for (resource, is_kept) in [("bkg_1", true), ("bkg_2", false)] {
        let free = unit(|write| write.delete_idempotency_key_of(&key(), resource));
        db.store.commit(free).await.unwrap();
        let record = db.store.idempotency_record(&key()).await.unwrap();
        assert_eq!(record.is_some(), is_kept, "{resource}");
    }
}
