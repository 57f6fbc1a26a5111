//! API keys, payment instruments and settings.

use super::*;
use crate::{ApiKey, StoredInstrument};
use host_domain::id::KeyId;
use host_domain::payment::{Card, CardBrand, Funding, Wallet};

on_both_databases!(
    api_key_is_found_by_digest,
    revoked_api_key_keeps_its_revocation_time,
    touched_api_key_is_written_at_most_once_a_minute,
    instrument_is_visible_to_its_owner_until_deleted,
    instruments_are_listed_newest_first,
    concurrent_setting_inserts_return_the_same_value,
);

fn key(number: u8) -> (ApiKey, [u8; 32]) {
    let key = ApiKey {
        id: KeyId::from_bits(u128::from(number)),
        tenant: tenant(),
        name: format!("key {number}"),
        scopes: vec!["read".into(), "book".into()],
        masked_key: "sk_test_…abcd".into(),
        created_at: NOW.plus_ms(i64::from(number)),
        expires_at: Some(NOW.plus_ms(99)),
        last_used_at: None,
        revoked_at: None,
    };
    (key, [number; 32])
}

async fn insert(store: &Store, (key, digest): &(ApiKey, [u8; 32])) -> Option<Conflict> {
    conflict(store, unit(|write| write.insert_api_key(key, digest))).await
}

async fn api_key_is_found_by_digest(db: &TestStore) {
    let (first, mut second) = (key(1), key(2));
    second.0.tenant.organization = "another".into();
    assert_eq!(insert(&db.store, &first).await, None);
    assert_eq!(insert(&db.store, &second).await, None);
    let same_digest = (key(3).0, [1; 32]);
    let taken = insert(&db.store, &same_digest).await;
    assert_eq!(taken, Some(Conflict::ApiKeyExists));
    let found = db.store.api_key_by_hash(&[1; 32]).await.unwrap();
    assert_eq!(found, Some(first.0.clone()));
    assert_eq!(db.store.api_key_by_hash(&[9; 32]).await.unwrap(), None);
    let all = db.store.api_keys(None).await.unwrap();
    assert_eq!(all, [first.0, second.0.clone()]);
    let some = db.store.api_keys(Some("another")).await.unwrap();
    assert_eq!(some, [second.0]);
}

async fn revoked_api_key_keeps_its_revocation_time(db: &TestStore) {
    insert(&db.store, &key(1)).await;
    let id = key(1).0.id;
    let unknown = key(2).0.id;
    for (id, at, is_revoked) in [
        (&id, NOW, true),
        (&id, NOW.plus_ms(5), false),
        (&unknown, NOW, false),
    ] {
        let found = conflict(&db.store, unit(|write| write.revoke_api_key(id, at))).await;
        let expected = (!is_revoked).then_some(Conflict::ApiKeyRevoked);
        assert_eq!(found, expected, "{id}");
    }
    let found = db.store.api_key_by_hash(&[1; 32]).await.unwrap().unwrap();
    assert_eq!(found.revoked_at, Some(NOW));
}

async fn touched_api_key_is_written_at_most_once_a_minute(db: &TestStore) {
    insert(&db.store, &key(1)).await;
    let (mut known, digest) = key(1);
    for (at_ms, expected_ms) in [(0, 0), (59_999, 0), (60_000, 60_000)] {
        // The result is the same whether the caller's copy of the key is current or outdated.
        for _ in 0..2 {
            let now = NOW.plus_ms(at_ms);
            db.store.touch_api_key(&known, now).await.unwrap();
            let stored = db.store.api_key_by_hash(&digest).await.unwrap().unwrap();
            assert_eq!(stored.last_used_at, Some(NOW.plus_ms(expected_ms)));
            known = stored;
        }
        known = key(1).0;
    }
}

fn instrument(number: u32) -> StoredInstrument {
    StoredInstrument {
        id: InstrumentId::from_bits(u128::from(number)),
        processor: SupplierId::parse("CARDS").unwrap(),
        sealed_token: vec![0, 255, 1],
        card: (number % 2 == 1).then(|| Card {
            brand: CardBrand::Visa,
            last4: "4242".into(),
            funding: Funding::Credit,
            wallet: Some(Wallet::ApplePay),
            expires: Some("2029-10".into()),
        }),
        created_at: NOW.plus_ms(i64::from(number)),
    }
}

fn storing(owner: &Owner, instrument: &StoredInstrument) -> UnitOfWork {
    unit(|write| write.insert_instrument(owner, instrument))
}

async fn instrument_is_visible_to_its_owner_until_deleted(db: &TestStore) {
    let stored = instrument(1);
    let [stranger, ..] = other_owners();
    let commit = |write| conflict(&db.store, write);
    assert_eq!(commit(storing(&owner(), &stored)).await, None);
    let taken = commit(storing(&stranger, &stored)).await;
    assert_eq!(taken, Some(Conflict::InstrumentExists));
    let read = db.store.instrument(&owner(), &stored.id).await.unwrap();
    assert_eq!(read.as_ref(), Some(&stored));
    let theirs = db.store.instrument(&stranger, &stored.id).await.unwrap();
    assert_eq!(theirs, None);

    let deleting = |owner: &Owner| unit(|write| write.delete_instrument(owner, &stored.id));
    let unknown = Some(Conflict::InstrumentNotFound);
    assert_eq!(commit(deleting(&stranger)).await, unknown);
    assert_eq!(commit(deleting(&owner())).await, None);
    assert_eq!(commit(deleting(&owner())).await, unknown);
    let read = db.store.instrument(&owner(), &stored.id).await.unwrap();
    assert_eq!(read, None);
    assert_eq!(db.store.instruments(&owner()).await.unwrap(), []);
    let again = commit(storing(&owner(), &stored)).await;
    assert_eq!(again, Some(Conflict::InstrumentExists));
}

async fn instruments_are_listed_newest_first(db: &TestStore) {
    for number in [2, 3, 1] {
        let write = storing(&owner(), &instrument(number));
        db.store.commit(write).await.unwrap();
    }
    let list = db.store.instruments(&owner()).await.unwrap();
    assert_eq!(list, [instrument(3), instrument(2), instrument(1)]);
}

async fn concurrent_setting_inserts_return_the_same_value(db: &TestStore) {
    assert_eq!(db.store.setting("check").await.unwrap(), None);
    let values: Vec<[u8; 1]> = (0..16).map(|number| [number]).collect();
    let inserts = values
        .iter()
        .map(|value| db.store.setting_or_insert("check", value));
    let results = join_all(inserts).await.into_iter().map(Result::unwrap);
    let stored = async || db.store.setting_or_insert("check", b"late").await.unwrap();
    let first = stored().await;
    assert!(values.iter().any(|value| *value == first[..]));
    assert_eq!(results.collect::<Vec<_>>(), vec![first; 16]);
    db.store.set_setting("check", &[7]).await.unwrap();
    assert_eq!(db.store.setting("check").await.unwrap(), Some(vec![7]));
}
