//! Hotels, places, airports, airlines and content, which all organizations of a mode share.

use super::*;
use crate::{
    AirportObservation, ContentPart, HotelObservation, HotelProfile, PlaceObservation,
    StoredAirline, StoredContent,
};
use host_domain::flight::supplier_api::{Airline, Airport};
use host_domain::id::{AirlineId, AirportId, PlaceId};

on_both_databases!(
    hotel_keeps_its_first_id,
    airport_keeps_its_first_id,
    concurrent_saves_of_an_item_return_one_id,
    hotel_profile_is_merged_with_stored_values,
    hotel_of_several_suppliers_has_several_mappings,
    saved_place_keeps_its_id_and_gets_the_new_document,
    airport_is_stored_as_last_reported,
    saved_airline_keeps_its_id_and_gets_the_new_data,
    content_is_replaced_only_by_newer_content,
);

fn hotel(number: u32, candidate: u32) -> HotelObservation {
    HotelObservation {
        supplier_hotel_id: format!("H \"{number}\""),
        candidate: HotelId::from_bits(u128::from(candidate)),
        profile: HotelProfile::default(),
    }
}

fn airport(number: u32, candidate: u32) -> AirportObservation {
    AirportObservation {
        candidate: AirportId::from_bits(u128::from(candidate)),
        airport: Airport {
            supplier_airport_id: format!("arp_{number}"),
            iata_code: format!("{number:03}"),
            icao_code: None,
            name: "Zürich \"Kloten\"".into(),
            city: Some("Zürich".into()),
            state: None,
            country: Some("CH".into()),
            latitude: Some(LOCATION.latitude),
            longitude: Some(LOCATION.longitude),
            time_zone: Some("Europe/Zurich".into()),
        },
    }
}

async fn save_hotels(store: &Store, mode: Mode, hotels: &[HotelObservation]) -> Vec<HotelId> {
    let supplier = supplier();
    let ids = store.resolve_hotel_ids(mode, &supplier, hotels, NOW);
    ids.await.unwrap()
}

async fn save_airports(store: &Store, mode: Mode, items: &[AirportObservation]) -> Vec<AirportId> {
    let supplier = supplier();
    let ids = store.save_airports(mode, &supplier, items, NOW);
    ids.await.unwrap()
}

/// Builds items from their numbers and candidates.
fn items<T>(build: fn(u32, u32) -> T, numbers: Vec<(u32, u32)>) -> Vec<T> {
    let numbers = numbers.into_iter();
    let items = numbers.map(|(number, candidate)| build(number, candidate));
    items.collect()
}

/// Saves items, some of them twice, and checks that each keeps the id that it got first. `save`
/// gets the number of each item with a candidate, and returns the ids in the same order.
async fn first_ids_are_kept<I: PartialEq + std::fmt::Debug>(
    id: fn(u128) -> I,
    save: impl AsyncFn(Mode, Vec<(u32, u32)>) -> Vec<I>,
) {
    let many = (0..200).map(|n| (n, n + 1000)).collect();
    let of_many = (0..200).map(|n| match n {
        1 | 2 => n,
        3 => 13,
        _ => n + 1000,
    });
    for (mode, numbers, expected) in [
        (Mode::Test, vec![], vec![]),
        (Mode::Test, vec![(1, 1), (2, 2)], vec![1, 2]),
        (
            Mode::Test,
            vec![(3, 13), (2, 12), (1, 11), (3, 14)],
            vec![13, 2, 1, 13],
        ),
        (Mode::Test, many, of_many.collect()),
        // The other mode has items of its own.
        (Mode::Live, vec![(1, 77)], vec![77_u32]),
    ] {
        assert_eq!(save(mode, numbers).await, ids(id, expected));
    }
}

async fn hotel_keeps_its_first_id(db: &TestStore) {
    first_ids_are_kept(HotelId::from_bits, async |mode, numbers| {
        save_hotels(&db.store, mode, &items(hotel, numbers)).await
    })
    .await;
}

