//! Watches and their price checks: watches with the same query share one check, and no watch loses
//! its check.

mod plan;

use super::*;
use crate::{ClaimedPriceCheck, PriceCheckClaim, PriceCheckRelease, StoredWatch};
use host_domain::hotel::types::Board;
use host_domain::id::{PlaceId, WatchId};
use host_domain::watch::list::WatchFilter;
use host_domain::watch::{
    Area, ObservedPrice, PriceQuery, Trigger, TripFilters, Watch, WatchTarget, WatchTransitionEvent,
};
use std::collections::BTreeSet;

on_both_databases!(
    watch_is_stored_for_its_owner_at_its_version,
    watches_with_same_query_share_a_price_check,
    price_check_is_leased_to_one_worker,
    watch_added_during_lease_makes_its_price_check_due,
    observed_price_is_shared_by_open_watches,
    price_affects_watches_across_their_trigger,
    price_check_without_open_watch_is_deleted,
    concurrent_deletion_keeps_price_check_of_new_watch,
);

pub(super) fn query(hotel: u32) -> PriceQuery {
    PriceQuery {
        target: WatchTarget::Hotel {
            hotel_id: HotelId::from_bits(u128::from(hotel)),
        },
        stay: booking(1).details.stay,
    }
}

/// Builds a watch with a query. `number` determines its id and its creation time.
pub(super) fn watch_of(number: u32, query: PriceQuery, trigger: i64) -> Watch {
    let trigger = Trigger::BelowTotal {
        amount: euros(trigger),
    };
    let id = WatchId::from_bits(u128::from(number));
    let at = NOW.plus_ms(i64::from(number));
    Watch::new(id, owner(), query, trigger, None, at)
}

pub(super) fn watch(number: u32) -> Watch {
    watch_of(number, query(1), 10_000)
}

fn inserting(watch: &Watch) -> UnitOfWork {
    unit(|write| write.insert_watch(watch))
}

fn updating(watch: &Watch) -> UnitOfWork {
    unit(|write| write.update_watch(watch, watch.version - 1))
}

fn moved(watch: &Watch, event: WatchTransitionEvent) -> Watch {
    let moved = watch.clone().apply(event, NOW.plus_ms(1000)).unwrap();
    moved.unwrap().watch
}

fn triggered(watch: &Watch) -> Watch {
    let total = watch.trigger.amount();
    moved(watch, WatchTransitionEvent::PriceObserved { total })
}

async fn insert(store: &Store, watches: &[Watch]) {
    for watch in watches {
        store.commit(inserting(watch)).await.unwrap();
    }
}

async fn claim_until(store: &Store, now: Timestamp, lease_ms: i64) -> Vec<ClaimedPriceCheck> {
    let claim = PriceCheckClaim {
        now,
        limit: 100,
        lease_ms,
        token: &format!("{now:?}"),
    };
    store.claim_price_checks(claim).await.unwrap()
}

pub(super) async fn claim(store: &Store) -> Vec<ClaimedPriceCheck> {
    claim_until(store, NOW, LEASE_MS).await
}

fn releasing(
    price_check: &ClaimedPriceCheck,
    observed: Option<ObservedPrice>,
    next_at: Timestamp,
) -> UnitOfWork {
    let release = PriceCheckRelease { observed, next_at };
    unit(|write| write.release_price_check(price_check, release))
}

async fn release(
    store: &Store,
    price_check: &ClaimedPriceCheck,
    observed: Option<ObservedPrice>,
    next_at: Timestamp,
) {
    let write = releasing(price_check, observed, next_at);
    store.commit(write).await.unwrap();
}

async fn cancel(store: &Store, watch: &Watch) {
    let canceled = moved(watch, WatchTransitionEvent::Canceled);
    store.commit(updating(&canceled)).await.unwrap();
}

