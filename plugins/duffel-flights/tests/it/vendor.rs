//! Replay of the vendor's own documents, if they are in a folder beside the repository. Without
//! them the test passes and says that it skipped the replay.

use std::collections::BTreeMap;
use std::path::Path;

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::flight_booking::{BookingLookup, FindRequest, PrebookRequest};
use stopover_sdk::flight_pricing::{PassengerCounts, PriceRequest};
use stopover_sdk::http::{Method, Response};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{ChangeType, Passenger, PassengerType, SupplierBooking};
use stopover_sdk::{
    ChangeError, FlightBooking, FlightCancellation, FlightPricing, FlightReference, FlightServices,
    ReadError,
};

use crate::ask;

/// A check of a document, selected by the prefix of its id. The number is the total of items that
/// the check must count.
type Check = fn(&Document) -> usize;
const CHECKS: [(&str, Check, usize); 12] = [
    ("off_", offers, 60),
    ("orq_", offer_requests, 55),
    ("pas_", loyalty, 1),
    ("ord_", orders, 10),
    ("ore_", cancellations, 5),
    ("aso_", services, 2),
    ("aic_", airline_change, 1),
    ("arp_", airports, 9_039),
    ("arl_", airlines, 1),
    ("aln_", airlines, 4),
    ("errors", refused, 7),
    ("input", order_input, 1),
];
/// Documents that are not used: payments of held orders, and webhook registrations.
const NOT_READ: [&str; 2] = ["pay_", "sev_"];

struct Document {
    name: String,
    text: String,
    value: Value,
}

impl Document {
    fn new(name: String, text: String) -> Self {
        let value = serde_json::from_str(&text).unwrap();
        let mut document = Self { name, text, value };
        if document.value.get("data").is_none() && document.value.get("errors").is_none() {
            document.text = format!(r#"{{"data": {}}}"#, document.text);
            document.value = json!({ "data": document.value.take() });
        }
        document
    }

    /// Returns the items of a list, or the single item.
    fn items(&self) -> Vec<&Value> {
        match &self.value["data"] {
            Value::Array(items) => items.iter().collect(),
            item => vec![item],
        }
    }

    fn kind(&self) -> &str {
        let id = self.items().first().and_then(|item| item["id"].as_str());
        match id {
            _ if self.value.get("errors").is_some() => "errors",
            Some(id) => &id[..4],
            None => "input",
        }
    }

    fn is_list(&self) -> bool {
        self.value["data"].is_array()
    }
}

#[test]
fn vendor_documents_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/duffel");
    let Some(documents) = testing::read_documents(&folder).unwrap() else {
        return;
    };
    let mut read: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, text) in documents {
        let document = Document::new(name, text);
        let kind = document.kind();
        if NOT_READ.contains(&kind) {
            continue;
        }
        let (kind, check, _) = CHECKS
            .iter()
            .find(|(known, ..)| *known == kind)
            .unwrap_or_else(|| panic!("{}: unknown kind {kind}", document.name));
        *read.entry(kind).or_default() += check(&document);
    }
    let expected: BTreeMap<&str, usize> = CHECKS
        .iter()
        .map(|(kind, _, count)| (*kind, *count))
        .collect();
    assert_eq!(read, expected);
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the passenger counts of a search that would yield these passengers.
fn passenger_counts(passengers: &Value) -> PassengerCounts {
    let mut passenger_counts = PassengerCounts {
        adults: 0,
        children: vec![],
        infants: 0,
    };
    for passenger in passengers.as_array().unwrap() {
        match passenger["age"].as_u64() {
            Some(age) => passenger_counts.children.push(u8::try_from(age).unwrap()),
            None => passenger_counts.adults += 1,
        }
    }
    passenger_counts
}

