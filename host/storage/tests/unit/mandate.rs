//! Mandates are updated only at the version that was read, and each generation has one signing key.

use super::*;
use crate::MandateKey;
use host_domain::id::{MandateId, WatchId};
use host_domain::mandate::{Mandate, MandateScope, MandateState, MandateTerms};

on_both_databases!(
    mandate_is_read_as_stored,
    mandate_update_requires_read_version,
    concurrent_uses_of_a_mandate_store_one,
    concurrent_keys_of_a_generation_store_one,
    mandate_keys_are_listed_newest_first,
);

pub(super) fn mandate(number: u128, scope: MandateScope) -> Mandate {
    let terms = MandateTerms {
        id: MandateId::from_bits(number),
        owner: owner(),
        amount: Money::new(123, Currency::parse("KWD").unwrap()),
        instrument: InstrumentId::from_bits(1),
        scope,
        created_at: NOW,
        expires_at: NOW.plus_s(60),
    };
    Mandate::new(terms, "head.terms.signature".into())
}

fn stay() -> MandateScope {
    MandateScope::HotelWatch {
        watch_id: WatchId::from_bits(1),
        hotel_id: HotelId::from_bits(1),
        check_in: Date::new(2027, 1, 1).unwrap(),
        check_out: Date::new(2027, 1, 2).unwrap(),
    }
}

fn consumed(number: u128) -> MandateState {
    MandateState::Consumed {
        booking: BookingId::from_bits(number),
        jws: "head.use.signature".into(),
    }
}

async fn insert(store: &Store, mandate: &Mandate) -> Option<Conflict> {
    conflict(store, unit(|write| write.insert_mandate(mandate))).await
}

fn moved(mandate: &Mandate, state: MandateState) -> Mandate {
    Mandate {
        state,
        version: mandate.version + 1,
        ..mandate.clone()
    }
}

fn updating(mandate: &Mandate, read_version: i64) -> UnitOfWork {
    unit(|write| write.update_mandate(mandate, read_version))
}

async fn update(store: &Store, mandate: &Mandate, state: MandateState) -> Option<Conflict> {
    conflict(store, updating(&moved(mandate, state), mandate.version)).await
}

async fn read(store: &Store, mandate: &Mandate) -> Option<Mandate> {
    store.mandate(&tenant(), &mandate.terms.id).await.unwrap()
}

async fn mandate_is_read_as_stored(db: &TestStore) {
    for (number, scope) in [(1, MandateScope::Any), (2, stay())] {
        let new = mandate(number, scope);
        assert_eq!(read(&db.store, &new).await, None);
        assert_eq!(insert(&db.store, &new).await, None);
        assert_eq!(read(&db.store, &new).await, Some(new.clone()));
        assert_eq!(insert(&db.store, &new).await, Some(Conflict::MandateExists));
        let [_, live, other] = other_owners().map(|owner| owner.tenant);
        for tenant in [live, other] {
            let found = db.store.mandate(&tenant, &new.terms.id).await.unwrap();
            assert_eq!(found, None, "{tenant:?}");
        }
    }
}

async fn mandate_update_requires_read_version(db: &TestStore) {
    let mut seen = mandate(1, stay());
    let unknown = update(&db.store, &seen, MandateState::Revoked).await;
    assert_eq!(unknown, Some(Conflict::MandateVersion));
    insert(&db.store, &seen).await;
    for state in [consumed(1), MandateState::Active, MandateState::Revoked] {
        assert_eq!(update(&db.store, &seen, state.clone()).await, None);
        let late = update(&db.store, &seen, consumed(9)).await;
        assert_eq!(late, Some(Conflict::MandateVersion));
        seen = moved(&seen, state);
        assert_eq!(read(&db.store, &seen).await, Some(seen.clone()));
    }
}

async fn concurrent_uses_of_a_mandate_store_one(db: &TestStore) {
    let new = mandate(1, stay());
    insert(&db.store, &new).await;
    let uses: Vec<_> = (0..8).map(|number| moved(&new, consumed(number))).collect();
    let writes = uses.iter().map(|used| updating(used, new.version));
    let winner = one_is_stored(db, writes.collect(), Conflict::MandateVersion).await;
    assert_eq!(read(&db.store, &new).await, Some(uses[winner].clone()));
}

fn key(generation: i64, kid: &str) -> MandateKey {
    MandateKey {
        kid: kid.into(),
        generation,
        public_jwk: "{}".into(),
        sealed_private_key: vec![0, 1, 255],
        created_at: NOW.plus_ms(generation),
    }
}

fn inserting_key(key: &MandateKey) -> UnitOfWork {
    unit(|write| write.insert_mandate_key(key))
}

async fn concurrent_keys_of_a_generation_store_one(db: &TestStore) {
    let keys: Vec<MandateKey> = (0..8).map(|n| key(1, &format!("key {n}"))).collect();
    let inserts = keys.iter().map(inserting_key).collect();
    let winner = one_is_stored(db, inserts, Conflict::MandateKeyExists).await;
    let stored = db.store.mandate_keys().await.unwrap();
    assert_eq!(stored, [keys[winner].clone()]);
}

async fn mandate_keys_are_listed_newest_first(db: &TestStore) {
    let keys = [10, 2, 1].map(|generation| key(generation, &format!("key {generation}")));
    for number in [2, 1, 0] {
        let write = inserting_key(&keys[number]);
        db.store.commit(write).await.unwrap();
    }
    assert_eq!(db.store.mandate_keys().await.unwrap(), keys);
}
