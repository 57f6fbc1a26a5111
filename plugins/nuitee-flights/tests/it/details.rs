//! The details that version 1.1 of the interface adds.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::types::flight::{BaggageType, ServiceType};
use stopover_sdk::types::flight_details::{
    Bag, BookingDetails, LocatorSystem, PrebookDetails, PriceBreakdown, Seat, SeatPosition,
    SegmentDetails,
};
use stopover_sdk::{DetailedFlightBooking, DetailedFlightPricing};

use crate::ask;

fn bag(baggage_type: BaggageType, max_weight_kg: u32) -> Bag {
    Bag {
        pieces: Some(1),
        max_weight_kg: Some(max_weight_kg),
        ..Bag::new(baggage_type)
    }
}

fn check_segment(segment: &SegmentDetails) {
    let operated = [&segment.operating_carrier_code, &segment.operating_flight];
    let operated = operated.map(|text| text.as_deref().unwrap());
    assert_eq!(operated, ["XO", "XO205"]);
    let passengers = segment.passengers.iter();
    let bags = passengers.map(|passenger| (passenger.passenger, passenger.baggage.as_slice()));
    let checked = bag(BaggageType::Checked, 23);
    let adult = [checked, bag(BaggageType::CarryOn, 8)];
    let child = [checked];
    // The second passenger is an adult to Nuitee. Nothing is known of the infant's bags.
    let expected = [(0, &adult[..]), (1, &adult[..]), (2, &child[..])];
    assert!(bags.clone().take(3).eq(expected), "{segment:?}");
}

#[test]
fn offer_has_split_price_and_details_of_its_flights() {
    let document = ask::changed("rates.json", |document| {
        let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
        offer["segmentAmenities"] = json!([
            {"segmentKey": "s1", "aircraftType": "339"},
            {"segmentKey": "s2", "aircraftType": "Airbus A330neo"},
        ]);
    });
    let gateway = ask::responding(&[(200, &document)]);
    let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
    let offers = response.unwrap().offers;
    let flex = &offers[1];
    assert_eq!(flex.offer.fare_family.as_deref(), Some("Flex"));
    let price = PriceBreakdown {
        fare: Some(80_000),
        fare_tax: Some(39_040),
        fee: Some(2_000),
    };
    assert_eq!(flex.details.price, price);
    let journeys = &flex.details.journeys;
    let counts = journeys.iter().map(|journey| journey.segments.len());
    assert!(counts.eq([2, 1]));
    let [first, second] = journeys[0].segments.as_slice() else {
        panic!("{journeys:?}");
    };
    check_segment(second);
    assert_eq!(first.aircraft_code.as_deref(), Some("339"));
    assert_eq!(second.aircraft.as_deref(), Some("Airbus A330neo"));
    let fare_basis = second.passengers[3].fare_basis_code.as_deref();
    assert_eq!(fare_basis, Some("WOWN1"));
}

#[test]
fn fractional_weight_of_a_bag_is_rounded_down() {
    for (written, expected) in [
        (json!(22.5), Some(22)),
        (json!("22.9"), Some(22)),
        (json!(23), Some(23)),
        (json!(-0.5), None),
        (json!(1e300), None),
        (json!("heavy"), None),
        (Value::Null, None),
    ] {
        let rates = ask::changed("rates.json", |document| {
            let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
            offer["baggage"]["included"] =
                json!([{"bagType": "checked", "pieces": 1, "weightKg": written}]);
        });
        let gateway = ask::responding(&[(200, &rates)]);
        let offers = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        let offers = offers.unwrap().offers;
        let passenger = &offers[1].details.journeys[0].segments[0].passengers[0];
        assert_eq!(passenger.baggage[0].max_weight_kg, expected, "{written}");

        let booking = ask::changed("booking.json", |document| {
            let service = &mut document["data"][0]["booking"]["bookedServices"][0];
            service["metadata"]["baggage"]["weightKg"] = written.clone();
        });
        let gateway = ask::responding(&[(201, &booking)]);
        let booked = gateway.run(|| NuiteeFlights::book(ask::book_request()));
        let booked = booked.unwrap();
        let bag = booked.details.services[0].bag.unwrap();
        assert_eq!(bag.max_weight_kg, expected, "{written}");
        let bag = booked.booking.services[0].baggage.unwrap();
        assert_eq!(bag.max_weight_kg, expected, "{written}");
    }
}

