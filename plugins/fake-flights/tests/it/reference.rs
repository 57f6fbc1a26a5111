//! Airports and airlines.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::testing::Outcome::NotFound;
use stopover_sdk::testing::outcome;
use stopover_sdk::{FlightReference, ReadError};

use crate::ask::{asked, edited, gateway};
use crate::{jetbridge, skylane};

type Find = fn(String, u16) -> Result<AirportResponse, ReadError>;
type Read = fn(String) -> Result<Airline, ReadError>;

#[test]
fn airports_keep_order_of_supplier() {
    let cases: [(Find, Value, &str, &str); 2] = [
        (
            Skylane::find_airports,
            skylane::fixture("airports"),
            "GET /skylane/airports?q=S%C3%A3o%20Paulo&limit=2",
            "airport-lhr",
        ),
        (
            Jetbridge::find_airports,
            jetbridge::fixture("airports"),
            "GET /jetbridge/v3/airports?text=S%C3%A3o%20Paulo&max=2",
            "LHR",
        ),
    ];
    for (find, body, path, id) in cases {
        let gateway = gateway().respond_with(200, body.to_string());
        let response = gateway.run(|| find("São Paulo".to_owned(), 2)).unwrap();
        assert_eq!(asked(&gateway), [path]);
        assert!(response.truncated);
        let [heathrow, gatwick] = response.airports.as_slice() else {
            panic!("{response:?}");
        };
        assert_eq!(gatwick.iata_code, "LGW");
        assert_eq!(heathrow.supplier_airport_id, id);
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
    let cases: [(Find, Value, &str); 2] = [
        (
            Skylane::find_airports,
            skylane::fixture("airports"),
            "/more",
        ),
        (
            Jetbridge::find_airports,
            jetbridge::fixture("airports"),
            "/result/more",
        ),
    ];
    for (find, body, more) in cases {
        for (limit, expected) in [(1, (1, true)), (2, (2, false)), (20, (2, false))] {
            let gateway =
                gateway().respond_with(200, edited(body.clone(), &[(more, json!(false))]));
            let response = gateway.run(|| find("london".to_owned(), limit)).unwrap();
            assert_eq!(
                (response.airports.len(), response.truncated),
                expected,
                "{limit}"
            );
        }
    }
}

#[test]
fn empty_airport_fields_are_none() {
    let cases: [(Find, Value, [&str; 2]); 2] = [
        (
            Skylane::find_airports,
            skylane::fixture("airports"),
            ["/data/0/state", "/data/0/city"],
        ),
        (
            Jetbridge::find_airports,
            jetbridge::fixture("airports"),
            ["/result/airports/0/region", "/result/airports/0/city"],
        ),
    ];
    for (find, body, fields) in cases {
        let edits = fields.map(|field| (field, json!("")));
        let gateway = gateway().respond_with(200, edited(body, &edits));
        let response = gateway.run(|| find("london".to_owned(), 20)).unwrap();
        let airport = response.airports.first().unwrap();
        assert_eq!((&airport.state, &airport.city), (&None, &None));
    }
}

#[test]
fn active_and_inactive_airlines_are_read() {
    let cases: [(Read, Value, &str, &str, &str); 2] = [
        (
            Skylane::read_airline,
            skylane::fixture("airline"),
            "/data",
            "GET /skylane/airlines/TK",
            "airline-tk",
        ),
        (
            Jetbridge::read_airline,
            jetbridge::fixture("airline"),
            "/result",
            "GET /jetbridge/v3/airlines/TK",
            "TK",
        ),
    ];
    for (read, body, root, path, id) in cases {
        let gateway = gateway().respond_with(200, body.to_string());
        let airline = gateway.run(|| read("TK".to_owned())).unwrap();
        assert_eq!(asked(&gateway), [path]);
        assert_eq!(airline.supplier_airline_id, id);
        assert_eq!(airline.iata_code, "TK");
        assert_eq!(airline.name, "Turkish Airlines");
        assert_eq!(airline.icao_code.as_deref(), Some("THY"));
        assert_eq!(airline.country.as_deref(), Some("TR"));
        assert_eq!(airline.alliance.as_deref(), Some("Star Alliance"));
        assert!(
            airline
                .logo_url
                .is_some_and(|url| url.ends_with("/logos/TK.svg"))
        );
        assert!(airline.is_active);

        let (active, logo) = (format!("{root}/active"), format!("{root}/logo"));
        let edits = [
            (active.as_str(), json!(false)),
            (logo.as_str(), Value::Null),
        ];
        let gateway = gateway.respond_with(200, edited(body, &edits));
        let airline = gateway.run(|| read("XX".to_owned())).unwrap();
        assert!(!airline.is_active);
        assert_eq!(airline.logo_url, None);
    }
}

#[test]
fn unknown_airline_is_not_found() {
    let gateway = gateway()
        .respond_with(404, skylane::error("not_found"))
        .respond_with(404, jetbridge::error("40400"));
    for airline in [
        gateway.run(|| Skylane::read_airline("Q9".to_owned())),
        gateway.run(|| Jetbridge::read_airline("Q9".to_owned())),
    ] {
        assert_eq!(outcome(&airline), NotFound, "{airline:?}");
    }
}
