//! Details for the traveller. A detail that cannot be read costs neither its offer nor its booking.

use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::DetailedBooking;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::flight::BaggageType;
use stopover_sdk::types::flight_details::{
    BookingDetails, JourneyDetails, LocatorSystem, OfferDetails, PaymentTerms, ServiceDetails,
    TicketDocumentType,
};

use crate::ask;

const FIRST: &str = "/slices/0/segments/0";

/// Returns values of the first segment, by their names.
fn of_segment(values: &[(&str, Value)]) -> Vec<(String, Value)> {
    let named = values
        .iter()
        .map(|(name, value)| (format!("{FIRST}/{name}"), value.clone()));
    named.collect()
}

/// Returns a fixture with values replaced.
fn changed(name: &str, values: &[(String, Value)]) -> String {
    let values: Vec<(&str, Value)> = values
        .iter()
        .map(|(pointer, value)| (pointer.as_str(), value.clone()))
        .collect();
    ask::changed(name, &values)
}

/// Returns what offers and orders state of a segment.
fn segment_values() -> Vec<(String, Value)> {
    let stop = json!({
        "id": "sto_1", "duration": "PT1H", "airport": { "iata_code": "OLS" },
        "arriving_at": "2027-06-01T09:30:00", "departing_at": "2027-06-01T10:30:00",
    });
    of_segment(&[
        ("origin_terminal", json!("2")),
        ("destination_terminal", json!("B")),
        (
            "aircraft",
            json!({ "id": "arc_1", "iata_code": "32N", "name": "Airbus A320neo" }),
        ),
        ("operating_carrier/iata_code", json!("PA")),
        ("operating_carrier_flight_number", json!("0871")),
        ("stops", json!([stop])),
        ("passengers/1/fare_basis_code", json!("B7AHZNN1")),
    ])
}

fn check_segment(journeys: &[JourneyDetails]) {
    let segment = &journeys[0].segments[0];
    assert_eq!(segment.origin_terminal.as_deref(), Some("2"));
    assert_eq!(segment.destination_terminal.as_deref(), Some("B"));
    assert_eq!(segment.aircraft.as_deref(), Some("Airbus A320neo"));
    assert_eq!(segment.aircraft_code.as_deref(), Some("32N"));
    assert_eq!(segment.operating_carrier_code.as_deref(), Some("PA"));
    assert_eq!(segment.operating_flight.as_deref(), Some("PA0871"));
    let [stop] = segment.technical_stops.as_slice() else {
        panic!("{:?}", segment.technical_stops);
    };
    assert_eq!(stop.airport, "OLS");
    assert_eq!(stop.arrival_time.as_deref(), Some("2027-06-01T09:30"));
    assert_eq!(stop.departure_time.as_deref(), Some("2027-06-01T10:30"));
    // The document lists the child before the adult, who is the first passenger.
    let adult = segment.passengers.iter().find(|one| one.passenger == 0);
    let code = adult.and_then(|adult| adult.fare_basis_code.as_deref());
    assert_eq!(code, Some("B7AHZNN1"));
    let sizes = journeys.iter().map(|journey| journey.segments.len());
    assert_eq!(sizes.collect::<Vec<_>>(), [2, 1]);
}

fn offer_details(document: &str) -> OfferDetails {
    let offer: Value = serde_json::from_str(document).unwrap();
    let page = json!({ "data": [offer["data"]], "meta": null }).to_string();
    let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, page);
    let mut response = ask::detailed_price(&gateway, ask::price_request()).unwrap();
    response.offers.remove(0).details
}

#[test]
fn offer_and_prebook_state_segments_terms_and_conditions_of_each_slice() {
    let requirements = json!({
        "requires_instant_payment": false,
        "payment_required_by": "2027-05-04T10:00:00Z",
        "price_guarantee_expires_at": "2027-05-03T10:00:00Z",
    });
    let condition =
        json!({ "allowed": true, "penalty_amount": "30.00", "penalty_currency": "GBP" });
    let mut values = segment_values();
    values.push(("/payment_requirements".to_owned(), requirements));
    let conditions = json!({ "change_before_departure": condition, "priority_boarding": true });
    values.push(("/slices/0/conditions".to_owned(), conditions));
    let offer = changed("offer.json", &values);
    let details = offer_details(&offer);
    let price = (
        details.price.fare,
        details.price.fare_tax,
        details.price.fee,
    );
    assert_eq!(price, (Some(30_000), Some(6_040), None));
    let terms = PaymentTerms {
        instant_payment_required: false,
        payment_required_by: Some(1_809_424_800_000),
        price_guaranteed_until: Some(1_809_338_400_000),
    };
    let gateway = MockGateway::new().respond_with(200, &offer);
    let prebook = ask::detailed_prebook(&gateway).unwrap().details;
    for (terms_of, journeys) in [
        (details.payment_terms, details.journeys),
        (prebook.payment_terms, prebook.journeys),
    ] {
        assert_eq!(terms_of.as_ref(), Some(&terms));
        check_segment(&journeys);
        let conditions = journeys[0].fare_conditions.as_ref().unwrap();
        assert_eq!(conditions.change.allowed, Some(true));
        let penalty = conditions.change.penalty.as_ref().unwrap();
        assert_eq!((penalty.amount, penalty.currency.as_str()), (3_000, "GBP"));
        assert_eq!(conditions.refund.allowed, None);
        // The airline states none for the way back alone.
        assert_eq!(journeys[1].fare_conditions, None);
    }
}