#[test]
fn fees_that_do_not_add_up_count_as_fare() {
    for (base, fees, expected) in [
        (json!(800), json!(20), (80_000, Some(2_000))),
        (json!(800), json!(30), (82_000, None)),
        (Value::Null, json!(20), (82_000, None)),
        (json!("820.00"), json!(0), (82_000, Some(0))),
    ] {
        let document = ask::changed("rates.json", |document| {
            let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
            offer["pricing"]["display"]["base"] = base.clone();
            offer["pricing"]["display"]["fees"] = fees.clone();
        });
        let gateway = ask::responding(&[(200, &document)]);
        let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        let price = response.unwrap().offers[1].details.price;
        assert_eq!((price.fare.unwrap(), price.fee), expected, "{base} {fees}");
        assert_eq!(price.fare_tax, Some(39_040));
    }
}

#[test]
fn fare_and_fees_are_known_without_taxes() {
    let none = PriceBreakdown::default();
    let split = PriceBreakdown {
        fare: Some(80_000),
        fare_tax: None,
        fee: Some(2_000),
    };
    // The total is 1210.40.
    for (taxes, base, fees, expected) in [
        (Value::Null, json!(800), json!(20), split),
        (json!("?"), json!(800), json!(20), split),
        (json!(-1), json!(800), json!(20), split),
        (Value::Null, json!(1200), json!(20), none),
        (Value::Null, Value::Null, json!(20), none),
        (Value::Null, json!(800), Value::Null, none),
    ] {
        let document = ask::changed("rates.json", |document| {
            let offer = &mut document["data"][0]["journeys"][0]["offers"][0];
            let price = &mut offer["pricing"]["display"];
            price["taxes"] = taxes.clone();
            price["base"] = base.clone();
            price["fees"] = fees.clone();
        });
        let gateway = ask::responding(&[(200, &document)]);
        let response = gateway.run(|| NuiteeFlights::price(ask::price_request()));
        let price = response.unwrap().offers[1].details.price;
        assert_eq!(price, expected, "{taxes} {base} {fees}");
    }
}

fn prebook_details(groups: Value) -> PrebookDetails {
    let prebook = ask::changed("prebook.json", |document| {
        document["data"][0]["servicesAttachable"]["groups"] = groups;
    });
    let gateway = ask::responding(&[(200, &ask::fixture("verify.json")), (200, &prebook)]);
    let response = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
    response.unwrap().details
}

fn service(id: &str, metadata: &Value, passenger_type: &str) -> Value {
    json!({"serviceId": id, "name": format!("Name of {id}"), "passengerType": passenger_type,
        "segmentKey": "s2", "pricing": {"display": {"amount": 21.83, "currency": "USD"}},
        "metadata": metadata})
}

