use super::*;
use crate::bindings::exports::stopover::supplier::flight_reference;
use crate::bindings::stopover::supplier::types;
use crate::convert::tests::{
    InvalidField, NOW, assert_rejected, euros, prebook_expectation, rejected,
};
use host_domain::flight::passenger::Travellers;
use host_domain::flight::supplier_api::{Filters, RequestedJourney, Sort};
use host_domain::money::Money;
use host_domain::supplier::SupplierBookingStatus;
use host_domain::time::Timestamp;

mod currency;
mod optional;

/// Builds a request for a return trip of two adults and an infant.
pub(super) fn request() -> FlightPriceRequest {
    let leg = |origin: &str, destination: &str, date: &str| RequestedJourney {
        origin: origin.to_owned(),
        destination: destination.to_owned(),
        date: date.parse().unwrap(),
    };
    FlightPriceRequest {
        journeys: vec![
            leg("LHR", "JFK", "2027-01-10"),
            leg("JFK", "LHR", "2027-01-17"),
        ],
        travellers: Travellers {
            adults: 2,
            children: Vec::new(),
            infants: 1,
        },
        currency: Some(euros()),
        filters: Filters::default(),
        sort: Sort::TotalAmount,
        descending: false,
        limit: 2,
    }
}

pub(super) fn segment(id: &str) -> wire::Segment {
    wire::Segment {
        supplier_segment_id: id.to_owned(),
        origin: "LHR".to_owned(),
        destination: "JFK".to_owned(),
        departure_time: "2027-01-10T09:00".to_owned(),
        arrival_time: "2027-01-10T12:05".to_owned(),
        origin_time_zone: Some("Europe/London".to_owned()),
        destination_time_zone: Some("America/Gotham".to_owned()),
        marketing_flight: "BA117".to_owned(),
        marketing_carrier: "British Airways".to_owned(),
        marketing_carrier_code: "BA".to_owned(),
        marketing_carrier_logo_url: Some("javascript:alert(1)".to_owned()),
        operating_carrier: Some(" ".to_owned()),
        operating_carrier_logo_url: Some("https://img.example.com/ba.svg".to_owned()),
        duration_minutes: Some(u32::MAX),
        cabin: wire::Cabin::Economy,
        passengers: vec![wire::SegmentPassenger {
            passenger: 2,
            cabin: wire::Cabin::PremiumEconomy,
            cabin_name: None,
            checked_bags: Some(0),
            carry_on_bags: None,
        }],
    }
}

pub(super) fn journey(segments: &[&str]) -> wire::Journey {
    wire::Journey {
        supplier_journey_id: String::new(),
        origin: "LHR".to_owned(),
        destination: "JFK".to_owned(),
        direction: wire::Direction::Outbound,
        fare_brand: None,
        departure_time: "2027-01-10T09:00".to_owned(),
        arrival_time: "2027-01-10T12:05".to_owned(),
        duration_minutes: Some(485),
        stops: 0,
        segments: segments.iter().map(|id| segment(id)).collect(),
    }
}

pub(super) fn conditions() -> wire::FareConditions {
    let condition = |allowed, penalty: Option<(i64, &str)>| wire::FareCondition {
        allowed,
        penalty: penalty.map(|(amount, currency)| types::Money {
            amount,
            currency: currency.to_owned(),
        }),
    };
    wire::FareConditions {
        refund: condition(Some(true), Some((5_000, "GBP"))),
        change: condition(None, None),
    }
}

pub(super) fn offer() -> flight_pricing::Offer {
    flight_pricing::Offer {
        supplier_offer: "offer".to_owned(),
        exclusive_key: Some("request".to_owned()),
        total: 52_300,
        currency: "EUR".to_owned(),
        fare_family: Some("Light".to_owned()),
        refundable: None,
        fare_conditions: conditions(),
        documents_required: true,
        checked_bag_included: false,
        carry_on_included: true,
        journeys: vec![journey(&["s1"]), journey(&["", ""])],
        expires_at: Some(5_000),
    }
}

pub(super) fn response(offers: Vec<flight_pricing::Offer>) -> flight_pricing::PriceResponse {
    flight_pricing::PriceResponse {
        offers,
        applied: flight_pricing::AppliedFilters::CABIN | flight_pricing::AppliedFilters::SORT,
        truncated: true,
    }
}

