//! Airport search by text and airline lookup by code.

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::FlightReference;
use stopover_sdk::dropped::DropReason;
use stopover_sdk::flight_reference::AirportResponse;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{InvalidResponse, NotFound, Rejected, Unavailable};
use stopover_sdk::testing::{MockGateway, outcome};

use crate::ask;

fn airports(gateway: &MockGateway, text: &str, limit: u16) -> AirportResponse {
    let response = gateway.run(|| DuffelFlights::find_airports(text.to_owned(), limit));
    response.unwrap()
}

#[test]
fn cities_yield_their_airports_without_duplicates() {
    let gateway = ask::fixtures(&["suggestions.json"]);
    let response = airports(&gateway, "old town", 10);
    let asked = ["GET /places/suggestions?query=old%20town"];
    assert_eq!(ask::sent(&gateway), asked);
    assert!(!response.truncated);
    let [noz, old, ols] = response.airports.as_slice() else {
        panic!("{:?}", response.airports);
    };
    let codes = [noz, old, ols].map(|one| one.iata_code.as_str());
    assert_eq!(codes, ["NOZ", "OLD", "OLS"]);
    assert_eq!(noz.icao_code.as_deref(), Some("EGNZ"));
    assert_eq!((&noz.time_zone, &noz.city), (&None, &None));
    assert_eq!((&old.icao_code, &old.state), (&None, &None));
    assert_eq!(old.time_zone.as_deref(), Some("Europe/London"));
    assert_eq!(old.country.as_deref(), Some("GB"));
    assert_eq!(old.city.as_deref(), Some("Oldtown"));
    assert_eq!((old.latitude, old.longitude), (Some(1.5), Some(2.5)));
    // A latitude of 91 is invalid.
    assert_eq!((ols.latitude, ols.longitude), (None, None));
}

#[test]
fn city_of_an_airport_is_named_in_one_of_three_places() {
    let cities = |changes: &[(&str, Value)]| {
        let suggestions = ask::changed("suggestions.json", changes);
        let gateway = MockGateway::new().respond_with(200, suggestions);
        let airports = airports(&gateway, "old town", 10).airports;
        assert_eq!(gateway.dropped_items(), []);
        let cities = airports.into_iter().map(|airport| airport.city);
        cities.collect::<Vec<Option<String>>>()
    };
    let name = |name: &str| Some(name.to_owned());
    let city = json!({ "id": "cit_noz_gb", "name": "Nozone City" });
    let within = ("/1/airports/0/city", json!({ "name": "Inner City" }));
    let unnamed = ("/1/airports/0/city_name", json!(null));
    let found = cities(&[("/0/city", city.clone()), unnamed.clone(), within]);
    assert_eq!(
        found,
        [name("Nozone City"), name("Inner City"), name("Oldtown")]
    );
    // The field of the airport itself takes precedence.
    let found = cities(&[("/0/city", city), ("/0/city_name", json!("Own"))]);
    assert_eq!(found[0], name("Own"));
    for odd in [json!("Nozone"), json!([1]), json!({ "name": {} })] {
        let found = cities(&[("/0/city", odd.clone()), unnamed.clone()]);
        assert_eq!(found, [None, name("Oldtown"), name("Oldtown")], "{odd}");
    }
}

/// A suggestion is an airport only if its type says so. A city without a readable type still yields its
/// airports, and never becomes one itself.
#[test]
fn suggestion_of_unknown_type_is_no_airport() {
    let codes = |changes: &[(&str, Value)]| {
        let gateway =
            MockGateway::new().respond_with(200, ask::changed("suggestions.json", changes));
        let response = airports(&gateway, "old town", 10);
        let found = response.airports.into_iter();
        let codes: Vec<String> = found.map(|airport| airport.iata_code).collect();
        let dropped = gateway.dropped_items();
        for (_, message) in gateway.logs() {
            assert!(message.contains("/data/"), "{message}");
        }
        (codes, dropped)
    };
    for kind in [json!(null), json!(""), json!("x"), json!(7), json!([])] {
        let (found, dropped) = codes(&[("/1/type", kind.clone())]);
        assert_eq!(found, ["NOZ", "OLD", "OLS"], "{kind}");
        assert_eq!(dropped, [], "{kind}");
        for within in [json!(null), json!([])] {
            let odd = [("/1/type", kind.clone()), ("/1/airports", within)];
            let (found, dropped) = codes(&odd);
            assert_eq!(found, ["NOZ", "OLD"], "{odd:?}");
            assert_eq!(dropped, [(DropReason::InvalidValue, 1)], "{odd:?}");
        }
        // An airport without a readable type and without a list may be a city.
        let (found, dropped) = codes(&[("/0/type", kind.clone())]);
        assert_eq!(found, ["OLD", "OLS"], "{kind}");
        assert_eq!(dropped, [(DropReason::InvalidValue, 1)], "{kind}");
    }
    // A list of a city that is missing is not an empty one.
    let (found, dropped) = codes(&[("/1/airports", json!(null))]);
    assert_eq!(found, ["NOZ", "OLD"]);
    assert_eq!(dropped, [(DropReason::InvalidValue, 1)]);
    let (_, dropped) = codes(&[("/1/airports", json!([]))]);
    assert_eq!(dropped, []);
}

