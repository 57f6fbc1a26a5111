//! Replay of the vendor's own documents, if they are in a folder beside the repository. Without
//! them the test passes and says that it skipped the replay.

use std::collections::BTreeMap;
use std::path::Path;

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::{
    DetailedBooking, DetailedBookingLookup, FindRequest, PrebookRequest,
};
use stopover_sdk::flight_pricing::{PassengerCounts, PriceRequest};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    InvalidResponse, Misconfigured, NotFound, RateLimited, Refused, Rejected,
};
use stopover_sdk::testing::{self, MockGateway, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{ChangeType, PassengerType, SupplierBooking};
use stopover_sdk::types::flight_details::BookingDetails;
use stopover_sdk::{DetailedFlightBooking, FlightReference};

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
        let (name, kind) = (&document.name, document.kind());
        if !NOT_READ.contains(&kind) {
            let check = CHECKS.iter().find(|(known, ..)| *known == kind);
            let (kind, check, _) = check.unwrap_or_else(|| panic!("{name}: unknown kind {kind}"));
            *read.entry(kind).or_default() += check(&document);
        }
    }
    let expected = CHECKS.map(|(kind, _, count)| (kind, count));
    assert_eq!(read, BTreeMap::from(expected));
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// Returns the passenger counts of a search that would yield these passengers.
fn passenger_counts(passengers: &Value) -> PassengerCounts {
    let mut counts = PassengerCounts {
        adults: 0,
        children: vec![],
        infants: 0,
    };
    for passenger in passengers.as_array().unwrap() {
        match passenger["age"].as_u64() {
            Some(age) => counts.children.push(u8::try_from(age).unwrap()),
            None => counts.adults += 1,
        }
    }
    counts
}

/// Runs a search whose responses are this page. Returns the number of offers.
fn search(document: &Document, made: &Value, page: &str) -> usize {
    let name = &document.name;
    let request = PriceRequest {
        passengers: passenger_counts(&made["passengers"]),
        limit: 250,
        ..ask::price_request()
    };
    let made = json!({ "data": made }).to_string();
    let mut responses = vec![made, page.to_owned()].into_iter();
    let gateway = MockGateway::new().handle_requests(move |_| {
        let body = responses.next();
        Ok(Response::new(
            200,
            body.unwrap_or(r#"{"data": []}"#.to_owned()),
        ))
    });
    let response = ask::price_of(&gateway, request).unwrap();
    for offer in &response.offers {
        assert!(offer.total > 0 && offer.expires_at.is_some(), "{name}");
        for journey in &offer.journeys {
            assert!(journey.duration_minutes.is_some(), "{name}");
            let mut segments = journey.segments.iter();
            assert!(segments.all(|one| !one.passengers.is_empty()), "{name}");
        }
    }
    response.offers.len()
}

fn offers(document: &Document) -> usize {
    let items = document.items();
    let made = json!({ "id": "orq_x", "passengers": items[0]["passengers"] });
    if document.is_list() {
        let found = search(document, &made, &document.text);
        assert_eq!(found, items.len(), "{}", document.name);
        return found;
    }
    let offer = items[0];
    let passengers = offer["passengers"].as_array().unwrap().iter();
    let passengers = passengers.map(|passenger| match passenger["age"].as_u64() {
        // The documents' offers for a child depart in 2020.
        Some(age) => ask::passenger(PassengerType::Child, "Di", &format!("{}-01-01", 2020 - age)),
        None => ask::passenger(PassengerType::Adult, "Ana", "1990-01-01"),
    });
    let request = PrebookRequest {
        supplier_offer: text(offer, "id"),
        currency: text(offer, "total_currency"),
        total: i64::MAX,
        passengers: passengers.collect(),
        ..ask::prebook_request()
    };
    let gateway = MockGateway::new().respond_with(200, &document.text);
    let bound = ask::prebook_of(&gateway, request).unwrap();
    assert!(bound.total > 0 && bound.supplier_prebook.len() < 4096);
    let page = json!({ "data": [offer] }).to_string();
    assert_eq!(search(document, &made, &page), 1, "{}", document.name);
    1
}

/// Checks offer requests. One document has only offers whose flights were removed, so that nothing of
/// it can be read.
fn offer_requests(document: &Document) -> usize {
    let mut found = 0;
    for made in document.items() {
        let offers = made["offers"].as_array().unwrap();
        let whole = offers.iter().filter(|offer| offer["slices"][0].is_object());
        let page = json!({ "data": offers, "meta": null }).to_string();
        let whole = whole.count();
        if whole == 0 {
            let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, page);
            assert_eq!(outcome(&ask::price(&gateway)), InvalidResponse);
            continue;
        }
        let read = search(document, made, &page);
        assert_eq!(read, whole, "{}", document.name);
        found += read;
    }
    found
}