fn read(response: flight_pricing::PriceResponse) -> ConvertResult<FlightPriceResponse> {
    price_response(response, &request(), NOW, &mut DroppedItems::default())
}

#[test]
fn valid_fare_is_converted_and_invalid_display_values_left_out() {
    let response = read(response(vec![offer()])).unwrap();
    assert!(response.truncated && response.applied.cabin && response.applied.sort);
    assert!(!response.applied.max_total);
    let offer = &response.offers[0];
    assert_eq!(offer.total, Money::new(52_300, euros()));
    let penalty = offer.fare_conditions.refund.penalty.unwrap();
    assert_eq!(penalty.to_string(), "50.00 GBP");
    let segment = &offer.journeys[0].segments[0];
    assert_eq!(segment.passengers[0].passenger, 2);
    assert_eq!(segment.origin_time_zone.as_deref(), Some("Europe/London"));
    assert_eq!(segment.destination_time_zone, None);
    assert_eq!(segment.marketing_carrier_logo_url, None);
    let logo = segment.operating_carrier_logo_url.as_deref();
    assert_eq!(logo, Some("https://img.example.com/ba.svg"));
    assert_eq!(segment.operating_carrier, None);
    assert_eq!(segment.duration_minutes, None);
}

#[test]
fn invalid_fare_is_rejected_with_its_field() {
    fn segment(offer: &mut flight_pricing::Offer) -> &mut wire::Segment {
        &mut offer.journeys[0].segments[0]
    }
    let cases: &[InvalidField<flight_pricing::Offer>] = &[
        ("offers.currency", |o| o.currency = "euro".to_owned()),
        ("offers.total", |o| o.total = 0),
        ("offers.total", |o| o.total = -1),
        ("offers.total", |o| o.total = i64::MAX),
        ("offers.supplier-offer", |o| o.supplier_offer.clear()),
        ("offers.supplier-offer", |o| {
            o.supplier_offer = "x".repeat(4_097);
        }),
        ("offers.exclusive-key", |o| {
            o.exclusive_key = Some("x".repeat(1025));
        }),
        ("offers.expires-at", |o| o.expires_at = Some(i64::MAX)),
        // Seconds that are given as milliseconds.
        ("offers.expires-at", |o| o.expires_at = Some(NOW.0)),
        ("offers.journeys", |o| o.journeys.truncate(1)),
        ("offers.journeys", |o| o.journeys.push(journey(&["s9"]))),
        ("journeys.segments", |o| o.journeys[0].segments.clear()),
        ("journeys.segments", |o| {
            o.journeys[0] = journey(&["x"; 17]);
        }),
        ("journeys.origin", |o| {
            o.journeys[0].origin = "lhr".to_owned();
        }),
        ("journeys.arrival-time", |o| {
            o.journeys[0].arrival_time = "2027-02-29T12:00".to_owned();
        }),
        ("segments.destination", |o| {
            segment(o).destination = "EGLL".to_owned();
        }),
        ("segments.departure-time", |o| {
            segment(o).departure_time = "2027-01-10T09:00:00".to_owned();
        }),
        ("segments.departure-time", |o| {
            segment(o).departure_time = "2027-01-10T24:00".to_owned();
        }),
        ("segments.arrival-time", |o| {
            segment(o).arrival_time = "2027-01-10 09:00".to_owned();
        }),
        ("segments.marketing-carrier-code", |o| {
            segment(o).marketing_carrier_code = "BAW".to_owned();
        }),
        ("segments.marketing-flight", |o| {
            segment(o).marketing_flight.clear();
        }),
        ("segments.passengers.passenger", |o| {
            segment(o).passengers[0].passenger = 3;
        }),
        ("segments.passengers", |o| {
            let one = segment(o).passengers[0].clone();
            segment(o).passengers = vec![one; 4];
        }),
    ];
    assert_rejected(offer, |offer| read(response(vec![offer])), cases);
}

#[test]
fn response_with_surplus_offers_is_rejected() {
    assert_eq!(rejected(read(response(vec![offer(); 3]))), "offers");
}