/// Duffel states a deadline only for offers that need not be paid at once.
#[test]
fn offer_with_a_deadline_need_not_be_paid_at_once() {
    let deadline = json!("2027-05-04T10:00:00Z");
    let terms = |flag: &Value, deadline: &Value| {
        let requirements = json!({
            "requires_instant_payment": flag,
            "payment_required_by": deadline,
            "price_guarantee_expires_at": null,
        });
        let values = [("/payment_requirements".to_owned(), requirements)];
        offer_details(&changed("offer.json", &values)).payment_terms
    };
    for odd in [json!(null), json!("yes"), json!({})] {
        let expected = PaymentTerms {
            instant_payment_required: false,
            payment_required_by: Some(1_809_424_800_000),
            price_guaranteed_until: None,
        };
        assert_eq!(terms(&odd, &deadline), Some(expected), "{odd}");
        for without in [json!(null), json!("soon")] {
            assert_eq!(terms(&odd, &without), None, "{odd} {without}");
        }
    }
    let instant = terms(&json!(true), &json!(null)).unwrap();
    assert!(instant.instant_payment_required);
}

fn booking(values: &[(String, Value)]) -> DetailedBooking {
    let gateway = MockGateway::new().respond_with(200, changed("order.json", values));
    ask::detailed(&gateway).unwrap().unwrap()
}

#[test]
fn order_states_documents_locator_seats_and_limits_of_bags() {
    let exit_row = "Do not seat children in exit row seats";
    let seat = json!({ "designator": "14B", "name": "Exit row seat", "disclosures": [exit_row] });
    let documents = json!([
        { "type": "electronic_ticket", "unique_identifier": "1252106312810", "passenger_ids": ["pas_adult"] },
        { "type": "electronic_miscellaneous_document_associated", "unique_identifier": 2, "passenger_ids": ["pas_x"] },
        { "type": "something_new", "unique_identifier": "3", "passenger_ids": null },
    ]);
    let mut values = segment_values();
    values.extend(of_segment(&[("passengers/0/seat", seat.clone())]));
    for (pointer, value) in [
        ("/documents", documents),
        ("/services/0/metadata/maximum_length_cm", json!(90)),
        ("/services/0/metadata/maximum_height_cm", json!(43.7)),
        ("/services/0/metadata/maximum_depth_cm", json!("75")),
        ("/services/1/metadata", seat),
    ] {
        values.push((pointer.to_owned(), value));
    }
    let details = booking(&values).details;
    check_segment(&details.journeys);
    let child = &details.journeys[0].segments[0].passengers[0];
    let seat = child.seat.as_ref().unwrap();
    assert_eq!((child.passenger, seat.designator.as_str()), (1, "14B"));
    assert_eq!(seat.disclosures, [exit_row]);
    let of_documents = details.documents.iter();
    let of_documents = of_documents.map(|one| {
        (
            one.document_type,
            one.number.as_str(),
            one.passengers.as_slice(),
        )
    });
    let associated = TicketDocumentType::ElectronicMiscellaneousDocumentAssociated;
    assert_eq!(
        of_documents.collect::<Vec<_>>(),
        [
            (
                TicketDocumentType::ElectronicTicket,
                "1252106312810",
                &[0][..]
            ),
            (associated, "2", &[]),
            (TicketDocumentType::Other, "3", &[]),
        ]
    );
    let [locator] = details.record_locators.as_slice() else {
        panic!("{:?}", details.record_locators);
    };
    assert_eq!(
        (locator.locator.as_str(), locator.system),
        ("OWNPNR", LocatorSystem::Airline)
    );
    assert_eq!(locator.carrier_code.as_deref(), Some("OW"));
    assert_eq!(locator.carrier.as_deref(), Some("Own Air"));
    check_services(&details.services);
}

