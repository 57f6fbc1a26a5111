//! Odd values in a part of a response: they cost that part, which is counted and logged, and never the
//! rest.

use serde_json::{Value, json};
use stopover_sdk::dropped::DropReason::{self, InvalidValue, MissingValue, Unreadable};
use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::flight_pricing::{PriceRequest, Sort};
use stopover_sdk::testing::MockGateway;
use stopover_sdk::testing::Outcome::{InvalidResponse, Unknown};
use stopover_sdk::testing::outcome;
use stopover_sdk::types::BookingStatus;

use crate::ask;

/// Returns a fixture in which `pointer` has this JSON, which may be one that no value can hold.
fn written(fixture: &str, pointer: &str, json: &str) -> String {
    const MARK: &str = "@written";
    let document = ask::changed(fixture, |document| {
        let (object, name) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(object).unwrap();
        match name.parse::<usize>() {
            Ok(index) => parent[index] = json!(MARK),
            Err(_) => parent[name] = json!(MARK),
        }
    });
    document.replace(&format!("\"{MARK}\""), json)
}

/// Checks that exactly one part is counted, with this reason, and that one message names it.
fn check_dropped(gateway: &MockGateway, reason: DropReason, pointer: &str) {
    assert_eq!(gateway.dropped_items(), [(reason, 1)], "{pointer}");
    let logs = gateway.logs();
    let [(_, message)] = logs.as_slice() else {
        panic!("{pointer}: {logs:?}");
    };
    assert!(message.contains(pointer), "{pointer}: {message}");
}

#[test]
fn odd_offer_or_journey_costs_itself_only() {
    const OFFER: &str = "/data/0/journeys/0/offers/1";
    for (pointer, json, reason) in [
        (OFFER, "null", MissingValue),
        (OFFER, "[1]", Unreadable),
        ("/data/0/journeys/0/offers/1/terms", "7", Unreadable),
        ("/data/0/journeys/0/offers/1/fare", "1e999", Unreadable),
        (
            "/data/0/journeys/0/offers/1/segmentFares",
            "[7]",
            Unreadable,
        ),
        ("/data/0/journeys/0/offers/1/baggage", "true", Unreadable),
        ("/data/0/journeys/0/offers/1/offerId", "null", MissingValue),
    ] {
        let document = written("rates.json", pointer, json);
        let gateway = ask::responding(&[(200, &document)]);
        let offers = ask::price(&gateway).unwrap().offers;
        assert_eq!(offers.len(), 2, "{pointer} {json}");
        check_dropped(&gateway, reason, OFFER);
    }
    // The other journey has one offer.
    for (pointer, json, reason) in [
        ("/data/0/journeys/0", "null", MissingValue),
        ("/data/0/journeys/0/segments", "[7]", Unreadable),
        ("/data/0/journeys/0/offers", "null", MissingValue),
    ] {
        let document = written("rates.json", pointer, json);
        let gateway = ask::responding(&[(200, &document)]);
        assert_eq!(ask::price(&gateway).unwrap().offers.len(), 1, "{pointer}");
        check_dropped(&gateway, reason, "/data/0/journeys/0");
    }
    let document = written("rates.json", "/data/0/journeys", "null");
    let gateway = ask::responding(&[(200, &document)]);
    assert_eq!(ask::price(&gateway).unwrap().offers.len(), 1);
    check_dropped(&gateway, MissingValue, "/data/0");
}