fn loyalty(document: &Document) -> usize {
    let id = text(document.items()[0], "id");
    let gateway = ask::fixtures(&["offer.json"])
        .respond_with(200, document.text.replace(&id, "pas_adult"))
        .respond_with(200, ask::fixture("offer.json"));
    ask::loyal_prebook(&gateway).unwrap();
    1
}

fn order(document: &str, id: &str) -> SupplierBooking {
    detailed_order(document, id).booking
}

fn detailed_order(document: &str, id: &str) -> DetailedBooking {
    let none = r#"{"data": [], "meta": null}"#;
    let request = FindRequest {
        client_reference: "bkg_none".to_owned(),
        ..ask::find_request(Some(id), None)
    };
    let gateway = MockGateway::with_responses(&[(200, document), (200, none)]);
    match gateway.run(|| DuffelFlights::find(request)) {
        Ok(DetailedBookingLookup::Found(state)) => state,
        other => panic!("{id}: {other:?}"),
    }
}

/// Checks that documents, seats, terminals and terms of an order are in its details.
fn check_details(order: &Value, details: &BookingDetails, name: &str) {
    let count = |pointer: &str| {
        order
            .pointer(pointer)
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    };
    assert_eq!(details.documents.len(), count("/documents"), "{name}");
    let segment = &details.journeys[0].segments[0];
    let written = &order["slices"][0]["segments"][0];
    let terminal = written["origin_terminal"].as_str();
    assert_eq!(segment.origin_terminal.as_deref(), terminal, "{name}");
    let code = written["operating_carrier"]["iata_code"].as_str();
    assert_eq!(segment.operating_carrier_code.as_deref(), code, "{name}");
    let seat = written["passengers"][0]["seat"]["designator"].as_str();
    let read = segment.passengers.first().and_then(|one| one.seat.as_ref());
    assert_eq!(read.map(|seat| seat.designator.as_str()), seat, "{name}");
    let status = details.payment_status.as_ref().unwrap();
    let is_awaiting = order["payment_status"]["awaiting_payment"] == true;
    assert_eq!(status.awaiting_payment, is_awaiting, "{name}");
    let is_due = order["payment_status"]["payment_required_by"].is_string();
    assert_eq!(status.payment_required_by.is_some(), is_due, "{name}");
}

fn orders(document: &Document) -> usize {
    let name = &document.name;
    for item in document.items() {
        // A single order is read as it is, because recorded objects repeat keys.
        let raw = match document.is_list() {
            true => &json!({ "data": item }).to_string(),
            false => &document.text,
        };
        let DetailedBooking {
            booking: state,
            details,
        } = detailed_order(raw, &text(item, "id"));
        let is_canceled = state.status == BookingStatus::Canceled;
        assert_eq!(is_canceled, item["cancelled_at"].is_string(), "{name}");
        let locator = item["booking_reference"].as_str();
        assert_eq!(state.airline_pnr.as_deref(), locator, "{name}");
        assert!(state.total > 0 && !state.journeys.is_empty(), "{name}");
        let services = item["services"].as_array().map_or(0, Vec::len);
        assert_eq!(state.services.len(), services, "{name}");
        check_details(item, &details, name);
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
        let gateway = ask::fixtures(&["order.json"])
            .respond_with(200, &body)
            .respond_with(200, &body);
        let amounts = ask::cancel(&gateway).unwrap().cancellation.unwrap();
        let expected = match text(item, "refund_to").as_str() {
            "awaiting_payment" => (0, 0),
            _ => (32_460, 9_080),
        };
        assert_eq!((amounts.fee, amounts.refund), expected, "{}", document.name);
    }
    document.items().len()
}