fn check_services(services: &[ServiceDetails]) {
    let [bag, seat] = services else {
        panic!("{services:?}");
    };
    let limits = bag.bag.as_ref().unwrap();
    assert_eq!(
        (bag.supplier_service_id.as_str(), limits.baggage_type),
        ("ser_bag", BaggageType::Checked)
    );
    let sizes = [
        limits.max_length_cm,
        limits.max_width_cm,
        limits.max_height_cm,
    ];
    assert_eq!(
        (limits.max_weight_kg, sizes),
        (Some(23), [Some(90), Some(75), Some(43)])
    );
    assert_eq!(seat.name.as_deref(), Some("Exit row seat"));
    assert_eq!(seat.seat.as_ref().unwrap().designator, "14B");
}

#[test]
fn held_order_states_until_when_it_must_be_paid() {
    let status = json!({
        "awaiting_payment": true,
        "payment_required_by": "2027-05-04T10:00:00Z",
        "price_guarantee_expires_at": "2027-05-03T10:00:00",
    });
    let state = booking(&[("/payment_status".to_owned(), status)]);
    let status = state.details.payment_status.unwrap();
    assert!(status.awaiting_payment);
    assert_eq!(status.payment_required_by, Some(1_809_424_800_000));
    // A time without a zone is in UTC.
    assert_eq!(status.price_guaranteed_until, Some(1_809_338_400_000));
    let state = booking(&[("/payment_status".to_owned(), json!(null))]);
    assert_eq!(state.details.payment_status, None);
}

#[test]
fn accepted_order_has_no_details() {
    let state = ask::detailed_book(&MockGateway::new().respond_with(202, "")).unwrap();
    assert_eq!(state.details, BookingDetails::default());
}

/// Odd values of details that offers and orders have, by JSON pointer.
fn odd_details() -> Vec<(String, Value)> {
    let mut values = of_segment(&[
        ("origin_terminal", json!(["2"])),
        ("destination_terminal", json!({})),
        ("aircraft", json!("A320")),
        ("operating_carrier_flight_number", json!([871])),
        ("stops", json!([7])),
        ("passengers/0/fare_basis_code", json!({})),
    ]);
    values.push((
        "/slices/0/conditions".to_owned(),
        json!([{ "allowed": true }]),
    ));
    values
}

#[test]
fn odd_detail_costs_only_itself() {
    let plain = ask::found(&ask::fixtures(&["order.json"]))
        .unwrap()
        .unwrap();
    let mut of_order = odd_details();
    of_order.extend(of_segment(&[("passengers/0/seat", json!("14B"))]));
    for (pointer, value) in [
        ("/owner", json!("Own Air")),
        ("/documents", json!("none")),
        ("/services/0/metadata/maximum_length_cm", json!([])),
        ("/services/1/metadata/disclosures", json!("none")),
    ] {
        of_order.push((pointer.to_owned(), value));
    }
    for (pointer, value) in of_order {
        let state = booking(&[(pointer.clone(), value)]).booking;
        assert_eq!(state.services, plain.services, "{pointer}");
        let segments = |state: &stopover_sdk::types::flight::SupplierBooking| {
            state
                .journeys
                .iter()
                .map(|one| one.segments.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(segments(&state), segments(&plain), "{pointer}");
    }
    for (pointer, value) in odd_details() {
        let details = offer_details(&changed("offer.json", &[(pointer.clone(), value)]));
        assert_eq!(details.journeys.len(), 2, "{pointer}");
    }
    let requirements = ("/payment_requirements".to_owned(), json!([true]));
    assert_eq!(
        offer_details(&changed("offer.json", &[requirements])).payment_terms,
        None
    );
}

#[test]
fn document_without_number_is_left_out_and_counted() {
    let documents = json!([
        { "type": "electronic_ticket", "unique_identifier": null },
        { "type": "electronic_ticket", "unique_identifier": "7" },
        5,
    ]);
    let order = ask::changed("order.json", &[("/documents", documents)]);
    let gateway = MockGateway::new().respond_with(200, order);
    let details = ask::detailed(&gateway).unwrap().unwrap().details;
    assert_eq!(details.documents.len(), 1);
    let logs = gateway.logs();
    let message = &logs[0].1;
    for part in [
        "a document has no number (1, first at /documents/0)",
        "/documents/2",
    ] {
        assert!(message.contains(part), "{message}");
    }
}
