//! Replay of the vendor's own examples, if they are in a folder beside the repository. Without them
//! the test passes and says that it skipped the replay.

use std::path::Path;

use serde_json::Value;
use stopover_sdk::flight_booking::{BookRequest, BookingLookup, PrebookRequest};
use stopover_sdk::flight_pricing::{PassengerCounts, PriceRequest, PriceResponse};
use stopover_sdk::testing::{self, DocumentCheck, MockGateway};
use stopover_sdk::types::BookingStatus;

use crate::ask;
use crate::fault::{Call, check_listed};

/// Every flight document that the adapter may receive, selected by the prefix of its name.
const CHECKS: [(&str, DocumentCheck); 18] = [
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
    ("GET_data_flights_airports__", reference_refused),
    ("GET_data_flights_airlines_iatas_iataCode__200", airline),
    (
        "GET_data_flights_airlines_iatas_iataCode__",
        reference_refused,
    ),
    ("GET_data_flights_airlines__", reference_refused),
];

#[test]
fn vendor_examples_are_read() {
    let folder = "../../../shared/fixtures/liteapi/extracted/flights";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    testing::check_documents(&folder, &CHECKS).unwrap();
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

fn example_price(document: &str, status: u16) -> PriceResponse {
    let gateway = MockGateway::with_responses(&[(status, document)]);
    let response = ask::price_with(&gateway, example_search());
    response.unwrap()
}

fn rates(document: &str, status: u16) {
    let response = example_price(document, status);
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
    assert_eq!(
        (passenger.checked_bags, passenger.carry_on_bags),
        (Some(0), Some(1))
    );

    let event = format!("event: result\ndata: {}\n\n", document.replace('\n', " "));
    assert_eq!(example_price(&event, 200), response);
}

/// Checks that every field that the adapter sends is in the vendor's example or in `optional`.
fn check_request(gateway: &MockGateway, index: usize, document: &str, optional: &[&str]) {
    let example = serde_json::from_str(document).unwrap();
    testing::check_known_fields(&gateway.request_json(index), &example, optional);
}

fn rates_request(document: &str, _: u16) {
    let gateway = ask::gateway();
    let _ = ask::price(&gateway);
    check_request(&gateway, 0, document, &["childrenAges"]);
}

fn verify_request(document: &str, _: u16) {
    let gateway = ask::gateway();
    let _ = ask::prebook(&gateway);
    check_request(&gateway, 0, document, &[]);
}

fn prebook_request(document: &str, _: u16) {
    let gateway = ask::fixtures(&["verify.json"]);
    let _ = ask::prebook(&gateway);
    check_request(&gateway, 1, document, &[]);
}

fn book_request(document: &str, _: u16) {
    let gateway = ask::gateway();
    let _ = ask::book(&gateway);
    check_request(&gateway, 0, document, &["customTags", "transactionId"]);
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
        let origin = text(&segment["originCode"]);
        let destination = text(&segment["destinationCode"]);
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
    let gateway = MockGateway::with_responses(&[(200, &verify.to_string()), (status, document)]);
    let bound = ask::prebook_with(&gateway, request).unwrap();
    assert_eq!(bound.total, 74_027);
    assert_eq!((bound.fare, bound.fare_tax), (Some(42_187), Some(31_840)));
    assert_eq!(bound.journeys.len(), 2);
    assert!(bound.checkout.unwrap().token.starts_with("pi_"));

    let request = BookRequest {
        supplier_prebook: bound.supplier_prebook,
        ..ask::book_request()
    };
    let _ = ask::book_with(&gateway, request);
    let payment = &gateway.request_json(2)["payment"];
    assert_eq!(payment["transactionId"], "tr_cts_WaTMwICRB0h_dOfyvLvvN");
}

fn read_booking(document: &str, status: u16) {
    let id = "1297abe4-57c5-4605-b8e7-5caad983c4a7";
    let read = ask::find(&ask::responding(&[(status, document)]), Some(id));
    let Ok(BookingLookup::Found(state)) = read else {
        panic!("{read:?}");
    };
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.airline_pnr, None);
    assert_eq!(state.total, 28_702);
    assert_eq!((state.fare, state.fare_tax), (Some(23_832), Some(4870)));
}

fn rates_refused(document: &str, status: u16) {
    check_listed(Call::Search, status, document);
}

fn verify_refused(document: &str, status: u16) {
    check_listed(Call::Verify, status, document);
}

fn prebook_refused(document: &str, status: u16) {
    check_listed(Call::Prebook, status, document);
}

fn book_refused(document: &str, status: u16) {
    check_listed(Call::Book, status, document);
}

fn read_refused(document: &str, status: u16) {
    check_listed(Call::Find, status, document);
}

fn reference_refused(document: &str, status: u16) {
    check_listed(Call::Airline, status, document);
}

fn airports(document: &str, status: u16) {
    let response = ask::airports(&ask::responding(&[(status, document)]), 20).unwrap();
    assert!(!response.truncated);
    let airport = &response.airports[0];
    assert_eq!(airport.country.as_deref(), Some("US"));
    assert_eq!(airport.time_zone.as_deref(), Some("America/New_York"));
}

fn airline(document: &str, status: u16) {
    let airline = ask::airline(&ask::responding(&[(status, document)]), "AA").unwrap();
    assert_eq!(airline.alliance.as_deref(), Some("oneworld"));
    assert_eq!(airline.country.as_deref(), Some("US"));
    assert!(airline.is_active);
}
