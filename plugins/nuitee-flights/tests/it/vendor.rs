//! Replay of the vendor's own examples, if they are in a folder beside the repository. Without them
//! the test passes and says that it skipped the replay.

use std::collections::HashSet;
use std::path::Path;

use nuitee_flights::NuiteeFlights;
use serde_json::Value;
use stopover_sdk::flight_booking::{BookRequest, BookingLookup, PrebookRequest};
use stopover_sdk::flight_pricing::{PassengerCounts, PriceRequest};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::{
    ChangeError, FlightBooking, FlightPricing, FlightReference, ReadError, RefusalReason,
};

use crate::ask;

type Check = fn(&str, u16);

/// Every flight document that the adapter may receive, selected by the prefix of its name.
const CHECKS: [(&str, Check); 18] = [
    ("POST_flights_rates__200", rates),
    ("POST_flights_rates__request", rates_request),
    ("POST_flights_rates__", rates_refused),
    ("POST_flights_verify__request", verify_request),
    ("POST_flights_verify__", verify_refused),
    ("POST_flights_prebooks__200", prebook),
    ("POST_flights_prebooks__request", prebook_request),
    ("POST_flights_prebooks__", prebook_refused),
    ("POST_flights_bookings__request", book_request),
    ("POST_flights_bookings__", book_refused),
    ("GET_flights_bookings_bookingId__200", read_booking),
    ("GET_flights_bookings_bookingId__", read_refused),
    ("GET_flights_bookings__", read_refused),
    ("GET_data_flights_airports__200", airports),
    ("GET_data_flights_airports__", airports_refused),
    ("GET_data_flights_airlines_iatas_iataCode__200", airline),
    (
        "GET_data_flights_airlines_iatas_iataCode__",
        airline_refused,
    ),
    ("GET_data_flights_airlines__", airline_refused),
];

#[test]
fn vendor_examples_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/fixtures/liteapi/extracted/flights");
    let Some(documents) = testing::read_documents(&folder).unwrap() else {
        return;
    };
    let mut ran: HashSet<&str> = HashSet::new();
    for (name, document) in documents {
        if let Some((prefix, check)) = CHECKS.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            check(&document, status(&name));
            ran.insert(prefix);
        }
    }
    for (prefix, _) in &CHECKS {
        assert!(ran.contains(prefix), "no document {prefix}");
    }
}

/// Returns the status in the file's name, or 0 for requests.
fn status(name: &str) -> u16 {
    let part = name.split("__").nth(1).unwrap();
    part.trim_end_matches(".json").parse().unwrap_or(0)
}

fn code(document: &str) -> u64 {
    let error: Value = serde_json::from_str(document).unwrap();
    error["error"]["code"].as_u64().unwrap()
}

/// Returns the example's search: one adult, one way.
fn example_search() -> PriceRequest {
    PriceRequest {
        journeys: vec![ask::requested_journey("JFK", "CDG", "2026-07-01")],
        passengers: PassengerCounts {
            adults: 1,
            children: Vec::new(),
            infants: 0,
        },
        currency: Some("USD".to_owned()),
        ..ask::price_request()
    }
}

fn rates(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let response = gateway.run(|| NuiteeFlights::price(example_search()));
    let response = response.unwrap();
    let [offer] = response.offers.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!((offer.total, offer.refundable), (75_387, Some(false)));
    let change = offer.fare_conditions.change.penalty.as_ref().unwrap();
    assert_eq!((change.amount, change.currency.as_str()), (7500, "USD"));
    assert!(offer.carry_on_included && !offer.checked_bag_included);
    let segment = &offer.journeys[0].segments[0];
    assert_eq!(segment.marketing_flight, "DE2017");
    let passenger = &segment.passengers[0];
    assert_eq!(passenger.checked_bags, Some(0));
    assert_eq!(passenger.carry_on_bags, Some(1));

    let event = format!("event: result\ndata: {}\n\n", document.replace('\n', " "));
    let gateway = MockGateway::new().respond_with(200, event);
    assert_eq!(
        gateway.run(|| NuiteeFlights::price(example_search())),
        Ok(response)
    );
}