/// Searches are sorted by the durations of legs, and a flight without its duration can be sold.
#[test]
fn unreadable_duration_costs_only_itself() {
    for (json, pointer) in [
        ("\"PT7H45M\"", "/data/0/journeys/0/legDurations"),
        ("465", "/data/0/journeys/0/legDurations"),
        ("[7]", "/data/0/journeys/0/legDurations/0"),
        (
            r#"[{"duration": {"minutes": 1}}, {"duration": "PT7H45M"}]"#,
            "/data/0/journeys/0/legDurations/1",
        ),
    ] {
        let document = written("rates.json", "/data/0/journeys/0/legDurations", json);
        let gateway = ask::responding(&[(200, &document)]);
        let request = PriceRequest {
            sort: Sort::Duration,
            ..ask::price_request()
        };
        let offers = ask::price_with(&gateway, request).unwrap().offers;
        let families = offers.iter().map(|offer| offer.fare_family.as_deref());
        let families: Option<Vec<&str>> = families.collect();
        // The other journey has a known duration.
        assert_eq!(families.unwrap(), ["Upper", "Flex", "Basic"], "{json}");
        check_dropped(&gateway, Unreadable, pointer);
    }
    for json in ["\"PT7H45M\"", "465", "[1]"] {
        let rates = written("rates.json", "/data/0/journeys/0/segments/0/duration", json);
        let offers = ask::price(&ask::responding(&[(200, &rates)])).unwrap();
        assert_eq!(offers.offers.len(), 3, "{json}");
        let journey = &offers.offers[1].journeys[0];
        assert_eq!(journey.segments[0].duration_minutes, None, "{json}");
        assert_eq!(journey.segments[1].duration_minutes, Some(340), "{json}");
        let pointer = "/data/0/booking/journey/segments/0/duration";
        let booking = written("booking.json", pointer, json);
        let booking = ask::book(&ask::responding(&[(201, &booking)])).unwrap();
        assert_eq!(booking.journeys.len(), 2, "{json}");
    }
}

#[test]
fn past_or_unreadable_deadline_is_left_out_and_counted() {
    // The other journey's offer has the time at which Nuitee received its flights, which is no deadline.
    let gateway = ask::fixtures(&["rates.json"]);
    assert!(ask::price(&gateway).is_ok());
    assert_eq!(gateway.dropped_items(), []);
    for json in ["\"2027-05-01T09:59:59Z\"", "\"soon\""] {
        let expiration = "/data/0/journeys/0/offers/1/expiration";
        let rates = written("rates.json", expiration, json);
        let gateway = ask::responding(&[(200, &rates)]);
        let offers = ask::price(&gateway).unwrap().offers;
        assert_eq!(offers.len(), 3, "{json}");
        let without_deadline = offers.iter().filter(|offer| offer.expires_at.is_none());
        assert_eq!(without_deadline.count(), 2, "{json}");
        check_dropped(&gateway, InvalidValue, expiration);

        let limit = "/data/0/booking/ticketLimitTime";
        let prebook = written("prebook.json", limit, json);
        let gateway = ask::responding(&[(200, &ask::fixture("verify.json")), (200, &prebook)]);
        assert_eq!(ask::prebook(&gateway).unwrap().expires_at, None, "{json}");
        check_dropped(&gateway, InvalidValue, limit);
    }
}

#[test]
fn odd_part_of_confirmed_booking_never_makes_it_an_error() {
    for (part, json, reason) in [
        ("journey", "7", Unreadable),
        ("journey/segments", "[7]", Unreadable),
        ("journey/segments/1/departureTime", "null", MissingValue),
        ("journey/segments/1/segmentKey", "\"s1\"", InvalidValue),
        ("journey/pricing", "\"x\"", Unreadable),
        ("journey/baggage", "[7]", Unreadable),
        ("customTags", "[]", Unreadable),
        ("cancelIntentAt", "{}", Unreadable),
        ("pricing", "\"x\"", Unreadable),
        ("airlineLocators", "7", Unreadable),
        ("airlineLocators", "[null]", MissingValue),
        ("order", "[]", Unreadable),
        ("order/reference/airlineBookings", "[7]", Unreadable),
        ("bookedServices/0", "null", MissingValue),
        ("bookedServices/0/pricing", "7", Unreadable),
        ("bookedServices/0/serviceId", "null", MissingValue),
        (
            "bookedServices/0/pricing/display/currency",
            "\"USD\"",
            InvalidValue,
        ),
    ] {
        let pointer = format!("/data/0/booking/{part}");
        let document = written("booking.json", &pointer, json);
        let gateway = ask::responding(&[(201, &document)]);
        let booking = ask::book(&gateway).unwrap();
        assert_eq!(booking.status, BookingStatus::Confirmed, "{part}");
        assert_eq!(booking.supplier_reference, ask::BOOKING_ID, "{part}");
        // A booking without a bill has the prebooked price, because something was added to the journey.
        let total = if part == "pricing" { 119_040 } else { 122_390 };
        assert_eq!(booking.total, total, "{part}");
        let first = gateway.dropped_items().remove(0);
        assert_eq!(first.0, reason, "{part} {json}: {:?}", gateway.logs());
        assert_eq!(gateway.logs().len(), 1, "{part}");
    }
    for part in ["bookingId", "status"] {
        for json in ["null", "\"\"", "{}", "1e999"] {
            let pointer = format!("/data/0/booking/{part}");
            let document = written("booking.json", &pointer, json);
            let booking = ask::book(&ask::responding(&[(201, &document)]));
            assert_eq!(outcome(&booking), Unknown, "{part} {json}");
        }
    }
}