pub(super) fn bound() -> flight_booking::PrebookResponse {
    flight_booking::PrebookResponse {
        supplier_prebook: "prebook".to_owned(),
        currency: "EUR".to_owned(),
        total: 52_300,
        fare: Some(40_000),
        fare_tax: None,
        fare_conditions: conditions(),
        documents_required: false,
        journeys: vec![journey(&["s1", "s2"]), journey(&["s3", ""])],
        expires_at: None,
        checkout: None,
    }
}

#[test]
fn bound_fare_requires_offer_currency_and_unique_segments() {
    let read = |bound| {
        let dropped = &mut DroppedItems::default();
        bound_fare(bound, prebook_expectation(), 3, dropped)
    };
    let fare = read(bound()).unwrap().fare;
    assert_eq!(fare, Some(Money::new(40_000, euros())));
    let cases: &[InvalidField<flight_booking::PrebookResponse>] = &[
        ("currency", |p| p.currency = "USD".to_owned()),
        ("total", |p| p.total = 0),
        ("fare", |p| p.fare = Some(-1)),
        ("fare-tax", |p| p.fare_tax = Some(i64::MAX)),
        ("expires-at", |p| p.expires_at = Some(NOW.0)),
        ("supplier-prebook", |p| {
            p.supplier_prebook = "x".repeat(4_097);
        }),
        ("journeys", |p| p.journeys.clear()),
        ("journeys", |p| p.journeys = vec![journey(&[""]); 17]),
        ("segments.supplier-segment-id", |p| {
            p.journeys[1] = journey(&["s1"]);
        }),
    ];
    assert_rejected(bound, read, cases);
    // Only a supplier that collects the payment has a checkout.
    let with_checkout = || flight_booking::PrebookResponse {
        checkout: Some(types::Checkout {
            url: None,
            token: "token".to_owned(),
        }),
        ..bound()
    };
    assert!(read(with_checkout()).unwrap().checkout.is_some());
    let without_payment = PrebookExpectation {
        collects_payment: false,
        ..prebook_expectation()
    };
    let dropped = &mut DroppedItems::default();
    let read = bound_fare(with_checkout(), without_payment, 3, dropped);
    assert_eq!(rejected(read), "checkout");
}

pub(super) fn state() -> wire::SupplierBooking {
    let change = |id: &str| wire::AirlineChange {
        supplier_change_id: id.to_owned(),
        detected_at: 1_000,
        change_type: wire::ChangeType::ScheduleChange,
        action_required: true,
        removed_segments: vec![segment("s1")],
        added_segments: vec![segment("s2")],
        expires_at: None,
        accepted_at: None,
    };
    wire::SupplierBooking {
        status: types::BookingStatus::Confirmed,
        supplier_reference: "order".to_owned(),
        client_reference: Some("fbk_1".to_owned()),
        airline_pnr: Some(String::new()),
        currency: "USD".to_owned(),
        total: 0,
        fare: None,
        fare_tax: None,
        journeys: vec![journey(&["s1"])],
        services: vec![wire::Service {
            supplier_service_id: "bag".to_owned(),
            service_type: wire::ServiceType::Baggage,
            passenger: Some(0),
            supplier_segment_ids: vec!["s1".to_owned()],
            baggage: Some(wire::Baggage {
                baggage_type: wire::BaggageType::Checked,
                max_weight_kg: Some(1_001),
            }),
            quantity: 1,
            unit_amount: 0,
        }],
        changes: vec![change("c1"), change("c2")],
        cancellation: Some(wire::CancellationAmounts {
            currency: "USD".to_owned(),
            fee: 1,
            refund: 0,
            supplier_reference: Some(String::new()),
        }),
        extensions: Vec::new(),
    }
}

fn asked(supplier_reference: Option<&str>) -> BookingExpectation {
    asked_in(supplier_reference, None)
}

fn asked_in(supplier_reference: Option<&str>, currency: Option<Currency>) -> BookingExpectation {
    let request = FindRequest {
        client_reference: "fbk_1".to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: None,
        since: Timestamp(0),
    };
    BookingExpectation::for_find(&request, currency)
}

