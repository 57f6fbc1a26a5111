//! Airports and airlines.

use serde_json::{Value, json};
use stopover_sdk::flight_reference::AirportResponse;

use crate::ask::{asked, gateway};
use crate::supplier::{SUPPLIERS, Supplier};

/// Finds airports in the fixture after some values were replaced.
fn find_airports(supplier: &Supplier, limit: u16, edits: &[(&str, Value)]) -> AirportResponse {
    let gateway = gateway().respond_with(200, supplier.edited("airports", edits));
    let find = || (supplier.find_airports)("london".to_owned(), limit);
    gateway.run(find).unwrap()
}

#[test]
fn airports_keep_order_of_supplier() {
    let expected = [
        (
            "GET /skylane/airports?q=S%C3%A3o%20Paulo&limit=2",
            "airport-lhr",
        ),
        (
            "GET /jetbridge/v3/airports?text=S%C3%A3o%20Paulo&max=2",
            "LHR",
        ),
    ];
    for (supplier, (request, heathrow_id)) in SUPPLIERS.into_iter().zip(expected) {
        let gateway = gateway().respond_with(200, supplier.edited("airports", &[]));
        let find = || (supplier.find_airports)("São Paulo".to_owned(), 2);
        let response = gateway.run(find).unwrap();
        assert_eq!(asked(&gateway), [request]);
        assert!(response.truncated);
        let [heathrow, gatwick] = response.airports.as_slice() else {
            panic!("{response:?}");
        };
        assert_eq!(gatwick.iata_code, "LGW");
        assert_eq!(heathrow.supplier_airport_id, heathrow_id);
        assert_eq!(heathrow.iata_code, "LHR");
        assert_eq!(heathrow.icao_code.as_deref(), Some("EGLL"));
        assert_eq!(heathrow.name, "Heathrow Airport");
        assert_eq!(heathrow.city.as_deref(), Some("London"));
        assert_eq!(heathrow.state.as_deref(), Some("England"));
        assert_eq!(heathrow.country.as_deref(), Some("GB"));
        assert_eq!(heathrow.latitude, Some(51.47));
        assert_eq!(heathrow.longitude, Some(-0.4543));
        assert_eq!(heathrow.time_zone.as_deref(), Some("Europe/London"));
    }
}

#[test]
fn airports_beyond_limit_are_truncated() {
    for (supplier, more) in SUPPLIERS.into_iter().zip(["/more", "/result/more"]) {
        for (limit, expected) in [(1, (1, true)), (2, (2, false)), (20, (2, false))] {
            let response = find_airports(&supplier, limit, &[(more, json!(false))]);
            let found = (response.airports.len(), response.truncated);
            assert_eq!(found, expected, "{limit}");
        }
    }
}

#[test]
fn empty_airport_fields_are_none() {
    let fields = [
        ["/data/0/state", "/data/0/city"],
        ["/result/airports/0/region", "/result/airports/0/city"],
    ];
    for (supplier, fields) in SUPPLIERS.into_iter().zip(fields) {
        let response = find_airports(&supplier, 20, &fields.map(|field| (field, json!(""))));
        let airport = response.airports.first().unwrap();
        assert_eq!((&airport.state, &airport.city), (&None, &None));
    }
}

#[test]
fn active_and_inactive_airlines_are_read() {
    let expected = [
        (
            "GET /skylane/airlines/TK",
            "airline-tk",
            ["/data/logo", "/data/active"],
        ),
        (
            "GET /jetbridge/v3/airlines/TK",
            "TK",
            ["/result/logo", "/result/active"],
        ),
    ];
    for (supplier, (request, id, [logo, active])) in SUPPLIERS.into_iter().zip(expected) {
        let gateway = gateway().respond_with(200, supplier.edited("airline", &[]));
        let airline = gateway.run(|| (supplier.read_airline)("TK".to_owned()));
        let airline = airline.unwrap();
        assert_eq!(asked(&gateway), [request]);
        assert_eq!(airline.supplier_airline_id, id);
        assert_eq!(airline.iata_code, "TK");
        assert_eq!(airline.name, "Turkish Airlines");
        assert_eq!(airline.icao_code.as_deref(), Some("THY"));
        assert_eq!(airline.country.as_deref(), Some("TR"));
        assert_eq!(airline.alliance.as_deref(), Some("Star Alliance"));
        let logo_url = airline.logo_url.unwrap();
        assert!(logo_url.ends_with("/logos/TK.svg"), "{logo_url}");
        assert!(airline.is_active);

        let edits = [(active, json!(false)), (logo, Value::Null)];
        let gateway = gateway.respond_with(200, supplier.edited("airline", &edits));
        let airline = gateway.run(|| (supplier.read_airline)("XX".to_owned()));
        let airline = airline.unwrap();
        assert!(!airline.is_active);
        assert_eq!(airline.logo_url, None);
    }
}