fn services(document: &Document) -> usize {
    let passenger = &document.items()[0]["passenger_ids"][0];
    let values = [
        ("/total_currency", json!("GBP")),
        ("/passengers", json!([{ "id": passenger }])),
    ];
    let order = ask::changed("order.json", &values);
    let gateway = MockGateway::with_responses(&[(200, &order), (200, &document.text)]);
    let available = ask::list_services(&gateway).unwrap();
    let service = &available.services[1];
    assert_eq!(service.unit_amount, 2_049);
    assert_eq!(service.baggage.unwrap().max_weight_kg, Some(15));
    available.services.len()
}

fn airline_change(document: &Document) -> usize {
    let changes = ("/airline_initiated_changes", json!(document.items()));
    let raw = ask::changed("order.json", &[changes]);
    let state = order(&raw.replace("bkg_own_1", "bkg_none"), "ord_own");
    let change = &state.changes[0];
    assert_eq!(change.change_type, ChangeType::ScheduleChange);
    assert!(!change.action_required && change.accepted_at.is_some());
    let [removed, added] = [&change.removed_segments[0], &change.added_segments[0]];
    assert_eq!(removed.departure_time, "2022-06-23T03:00");
    assert_eq!(added.departure_time, "2022-06-23T04:00");
    state.changes.len()
}

/// Checks airports. Lists of airports have the form of suggestions without a type, which the adapter does
/// not read, so that they get one.
fn airports(document: &Document) -> usize {
    let mut items: Vec<Value> = document.items().into_iter().cloned().collect();
    for item in &mut items {
        if item.get("type").is_none() {
            item["type"] = json!("airport");
        }
    }
    let body = json!({ "data": items }).to_string();
    let gateway = MockGateway::new().respond_with(200, body);
    let response = gateway.run(|| DuffelFlights::find_airports("any".to_owned(), u16::MAX));
    let airports = response.unwrap().airports;
    for airport in &airports {
        assert_eq!(airport.iata_code.len(), 3, "{}", document.name);
        assert!(airport.latitude.is_some() && airport.country.is_some());
    }
    airports.len()
}

fn airlines(document: &Document) -> usize {
    for item in document.items() {
        let body = json!({ "data": [item], "meta": null }).to_string();
        let gateway = MockGateway::new().respond_with(200, body);
        let code = text(item, "iata_code");
        let airline = gateway.run(|| DuffelFlights::read_airline(code)).unwrap();
        assert_eq!(airline.name, text(item, "name"), "{}", document.name);
    }
    document.items().len()
}

/// Checks errors with the status in their `meta`, which equals the HTTP status in these documents.
fn refused(document: &Document) -> usize {
    let status = u16::try_from(document.value["meta"]["status"].as_u64().unwrap()).unwrap();
    let gateway = || MockGateway::new().respond_with(status, &document.text);
    let (read, booked) = (ask::price(&gateway()), ask::book(&gateway()));
    let expected = match status {
        400 | 401 => Misconfigured,
        404 => NotFound,
        422 => Rejected("invalid"),
        _ => RateLimited,
    };
    assert_eq!(outcome(&read), expected, "{}: {read:?}", document.name);
    let is_expected = match status {
        429 => outcome(&booked) == RateLimited,
        _ => matches!(outcome(&booked), Refused(_)),
    };
    assert!(is_expected, "{}: {booked:?}", document.name);
    1
}

/// Checks that every field that the adapter sends is in the vendor's example.
fn order_input(document: &Document) -> usize {
    let gateway = MockGateway::new();
    let _ = ask::book(&gateway);
    let sent = &gateway.request_json(0)["data"];
    let optional = ["gateway_booking_id", "gateway_passengers"];
    testing::check_known_fields(sent, &document.value["data"], &optional);
    1
}