#[test]
fn ticket_keeps_its_currency_and_empty_values_become_none() {
    let mut dropped = DroppedItems::default();
    let read = supplier_booking(state(), &asked(Some("order")), &mut dropped).unwrap();
    assert_eq!(read.total, Money::zero(Currency::USD));
    assert_eq!(
        (
            read.status,
            read.airline_pnr,
            read.cancellation.unwrap().supplier_reference,
            read.services[0].baggage.unwrap().max_weight_kg,
        ),
        (SupplierBookingStatus::Confirmed, None, None, None)
    );
    let nameless = wire::SupplierBooking {
        client_reference: Some(String::new()),
        journeys: Vec::new(),
        ..state()
    };
    let read = supplier_booking(nameless, &asked(None), &mut dropped).unwrap();
    assert_eq!((read.client_reference, read.journeys.len()), (None, 0));
    // Unusable amounts do not make the outcome of a cancellation unknown.
    let mut unpriced = state();
    unpriced.cancellation.as_mut().unwrap().refund = -1;
    let read = supplier_booking(unpriced, &asked(None), &mut dropped).unwrap();
    assert_eq!(read.cancellation, None);
    assert!(read.has_unreadable_amounts);
    assert_eq!(dropped.count_by_field(), [("cancellation.refund", 1)]);
}

#[test]
fn ticket_without_valid_reference_currency_or_total_is_rejected() {
    let cases: &[InvalidField<wire::SupplierBooking>] = &[
        ("supplier-reference", |s| {
            s.supplier_reference = "other".to_owned();
        }),
        ("supplier-reference", |s| s.supplier_reference.clear()),
        ("client-reference", |s| {
            s.client_reference = Some("fbk_2".to_owned());
        }),
        ("currency", |s| s.currency.clear()),
        ("total", |s| s.total = -1),
    ];
    let read = |state| {
        let dropped = &mut DroppedItems::default();
        supplier_booking(state, &asked(Some("order")), dropped)
    };
    assert_rejected(state, read, cases);
}

/// A change of a ticket, the field that it makes invalid, and the numbers of journeys, services and
/// airline changes that are left.
type OddPart = (
    &'static str,
    fn(&mut wire::SupplierBooking),
    (usize, usize, usize),
);

const ODD_PARTS: &[OddPart] = &[
    ("fare", |s| s.fare = Some(-1), (1, 1, 2)),
    ("fare-tax", |s| s.fare_tax = Some(-1), (1, 1, 2)),
    (
        "journeys.segments",
        |s| s.journeys[0].segments.clear(),
        (0, 1, 2),
    ),
    (
        "segments.origin",
        |s| s.journeys[0].segments[0].origin.clear(),
        (0, 1, 2),
    ),
    (
        "segments.supplier-segment-id",
        |s| s.journeys.push(journey(&["s1"])),
        (1, 1, 2),
    ),
    (
        "segments.supplier-segment-id",
        |s| s.journeys = vec![journey(&["a", "a"])],
        (0, 1, 2),
    ),
    (
        "journeys",
        |s| s.journeys = vec![journey(&[""]); 17],
        (16, 1, 2),
    ),
    (
        "services.quantity",
        |s| s.services[0].quantity = 0,
        (1, 0, 2),
    ),
    (
        "services.unit-amount",
        |s| s.services[0].unit_amount = -1,
        (1, 0, 2),
    ),
    (
        "services.passenger",
        |s| s.services[0].passenger = Some(64),
        (1, 0, 2),
    ),
    (
        "services.supplier-segment-ids",
        |s| s.services[0].supplier_segment_ids = vec![String::new()],
        (1, 0, 2),
    ),
    (
        "services",
        |s| s.services = vec![s.services[0].clone(); 2_001],
        (1, 2_000, 2),
    ),
    (
        "changes.supplier-change-id",
        |s| s.changes[1] = s.changes[0].clone(),
        (1, 1, 1),
    ),
    (
        "changes.detected-at",
        |s| s.changes[0].detected_at = -1,
        (1, 1, 1),
    ),
    (
        "changes.added-segments",
        |s| s.changes[0].added_segments = vec![segment("s"); 17],
        (1, 1, 1),
    ),
];

#[test]
fn invalid_part_of_a_ticket_is_dropped_and_the_ticket_is_kept() {
    for (field, change, counts) in ODD_PARTS {
        let mut state = state();
        change(&mut state);
        let mut dropped = DroppedItems::default();
        let read = supplier_booking(state, &asked(Some("order")), &mut dropped).unwrap();
        assert_eq!(read.status, SupplierBookingStatus::Confirmed);
        assert_eq!(dropped.count_by_field(), [(*field, 1)]);
        let journeys = read.journeys.iter().flatten().count();
        assert_eq!(
            (journeys, read.services.len(), read.changes.len()),
            *counts,
            "{field}"
        );
        // A service that cannot be read may be the one that was bought.
        assert_eq!(read.has_unreadable_services, field.starts_with("services"));
    }
}