/// Returns the price check of `query(1)`.
fn of_first_query(price_checks: &[ClaimedPriceCheck]) -> &ClaimedPriceCheck {
    let mut checks = price_checks.iter();
    checks.find(|check| check.query == query(1)).unwrap()
}

fn deleting(price_check: &ClaimedPriceCheck) -> UnitOfWork {
    unit(|write| write.delete_price_check(price_check))
}

async fn seen(store: &Store, watch: &Watch) -> Option<ObservedPrice> {
    let found = store.watch(&watch.owner, &watch.id).await.unwrap();
    found.unwrap().last_observed
}

async fn watch_is_stored_for_its_owner_at_its_version(db: &TestStore) {
    let store = &db.store;
    let mut trip = watch(2);
    trip.query.target = WatchTarget::Trip {
        area: Area::Place(PlaceId::from_bits(1)),
        filters: TripFilters {
            min_star_rating: Some(3.5),
            boards: vec![Board::RoomOnly],
            ..TripFilters::default()
        },
    };
    for watch in [watch(1), trip] {
        let stored = |watch: &Watch| {
            Some(StoredWatch {
                watch: watch.clone(),
                last_observed: None,
            })
        };
        assert_eq!(conflict(store, inserting(&watch)).await, None);
        let twice = conflict(store, inserting(&watch)).await;
        assert_eq!(twice, Some(Conflict::WatchExists));
        let read = store.watch(&owner(), &watch.id).await.unwrap();
        assert_eq!(read, stored(&watch));
        for stranger in other_owners() {
            let read = store.watch(&stranger, &watch.id).await.unwrap();
            assert_eq!(read, None, "{stranger:?}");
        }
        let triggered = triggered(&watch);
        assert_eq!(conflict(store, updating(&triggered)).await, None);
        let canceled = moved(&watch, WatchTransitionEvent::Canceled);
        let late = conflict(store, updating(&canceled)).await;
        assert_eq!(late, Some(Conflict::WatchVersion));
        let read = store.watch_unscoped(&watch.id).await.unwrap();
        assert_eq!(read, stored(&triggered));
    }
}

async fn watches_with_same_query_share_a_price_check(db: &TestStore) {
    let mut strange = watch(4);
    strange.owner.tenant.organization = "other".into();
    let mut user = watch(5);
    user.owner.user = "other".into();
    let watches = [
        watch(1),
        watch_of(2, query(1), 1),
        watch_of(3, query(2), 1),
        strange,
        user,
    ];
    insert(&db.store, &watches).await;
    assert_eq!(db.store.next_price_check_due_at().await.unwrap(), Some(NOW));
    assert_eq!(claim_until(&db.store, NOW.plus_ms(-1), LEASE_MS).await, []);
    let price_checks = claim(&db.store).await;
    assert_eq!(price_checks.len(), 3, "{price_checks:?}");
    assert!(price_checks.iter().all(|check| check.has_open_watches));
    for (organization, query) in [("demo", query(1)), ("demo", query(2)), ("other", query(1))] {
        let is_shared = |check: &ClaimedPriceCheck| {
            check.tenant.organization == organization && check.query == query
        };
        assert!(price_checks.iter().any(is_shared), "{organization}");
    }
}