#[test]
fn item_beside_the_booking_is_left_out() {
    let document = ask::changed("booking.json", |document| {
        let data = document["data"].as_array_mut().unwrap();
        data.push(Value::Null);
    });
    let gateway = ask::responding(&[(201, &document)]);
    assert!(ask::book(&gateway).is_ok());
    check_dropped(&gateway, MissingValue, "/data/1");
    let document = ask::changed("booking.json", |document| {
        document["data"] = json!([document["data"][0], document["data"][0]]);
    });
    let booking = ask::book(&ask::responding(&[(201, &document)]));
    assert_eq!(outcome(&booking), Unknown);
}

/// The list has a booking whose reference differs in case, a cancelled one of ours and our active one.
#[test]
fn list_proves_absence_only_if_it_is_readable_and_filtered() {
    let read = |change: fn(&mut Vec<Value>)| {
        let document = ask::changed("bookings.json", |document| {
            change(document["data"][0]["bookings"].as_array_mut().unwrap());
        });
        ask::find(&ask::responding(&[(200, &document)]), None)
    };
    let status = |change| match read(change) {
        Ok(BookingLookup::Found(booking)) => booking.status,
        other => panic!("{other:?}"),
    };
    let unreadable: [fn(&mut Vec<Value>); 5] = [
        |bookings| bookings[2] = Value::Null,
        |bookings| bookings[2] = json!("x"),
        |bookings| bookings[2]["customTags"] = Value::Null,
        |bookings| bookings[2]["customTags"] = json!([]),
        |bookings| bookings[2]["customTags"]["GW_REF"] = json!(7),
    ];
    for change in unreadable {
        let lookup = read(change);
        assert_eq!(outcome(&lookup), InvalidResponse, "{lookup:?}");
    }
    assert_eq!(
        status(|bookings| drop(bookings.pop())),
        BookingStatus::Canceled
    );
    assert_eq!(
        status(|bookings| bookings[0] = json!("x")),
        BookingStatus::Confirmed
    );
    let others = read(|bookings| bookings.truncate(1));
    assert_eq!(others, Ok(BookingLookup::NotFound));
    let unfiltered = read(|bookings| {
        bookings.truncate(1);
        bookings[0]["customTags"]["GW_REF"] = json!("bkg_other");
    });
    assert_eq!(outcome(&unfiltered), InvalidResponse, "{unfiltered:?}");
    assert_eq!(
        status(|bookings| bookings[0]["customTags"]["GW_REF"] = json!("bkg_other")),
        BookingStatus::Confirmed
    );
    let two = read(|bookings| {
        let mut second = bookings[2].clone();
        second["bookingId"] = json!("019d0000-eeee-7000-8000-0000000000ee");
        bookings.push(second);
    });
    assert_eq!(outcome(&two), InvalidResponse);
}

#[test]
fn odd_airport_costs_itself_only() {
    for (pointer, json, reason) in [
        ("/data/0/airports/2", "null", MissingValue),
        ("/data/0/airports/2", "7", Unreadable),
        ("/data/0/airports/2/iata", "\"\"", MissingValue),
    ] {
        let document = written("airports.json", pointer, json);
        let gateway = ask::responding(&[(200, &document)]);
        let response = ask::airports(&gateway, 20).unwrap();
        assert_eq!(response.airports.len(), 2, "{pointer}");
        check_dropped(&gateway, reason, "/data/0/airports/2");
    }
}