#[test]
fn order_of_repeated_types_of_a_suggestion_decides_nothing() {
    let suggestions = ask::fixture("suggestions.json");
    let kind = r#""type": "city""#;
    for (first, second) in [("airport", "city"), ("city", "airport")] {
        let types = format!(r#""type": "{first}", "type": "{second}""#);
        let gateway = MockGateway::new().respond_with(200, suggestions.replacen(kind, &types, 1));
        let found = airports(&gateway, "old town", 10).airports.into_iter();
        let codes: Vec<String> = found.map(|airport| airport.iata_code).collect();
        assert_eq!(codes, ["NOZ", "OLD", "OLS"], "{types}");
    }
}

#[test]
fn airports_beyond_limit_are_truncated() {
    let response = airports(&ask::fixtures(&["suggestions.json"]), "old", 2);
    assert_eq!((response.airports.len(), response.truncated), (2, true));
    let gateway = MockGateway::new().respond_with(200, r#"{"data": []}"#);
    let response = airports(&gateway, "zz", 2);
    assert_eq!((response.airports.len(), response.truncated), (0, false));
}

#[test]
fn airlines_are_read_once_and_cached() {
    let gateway = ask::fixtures(&["airlines-1.json", "airlines-2.json"]);
    let own = ask::airline(&gateway, "OW").unwrap();
    assert_eq!((own.name.as_str(), own.is_active), ("Own Air", true));
    let logo = own.logo_url.as_deref();
    assert_eq!(logo, Some("https://logos.example/OW.svg"));
    assert_eq!(ask::airline(&gateway, "CH").unwrap().logo_url, None);
    for (code, expected) in [
        ("XX", NotFound),
        ("OX", NotFound),
        // These are not looked up.
        ("ow", Rejected("invalid")),
        ("?!", Rejected("invalid")),
        ("", Rejected("invalid")),
    ] {
        let result = ask::airline(&gateway, code);
        assert_eq!(outcome(&result), expected, "{code}: {result:?}");
    }
    let list = "GET /air/airlines?limit=200";
    let pages = [list.to_owned(), format!("{list}&after=more")];
    assert_eq!(ask::sent(&gateway), pages);
}

#[test]
fn incomplete_airline_list_is_not_cached() {
    let gateway = ask::fixtures(&["airlines-1.json"]).respond_with(503, "");
    assert_eq!(outcome(&ask::airline(&gateway, "OW")), Unavailable);
    let page = ask::fixture("airlines-1.json");
    let endless = MockGateway::new().handle_requests(move |_| Ok(Response::new(200, &page)));
    assert_eq!(outcome(&ask::airline(&endless, "OW")), InvalidResponse);
    assert_eq!(endless.requests().len(), 20);
    assert_eq!(outcome(&ask::airline(&gateway, "OW")), Unavailable);
}

#[test]
fn unreadable_airline_costs_only_itself_and_proves_no_absence() {
    let own = json!({ "id": "arl_own_OW", "iata_code": "OW", "name": "Own Air" });
    let no_code = json!({ "id": "arl_own_NC", "iata_code": null, "name": "No Code" });
    for odd in [
        json!(null),
        json!(7),
        json!({ "id": "arl_odd", "iata_code": ["XX"] }),
    ] {
        let list = json!({ "data": [odd, own, no_code], "meta": null }).to_string();
        let gateway = MockGateway::new().respond_with(200, list);
        assert_eq!(
            ask::airline(&gateway, "OW").unwrap().name,
            "Own Air",
            "{odd}"
        );
        assert_eq!(gateway.logs().len(), 1, "{odd}");
        // The list is cached, too, when an airline is missing from it.
        let result = ask::airline(&gateway, "XX");
        assert_eq!(outcome(&result), InvalidResponse, "{odd}: {result:?}");
        assert_eq!(gateway.requests().len(), 1, "{odd}");
    }
}

#[test]
fn airline_is_found_in_a_list_of_unknown_length() {
    for meta in [json!({ "after": 7 }), json!(5), json!([])] {
        let mut page: Value = serde_json::from_str(&ask::fixture("airlines-1.json")).unwrap();
        page["meta"] = meta.clone();
        let gateway = MockGateway::new().respond_with(200, page.to_string());
        let found = ask::airline(&gateway, "OW");
        assert_eq!(found.unwrap().name, "Own Air", "{meta}");
        assert_eq!(gateway.dropped_items(), [(DropReason::Unreadable, 1)]);
        assert!(gateway.logs()[0].1.contains("/meta/after"), "{meta}");
        // The missing pages may have the other airline.
        let missing = ask::airline(&gateway, "XX");
        assert_eq!(outcome(&missing), InvalidResponse, "{meta}: {missing:?}");
        assert_eq!(gateway.requests().len(), 1, "{meta}");
    }
}

#[test]
fn list_of_other_objects_proves_no_absence() {
    let orders = ask::list(&[&ask::fixture("order.json")], None);
    let gateway = || MockGateway::new().respond_with(200, &orders);
    assert_eq!(outcome(&ask::airports(&gateway())), InvalidResponse);
    assert_eq!(outcome(&ask::airline(&gateway(), "OW")), InvalidResponse);
    let for_sale = ask::fixtures(&["order.json"]).respond_with(200, &orders);
    assert_eq!(outcome(&ask::list_services(&for_sale)), InvalidResponse);
}

#[test]
fn object_instead_of_a_list_finds_nothing_and_proves_no_absence() {
    for name in ["order.json", "quote.json", "offer.json"] {
        let airports = ask::airports(&ask::fixtures(&[name]));
        assert_eq!(outcome(&airports), InvalidResponse, "{name}");
        let airline = ask::airline(&ask::fixtures(&[name]), "OW");
        assert_eq!(outcome(&airline), InvalidResponse, "{name}");
        let found = ask::find_by_offer(&ask::fixtures(&[name]));
        assert_eq!(outcome(&found), InvalidResponse, "{name}");
    }
}