async fn price_check_is_leased_to_one_worker(db: &TestStore) {
    let watches: Vec<Watch> = (1..=40).map(|n| watch_of(n, query(n), 1)).collect();
    insert(&db.store, &watches).await;
    let claims = on_two_stores(db, 8, async |store: &Store, number| {
        let claim = PriceCheckClaim {
            now: NOW,
            limit: 10,
            lease_ms: LEASE_MS,
            token: &number.to_string(),
        };
        store.claim_price_checks(claim).await.unwrap()
    });
    let claimed = claims.await.concat();
    let ids: BTreeSet<_> = claimed.iter().map(|check| &check.id).collect();
    assert_eq!((claimed.len(), ids.len()), (40, 40));
    assert_eq!(db.store.next_price_check_due_at().await.unwrap(), None);
    // An expired lease is taken over, and the previous holder can no longer change anything.
    let late = &claimed[0];
    release(&db.store, late, None, NOW.plus_s(-1)).await;
    let lapsed = claim_until(&db.store, NOW, 0).await;
    let taken_over = claim_until(&db.store, NOW.plus_ms(1), LEASE_MS).await;
    assert_eq!((lapsed.len(), taken_over.len()), (1, 1));
    let seen = ObservedPrice {
        observed_at: NOW,
        total: None,
    };
    let record = unit(|write| write.record_observed_price(&lapsed[0], seen, LEASE_MS));
    for write in [releasing(&lapsed[0], None, NOW), record] {
        assert_eq!(conflict(&db.store, write).await, Some(Conflict::LeaseLost));
    }
    let write = releasing(&taken_over[0], None, NOW.plus_s(60));
    assert_eq!(conflict(&db.store, write).await, None);
    let next = db.store.next_price_check_due_at().await.unwrap();
    assert_eq!(next, Some(NOW.plus_s(60)));
}

async fn watch_added_during_lease_makes_its_price_check_due(db: &TestStore) {
    insert(&db.store, &[watch(1)]).await;
    let price_check = claim(&db.store).await.remove(0);
    insert(&db.store, &[watch(2)]).await;
    assert_eq!(claim(&db.store).await, [], "the price check is leased");
    release(&db.store, &price_check, None, NOW.plus_s(900)).await;
    let again = claim(&db.store).await;
    assert_eq!(again.len(), 1);
    release(&db.store, &again[0], None, NOW.plus_s(900)).await;
    assert_eq!(claim(&db.store).await, []);
    // Rearming a watch makes its price check due too.
    commit(&db.store, |write| write.schedule_price_check(&watch(1))).await;
    assert_eq!(claim(&db.store).await.len(), 1);
}

async fn observed_price_is_shared_by_open_watches(db: &TestStore) {
    let watches = [watch(1), watch(2), watch_of(3, query(2), 1)];
    insert(&db.store, &watches).await;
    let price_checks = claim(&db.store).await;
    let price_check = of_first_query(&price_checks);
    let first = ObservedPrice {
        observed_at: NOW,
        total: Some(euros(12_345)),
    };
    commit(&db.store, |write| {
        write.record_observed_price(price_check, first, LEASE_MS)
    })
    .await;
    for (watch, expected) in watches.iter().zip([Some(first), Some(first), None]) {
        assert_eq!(seen(&db.store, watch).await, expected);
    }
    // A closed watch keeps the price last observed for it.
    cancel(&db.store, &watches[0]).await;
    let second = ObservedPrice {
        observed_at: NOW.plus_s(1),
        total: None,
    };
    release(&db.store, price_check, Some(second), NOW.plus_s(900)).await;
    assert_eq!(seen(&db.store, &watches[0]).await, Some(first));
    assert_eq!(seen(&db.store, &watches[1]).await, Some(second));
    let (owner, any) = (owner(), WatchFilter::default());
    let listed = db.store.watches(&owner, any, ALL).await.unwrap();
    let listed = listed.items.into_iter();
    let listed: Vec<_> = listed.map(|one| one.last_observed).collect();
    assert_eq!(listed, [None, Some(second), Some(first)]);
    // A failed check does not change the last observed price.
    let again = claim_until(&db.store, NOW.plus_s(900), LEASE_MS).await;
    let price_check = of_first_query(&again);
    release(&db.store, price_check, None, NOW).await;
    assert_eq!(seen(&db.store, &watches[1]).await, Some(second));
}

