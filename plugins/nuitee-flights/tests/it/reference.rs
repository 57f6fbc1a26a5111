//! Airports and airlines.

use serde_json::{Value, json};
use stopover_sdk::testing::Outcome::{InvalidResponse, NotFound};
use stopover_sdk::testing::outcome;

use crate::ask;

#[test]
fn airports_keep_order_of_nuitee() {
    let gateway = ask::fixtures(&["airports.json"]);
    let response = ask::airports(&gateway, 20).unwrap();
    let asked = "GET /data/flights/airports?q=Lond%20on";
    assert_eq!(ask::sent(&gateway), [asked]);
    assert_eq!(gateway.requests()[0].timeout_ms, Some(8_000));
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
    let unknown = [&own.icao_code, &own.city, &own.state, &own.country];
    assert!(
        unknown
            .into_iter()
            .chain([&own.time_zone])
            .all(Option::is_none)
    );
    assert_eq!((own.latitude, own.longitude), (None, None));
}

#[test]
fn airports_are_truncated_by_limit_or_by_listed_count() {
    for (limit, count, expected) in [(1, 3, true), (20, 3, false), (20, 40, true), (2, 3, false)] {
        let document = ask::changed("airports.json", |response| {
            response["data"][0]["count"] = json!(count);
        });
        let response = ask::airports(&ask::responding(&[(200, &document)]), limit).unwrap();
        assert_eq!(response.truncated, expected, "{limit} {count}");
        assert!(response.airports.len() <= usize::from(limit));
    }
    let no_airports = r#"{"data": [{"airports": [], "count": 0}]}"#;
    for nothing in [(200, no_airports), (204, "")] {
        let response = ask::airports(&ask::responding(&[nothing]), 20);
        assert!(response.unwrap().airports.is_empty());
    }
    for lacking in [
        "[]",
        "[{}]",
        "[null]",
        "\"\"",
        r#"[{"airports": null}]"#,
        r#"[{"airports": ""}]"#,
    ] {
        let document = format!(r#"{{"data": {lacking}}}"#);
        let response = ask::airports(&ask::responding(&[(200, &document)]), 20);
        assert_eq!(outcome(&response), InvalidResponse, "{lacking}");
    }
}

#[test]
fn airline_is_read_by_code() {
    let gateway = ask::fixtures(&["airline.json"]);
    let airline = ask::airline(&gateway, "XO").unwrap();
    let asked = "GET /data/flights/airlines/iatas/XO";
    assert_eq!(ask::sent(&gateway), [asked]);
    assert_eq!(airline.iata_code, "XO");
    assert_eq!(airline.name, "Own Air");
    assert_eq!(airline.country.as_deref(), Some("FR"));
    assert_eq!(airline.alliance, None);
    assert!(!airline.is_active);
    let logo = "https://production.nuitee.flights/static/images/airlines/XO.png";
    assert_eq!(airline.logo_url.as_deref(), Some(logo));
}

#[test]
fn country_is_found_by_each_of_its_names() {
    for (name, expected) in [
        ("Republic of Korea", Some("KR")),
        ("DR Congo", Some("CD")),
        ("St. Kitts and Nevis", Some("KN")),
        ("Atlantis", None),
    ] {
        let document = ask::changed("airline.json", |response| {
            response["data"][0]["airline"]["country"] = json!(name);
        });
        let airline = ask::airline(&ask::responding(&[(200, &document)]), "XO").unwrap();
        assert_eq!(airline.country.as_deref(), expected, "{name}");
    }
}

#[test]
fn logo_is_absolute_url_or_none() {
    let settings = r#"{"logo_url": "https://logos.example/base/"}"#;
    let absolute = "https://a.example/x.png";
    let joined = "https://logos.example/base/static/x.png";
    let cases = [
        (json!(absolute), Some(absolute)),
        (json!("/static/x.png"), Some(joined)),
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
        let gateway = ask::responding(&[(200, &document)]).settings(settings);
        let airline = ask::airline(&gateway, "xo").unwrap();
        assert_eq!(airline.logo_url.as_deref(), expected, "{logo}");
        assert!(airline.is_active);
    }
}

#[test]
fn missing_airline_is_not_found() {
    let other = r#"{"data": [{"airline": {"iata": "YP", "name": "Other"}}]}"#;
    let unknown = ask::error(4004);
    let cases = [
        (404, unknown.as_str(), NotFound),
        (200, r#"{"value": {"error": {"code": 4004}}}"#, NotFound),
        (200, r#"{"data": []}"#, InvalidResponse),
        (200, r#"{"data": [{"airline": null}]}"#, InvalidResponse),
        (200, other, InvalidResponse),
        (204, "", NotFound),
    ];
    for (status, document, expected) in cases {
        let airline = ask::airline(&ask::responding(&[(status, document)]), "XO");
        assert_eq!(outcome(&airline), expected, "{document}: {airline:?}");
    }
}