#[test]
fn prebook_shows_bags_and_seats_for_sale() {
    let seat = |is_free: bool| {
        json!({"seat": {"available": is_free, "position": "window", "seatColumn": "A",
            "seatNumber": "7A", "seatRow": 7, "seatType": "extra_legroom"}})
    };
    let baggage = json!({"baggage": {"bagType": "checked", "pieces": 1, "weightKg": 10}});
    let details = prebook_details(json!([
        {"available": true, "category": "seat", "services": [
            service("7A", &seat(true), "ALL"), service("7B", &seat(false), "ALL"), 7,
        ]},
        {"available": true, "category": "baggage", "services": [service("BAG", &baggage, "ADT")]},
        {"available": false, "category": "meal", "services": [service("MEAL", &json!({}), "ALL")]},
    ]));
    let price = PriceBreakdown {
        fare: Some(78_000),
        fare_tax: Some(39_040),
        fee: Some(2_000),
    };
    assert_eq!(details.price, price);
    check_segment(&details.journeys[0].segments[1]);
    let [seat, bags] = details.services.as_slice() else {
        panic!("{details:?}");
    };
    assert_eq!(seat.supplier_service_id, "7A");
    assert_eq!(seat.service_type, ServiceType::Seat);
    assert_eq!(seat.name.as_deref(), Some("Name of 7A"));
    assert_eq!(seat.supplier_segment_ids, ["s2"]);
    assert_eq!(
        (seat.unit_amount.amount, seat.unit_amount.currency.as_str()),
        (2183, "USD")
    );
    let expected = Seat {
        name: Some("extra legroom".to_owned()),
        position: Some(SeatPosition::Window),
        ..Seat::new("7A")
    };
    assert_eq!(
        (seat.seat.as_ref(), seat.passengers.len()),
        (Some(&expected), 0)
    );
    assert_eq!(bags.service_type, ServiceType::Baggage);
    assert_eq!(bags.bag, Some(bag(BaggageType::Checked, 10)));
    // The adults, one of whom is twelve.
    assert_eq!(bags.passengers, [0, 1]);
}

/// The keys of a prebook's flights may differ from those of the verification, whose flights are shown.
/// Without its flight, a seat would look as if it were for the whole ticket.
#[test]
fn service_of_a_prebook_names_a_verified_flight() {
    let with = |journey: fn(&mut Value)| {
        let prebook = ask::changed("prebook.json", |document| {
            let item = &mut document["data"][0];
            journey(&mut item["booking"]["journey"]);
            let services = ["s1", "s2", "p2", "x"].map(|key| {
                let mut service = service(key, &json!({}), "ALL");
                service["segmentKey"] = json!(key);
                service
            });
            let mut whole = service("whole", &json!({}), "ALL");
            whole["segmentKey"] = Value::Null;
            let services = [&services[..], &[whole]].concat();
            item["servicesAttachable"]["groups"] =
                json!([{"available": true, "category": "meal", "services": services}]);
        });
        let gateway = ask::responding(&[(200, &ask::fixture("verify.json")), (200, &prebook)]);
        let response = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
        let services = response.unwrap().details.services.into_iter();
        let services = services.map(|one| (one.supplier_service_id, one.supplier_segment_ids));
        let dropped: u32 = gateway.dropped_items().iter().map(|(_, count)| count).sum();
        (services.collect::<Vec<_>>(), dropped)
    };
    let of = |id: &str, segment: &str| (id.to_owned(), vec![segment.to_owned()]);
    let whole = ("whole".to_owned(), Vec::new());
    let same = (vec![of("s1", "s1"), of("s2", "s2"), whole.clone()], 2);
    assert_eq!(with(|_| {}), same);
    assert_eq!(with(|journey| journey["segments"] = json!([])), same);
    let own = with(|journey| {
        journey["segments"][1]["segmentKey"] = json!("p2");
        journey["segments"][2]["segmentKey"] = json!("s2");
    });
    let translated = [of("s1", "s1"), of("s2", "s3"), of("p2", "s2"), whole];
    assert_eq!(own, (translated.to_vec(), 1));
}

fn booking_details(change: impl FnOnce(&mut Value)) -> BookingDetails {
    let document = ask::changed("booking.json", |document| {
        change(&mut document["data"][0]["booking"]);
    });
    let gateway = ask::responding(&[(201, &document)]);
    let detailed = gateway.run(|| NuiteeFlights::book(ask::book_request()));
    detailed.unwrap().details
}

