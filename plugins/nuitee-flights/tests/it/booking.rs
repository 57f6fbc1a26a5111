//! Booking and reading a booking back.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::flight_booking::{BookRequest, BookingLookup, FindRequest};
use stopover_sdk::http::{Method, Response};
use stopover_sdk::testing::Outcome::{
    Failed, InvalidResponse, Misconfigured, NotSent, Refused, Unknown,
};
use stopover_sdk::testing::{
    failures_after_sending, failures_before_sending, outcome, read_failures,
};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{BaggageType, ServiceType, SupplierBooking};
use stopover_sdk::{FlightBooking, ReadError};

use crate::ask;

fn read_with(change: impl FnOnce(&mut Value)) -> Result<BookingLookup, ReadError> {
    let document = ask::changed("booking.json", |response| {
        change(&mut response["data"][0]["booking"])
    });
    let gateway = ask::gateway().respond_with(200, document);
    gateway.run(|| NuiteeFlights::find(ask::find_request(Some(ask::BOOKING_ID))))
}

fn found(change: impl FnOnce(&mut Value)) -> SupplierBooking {
    match read_with(change) {
        Ok(BookingLookup::Found(state)) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn booking_sends_prebook_payment_and_client_reference() {
    let gateway = ask::gateway().respond_with(201, ask::fixture("booking.json"));
    let state = gateway.run(|| NuiteeFlights::book(ask::book_request()));
    let state = state.unwrap();
    let request = &gateway.requests()[0];
    assert_eq!(
        request.url,
        "https://api.liteapi.travel/v3.0/flights/bookings/"
    );
    assert_eq!(
        request.body_json(),
        json!({
            "prebookId": "019d0000-aaaa-7000-8000-0000000000aa",
            "payment": {"method": "TRANSACTION_ID", "transactionId": "tr_own_1"},
            "customTags": {"GW_REF": "bkg_own_1"},
        })
    );
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.supplier_reference, ask::BOOKING_ID);
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!(state.airline_pnr.as_deref(), Some("ABC123"));
    // The bag is part of the total, but not of the fare.
    assert_eq!((state.total, state.currency.as_str()), (122_390, "EUR"));
    assert_eq!((state.fare, state.fare_tax), (Some(80_000), Some(39_040)));
    let bag = &state.services[0];
    assert_eq!(bag.service_type, ServiceType::Baggage);
    assert_eq!(bag.passenger, Some(0));
    assert_eq!(bag.quantity, 1);
    assert_eq!(bag.unit_amount, 3350);
    let baggage = bag.baggage.as_ref().unwrap();
    assert_eq!(baggage.baggage_type, BaggageType::Checked);
    assert_eq!(baggage.max_weight_kg, Some(20));
    // Cabins, which Nuitee's booking lacks, come from the prebook.
    assert_eq!(state.journeys.len(), 2);
    let segment = &state.journeys[0].segments[1];
    assert_eq!(segment.passengers[2].cabin_name.as_deref(), Some("Economy"));
    assert_eq!(segment.passengers[2].checked_bags, Some(1));
    let extension = |name: &str| {
        let named = state.extensions.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    };
    assert_eq!(extension("booking_ref"), Some("FH-27E-OWN00001"));
    assert_eq!(extension("environment"), Some("sandbox"));
}

#[test]
fn every_documented_status_is_converted() {
    use BookingStatus::{CancelPending, Canceled, Confirmed, Pending};
    // The status, and the status while the booking is being cancelled.
    let cases = [
        ("PENDING_CONFIRMATION", Some((Pending, CancelPending))),
        ("CREATED", Some((Pending, CancelPending))),
        ("PENDING", Some((Pending, CancelPending))),
        ("CONFIRMED", Some((Confirmed, CancelPending))),
        ("TICKETED", Some((Confirmed, CancelPending))),
        ("CANCELLED", Some((Canceled, Canceled))),
        ("CANCELED", Some((Canceled, Canceled))),
        ("CANCELLED_WITH_CHARGES", Some((Canceled, Canceled))),
        ("ON_HOLD", None),
        ("", None),
    ];
    let read = |status: &str, intent: Value| {
        read_with(|booking| {
            booking["status"] = json!(status);
            booking["cancelIntentAt"] = intent;
        })
    };
    for (status, expected) in cases {
        let usual = read(status, Value::Null);
        let while_cancelling = read(status, json!("2027-05-02T08:00:00Z"));
        let Some(expected) = expected else {
            assert_eq!(outcome(&usual), InvalidResponse, "{status}");
            assert_eq!(outcome(&while_cancelling), InvalidResponse, "{status}");
            continue;
        };
        let found = [usual, while_cancelling].map(|lookup| match lookup {
            Ok(BookingLookup::Found(booking)) => booking.status,
            other => panic!("{status}: {other:?}"),
        });
        assert_eq!(found, [expected.0, expected.1], "{status}");
    }
}

#[test]
fn record_locator_is_found_in_every_position_or_is_none() {
    let with = |listed: Value, ordered: Value| {
        found(|booking| {
            booking["airlineLocators"] = listed;
            booking["order"]["reference"]["airlineBookings"] = ordered;
        })
        .airline_pnr
    };
    let listed = json!([{"airlineCode": "XO", "airlinePnr": "LISTED"}]);
    let empty = json!([{"airlineCode": "XO", "airlinePnr": "", "pnr": " "}]);
    let ordered = json!([{"airlineCode": "YP", "airlinePnr": ""}, {"airlineCode": "XO", "airlinePnr": "ORDERED"}]);
    assert_eq!(with(listed, ordered.clone()).as_deref(), Some("LISTED"));
    assert_eq!(with(empty.clone(), ordered).as_deref(), Some("ORDERED"));
    for nothing in [empty, json!([]), Value::Null] {
        assert_eq!(with(nothing.clone(), nothing), None);
    }
}

#[test]
fn total_comes_from_bill_or_journey_price() {
    type Change = fn(&mut Value);
    let cases: [(Change, i64, Option<i64>); 5] = [
        (|_| {}, 122_390, Some(80_000)),
        // The bill has its parts but no sum.
        (
            |booking| booking["pricing"]["totalAmount"] = Value::Null,
            122_390,
            Some(80_000),
        ),
        // There is no bill, and the price is in the other field.
        (
            |booking| {
                booking["pricing"] = Value::Null;
                booking["journey"]["price"] =
                    json!({"total": 287.02, "base": 238.32, "taxes": 48.7, "currency": "USD"});
                booking["journey"]["pricing"] = Value::Null;
            },
            28_702,
            Some(23_832),
        ),
        // The bill is in another currency than the fare.
        (
            |booking| {
                booking["pricing"] =
                    json!({"subtotal": 1300.5, "totalAmount": 1300.5, "currency": "USD"});
            },
            130_050,
            None,
        ),
        // The taxes exceed the price.
        (
            |booking| booking["journey"]["pricing"]["display"]["taxes"] = json!(5000),
            122_390,
            None,
        ),
    ];
    for (change, total, fare) in cases {
        let state = found(change);
        assert_eq!((state.total, state.fare), (total, fare));
    }
    let unpriced = read_with(|booking| {
        booking["pricing"] = Value::Null;
        booking["journey"] = Value::Null;
    });
    assert_eq!(outcome(&unpriced), InvalidResponse, "{unpriced:?}");
}

#[test]
fn booking_is_found_by_id_or_client_reference() {
    let gateway = ask::responding_with("booking.json");
    let by_id = gateway.run(|| NuiteeFlights::find(ask::find_request(Some(ask::BOOKING_ID))));
    let Ok(BookingLookup::Found(state)) = by_id else {
        panic!("{by_id:?}");
    };
    // Without the prebook there are no journeys.
    assert!(state.journeys.is_empty());
    let request = &gateway.requests()[0];
    let base = "https://api.liteapi.travel/v3.0/flights/bookings";
    assert_eq!(request.url, format!("{base}/{}", ask::BOOKING_ID));

    let request = FindRequest {
        supplier_prebook: Some(ask::supplier_prebook()),
        ..ask::find_request(None)
    };
    let gateway = ask::responding_with("bookings.json");
    let by_label = gateway.run(|| NuiteeFlights::find(request));
    let Ok(BookingLookup::Found(state)) = by_label else {
        panic!("{by_label:?}");
    };
    // The list also has a booking whose reference differs in case, and a cancelled one.
    assert_eq!(state.supplier_reference, ask::BOOKING_ID);
    assert_eq!(state.journeys.len(), 2);
    let sent = &gateway.requests()[0];
    assert_eq!(sent.method, Method::Get);
    assert_eq!(sent.url, format!("{base}?customTags=GW_REF%3Abkg_own_1"));
}

#[test]
fn booking_with_unknown_id_is_searched_by_client_reference() {
    let unknown = r#"{"error": {"code": 47002, "message": "booking not found"}}"#;
    let by_id = || ask::find_request(Some("019d0000-ffff-7000-8000-0000000000ff"));
    let gateway = ask::gateway()
        .respond_with(404, unknown)
        .respond_with(200, ask::fixture("bookings.json"));
    let read = gateway.run(|| NuiteeFlights::find(by_id()));
    assert!(matches!(read, Ok(BookingLookup::Found(_))), "{read:?}");

    let nothing: [(u16, &str); 4] = [
        (200, r#"{"data": [{"bookings": []}]}"#),
        (200, r#"{"data": []}"#),
        (204, ""),
        (404, unknown),
    ];
    for (status, document) in nothing {
        let gateway = ask::gateway()
            .respond_with(404, unknown)
            .respond_with(status, document);
        let read = gateway.run(|| NuiteeFlights::find(by_id()));
        assert_eq!(read, Ok(BookingLookup::NotFound), "{document}");
    }
    let gateway = ask::responding_with("booking.json");
    let read = gateway.run(|| NuiteeFlights::find(by_id()));
    assert_eq!(outcome(&read), InvalidResponse, "{read:?}");
}

#[test]
fn failed_find_returns_error_instead_of_not_found() {
    let error = |status, code: u32| {
        let body = json!({"error": {"code": code}}).to_string();
        Ok(Response::new(status, body))
    };
    let mut failures = read_failures();
    failures.push((error(500, 57099), Failed));
    failures.push((error(401, 47001), Misconfigured));
    for (failure, expected) in failures {
        for id in [Some(ask::BOOKING_ID), None] {
            let gateway = ask::gateway().exchange(failure.clone());
            let found = gateway.run(|| NuiteeFlights::find(ask::find_request(id)));
            assert_eq!(outcome(&found), expected, "{found:?}");
        }
    }
}

#[test]
fn booking_is_unknown_after_sending_and_not_sent_before() {
    let responses = ["{\"data\": [{\"booki", r#"{"data": []}"#];
    let responses = responses.map(|body| Ok(Response::new(201, body)));
    let failures = failures_after_sending().into_iter().chain(responses);
    for failure in failures {
        let gateway = ask::gateway().exchange(failure.clone());
        let result = gateway.run(|| NuiteeFlights::book(ask::book_request()));
        assert_eq!(outcome(&result), Unknown, "{failure:?}");
    }
    for failure in failures_before_sending() {
        let gateway = ask::gateway().exchange(failure);
        let result = gateway.run(|| NuiteeFlights::book(ask::book_request()));
        assert_eq!(outcome(&result), NotSent);
    }
}

#[test]
fn booking_with_foreign_prebook_or_other_payment_method_is_refused_without_request() {
    let bound = ask::supplier_prebook();
    let mut without_payment: Value = serde_json::from_str(&bound).unwrap();
    without_payment
        .as_object_mut()
        .unwrap()
        .remove("transaction_id");
    let cases = [
        ("PB-1".to_owned(), Refused("invalid")),
        (without_payment.to_string(), Refused("expired")),
    ];
    for (supplier_prebook, expected) in cases {
        let request = BookRequest {
            supplier_prebook,
            ..ask::book_request()
        };
        let gateway = ask::gateway();
        let result = gateway.run(|| NuiteeFlights::book(request));
        assert_eq!(outcome(&result), expected, "{result:?}");
        assert!(gateway.requests().is_empty());
    }
}