/// Runs a search whose responses are this page. Returns the number of offers.
fn search(document: &Document, made: &Value, page: String) -> usize {
    let (made, mut pages) = (made.clone(), vec![page].into_iter());
    let passenger_counts = passenger_counts(&made["passengers"]);
    let gateway = MockGateway::new().handle_requests(move |request| {
        let body = match request.method {
            Method::Post => json!({ "data": made }).to_string(),
            _ => pages.next().unwrap_or(r#"{"data": []}"#.to_owned()),
        };
        Ok(Response::new(200, body))
    });
    let request = PriceRequest {
        passengers: passenger_counts,
        limit: 250,
        ..ask::price_request()
    };
    let response = gateway.run(|| DuffelFlights::price(request)).unwrap();
    for offer in &response.offers {
        assert!(
            offer.total > 0 && offer.expires_at.is_some(),
            "{}",
            document.name
        );
        for journey in &offer.journeys {
            assert!(journey.duration_minutes.is_some(), "{}", document.name);
            assert!(
                journey
                    .segments
                    .iter()
                    .all(|one| !one.passengers.is_empty())
            );
        }
    }
    response.offers.len()
}

fn offers(document: &Document) -> usize {
    let items = document.items();
    let made = json!({ "id": "orq_x", "passengers": items[0]["passengers"] });
    if document.is_list() {
        let found = search(document, &made, document.text.clone());
        assert_eq!(found, items.len(), "{}", document.name);
        return found;
    }
    let offer = items[0];
    let currency = text(offer, "/total_currency").to_owned();
    let passengers: Vec<Passenger> = offer["passengers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|passenger| match passenger["age"].as_u64() {
            // The documents' offers for a child depart in 2020.
            Some(age) => {
                ask::passenger(PassengerType::Child, "Di", &format!("{}-01-01", 2020 - age))
            }
            None => ask::passenger(PassengerType::Adult, "Ana", "1990-01-01"),
        })
        .collect();
    let gateway = MockGateway::new().respond_with(200, &document.text);
    let request = PrebookRequest {
        supplier_offer: text(offer, "/id").to_owned(),
        currency,
        total: i64::MAX,
        passengers,
        ..ask::prebook_request()
    };
    let bound = gateway.run(|| DuffelFlights::prebook(request)).unwrap();
    assert!(
        bound.total > 0 && bound.supplier_prebook.len() < 4096,
        "{}",
        document.name
    );
    assert_eq!(
        search(document, &made, format!(r#"{{"data": [{offer}]}}"#)),
        1
    );
    1
}

/// Checks offer requests. One document has offers whose flights were removed; the adapter leaves
/// those out.
fn offer_requests(document: &Document) -> usize {
    let mut found = 0;
    for made in document.items() {
        let offers = made["offers"].as_array().unwrap();
        let whole = offers.iter().filter(|offer| offer["slices"][0].is_object());
        let page = json!({ "data": offers, "meta": null }).to_string();
        let read = search(document, made, page);
        assert_eq!(read, whole.count(), "{}", document.name);
        found += read;
    }
    found
}

fn loyalty(document: &Document) -> usize {
    let gateway = MockGateway::new()
        .respond_with(200, ask::fixture("offer.json"))
        .respond_with(200, &document.text)
        .respond_with(200, ask::fixture("offer.json"));
    let request = PrebookRequest {
        passengers: ask::loyal_passengers(),
        ..ask::prebook_request()
    };
    gateway.run(|| DuffelFlights::prebook(request)).unwrap();
    1
}

fn order(document: &str, id: &str) -> SupplierBooking {
    let gateway = MockGateway::new()
        .respond_with(200, document)
        .respond_with(200, r#"{"data": [], "meta": null}"#);
    let request = FindRequest {
        client_reference: "bkg_none".to_owned(),
        supplier_reference: Some(id.to_owned()),
        supplier_prebook: None,
        since: 0,
    };
    match gateway.run(|| DuffelFlights::find(request)) {
        Ok(BookingLookup::Found(state)) => state,
        other => panic!("{id}: {other:?}"),
    }
}

fn orders(document: &Document) -> usize {
    for item in document.items() {
        let raw = if document.is_list() {
            json!({ "data": item }).to_string()
        } else {
            document.text.clone()
        };
        let state = order(&raw, text(item, "/id"));
        let is_canceled = item["cancelled_at"].is_string();
        assert_eq!(
            state.status == BookingStatus::Canceled,
            is_canceled,
            "{}",
            document.name
        );
        assert_eq!(
            state.airline_pnr.as_deref(),
            item["booking_reference"].as_str()
        );
        assert!(
            state.total > 0 && !state.journeys.is_empty(),
            "{}",
            document.name
        );
        let services = item["services"].as_array().map_or(0, Vec::len);
        assert_eq!(state.services.len(), services, "{}", document.name);
    }
    document.items().len()
}

/// Cancels the fixtures' order with the vendor's cancellation.
fn cancellations(document: &Document) -> usize {
    for item in document.items() {
        let mut cancellation = item.clone();
        cancellation["order_id"] = json!("ord_own");
        cancellation["refund_currency"] = json!("EUR");
        cancellation["confirmed_at"] = json!("2027-05-02T10:00:05Z");
        let body = json!({ "data": cancellation }).to_string();
        let gateway = MockGateway::new()
            .respond_with(200, ask::fixture("order.json"))
            .respond_with(200, &body)
            .respond_with(200, &body);
        let state = gateway
            .run(|| DuffelFlights::cancel(ask::cancel_request()))
            .unwrap();
        let amounts = state.cancellation.unwrap();
        let expected = match text(item, "/refund_to") {
            "awaiting_payment" => (0, 0),
            _ => (32_460, 9_080),
        };
        assert_eq!((amounts.fee, amounts.refund), expected, "{}", document.name);
    }
    document.items().len()
}

fn services(document: &Document) -> usize {
    let passenger = &document.items()[0]["passenger_ids"][0];
    let order = ask::changed(
        "order.json",
        &[
            ("/total_currency", json!("GBP")),
            ("/passengers", json!([{ "id": passenger }])),
        ],
    );
    let gateway = MockGateway::new()
        .respond_with(200, order)
        .respond_with(200, &document.text);
    let available = gateway
        .run(|| DuffelFlights::list_services(ask::list_request()))
        .unwrap();
    assert_eq!(available.services[1].unit_amount, 2_049);
    assert_eq!(
        available.services[1].baggage.unwrap().max_weight_kg,
        Some(15)
    );
    available.services.len()
}

fn airline_change(document: &Document) -> usize {
    let raw = ask::changed(
        "order.json",
        &[("/airline_initiated_changes", json!(document.items()))],
    );
    let state = order(&raw.replace("bkg_own_1", "bkg_none"), "ord_own");
    let change = &state.changes[0];
    assert_eq!(change.change_type, ChangeType::ScheduleChange);
    assert!(!change.action_required && change.accepted_at.is_some());
    assert_eq!(
        change.removed_segments[0].departure_time,
        "2022-06-23T03:00"
    );
    assert_eq!(change.added_segments[0].departure_time, "2022-06-23T04:00");
    state.changes.len()
}

/// Checks airports. Lists of airports have the form of suggestions without a type.
fn airports(document: &Document) -> usize {
    let body = if document.is_list() {
        document.text.clone()
    } else {
        format!(r#"{{"data": [{}]}}"#, document.value["data"])
    };
    let gateway = MockGateway::new().respond_with(200, body);
    let response = gateway
        .run(|| DuffelFlights::find_airports("any".to_owned(), u16::MAX))
        .unwrap();
    let airports = &response.airports;
    assert!(
        airports.iter().all(|one| one.iata_code.len() == 3),
        "{}",
        document.name
    );
    assert!(
        airports
            .iter()
            .all(|one| one.latitude.is_some() && one.country.is_some())
    );
    airports.len()
}

fn airlines(document: &Document) -> usize {
    for item in document.items() {
        let body = json!({ "data": [item], "meta": null }).to_string();
        let gateway = MockGateway::new().respond_with(200, body);
        let code = text(item, "/iata_code").to_owned();
        let airline = gateway.run(|| DuffelFlights::read_airline(code)).unwrap();
        assert_eq!(airline.name, text(item, "/name"), "{}", document.name);
    }
    document.items().len()
}

/// Checks errors with the status in their `meta`, which equals the HTTP status in these documents.
fn refused(document: &Document) -> usize {
    let status = u16::try_from(document.value["meta"]["status"].as_u64().unwrap()).unwrap();
    let gateway = || MockGateway::new().respond_with(status, &document.text);
    let read = gateway().run(|| DuffelFlights::price(ask::price_request()));
    let booked = gateway().run(|| DuffelFlights::book(ask::book_request()));
    let is_as_expected = match status {
        400 | 401 => matches!(read, Err(ReadError::Misconfigured(_))),
        404 => matches!(read, Err(ReadError::NotFound(_))),
        422 => matches!(read, Err(ReadError::Rejected(_))),
        429 => matches!(read, Err(ReadError::RateLimited(None))),
        _ => false,
    };
    assert!(is_as_expected, "{}: {read:?}", document.name);
    match (status, booked) {
        (429, Err(ChangeError::RateLimited(_))) | (_, Err(ChangeError::Refused(_))) => 1,
        (_, other) => panic!("{}: {other:?}", document.name),
    }
}

/// Checks that every field that the adapter sends is in the vendor's example.
fn order_input(document: &Document) -> usize {
    let gateway = MockGateway::new();
    let _ = gateway.run(|| DuffelFlights::book(ask::book_request()));
    let sent = ask::data(&gateway.requests()[0]);
    let known = &document.value["data"];
    for pointer in [
        "",
        "/payments/0",
        "/passengers/0",
        "/passengers/0/identity_documents/0",
    ] {
        for name in sent.pointer(pointer).unwrap().as_object().unwrap().keys() {
            let known = known.pointer(pointer).and_then(|known| known.get(name));
            assert!(known.is_some(), "{pointer}/{name}");
        }
    }
    1
}
