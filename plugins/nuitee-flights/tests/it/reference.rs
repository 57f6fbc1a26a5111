//! Airports and airlines.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::{FlightReference, ReadError};

use crate::ask;

#[test]
fn airports_keep_order_of_nuitee() {
    let gateway = ask::responding_with("airports.json");
    let response = gateway.run(|| NuiteeFlights::find_airports("Lond on".to_owned(), 20));
    let response = response.unwrap();
    let request = &gateway.requests()[0];
    assert_eq!(
        request.url,
        "https://api.liteapi.travel/v3.0/data/flights/airports?q=Lond%20on"
    );
    assert_eq!(request.timeout_ms, Some(8_000));
    assert!(!response.truncated);
    // The airport without a code is left out.
    let [heathrow, own] = response.airports.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(heathrow.iata_code, "LHR");
    assert_eq!(heathrow.icao_code.as_deref(), Some("EGLL"));
    assert_eq!(heathrow.country.as_deref(), Some("GB"));
    assert_eq!(heathrow.time_zone.as_deref(), Some("Europe/London"));
    assert_eq!(heathrow.latitude, Some(51.4706));
    let unknown = (
        &own.icao_code,
        &own.city,
        &own.state,
        &own.country,
        &own.time_zone,
    );
    assert_eq!(unknown, (&None, &None, &None, &None, &None));
    assert_eq!((own.latitude, own.longitude), (None, None));
}

#[test]
fn airports_are_truncated_by_limit_or_by_listed_count() {
    for (limit, count, expected) in [(1, 3, true), (20, 3, false), (20, 40, true), (2, 3, false)] {
        let document = ask::changed("airports.json", |response| {
            response["data"][0]["count"] = json!(count);
        });
        let gateway = ask::gateway().respond_with(200, document);
        let response = gateway.run(|| NuiteeFlights::find_airports("London".to_owned(), limit));
        let response = response.unwrap();
        assert_eq!(response.truncated, expected, "{limit} {count}");
        assert!(response.airports.len() <= usize::from(limit));
    }
    for nothing in [
        r#"{"data": []}"#,
        r#"{"data": [{"airports": [], "count": 0}]}"#,
    ] {
        let gateway = ask::gateway().respond_with(200, nothing);
        let response = gateway.run(|| NuiteeFlights::find_airports("zz".to_owned(), 20));
        assert!(response.unwrap().airports.is_empty());
    }
}

#[test]
fn airline_is_read_by_code() {
    let gateway = ask::responding_with("airline.json");
    let airline = gateway.run(|| NuiteeFlights::read_airline("XO".to_owned()));
    let airline = airline.unwrap();
    assert_eq!(
        gateway.requests()[0].url,
        "https://api.liteapi.travel/v3.0/data/flights/airlines/iatas/XO"
    );
    assert_eq!(airline.iata_code, "XO");
    assert_eq!(airline.name, "Own Air");
    assert_eq!(airline.country.as_deref(), Some("FR"));
    assert_eq!(airline.alliance, None);
    assert!(!airline.is_active);
    assert_eq!(
        airline.logo_url.as_deref(),
        Some("https://production.nuitee.flights/static/images/airlines/XO.png")
    );
}

#[test]
fn logo_is_absolute_url_or_none() {
    let settings = r#"{"logo_url": "https://logos.example/base/"}"#;
    let cases = [
        (
            json!("https://a.example/x.png"),
            Some("https://a.example/x.png"),
        ),
        (
            json!("/static/x.png"),
            Some("https://logos.example/base/static/x.png"),
        ),
        (json!("//elsewhere.example/x.png"), None),
        (json!("x.png"), None),
        (json!(""), None),
        (Value::Null, None),
    ];
    for (logo, expected) in cases {
        let document = ask::changed("airline.json", |response| {
            response["data"][0]["airline"]["logo"] = logo.clone();
            response["data"][0]["airline"]["active"] = Value::Null;
        });
        let gateway = ask::gateway()
            .respond_with(200, document)
            .settings(settings);
        let airline = gateway.run(|| NuiteeFlights::read_airline("xo".to_owned()));
        let airline = airline.unwrap();
        assert_eq!(airline.logo_url.as_deref(), expected, "{logo}");
        assert!(airline.is_active);
    }
}

#[test]
fn missing_airline_is_not_found() {
    type Case = (u16, &'static str, fn(&ReadError) -> bool);
    let cases: [Case; 5] = [
        (
            404,
            r#"{"error": {"code": 4004, "message": "entity not found"}}"#,
            |error| matches!(error, ReadError::NotFound(_)),
        ),
        (200, r#"{"value": {"error": {"code": 4004}}}"#, |error| {
            matches!(error, ReadError::NotFound(_))
        }),
        (200, r#"{"data": []}"#, |error| {
            matches!(error, ReadError::NotFound(_))
        }),
        (200, r#"{"data": [{"airline": null}]}"#, |error| {
            matches!(error, ReadError::NotFound(_))
        }),
        (
            200,
            r#"{"data": [{"airline": {"iata": "YP", "name": "Other"}}]}"#,
            |error| matches!(error, ReadError::InvalidResponse(_)),
        ),
    ];
    for (status, document, is_expected) in cases {
        let gateway = ask::gateway().respond_with(status, document);
        let error = gateway.run(|| NuiteeFlights::read_airline("XO".to_owned()));
        let error = error.unwrap_err();
        assert!(is_expected(&error), "{document}: {error:?}");
    }
}
