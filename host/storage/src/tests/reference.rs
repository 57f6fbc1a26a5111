//! Airports and airlines, which all organizations of a mode share.

use super::*;
use crate::{AirportObservation, StoredAirline};
use host_domain::flight::supplier_api::{Airline, Airport};
use host_domain::id::{AirlineId, AirportId};

on_both_databases!(
    airport_keeps_its_first_id,
    concurrent_saves_of_an_airport_return_one_id,
    airport_is_stored_as_last_reported,
    saved_airline_keeps_its_id_and_gets_the_new_data,
);

/// Builds the `number`th airport.
fn seen(number: u32, candidate: u32) -> AirportObservation {
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
            latitude: Some(47.123_456_789_012_345),
            longitude: Some(-0.1),
            time_zone: Some("Europe/Zurich".into()),
        },
    }
}

async fn save(store: &Store, seen: &[AirportObservation]) -> Vec<AirportId> {
    let saved = store
        .save_airports(Mode::Test, &supplier(), seen, NOW)
        .await;
    saved.unwrap()
}

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<AirportId> {
    let bits = numbers.into_iter().map(u128::from);
    bits.map(AirportId::from_bits).collect()
}

async fn airport_keeps_its_first_id(db: &TestDatabase) {
    first_ids_are_kept(
        AirportId::from_bits,
        async |mode, airports: Vec<(u32, u32)>| {
            let airports: Vec<_> = airports
                .into_iter()
                .map(|(number, id)| seen(number, id))
                .collect();
            let supplier = supplier();
            let saved = db.store.save_airports(mode, &supplier, &airports, NOW);
            saved.await.unwrap()
        },
    )
    .await;
    // Another supplier reports the same airport under another name.
    let other = SupplierId::parse("SUPPLIER_B").unwrap();
    let mut renamed = [seen(1, 77)];
    renamed[0].airport.name = "Basel".into();
    let saved = db.store.save_airports(Mode::Test, &other, &renamed, NOW);
    assert_eq!(saved.await.unwrap(), ids([1]));
}

async fn concurrent_saves_of_an_airport_return_one_id(db: &TestDatabase) {
    concurrent_saves_return_one_id(db, async |store: &Store, airports: Vec<(u32, u32)>| {
        let airports: Vec<_> = airports
            .into_iter()
            .map(|(number, id)| seen(number, id))
            .collect();
        save(store, &airports).await
    })
    .await;
}

async fn airport_is_stored_as_last_reported(db: &TestDatabase) {
    save(&db.store, &[seen(1, 1)]).await;
    let mut renamed = seen(1, 2);
    renamed.airport.name = "Anders".into();
    let later = NOW.plus_s(1);
    for (at, airport) in [(later, &renamed), (later.plus_s(1), &renamed)] {
        let observation = std::slice::from_ref(airport);
        let saved = db
            .store
            .save_airports(Mode::Test, &supplier(), observation, at)
            .await;
        assert_eq!(saved.unwrap(), ids([1]));
    }
    let select = crate::statement::statement!("SELECT document, fetched_at FROM airport");
    let row = db.store.fetch_optional(select).await.unwrap().unwrap();
    assert_eq!(row.json::<Airport>("document").unwrap(), renamed.airport);
    // The second call had the same data, so nothing was written.
    assert_eq!(row.timestamp("fetched_at").unwrap(), later);
}

async fn saved_airline_keeps_its_id_and_gets_the_new_data(db: &TestDatabase) {
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
        let id = db
            .store
            .save_airline(Mode::Test, &supplier(), candidate, &airline, at)
            .await
            .unwrap();
        let stored = StoredAirline {
            id: AirlineId::from_bits(1),
            airline: airline.clone(),
            fetched_at: at,
        };
        assert_eq!(id, stored.id);
        assert_eq!(read(Mode::Test, "BA").await, Some(stored));
    }
    assert_eq!(read(Mode::Live, "BA").await, None);
    assert_eq!(read(Mode::Test, "ba").await, None);
}
