//! Airports and airlines.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::testing::{Outcome::NotFound, outcome};
use stopover_sdk::{FlightReference, ReadError};

use crate::ask::{asked, edited, gateway};
use crate::{jetbridge, skylane};

/// The reference data of a supplier.
struct Reference {
    find_airports: fn(String, u16) -> Result<AirportResponse, ReadError>,
    airports: Value,
    airports_path: &'static str,
    heathrow_id: &'static str,
    /// JSON pointers of the list's end and of the first airport's state and city.
    more: &'static str,
    state: &'static str,
    city: &'static str,
    read_airline: fn(String) -> Result<Airline, ReadError>,
    airline: Value,
    airline_path: &'static str,
    airline_id: &'static str,
    /// JSON pointers of the airline's logo and activity.
    logo: &'static str,
    active: &'static str,
    not_found: String,
}

fn references() -> [Reference; 2] {
    [
        Reference {
            find_airports: Skylane::find_airports,
            airports: skylane::fixture("airports"),
            airports_path: "GET /skylane/airports?q=S%C3%A3o%20Paulo&limit=2",
            heathrow_id: "airport-lhr",
            more: "/more",
            state: "/data/0/state",
            city: "/data/0/city",
            read_airline: Skylane::read_airline,
            airline: skylane::fixture("airline"),
            airline_path: "GET /skylane/airlines/TK",
            airline_id: "airline-tk",
            logo: "/data/logo",
            active: "/data/active",
            not_found: skylane::error("not_found"),
        },
        Reference {
            find_airports: Jetbridge::find_airports,
            airports: jetbridge::fixture("airports"),
            airports_path: "GET /jetbridge/v3/airports?text=S%C3%A3o%20Paulo&max=2",
            heathrow_id: "LHR",
            more: "/result/more",
            state: "/result/airports/0/region",
            city: "/result/airports/0/city",
            read_airline: Jetbridge::read_airline,
            airline: jetbridge::fixture("airline"),
            airline_path: "GET /jetbridge/v3/airlines/TK",
            airline_id: "TK",
            logo: "/result/logo",
            active: "/result/active",
            not_found: jetbridge::error("40400"),
        },
    ]
}

impl Reference {
    /// Finds airports in the fixture after some values were replaced.
    fn find(&self, limit: u16, edits: &[(&str, Value)]) -> AirportResponse {
        let gateway = gateway().respond_with(200, edited(self.airports.clone(), edits));
        let find = || (self.find_airports)("london".to_owned(), limit);
        gateway.run(find).unwrap()
    }
}

#[test]
fn airports_keep_order_of_supplier() {
    for reference in references() {
        let gateway = gateway().respond_with(200, reference.airports.to_string());
        let find = || (reference.find_airports)("São Paulo".to_owned(), 2);
        let response = gateway.run(find).unwrap();
        assert_eq!(asked(&gateway), [reference.airports_path]);
        assert!(response.truncated);
        let [heathrow, gatwick] = response.airports.as_slice() else {
            panic!("{response:?}");
        };
        assert_eq!(gatwick.iata_code, "LGW");
        assert_eq!(heathrow.supplier_airport_id, reference.heathrow_id);
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
    for reference in references() {
        for (limit, expected) in [(1, (1, true)), (2, (2, false)), (20, (2, false))] {
            let response = reference.find(limit, &[(reference.more, json!(false))]);
            let found = (response.airports.len(), response.truncated);
            assert_eq!(found, expected, "{limit}");
        }
    }
}

#[test]
fn empty_airport_fields_are_none() {
    for reference in references() {
        let edits = [reference.state, reference.city].map(|field| (field, json!("")));
        let response = reference.find(20, &edits);
        let airport = response.airports.first().unwrap();
        assert_eq!((&airport.state, &airport.city), (&None, &None));
    }
}

#[test]
fn active_and_inactive_airlines_are_read() {
    for reference in references() {
        let gateway = gateway().respond_with(200, reference.airline.to_string());
        let airline = gateway.run(|| (reference.read_airline)("TK".to_owned()));
        let airline = airline.unwrap();
        assert_eq!(asked(&gateway), [reference.airline_path]);
        assert_eq!(airline.supplier_airline_id, reference.airline_id);
        assert_eq!(airline.iata_code, "TK");
        assert_eq!(airline.name, "Turkish Airlines");
        assert_eq!(airline.icao_code.as_deref(), Some("THY"));
        assert_eq!(airline.country.as_deref(), Some("TR"));
        assert_eq!(airline.alliance.as_deref(), Some("Star Alliance"));
        let logo_url = airline.logo_url.unwrap();
        assert!(logo_url.ends_with("/logos/TK.svg"), "{logo_url}");
        assert!(airline.is_active);

        let edits = [
            (reference.active, json!(false)),
            (reference.logo, Value::Null),
        ];
        let gateway = gateway.respond_with(200, edited(reference.airline, &edits));
        let airline = gateway.run(|| (reference.read_airline)("XX".to_owned()));
        let airline = airline.unwrap();
        assert!(!airline.is_active);
        assert_eq!(airline.logo_url, None);
    }
}

#[test]
fn unknown_airline_is_not_found() {
    for reference in references() {
        let gateway = gateway().respond_with(404, reference.not_found);
        let airline = gateway.run(|| (reference.read_airline)("Q9".to_owned()));
        assert_eq!(outcome(&airline), NotFound, "{airline:?}");
    }
}