#[test]
fn every_ticket_call_checks_the_returned_reference() {
    let changed = BookingExpectation::for_change("fbk_1", "order", Currency::USD);
    let dropped = &mut DroppedItems::default();
    assert!(supplier_booking(state(), &changed, dropped).is_ok());
    let another = wire::SupplierBooking {
        supplier_reference: "other".to_owned(),
        ..state()
    };
    let read = supplier_booking(another, &changed, dropped);
    assert_eq!(rejected(read), "supplier-reference");
    let found = flight_booking::BookingLookup::Found(state());
    let read = super::booking_lookup(found, &asked(Some("other")), dropped);
    assert_eq!(rejected(read), "supplier-reference");
}

#[test]
fn available_service_has_positive_quantity() {
    let service = || flight_services::AvailableService {
        supplier_service_id: "bag".to_owned(),
        service_type: wire::ServiceType::Baggage,
        passenger: 0,
        supplier_segment_ids: vec!["s1".to_owned(), "s2".to_owned()],
        baggage: None,
        unit_amount: 3_500,
        max_quantity: 1,
    };
    let read = |service| {
        let available = flight_services::AvailableServices {
            currency: "EUR".to_owned(),
            services: vec![service],
        };
        available_services(available, &mut DroppedItems::default())
    };
    let sold = read(service()).unwrap();
    assert_eq!(sold[0].unit_amount, Money::new(3_500, euros()));
    let cases: &[InvalidField<flight_services::AvailableService>] = &[
        ("services.max-quantity", |s| s.max_quantity = 0),
        ("services.unit-amount", |s| s.unit_amount = -1),
        ("services.passenger", |s| s.passenger = 64),
        ("services.supplier-service-id", |s| {
            s.supplier_service_id.clear()
        }),
    ];
    assert_rejected(service, read, cases);
}

fn airport(iata_code: &str) -> flight_reference::Airport {
    flight_reference::Airport {
        supplier_airport_id: "a1".to_owned(),
        iata_code: iata_code.to_owned(),
        icao_code: Some("ZZZ".to_owned()),
        name: "Zagreb".to_owned(),
        city: None,
        state: Some(String::new()),
        country: Some("Croatia".to_owned()),
        latitude: Some(45.7),
        longitude: None,
        time_zone: Some("Europe/Zagreb".to_owned()),
    }
}

#[test]
fn airport_requires_code_and_invalid_display_values_left_out() {
    let read = |found: Vec<flight_reference::Airport>| {
        let response = flight_reference::AirportResponse {
            airports: found,
            truncated: false,
        };
        let dropped = &mut DroppedItems::default();
        airports(response, 2, dropped).map(|response| response.airports)
    };
    let zagreb = read(vec![airport("ZAG")]).unwrap().remove(0);
    let displayed = (zagreb.icao_code, zagreb.state, zagreb.country);
    assert_eq!(displayed, (None, None, None));
    assert_eq!(zagreb.latitude, None);
    assert_eq!(zagreb.time_zone.as_deref(), Some("Europe/Zagreb"));
    assert_eq!(rejected(read(vec![airport("")])), "airports.iata-code");
    assert_eq!(rejected(read(vec![airport("ZAG"); 3])), "airports");
}

#[test]
fn airline_with_different_code_is_rejected() {
    let read = |code: &str, asked: &str| {
        let found = flight_reference::Airline {
            supplier_airline_id: "a1".to_owned(),
            iata_code: code.to_owned(),
            icao_code: Some("AAL".to_owned()),
            name: "American".to_owned(),
            country: Some("US".to_owned()),
            alliance: None,
            logo_url: None,
            is_active: false,
        };
        airline(found, asked)
    };
    assert_eq!(read("AA", "AA").unwrap().icao_code.as_deref(), Some("AAL"));
    assert_eq!(rejected(read("BA", "AA")), "iata-code");
    assert_eq!(rejected(read("AAL", "AAL")), "iata-code");
}