#[test]
fn booking_has_split_price_flights_and_services() {
    let details = booking_details(|_| {});
    let price = PriceBreakdown {
        fare: Some(78_000),
        fare_tax: Some(39_040),
        fee: Some(2_000),
    };
    assert_eq!(details.price, price);
    assert!(!details.payment_status.unwrap().awaiting_payment);
    check_segment(&details.journeys[0].segments[1]);
    let [service] = details.services.as_slice() else {
        panic!("{details:?}");
    };
    assert_eq!(service.name.as_deref(), Some("Bag 20kg"));
    assert_eq!(service.bag, Some(bag(BaggageType::Checked, 20)));
    assert!(!details.services_left_out);
    for services in [json!([7]), json!(7), json!([{"serviceId": "SVC-SEAT"}])] {
        let details = booking_details(|booking| booking["bookedServices"] = services.clone());
        assert!(details.services_left_out, "{services}");
    }
    for (status, expected) in [
        ("pending", Some(true)),
        ("not_required", Some(false)),
        ("failed", None),
    ] {
        let details = booking_details(|booking| booking["paymentStatus"] = json!(status));
        let awaiting = details.payment_status.map(|status| status.awaiting_payment);
        assert_eq!(awaiting, expected, "{status}");
    }
}

#[test]
fn locators_of_airlines_are_told_apart_from_those_of_distribution_systems() {
    use LocatorSystem::{Airline, DistributionSystem};
    let of_airline =
        |pnr: &str| json!([{"airlineCode": "XO", "airlineName": "Own Air", "airlinePnr": pnr}]);
    let with_pnr = |code: &str, own: &str, pnr: &str| json!([{"airlineCode": code, "airlinePnr": own, "pnr": pnr}]);
    let none = || json!([]);
    for (listed, ordered, provider, expected) in [
        (of_airline("AAA111"), none(), "", vec![("AAA111", Airline)]),
        (
            none(),
            with_pnr("XO", "", "BBB222"),
            "",
            vec![("BBB222", Airline)],
        ),
        // The code 1G is that of a distribution system.
        (
            none(),
            with_pnr("1G", "", "CCC333"),
            "",
            vec![("CCC333", DistributionSystem)],
        ),
        (
            none(),
            with_pnr("1G", "DDD444", ""),
            "",
            vec![("DDD444", DistributionSystem)],
        ),
        (
            none(),
            with_pnr("XO", "EEE555", "FFF666"),
            "",
            vec![("EEE555", Airline), ("FFF666", DistributionSystem)],
        ),
        (
            of_airline("GGG777"),
            with_pnr("XO", "GGG777", "GGG777"),
            "HHH888",
            vec![("GGG777", Airline), ("HHH888", DistributionSystem)],
        ),
        (
            none(),
            with_pnr("XO", "", "III999"),
            "III999",
            vec![("III999", DistributionSystem)],
        ),
        // The id of the order is the provider's, too.
        (
            none(),
            with_pnr("XO", "", "JJJ111"),
            "",
            vec![("JJJ111", DistributionSystem)],
        ),
        // The code 1T is that of an airline.
        (
            none(),
            with_pnr("1T", "", "KKK222"),
            "",
            vec![("KKK222", Airline)],
        ),
        (none(), with_pnr("XO", "", " "), "", vec![]),
    ] {
        check_locators(&listed, &ordered, provider, &expected);
    }
}

fn check_locators(
    listed: &Value,
    ordered: &Value,
    provider: &str,
    expected: &[(&str, LocatorSystem)],
) {
    let document = ask::changed("booking.json", |document| {
        let booking = &mut document["data"][0]["booking"];
        booking["airlineLocators"] = listed.clone();
        let reference = &mut booking["order"]["reference"];
        reference["airlineBookings"] = ordered.clone();
        reference["orderId"] = json!("JJJ111");
        reference["provider"] = json!({"code": "SABRE", "pnr": provider});
    });
    let gateway = ask::responding(&[(201, &document)]);
    let detailed = gateway.run(|| NuiteeFlights::book(ask::book_request()));
    let detailed = detailed.unwrap();
    let found = detailed.details.record_locators.iter();
    let found: Vec<(&str, LocatorSystem)> = found
        .map(|found| (found.locator.as_str(), found.system))
        .collect();
    assert_eq!(found, expected, "{listed} {ordered}");
    let airline = expected
        .iter()
        .find(|(_, system)| *system == LocatorSystem::Airline);
    let airline = airline.map(|(locator, _)| *locator);
    assert_eq!(
        detailed.booking.airline_pnr.as_deref(),
        airline,
        "{listed} {ordered}"
    );
}