async fn airport_keeps_its_first_id(db: &TestStore) {
    first_ids_are_kept(AirportId::from_bits, async |mode, numbers| {
        save_airports(&db.store, mode, &items(airport, numbers)).await
    })
    .await;
    // Another supplier reports the same airport under another name.
    let (store, other) = (&db.store, other_supplier());
    let mut renamed = [airport(1, 77)];
    renamed[0].airport.name = "Basel".into();
    let saved = store.save_airports(Mode::Test, &other, &renamed, NOW);
    assert_eq!(saved.await.unwrap(), ids(AirportId::from_bits, [1_u32]));
}

async fn concurrent_saves_of_an_item_return_one_id(db: &TestStore) {
    one_id_is_returned(db, async |store: &Store, numbers| {
        save_hotels(store, Mode::Test, &items(hotel, numbers)).await
    })
    .await;
    one_id_is_returned(db, async |store: &Store, numbers| {
        save_airports(store, Mode::Test, &items(airport, numbers)).await
    })
    .await;
}

/// Lets 16 callers on two stores save the same 50 items at once, some in reverse order, and checks
/// that all receive the same ids. `save` gets the number of each item with a candidate.
async fn one_id_is_returned<I: PartialEq>(
    db: &TestStore,
    save: impl AsyncFn(&Store, Vec<(u32, u32)>) -> Vec<I>,
) {
    let results = on_two_stores(db, 16, async |store: &Store, caller| {
        let first = u32::try_from(caller).unwrap() * 100;
        let mut items: Vec<_> = (0..50).map(|n| (n, first + n)).collect();
        let is_reversed = caller % 3 == 0;
        if is_reversed {
            items.reverse();
        }
        let mut ids = save(store, items).await;
        if is_reversed {
            ids.reverse();
        }
        ids
    });
    let mut results = results.await;
    results.dedup();
    assert_eq!(results.len(), 1);
}

async fn hotel_profile_is_merged_with_stored_values(db: &TestStore) {
    let [mut first, mut second] = [hotel(1, 1), hotel(1, 1)];
    first.profile.name = Some("Old name".into());
    first.profile.location = Some(LOCATION);
    second.profile.name = Some("Hôtel".into());
    second.profile.time_zone = Some("Europe/Paris".into());
    let profile = HotelProfile {
        location: Some(LOCATION),
        ..second.profile.clone()
    };
    for hotel in [first, second, hotel(1, 9)] {
        save_hotels(&db.store, Mode::Test, &[hotel]).await;
    }
    let id = HotelId::from_bits(1);
    let known = db.store.hotel_mappings(Mode::Test, &[id]).await.unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].profile, profile);
    let names = [hotel(1, 1).supplier_hotel_id, "unknown".into()];
    let (mode, supplier) = (Mode::Test, supplier());
    let same = db.store.hotel_mappings_of_supplier(mode, &supplier, &names);
    assert_eq!(same.await.unwrap(), known);
}

