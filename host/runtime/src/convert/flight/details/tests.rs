use super::*;
use crate::bindings::exports::stopover::supplier::flight_booking::PrebookResponse as BoundFare;
use crate::bindings::stopover::supplier::{flight_types, types};
use crate::convert::flight::tests::{
    bound, conditions, journey as booked_journey, offer, request, state,
};
use crate::convert::tests::{NOW, euros, prebook_expectation};
use host_domain::supplier::FindRequest;

fn no_price() -> wire::PriceBreakdown {
    wire::PriceBreakdown {
        fare: None,
        fare_tax: None,
        fee: None,
    }
}

fn seat() -> wire::Seat {
    wire::Seat {
        designator: "14B".to_owned(),
        name: Some("Exit row seat".to_owned()),
        position: Some(wire::SeatPosition::Aisle),
        disclosures: vec!["No children".to_owned(); 11],
    }
}

fn bag() -> wire::Bag {
    wire::Bag {
        baggage_type: flight_types::BaggageType::Checked,
        pieces: Some(2),
        max_weight_kg: Some(23),
        max_length_cm: Some(1_001),
        max_width_cm: None,
        max_height_cm: None,
    }
}

/// Details of a segment whose only passenger is the third one.
fn segment() -> wire::SegmentDetails {
    wire::SegmentDetails {
        origin_terminal: Some("5".to_owned()),
        destination_terminal: Some(" ".to_owned()),
        operating_carrier_code: Some("AA".to_owned()),
        operating_flight: Some("AA6132".to_owned()),
        aircraft: Some("Airbus A380".to_owned()),
        aircraft_code: Some("380".to_owned()),
        technical_stops: vec![wire::Stop {
            airport: "KEF".to_owned(),
            arrival_time: Some("2027-01-10T10:30".to_owned()),
            departure_time: None,
        }],
        passengers: vec![wire::SegmentPassengerDetails {
            passenger: 2,
            fare_basis_code: Some("Y20LGTN2".to_owned()),
            seat: Some(seat()),
            baggage: vec![bag()],
        }],
    }
}

fn journey(segments: usize) -> wire::JourneyDetails {
    wire::JourneyDetails {
        fare_conditions: Some(conditions()),
        segments: vec![segment(); segments],
    }
}

fn terms() -> wire::PaymentTerms {
    wire::PaymentTerms {
        instant_payment_required: false,
        payment_required_by: Some(5_000),
        price_guaranteed_until: None,
    }
}

/// Details of the two journeys of `offer`, the second of which has two segments.
fn offer_details() -> wire::OfferDetails {
    wire::OfferDetails {
        price: wire::PriceBreakdown {
            fee: Some(1_200),
            ..no_price()
        },
        payment_terms: Some(terms()),
        journeys: vec![journey(1), journey(2)],
    }
}