/// Checks that every field that the adapter sends is in the vendor's example or in `optional`.
fn known_fields(sent: &Value, example: &Value, optional: &[&str]) {
    match (sent, example) {
        (Value::Object(sent), Value::Object(example)) => {
            for (field, value) in sent {
                match example.get(field) {
                    Some(known) => known_fields(value, known, optional),
                    None => assert!(optional.contains(&field.as_str()), "{field}"),
                }
            }
        }
        (Value::Array(sent), Value::Array(example)) => {
            for value in sent {
                known_fields(value, &example[0], optional);
            }
        }
        (sent, example) => assert_eq!(
            std::mem::discriminant(sent),
            std::mem::discriminant(example),
            "{sent}"
        ),
    }
}

fn rates_request(document: &str, _: u16) {
    let gateway = MockGateway::new();
    let _ = gateway.run(|| NuiteeFlights::price(ask::price_request()));
    let example = serde_json::from_str(document).unwrap();
    known_fields(&gateway.request_json(0), &example, &["childrenAges"]);
}

fn verify_request(document: &str, _: u16) {
    let gateway = ask::gateway();
    let _ = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
    let example = serde_json::from_str(document).unwrap();
    known_fields(&gateway.request_json(0), &example, &[]);
}

fn prebook_request(document: &str, _: u16) {
    let gateway = ask::responding_with("verify.json");
    let _ = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
    let example = serde_json::from_str(document).unwrap();
    known_fields(&gateway.request_json(1), &example, &[]);
}

fn book_request(document: &str, _: u16) {
    let gateway = ask::gateway();
    let _ = gateway.run(|| NuiteeFlights::book(ask::book_request()));
    let example: Value = serde_json::from_str(document).unwrap();
    let optional = ["customTags", "transactionId"];
    known_fields(&gateway.request_json(0), &example, &optional);
}

/// Checks the example of a prebook. Its flights, fares and passengers differ from those of the
/// search example, so they replace the offer's.
fn prebook(document: &str, status: u16) {
    let mut verify: Value = serde_json::from_str(&ask::fixture("verify.json")).unwrap();
    let example: Value = serde_json::from_str(document).unwrap();
    let journey = &example["data"][0]["booking"]["journey"];
    let segments = journey["segments"].as_array().unwrap();
    let verified = &mut verify["data"][0]["journey"];
    verified["segments"] = journey["segments"].clone();
    verified["pricing"] = journey["pricing"].clone();
    verified["segmentFares"] = Value::Null;
    verified["fare"]["family"] = "Economy".into();
    let line = |segment: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let number = text(&segment["flight"]["marketingNumber"]);
        let departure = text(&segment["departureTime"]);
        let (origin, destination) = (
            text(&segment["originCode"]),
            text(&segment["destinationCode"]),
        );
        format!("DE{number} {origin} {destination} {}", &departure[..16])
    };
    let lines: Vec<String> = segments.iter().map(line).collect();
    let flights = [&lines[..2], &lines[2..]];
    let mut request = PrebookRequest {
        supplier_offer: serde_json::json!({"id": "OFFER", "flights": flights}).to_string(),
        currency: "USD".to_owned(),
        total: 75_387,
        ..ask::prebook_request()
    };
    request.passengers.truncate(1);
    let gateway = MockGateway::new()
        .respond_with(200, verify.to_string())
        .respond_with(status, document);
    let bound = gateway.run(|| NuiteeFlights::prebook(request)).unwrap();
    assert_eq!(bound.total, 74_027);
    assert_eq!(bound.fare, Some(42_187));
    assert_eq!(bound.fare_tax, Some(31_840));
    assert_eq!(bound.journeys.len(), 2);
    assert!(bound.checkout.unwrap().token.starts_with("pi_"));

    let request = BookRequest {
        supplier_prebook: bound.supplier_prebook,
        ..ask::book_request()
    };
    let _ = gateway.run(|| NuiteeFlights::book(request));
    let sent = gateway.request_json(2);
    assert_eq!(
        sent["payment"]["transactionId"],
        "tr_cts_WaTMwICRB0h_dOfyvLvvN"
    );
}

fn read_booking(document: &str, status: u16) {
    let id = "1297abe4-57c5-4605-b8e7-5caad983c4a7";
    let gateway = MockGateway::new().respond_with(status, document);
    let read = gateway.run(|| NuiteeFlights::find(ask::find_request(Some(id))));
    let Ok(BookingLookup::Found(state)) = read else {
        panic!("{read:?}");
    };
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.airline_pnr, None);
    assert_eq!(state.total, 28_702);
    assert_eq!(state.fare, Some(23_832));
    assert_eq!(state.fare_tax, Some(4870));
}