#[test]
fn odd_part_of_verification_or_prebook_costs_itself_only() {
    for part in ["journey/terms", "journey/baggage"] {
        let verify = written("verify.json", &format!("/data/0/{part}"), "1e999");
        let prebook = ask::fixture("prebook.json");
        let gateway = ask::responding(&[(200, &verify), (200, &prebook)]);
        assert_eq!(ask::prebook(&gateway).unwrap().total, 119_040, "{part}");
        check_dropped(&gateway, Unreadable, part);
    }
    for part in [
        "booking",
        "booking/journey",
        "booking/journey/terms",
        "servicesAttachable",
        "servicesAttachable/groups",
    ] {
        let prebook = written("prebook.json", &format!("/data/0/{part}"), "1e999");
        let gateway = ask::responding(&[(200, &ask::fixture("verify.json")), (200, &prebook)]);
        assert_eq!(ask::prebook(&gateway).unwrap().total, 119_040, "{part}");
        check_dropped(&gateway, Unreadable, part);
    }
}

/// Size of a large list.
const BYTES: usize = 1 << 20;

/// Returns a fixture in which `pointer` has a list of 1 MiB. `#` in the item stands for a number that
/// occurs once.
fn large(fixture: &str, pointer: &str, item: &str) -> String {
    let mut list = String::from("[");
    for number in 0.. {
        list.push_str(&item.replace('#', &number.to_string()));
        if list.len() >= BYTES {
            break;
        }
        list.push(',');
    }
    list.push(']');
    written(fixture, pointer, &list)
}

/// A bag that a fare includes for every passenger.
const INCLUDED: &str = r#"{"bagType":"checked"}"#;

/// A segment of the fixture's return trip. The list has the same flights in another number.
const SEGMENT: &str = r##"{"segmentKey":"s#","direction":"OUTBOUND","originCode":"LHR",
"destinationCode":"JFK","departureTime":"2027-06-01T08:00:00","arrivalTime":"2027-06-01T13:20:00",
"flight":{"marketingNumber":"#"},"carrier":{"marketingCode":"XO"}}"##;

/// Each of these is a list of 1 MiB in a response. Work that is quadratic in it would not end within
/// the time limit of a test.
#[test]
fn large_odd_response_is_read_in_linear_time() {
    for (pointer, item) in [
        ("/data", "null"),
        ("/data/0/journeys", "{}"),
        ("/data/0/journeys/0/offers", r#"{"offerId":"A"}"#),
        ("/data/0/journeys/0/segments", "7"),
        ("/data/0/journeys/0/segments", "{}"),
        ("/data/0/journeys/0/segments", SEGMENT),
        ("/data/0/journeys/0/legDurations", "{}"),
        ("/data/0/journeys/0/offers/0/segmentFares", "{}"),
        (
            "/data/0/journeys/0/offers/0/segmentFares",
            r#"{"segmentKey":"s#"}"#,
        ),
        (
            "/data/0/journeys/0/offers/0/segmentAmenities",
            r#"{"segmentKey":"s#"}"#,
        ),
        ("/data/0/journeys/0/offers/0/baggage/included", INCLUDED),
    ] {
        let rates = large("rates.json", pointer, item);
        drop(ask::price(&ask::responding(&[(200, &rates)])));
    }
    for (pointer, item) in [
        ("/data/0/booking/airlineLocators", r#"{"pnr":"P#"}"#),
        ("/data/0/booking/journey/segments", "{}"),
        ("/data/0/booking/journey/segments", SEGMENT),
        ("/data/0/booking/journey/baggage/included", INCLUDED),
    ] {
        let booking = large("booking.json", pointer, item);
        let booked = ask::book(&ask::responding(&[(201, &booking)]));
        assert!(booked.is_ok(), "{pointer} {item}");
    }
    let verify = ask::fixture("verify.json");
    let prebook = large("prebook.json", "/data/0/servicesAttachable/groups", "{}");
    assert!(ask::prebook(&ask::responding(&[(200, &verify), (200, &prebook)])).is_ok());
    let booking = large("booking.json", "/data/0/booking/bookedServices", "null");
    assert!(ask::book(&ask::responding(&[(201, &booking)])).is_ok());
    let bookings = large(
        "bookings.json",
        "/data/0/bookings",
        r#"{"bookingId":1e999}"#,
    );
    assert!(ask::find(&ask::responding(&[(200, &bookings)]), None).is_err());
    let airports = large("airports.json", "/data/0/airports", "{}");
    assert!(ask::airports(&ask::responding(&[(200, &airports)]), 20).is_err());
    let stream = "data: {\"data\":\n".repeat(BYTES / 15);
    drop(ask::price(&ask::responding(&[(200, &stream)])));
}