#[test]
fn invalid_detail_of_an_offer_is_dropped_and_the_others_are_kept() {
    let read = |details: wire::OfferDetails| {
        let found = flight_pricing::DetailedOffer {
            offer: offer(),
            details,
        };
        let response = flight_pricing::DetailedPriceResponse {
            offers: vec![found],
            applied: flight_pricing::AppliedFilters::empty(),
            truncated: false,
        };
        let mut dropped = DroppedItems::default();
        let read = detailed_price_response(response, &request(), NOW, &mut dropped).unwrap();
        (read.offers[0].clone(), dropped.count_by_field())
    };
    let (complete, dropped) = read(offer_details());
    assert_eq!(dropped, []);
    let fee = Money::new(1_200, euros());
    assert_eq!(complete.details.fee, Some(fee));
    let terms = complete.details.payment_terms.unwrap();
    assert_eq!(terms.payment_required_by, Some(Timestamp(5_000)));
    let conditions = complete.journeys[1].fare_conditions.unwrap();
    assert_eq!(conditions.refund.allowed, Some(true));
    let segment = &complete.journeys[1].segments[1];
    assert_eq!(segment.details.origin_terminal.as_deref(), Some("5"));
    assert_eq!(segment.details.destination_terminal, None);
    assert_eq!(segment.details.technical_stops[0].airport, "KEF");
    let passenger = &segment.passengers[0].details;
    assert_eq!(passenger.baggage[0].max_length_cm, None);
    assert_eq!(passenger.seat.as_ref().unwrap().disclosures.len(), 10);

    type Case = (&'static str, fn(&mut wire::OfferDetails));
    let cases: &[Case] = &[
        ("details.price.fee", |d| d.price.fee = Some(-1)),
        ("details.payment-required-by", |d| {
            d.payment_terms.as_mut().unwrap().payment_required_by = Some(-1);
        }),
        ("details.journeys", |d| d.journeys.truncate(1)),
        ("fare-conditions.refund.penalty", |d| {
            let conditions = d.journeys[0].fare_conditions.as_mut().unwrap();
            conditions.refund.penalty.as_mut().unwrap().amount = -1;
        }),
        ("details.segments", |d| d.journeys[1].segments.truncate(1)),
        ("details.segments.passengers.passenger", |d| {
            d.journeys[0].segments[0].passengers[0].passenger = 1;
        }),
        ("details.seat.designator", |d| {
            let seat = &mut d.journeys[0].segments[0].passengers[0].seat;
            seat.as_mut().unwrap().designator.clear();
        }),
        ("details.segments.passengers.baggage", |d| {
            d.journeys[0].segments[0].passengers[0].baggage = vec![bag(); 11];
        }),
        ("details.technical-stops.airport", |d| {
            d.journeys[0].segments[0].technical_stops[0].airport.clear();
        }),
        ("details.technical-stops.time", |d| {
            d.journeys[0].segments[0].technical_stops[0].departure_time = Some("10:30".to_owned());
        }),
    ];
    for (field, change) in cases {
        let mut details = offer_details();
        change(&mut details);
        let (found, dropped) = read(details);
        assert_eq!(dropped, [(*field, 1)]);
        assert_eq!(found.total, complete.total);
        assert!(found.details.payment_terms.is_some(), "{field}");
    }
}

#[test]
fn details_of_passengers_above_the_maximum_are_left_out() {
    let mut dropped = DroppedItems::default();
    let offer = crate::convert::flight::offer(offer(), &request(), NOW, &mut dropped);
    let mut journeys = offer.unwrap().journeys;
    journeys.truncate(1);
    let segments = &mut journeys[0].segments;
    *segments = vec![segments[0].clone(); 17];
    let mut details = journey(17);
    for segment in &mut details.segments {
        segment.passengers = vec![segment.passengers[0].clone(); 64];
    }
    let journey = journeys.iter_mut().map(Some);
    add_journey_details(vec![details], journey, &mut dropped);
    assert_eq!(
        dropped.count_by_field(),
        [("details.segments.passengers", 2)]
    );
    let passengers = |at: usize| &journeys[0].segments[at].passengers[0].details;
    assert!(passengers(15).seat.is_some());
    assert_eq!(*passengers(16), SegmentPassengerDetails::default());
}

fn service(designator: &str) -> wire::AttachableService {
    wire::AttachableService {
        supplier_service_id: format!("seat-{designator}"),
        service_type: flight_types::ServiceType::Seat,
        name: None,
        passengers: vec![0],
        supplier_segment_ids: vec!["s1".to_owned()],
        bag: None,
        seat: Some(wire::Seat {
            designator: designator.to_owned(),
            ..seat()
        }),
        unit_amount: types::Money {
            amount: 2_183,
            currency: "USD".to_owned(),
        },
        max_quantity: Some(0),
    }
}

#[test]
fn prebook_has_offered_services_and_the_parts_of_its_price() {
    let mut unpriced = service("7B");
    unpriced.unit_amount.currency.clear();
    let mut of_a_stranger = service("7C");
    of_a_stranger.passengers = vec![3];
    let response = flight_booking::DetailedPrebookResponse {
        prebook: bound(),
        details: wire::PrebookDetails {
            price: wire::PriceBreakdown {
                fare: Some(1),
                fare_tax: Some(11_100),
                fee: Some(1_200),
            },
            payment_terms: Some(terms()),
            journeys: vec![journey(2), journey(2)],
            services: vec![service("7A"), unpriced, service(""), of_a_stranger],
        },
    };
    let mut dropped = DroppedItems::default();
    let expected = prebook_expectation();
    let read = detailed_prebook_response(response, expected, 3, &mut dropped).unwrap();
    let amounts = [read.fare, read.fare_tax, read.details.fee];
    let amounts = amounts.map(|amount| amount.unwrap().minor);
    assert_eq!(amounts, [40_000, 11_100, 1_200]);
    let services = &read.details.attachable_services;
    assert_eq!(services.len(), 1);
    assert_eq!(services[0].unit_amount.currency, Currency::USD);
    assert_eq!(services[0].max_quantity, None);
    assert_eq!(dropped.len(), 3);
    assert!(read.journeys[1].fare_conditions.is_some());
}

/// Together, the texts of these 32 segments would have more than 2 MB.
#[test]
fn texts_of_a_large_prebook_are_shortened_and_nothing_is_left_out() {
    let largest = "\u{1}".repeat(300);
    let logo = format!("https://img.example.com/{}", "x".repeat(2_000));
    let ids: Vec<String> = (0..16).map(|id| format!("s{id}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut large = booked_journey(&ids);
    for segment in &mut large.segments {
        segment.marketing_carrier_logo_url = Some(logo.clone());
    }
    let mut detailed = journey(ids.len());
    for segment in &mut detailed.segments {
        segment.aircraft = Some(largest.clone());
        let seat = segment.passengers[0].seat.as_mut().unwrap();
        seat.disclosures = vec![largest.clone(); 10];
        seat.name = Some(largest.clone());
    }
    let mut other = large.clone();
    for segment in &mut other.segments {
        segment.supplier_segment_id.clear();
    }
    let response = flight_booking::DetailedPrebookResponse {
        prebook: BoundFare {
            journeys: vec![large, other],
            ..bound()
        },
        details: wire::PrebookDetails {
            price: no_price(),
            payment_terms: None,
            journeys: vec![detailed; 2],
            services: Vec::new(),
        },
    };
    let mut dropped = DroppedItems::default();
    let expected = prebook_expectation();
    let read = detailed_prebook_response(response, expected, 3, &mut dropped).unwrap();
    assert_eq!(dropped.count_by_field(), [("display-texts", 1)]);
    let bytes = serde_json::to_string(&read.journeys).unwrap().len();
    assert!(bytes < 192 << 10, "{bytes} bytes");
    for segment in read.journeys.iter().flat_map(|journey| &journey.segments) {
        assert_eq!(segment.marketing_carrier, "British Airways");
        assert_eq!(segment.marketing_carrier_logo_url, None);
        assert!(segment.operating_carrier_logo_url.is_some());
        let seat = segment.passengers[0].details.seat.as_ref().unwrap();
        assert_eq!(
            (seat.designator.as_str(), seat.disclosures.len()),
            ("14B", 10)
        );
    }
}

fn find_request() -> FindRequest {
    FindRequest {
        client_reference: "fbk_1".to_owned(),
        supplier_reference: Some("order".to_owned()),
        supplier_prebook: None,
        since: Timestamp(0),
    }
}

#[test]
fn booking_has_documents_and_locators_and_drops_invalid_ones() {
    let document = |number: &str, passenger| wire::TicketDocument {
        document_type: wire::TicketDocumentType::ElectronicTicket,
        number: number.to_owned(),
        passengers: vec![passenger],
    };
    let locator = |locator: &str| wire::RecordLocator {
        locator: locator.to_owned(),
        system: wire::LocatorSystem::DistributionSystem,
        carrier_code: Some("1G".to_owned()),
        carrier: None,
    };
    let details = |id: &str| wire::ServiceDetails {
        supplier_service_id: id.to_owned(),
        name: Some("Extra bag".to_owned()),
        seat: None,
        bag: Some(bag()),
    };
    let found = flight_booking::DetailedBooking {
        booking: state(),
        details: wire::BookingDetails {
            price: wire::PriceBreakdown {
                fee: Some(500),
                ..no_price()
            },
            payment_status: Some(wire::PaymentStatus {
                awaiting_payment: true,
                payment_required_by: Some(-1),
                price_guaranteed_until: Some(5_000),
            }),
            record_locators: vec![locator("OQTYXX"), locator("")],
            documents: vec![document("125", 0), document("", 0), document("126", 64)],
            journeys: vec![journey(1)],
            services: vec![details("bag"), details("another"), details("bag")],
            services_left_out: true,
        },
    };
    let expected = BookingExpectation::for_find(&find_request(), Some(Currency::USD));
    let mut dropped = DroppedItems::default();
    let lookup = flight_booking::DetailedBookingLookup::Found(found);
    let read = detailed_booking_lookup(lookup, &expected, &mut dropped).unwrap();
    let BookingLookup::Found(read) = read else {
        panic!("the booking is found")
    };
    assert!(read.has_unreadable_services);
    let details = &read.details;
    assert_eq!(details.fee, Some(Money::new(500, Currency::USD)));
    let status = details.payment_status.unwrap();
    assert_eq!(status.payment_required_by, None);
    assert_eq!(status.price_guaranteed_until, Some(Timestamp(5_000)));
    assert_eq!(details.record_locators.len(), 1);
    let numbers = details.documents.iter().map(|document| &document.number);
    assert!(numbers.eq(["125"]));
    assert_eq!(details.services.len(), 1);
    let journey = read.journeys[0].as_ref().unwrap();
    assert!(journey.segments[0].passengers[0].details.seat.is_some());
    let mut fields: Vec<_> = dropped.count_by_field();
    fields.sort_unstable();
    let expected = [
        ("details.documents.number", 1),
        ("details.documents.passengers", 1),
        ("details.payment-required-by", 1),
        ("details.record-locators.locator", 1),
        ("details.services.supplier-service-id", 2),
    ];
    assert_eq!(fields, expected);
}