fn read_refused(document: &str, status: u16) {
    let gateway = MockGateway::new()
        .respond_with(status, document)
        .respond_with(200, r#"{"data": [{"bookings": []}]}"#);
    let read = gateway.run(|| NuiteeFlights::find(ask::find_request(Some("x"))));
    let is_expected = match code(document) {
        47002 | 47003 => matches!(read, Ok(BookingLookup::NotFound)),
        401 | 47001 | 47006 => matches!(read, Err(ReadError::Misconfigured(_))),
        57099 => matches!(read, Err(ReadError::Failed(_))),
        _ => matches!(read, Err(ReadError::Rejected(_))),
    };
    assert!(is_expected, "{document}: {read:?}");
}

fn rates_refused(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let response = gateway.run(|| NuiteeFlights::price(example_search()));
    let is_expected = match status {
        400 => matches!(response, Err(ReadError::Rejected(_))),
        401 => matches!(response, Err(ReadError::Misconfigured(_))),
        _ => matches!(response, Err(ReadError::Failed(_))),
    };
    assert!(is_expected, "{document}: {response:?}");
}

fn verify_refused(document: &str, status: u16) {
    let gateway = ask::gateway().respond_with(status, document);
    let result = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
    let is_definite = status < 500 || matches!(code(document), 52001 | 52016 | 52019);
    assert!(
        !matches!(result, Err(ChangeError::Unknown(_))),
        "{document}"
    );
    refused_or(result.err(), is_definite, document);
}

fn prebook_refused(document: &str, status: u16) {
    let gateway = ask::responding_with("verify.json").respond_with(status, document);
    let result = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
    let is_definite = status < 500 || matches!(code(document), 53001 | 53016 | 53019);
    refused_or(result.err(), is_definite, document);
}

fn book_refused(document: &str, status: u16) {
    let gateway = ask::gateway().respond_with(status, document);
    let result = gateway.run(|| NuiteeFlights::book(ask::book_request()));
    refused_or(result.err(), status < 500, document);
}

fn refused_or(error: Option<ChangeError>, is_definite: bool, document: &str) {
    match error.unwrap() {
        ChangeError::Refused(refusal) => {
            assert!(is_definite, "{document}");
            let account = matches!(refusal.reason, RefusalReason::Account);
            let is_unauthorized =
                document.contains("credential") || document.contains("unauthorized");
            assert_eq!(
                account,
                is_unauthorized || document.contains("inactive"),
                "{document}"
            );
        }
        ChangeError::Unknown(_) | ChangeError::NotSent(_) => assert!(!is_definite, "{document}"),
        other @ ChangeError::RateLimited(_) => panic!("{document}: {other:?}"),
    }
}

fn airports(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let response = gateway.run(|| NuiteeFlights::find_airports("JFK".to_owned(), 20));
    let response = response.unwrap();
    assert!(!response.truncated);
    let airport = &response.airports[0];
    assert_eq!(airport.country.as_deref(), Some("US"));
    assert_eq!(airport.time_zone.as_deref(), Some("America/New_York"));
}

fn airports_refused(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let response = gateway.run(|| NuiteeFlights::find_airports("J".to_owned(), 20));
    reference_refused(response.map(|_| ()), document);
}

fn airline(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let airline = gateway.run(|| NuiteeFlights::read_airline("AA".to_owned()));
    let airline = airline.unwrap();
    assert_eq!(airline.alliance.as_deref(), Some("oneworld"));
    assert_eq!(airline.country.as_deref(), Some("US"));
    assert!(airline.is_active);
}

fn airline_refused(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let airline = gateway.run(|| NuiteeFlights::read_airline("AA".to_owned()));
    reference_refused(airline.map(|_| ()), document);
}

fn reference_refused(result: Result<(), ReadError>, document: &str) {
    let is_expected = match code(document) {
        401 => matches!(result, Err(ReadError::Misconfigured(_))),
        4002 => matches!(result, Err(ReadError::Rejected(_))),
        4004 => matches!(result, Err(ReadError::NotFound(_))),
        _ => matches!(result, Err(ReadError::Failed(_))),
    };
    assert!(is_expected, "{document}: {result:?}");
}