async fn hotel_of_several_suppliers_has_several_mappings(db: &TestStore) {
    let (store, second) = (&db.store, other_supplier());
    save_hotels(store, Mode::Test, &[hotel(1, 1), hotel(2, 2)]).await;
    let same = [hotel(9, 1)];
    let saved = store.resolve_hotel_ids(Mode::Test, &second, &same, NOW);
    saved.await.unwrap();
    let wanted = ids(HotelId::from_bits, [2_u32, 1, 3, 1]);
    let found = store.hotel_mappings(Mode::Test, &wanted).await.unwrap();
    let found = found
        .into_iter()
        .map(|hotel| (hotel.hotel_id, hotel.supplier, hotel.supplier_hotel_id));
    let expected = [(1, supplier(), 1), (1, second, 9), (2, supplier(), 2)];
    let expected = expected.map(|(id, supplier, number)| {
        let hotel = hotel(number, id);
        (hotel.candidate, supplier, hotel.supplier_hotel_id)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let live = store.hotel_mappings(Mode::Live, &wanted).await.unwrap();
    assert_eq!(live, []);
}

async fn saved_place_keeps_its_id_and_gets_the_new_document(db: &TestStore) {
    let place = |name: &str, candidate, document: &str| PlaceObservation {
        supplier_place_id: name.into(),
        candidate: PlaceId::from_bits(candidate),
        document: document.into(),
    };
    let newer = r#"{"v": "2 \"ü\""}"#;
    for (places, expected) in [
        (vec![], vec![]),
        (
            vec![place("b", 2, r#"{"v":1}"#), place("a", 1, "{}")],
            vec![2_u32, 1],
        ),
        (vec![place("c", 3, "{}"), place("b", 9, newer)], vec![3, 2]),
    ] {
        let (mode, supplier) = (Mode::Test, supplier());
        let saved = db.store.save_places(mode, &supplier, &places, NOW).await;
        assert_eq!(saved.unwrap(), ids(PlaceId::from_bits, expected));
    }
    let read = db.store.place(Mode::Test, &PlaceId::from_bits(2)).await;
    let read = read.unwrap().unwrap();
    assert_eq!((read.document.as_str(), read.created_at), (newer, NOW));
    assert_eq!(read.supplier_place_id, "b");
    let other = db.store.place(Mode::Live, &PlaceId::from_bits(2)).await;
    assert_eq!(other.unwrap(), None);
}

async fn airport_is_stored_as_last_reported(db: &TestStore) {
    save_airports(&db.store, Mode::Test, &[airport(1, 1)]).await;
    let mut renamed = [airport(1, 2)];
    renamed[0].airport.name = "Anders".into();
    let (store, supplier, later) = (&db.store, supplier(), NOW.plus_s(1));
    for at in [later, later.plus_s(1)] {
        let saved = store.save_airports(Mode::Test, &supplier, &renamed, at);
        assert_eq!(saved.await.unwrap(), ids(AirportId::from_bits, [1_u32]));
    }
    let select = statement!("SELECT document, fetched_at FROM airport");
    let rows = db.store.fetch_all(select).await.unwrap();
    let [renamed] = renamed.map(|observation| observation.airport);
    assert_eq!(rows[0].json::<Airport>("document").unwrap(), renamed);
    // The second call had the same data, so nothing was written.
    assert_eq!(rows[0].timestamp("fetched_at").unwrap(), later);
}

async fn saved_airline_keeps_its_id_and_gets_the_new_data(db: &TestStore) {
    let mut airline = Airline {
        supplier_airline_id: "arl_1".into(),
        iata_code: "BA".into(),
        icao_code: Some("BAW".into()),
        name: "British Airways".into(),
        country: Some("GB".into()),
        alliance: Some("oneworld".into()),
        logo_url: None,
        is_active: true,
    };
    let read = async |mode, code| db.store.airline(mode, code).await.unwrap();
    assert_eq!(read(Mode::Test, "BA").await, None);
    for (candidate, is_active) in [(1, true), (2, false)] {
        airline.is_active = is_active;
        let at = NOW.plus_ms(candidate);
        let candidate = AirlineId::from_bits(candidate.unsigned_abs().into());
        let (mode, supplier) = (Mode::Test, supplier());
        let id = db
            .store
            .save_airline(mode, &supplier, candidate, &airline, at);
        let stored = StoredAirline {
            id: AirlineId::from_bits(1),
            airline: airline.clone(),
            fetched_at: at,
        };
        assert_eq!(id.await.unwrap(), stored.id);
        assert_eq!(read(Mode::Test, "BA").await, Some(stored));
    }
    assert_eq!(read(Mode::Live, "BA").await, None);
    assert_eq!(read(Mode::Test, "ba").await, None);
}

async fn content_is_replaced_only_by_newer_content(db: &TestStore) {
    let (mode, supplier) = (Mode::Test, supplier());
    let read = async |part| {
        let read = db.store.hotel_content(mode, &supplier, "H1", part).await;
        read.unwrap()
    };
    assert_eq!(read(ContentPart::Details).await, None);
    for (at_ms, part, document) in [
        (10, ContentPart::Details, "first"),
        (20, ContentPart::Details, "second"),
        (15, ContentPart::Details, "late"),
        (0, ContentPart::Reviews, "reviews"),
    ] {
        let write = unit_at(NOW.plus_ms(at_ms), |write| {
            write.save_hotel_content(mode, &supplier, "H1", part, document)
        });
        db.store.commit(write).await.unwrap();
    }
    for (part, document, at_ms) in [
        (ContentPart::Details, "second", 20),
        (ContentPart::Reviews, "reviews", 0),
    ] {
        let content = StoredContent {
            document: document.into(),
            fetched_at: NOW.plus_ms(at_ms),
        };
        assert_eq!(read(part).await, Some(content));
    }
}