async fn price_affects_watches_across_their_trigger(db: &TestStore) {
    let of = |triggers: [u32; 3]| triggers.map(|n| watch_of(n, query(1), n.into()));
    let triggered_watches = of([101, 201, 301]);
    let others = [watch_of(1, query(2), 1000), watch_of(2, query(1), 150)];
    for watches in [&of([100, 200, 300])[..], &triggered_watches, &others] {
        insert(&db.store, watches).await;
    }
    for watch in &triggered_watches {
        db.store.commit(updating(&triggered(watch))).await.unwrap();
    }
    cancel(&db.store, &others[1]).await;
    let price_checks = claim(&db.store).await;
    let price_check = of_first_query(&price_checks);
    let (store, tenant, id) = (&db.store, tenant(), &price_check.id);
    let moved_by = async |total: Option<i64>, limit| {
        let moved = store.watches_affected_by_price(&tenant, id, total.map(euros), limit);
        let moved = moved.await.unwrap().into_iter();
        let mut moved: Vec<_> = moved.map(|one| one.trigger.amount().minor).collect();
        moved.sort_unstable();
        moved
    };
    for (total, expected) in [
        (Some(50), vec![100, 200, 300]),
        (Some(200), vec![101, 200, 300]),
        (Some(201), vec![101, 300]),
        (Some(202), vec![101, 201, 300]),
        (Some(1000), vec![101, 201, 301]),
        (None, vec![101, 201, 301]),
    ] {
        assert_eq!(moved_by(total, 100).await, expected, "{total:?}");
    }
    assert_eq!(moved_by(Some(202), 2).await.len(), 2);
    let highest = store.highest_trigger(&tenant, id).await.unwrap();
    assert_eq!(highest, Some(300));
    let waiting = store.watches_awaiting_price(&tenant, id, 100).await;
    assert_eq!(waiting.unwrap().len(), 6);
}

async fn price_check_without_open_watch_is_deleted(db: &TestStore) {
    let watch = watch(1);
    insert(&db.store, std::slice::from_ref(&watch)).await;
    let price_check = claim(&db.store).await.remove(0);
    let in_use = conflict(&db.store, deleting(&price_check)).await;
    assert_eq!(in_use, Some(Conflict::PriceCheckInUse));
    cancel(&db.store, &watch).await;
    release(&db.store, &price_check, None, NOW).await;
    let price_check = claim(&db.store).await.remove(0);
    assert!(!price_check.has_open_watches);
    // Another watch is added after the claim and then cancelled.
    let late = self::watch(2);
    insert(&db.store, std::slice::from_ref(&late)).await;
    cancel(&db.store, &late).await;
    let changed = conflict(&db.store, deleting(&price_check)).await;
    assert_eq!(changed, Some(Conflict::PriceCheckInUse));
    release(&db.store, &price_check, None, NOW).await;
    let price_check = claim(&db.store).await.remove(0);
    assert_eq!(conflict(&db.store, deleting(&price_check)).await, None);
    assert_eq!(db.store.next_price_check_due_at().await.unwrap(), None);
    assert_eq!(seen(&db.store, &watch).await, None);
}

/// Adds watches while their price check is being deleted, in 20 rounds.
async fn concurrent_deletion_keeps_price_check_of_new_watch(db: &TestStore) {
    let other = db.second_store().await;
    for round in 0..20 {
        let number = 2 * round + 1;
        let before = watch(number);
        insert(&db.store, std::slice::from_ref(&before)).await;
        cancel(&db.store, &before).await;
        let forget = async {
            for price_check in claim(&db.store).await {
                if let Some(conflict) = conflict(&db.store, deleting(&price_check)).await {
                    assert_eq!(conflict, Conflict::PriceCheckInUse);
                    release(&db.store, &price_check, None, NOW).await;
                }
            }
        };
        let after = watch(number + 1);
        let ((), ended) = tokio::join!(forget, other.commit(inserting(&after)));
        ended.unwrap();
        let price_checks = claim(&db.store).await;
        assert_eq!(price_checks.len(), 1, "round {round}");
        cancel(&db.store, &after).await;
        release(&db.store, &price_checks[0], None, NOW).await;
    }
    other.close().await;
}
