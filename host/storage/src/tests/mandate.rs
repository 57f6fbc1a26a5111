//! Mandates are updated only at the version that was read, and each generation has one signing key.

use super::*;
use crate::MandateKey;
use host_domain::id::{MandateId, WatchId};
use host_domain::mandate::{Mandate, MandateScope, MandateState, MandateTerms};

on_both_databases!(
    mandate_is_read_as_stored,
    mandate_is_hidden_from_other_tenants,
    mandate_update_requires_read_version,
    concurrent_uses_of_a_mandate_store_one,
    concurrent_keys_of_a_generation_store_one,
    mandate_keys_are_listed_newest_first,
);

fn mandate(number: u128, scope: MandateScope) -> Mandate {
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

async fn update(store: &Store, mandate: &Mandate, state: MandateState) -> Option<Conflict> {
    let moved = Mandate {
        state,
        version: mandate.version + 1,
        ..mandate.clone()
    };
    conflict(
        store,
        unit(|write| write.update_mandate(&moved, mandate.version)),
    )
    .await
}

async fn read(store: &Store, mandate: &Mandate) -> Option<Mandate> {
    store.mandate(&tenant(), &mandate.terms.id).await.unwrap()
}

async fn mandate_is_read_as_stored(db: &TestDatabase) {
    for (number, scope) in [(1, MandateScope::Any), (2, stay())] {
        let new = mandate(number, scope);
        assert_eq!(read(&db.store, &new).await, None);
        assert_eq!(insert(&db.store, &new).await, None);
        assert_eq!(read(&db.store, &new).await, Some(new.clone()));
        assert_eq!(insert(&db.store, &new).await, Some(Conflict::MandateExists));
    }
}

async fn mandate_is_hidden_from_other_tenants(db: &TestDatabase) {
    let new = mandate(1, MandateScope::Any);
    insert(&db.store, &new).await;
    let live = Tenant {
        mode: Mode::Live,
        ..tenant()
    };
    let other = Tenant {
        organization: "another".into(),
        ..tenant()
    };
    for tenant in [live, other] {
        let found = db.store.mandate(&tenant, &new.terms.id).await.unwrap();
        assert_eq!(found, None);
    }
}

async fn mandate_update_requires_read_version(db: &TestDatabase) {
    let mut seen = mandate(1, stay());
    let unknown = update(&db.store, &seen, MandateState::Revoked).await;
    assert_eq!(unknown, Some(Conflict::MandateVersion));
    insert(&db.store, &seen).await;
    for state in [consumed(1), MandateState::Active, MandateState::Revoked] {
        assert_eq!(update(&db.store, &seen, state.clone()).await, None);
        let late = update(&db.store, &seen, consumed(9)).await;
        assert_eq!(late, Some(Conflict::MandateVersion));
        let version = seen.version + 1;
        seen = Mandate {
            state,
            version,
            ..seen
        };
        assert_eq!(read(&db.store, &seen).await, Some(seen.clone()));
    }
}

async fn concurrent_uses_of_a_mandate_store_one(db: &TestDatabase) {
    let new = mandate(1, stay());
    insert(&db.store, &new).await;
    let other = db.second_store().await;
    let uses = (0..8_u128).map(|number| {
        let store = if number % 2 == 0 { &db.store } else { &other };
        update(store, &new, consumed(number))
    });
    let ended = join_all(uses).await;
    let written: Vec<usize> = (0..8).filter(|at| ended[*at].is_none()).collect();
    let [winner] = written[..] else {
        panic!("{ended:?}")
    };
    let stored = read(&db.store, &new).await.unwrap();
    assert_eq!(stored.state, consumed(winner as u128));
    other.close().await;
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

async fn insert_key(store: &Store, key: &MandateKey) -> Option<Conflict> {
    conflict(store, unit(|write| write.insert_mandate_key(key))).await
}

async fn concurrent_keys_of_a_generation_store_one(db: &TestDatabase) {
    let other = db.second_store().await;
    let keys: Vec<MandateKey> = (0..8).map(|n| key(1, &format!("key {n}"))).collect();
    let inserts = keys.iter().enumerate().map(|(at, key)| {
        let store = if at % 2 == 0 { &db.store } else { &other };
        insert_key(store, key)
    });
    let ended = join_all(inserts).await;
    let refused = |end: &&Option<Conflict>| **end == Some(Conflict::MandateKeyExists);
    assert_eq!(ended.iter().filter(refused).count(), 7, "{ended:?}");
    let winner = ended.iter().position(Option::is_none).unwrap();
    let stored = db.store.mandate_keys().await.unwrap();
    assert_eq!(stored, [keys[winner].clone()]);
    other.close().await;
}

async fn mandate_keys_are_listed_newest_first(db: &TestDatabase) {
    for generation in [1, 2, 10] {
        let key = key(generation, &format!("key {generation}"));
        assert_eq!(insert_key(&db.store, &key).await, None);
    }
    let keys = db.store.mandate_keys().await.unwrap();
    let generations: Vec<i64> = keys.iter().map(|key| key.generation).collect();
    assert_eq!(generations, [10, 2, 1]);
}
