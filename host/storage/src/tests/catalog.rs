//! Hotels, places and content, which all organizations of a mode share.

use super::*;
use crate::{ContentPart, HotelObservation, HotelProfile, PlaceObservation, StoredContent};
use host_domain::id::PlaceId;

on_both_databases!(
    hotel_keeps_its_first_id,
    concurrent_mappings_of_a_hotel_return_one_id,
    hotel_profile_is_merged_with_stored_values,
    hotel_of_several_suppliers_has_several_mappings,
    saved_place_keeps_its_id_and_gets_the_new_document,
    content_is_replaced_only_by_newer_content,
);

fn seen(number: u32, candidate: u32) -> HotelObservation {
    HotelObservation {
        supplier_hotel_id: format!("H \"{number}\""),
        candidate: HotelId::from_bits(u128::from(candidate)),
        profile: HotelProfile::default(),
    }
}

async fn map(store: &Store, seen: &[HotelObservation]) -> Vec<HotelId> {
    let mapped = store
        .resolve_hotel_ids(Mode::Test, &supplier(), seen, NOW)
        .await;
    mapped.unwrap()
}

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<HotelId> {
    let bits = numbers.into_iter().map(u128::from);
    bits.map(HotelId::from_bits).collect()
}

async fn hotel_keeps_its_first_id(db: &TestDatabase) {
    first_ids_are_kept(HotelId::from_bits, async |mode, hotels: Vec<(u32, u32)>| {
        let hotels: Vec<_> = hotels
            .into_iter()
            .map(|(number, id)| seen(number, id))
            .collect();
        let supplier = supplier();
        let mapped = db.store.resolve_hotel_ids(mode, &supplier, &hotels, NOW);
        mapped.await.unwrap()
    })
    .await;
}

async fn concurrent_mappings_of_a_hotel_return_one_id(db: &TestDatabase) {
    concurrent_saves_return_one_id(db, async |store: &Store, hotels: Vec<(u32, u32)>| {
        let hotels: Vec<_> = hotels
            .into_iter()
            .map(|(number, id)| seen(number, id))
            .collect();
        map(store, &hotels).await
    })
    .await;
}

async fn hotel_profile_is_merged_with_stored_values(db: &TestDatabase) {
    let location = Location {
        latitude: 47.123_456_789_012_345,
        longitude: -0.1,
    };
    let mut hotel = seen(1, 1);
    hotel.profile.name = Some("Old name".into());
    hotel.profile.location = Some(location);
    map(&db.store, std::slice::from_ref(&hotel)).await;
    hotel.profile = HotelProfile {
        name: Some("Hôtel".into()),
        location: None,
        time_zone: Some("Europe/Paris".into()),
    };
    map(&db.store, std::slice::from_ref(&hotel)).await;
    map(&db.store, &[seen(1, 9)]).await;
    let known = db
        .store
        .hotel_mappings(Mode::Test, &ids([1]))
        .await
        .unwrap();
    assert_eq!(known.len(), 1);
    let profile = HotelProfile {
        location: Some(location),
        ..hotel.profile
    };
    assert_eq!(known[0].profile, profile);
    let names = [hotel.supplier_hotel_id, "unknown".into()];
    let same = db
        .store
        .hotel_mappings_of_supplier(Mode::Test, &supplier(), &names)
        .await;
    assert_eq!(same.unwrap(), known);
}

async fn hotel_of_several_suppliers_has_several_mappings(db: &TestDatabase) {
    let second = SupplierId::parse("SUPPLIER_B").unwrap();
    map(&db.store, &[seen(1, 1), seen(2, 2)]).await;
    db.store
        .resolve_hotel_ids(Mode::Test, &second, &[seen(9, 1)], NOW)
        .await
        .unwrap();
    let found = db
        .store
        .hotel_mappings(Mode::Test, &ids([2, 1, 3, 1]))
        .await;
    let found: Vec<_> = found
        .unwrap()
        .into_iter()
        .map(|hotel| (hotel.hotel_id, hotel.supplier, hotel.supplier_hotel_id))
        .collect();
    let expected = [(1, supplier(), 1), (1, second, 9), (2, supplier(), 2)];
    let expected = expected.map(|(hotel, supplier, number)| {
        let seen = seen(number, hotel);
        (seen.candidate, supplier, seen.supplier_hotel_id)
    });
    assert_eq!(found, expected);
    let live = db
        .store
        .hotel_mappings(Mode::Live, &ids([1]))
        .await
        .unwrap();
    assert_eq!(live, []);
}

async fn saved_place_keeps_its_id_and_gets_the_new_document(db: &TestDatabase) {
    let place = |name: &str, candidate: u32, document: &str| PlaceObservation {
        supplier_place_id: name.into(),
        candidate: PlaceId::from_bits(u128::from(candidate)),
        document: document.into(),
    };
    let save = |seen: Vec<PlaceObservation>| async move {
        let saved = db
            .store
            .save_places(Mode::Test, &supplier(), &seen, NOW)
            .await;
        saved.unwrap()
    };
    let ids = |bits: &[u128]| -> Vec<_> { bits.iter().map(|n| PlaceId::from_bits(*n)).collect() };
    assert_eq!(save(vec![]).await, []);
    let first = save(vec![place("b", 2, r#"{"v":1}"#), place("a", 1, "{}")]).await;
    assert_eq!(first, ids(&[2, 1]));
    let newer = r#"{"v": "2 \"ü\""}"#;
    let second = save(vec![place("c", 3, "{}"), place("b", 9, newer)]).await;
    assert_eq!(second, ids(&[3, 2]));
    let read = db.store.place(Mode::Test, &PlaceId::from_bits(2)).await;
    let read = read.unwrap().unwrap();
    assert_eq!((read.document.as_str(), read.created_at), (newer, NOW));
    assert_eq!(read.supplier_place_id, "b");
    let other = db.store.place(Mode::Live, &PlaceId::from_bits(2)).await;
    assert_eq!(other.unwrap(), None);
}

async fn content_is_replaced_only_by_newer_content(db: &TestDatabase) {
    let save = |at: Timestamp, part, document: &str| {
        let write = unit_at(at, |write| {
            write.save_hotel_content(Mode::Test, &supplier(), "H1", part, document)
        });
        db.store.commit(write)
    };
    let read = async |part| {
        let read = db
            .store
            .hotel_content(Mode::Test, &supplier(), "H1", part)
            .await;
        read.unwrap()
    };
    assert_eq!(read(ContentPart::Details).await, None);
    for (at_ms, document) in [(10, "first"), (20, "second"), (15, "late")] {
        let at = NOW.plus_ms(at_ms);
        save(at, ContentPart::Details, document).await.unwrap();
    }
    save(NOW, ContentPart::Reviews, "reviews").await.unwrap();
    let kept = |document: &str, at_ms| StoredContent {
        document: document.into(),
        fetched_at: NOW.plus_ms(at_ms),
    };
    let details = read(ContentPart::Details).await;
    assert_eq!(details, Some(kept("second", 20)));
    let reviews = read(ContentPart::Reviews).await;
    assert_eq!(reviews, Some(kept("reviews", 0)));
}
