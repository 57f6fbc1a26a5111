//! Booking and reading a booking back.

use serde_json::{Value, json};
use stopover_sdk::ReadError;
use stopover_sdk::flight_booking::{BookRequest, BookingLookup, FindRequest};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, Misconfigured, NotSent, Unknown};
use stopover_sdk::testing::{check_failed_change, outcome, read_failures};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{BaggageType, ServiceType, SupplierBooking};

use crate::ask;

fn read_with(change: impl FnOnce(&mut Value)) -> Result<BookingLookup, ReadError> {
    let document = ask::changed("booking.json", |response| {
        change(&mut response["data"][0]["booking"])
    });
    ask::find(&ask::responding(&[(200, &document)]), Some(ask::BOOKING_ID))
}

fn found(lookup: Result<BookingLookup, ReadError>) -> SupplierBooking {
    match lookup {
        Ok(BookingLookup::Found(state)) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn booking_sends_prebook_payment_and_client_reference() {
    let gateway = ask::gateway().respond_with(201, ask::fixture("booking.json"));
    let state = ask::book(&gateway).unwrap();
    assert_eq!(ask::sent(&gateway), ["POST /flights/bookings/"]);
    assert_eq!(
        gateway.request_json(0),
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
    // The bag and the fee of 20 euros are part of the total, but not of the fare.
    assert_eq!((state.total, state.currency.as_str()), (122_390, "EUR"));
    assert_eq!((state.fare, state.fare_tax), (Some(78_000), Some(39_040)));
    let bag = &state.services[0];
    assert_eq!(bag.service_type, ServiceType::Baggage);
    assert_eq!(
        (bag.passenger, bag.quantity, bag.unit_amount),
        (Some(0), 1, 3350)
    );
    let baggage = bag.baggage.as_ref().unwrap();
    assert_eq!(baggage.baggage_type, BaggageType::Checked);
    assert_eq!(baggage.max_weight_kg, Some(20));
    // Cabins, which Nuitee's booking lacks, come from the prebook.
    assert_eq!(state.journeys.len(), 2);
    let segment = &state.journeys[0].segments[1];
    assert_eq!(segment.passengers[2].cabin_name.as_deref(), Some("Economy"));
    assert_eq!(segment.passengers[2].checked_bags, Some(1));
    for (name, value) in [
        ("booking_ref", "FH-27E-OWN00001"),
        ("environment", "sandbox"),
    ] {
        let extension = (name.to_owned(), value.to_owned());
        assert!(state.extensions.contains(&extension), "{name}");
    }
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
    for (status, expected) in cases {
        let read = |intent: Value| {
            read_with(|booking| {
                booking["status"] = json!(status);
                booking["cancelIntentAt"] = intent;
            })
        };
        let lookups = [read(Value::Null), read(json!("2027-05-02T08:00:00Z"))];
        let Some((usual, while_cancelling)) = expected else {
            for lookup in lookups {
                assert_eq!(outcome(&lookup), InvalidResponse, "{status}");
            }
            continue;
        };
        let statuses = lookups.map(|lookup| found(lookup).status);
        assert_eq!(statuses, [usual, while_cancelling], "{status}");
    }
}

/// A booking that may be being cancelled must not look like one whose cancellation was refused.
#[test]
fn unreadable_intent_to_cancel_makes_an_active_booking_unreadable() {
    for intent in [json!(1_809_331_200), json!({}), json!(["x"]), json!(true)] {
        let read = |status: &str| {
            read_with(|booking| {
                booking["status"] = json!(status);
                booking["cancelIntentAt"] = intent.clone();
            })
        };
        for status in ["CONFIRMED", "PENDING"] {
            let lookup = read(status);
            assert_eq!(outcome(&lookup), InvalidResponse, "{status} {intent}");
        }
        let canceled = found(read("CANCELLED"));
        assert_eq!(canceled.status, BookingStatus::Canceled, "{intent}");
        // Nobody can have asked to cancel a booking whose id is not known yet.
        let document = ask::changed("booking.json", |response| {
            let mut booking = response["data"][0]["booking"].take();
            booking["cancelIntentAt"] = intent.clone();
            response["data"] = json!([{ "bookings": [booking] }]);
        });
        let confirmed = found(ask::find(&ask::responding(&[(200, &document)]), None));
        assert_eq!(confirmed.status, BookingStatus::Confirmed, "{intent}");
    }
}

#[test]
fn booking_with_several_tags_is_not_known_to_be_ours() {
    let booking = ask::fixture("booking.json");
    let tags = "\"customTags\":";
    assert_eq!(booking.matches(tags).count(), 1);
    for other in ["{}", "[]", r#"{"GW_REF": "bkg_other"}"#] {
        let twice = booking.replace(tags, &format!("{tags} {other}, {tags}"));
        let booked = ask::book(&ask::responding(&[(201, &twice)]));
        assert_eq!(outcome(&booked), Unknown, "{other}");
        let read = ask::find(&ask::responding(&[(200, &twice)]), Some(ask::BOOKING_ID));
        assert_eq!(outcome(&read), InvalidResponse, "{other}");
    }
    let again = booking.replace(tags, &format!("{tags} null, {tags}"));
    assert!(ask::book(&ask::responding(&[(201, &again)])).is_ok());
}

#[test]
fn record_locator_is_found_in_every_position_or_is_none() {
    let with = |listed: Value, ordered: Value| {
        let lookup = read_with(|booking| {
            booking["airlineLocators"] = listed;
            booking["order"]["reference"]["airlineBookings"] = ordered;
        });
        found(lookup).airline_pnr
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
        (|_| {}, 122_390, Some(78_000)),
        // The bill has its parts but no sum.
        (
            |booking| booking["pricing"]["totalAmount"] = Value::Null,
            122_390,
            Some(78_000),
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
        let state = found(read_with(change));
        assert_eq!((state.total, state.fare), (total, fare));
    }
    let unpriced = read_with(|booking| {
        booking["pricing"] = Value::Null;
        booking["journey"] = Value::Null;
    });
    assert_eq!(outcome(&unpriced), InvalidResponse, "{unpriced:?}");
}

/// The gateway does not handle an amount of 10^15 minor units, and the booking is made nevertheless.
#[test]
fn total_out_of_range_is_replaced() {
    let huge = json!(10_000_000_000_000_i64);
    let nearly = json!(9_999_999_999_999.0);
    for (bill, total) in [
        (json!({"totalAmount": huge, "currency": "EUR"}), 119_040),
        (
            json!({"totalAmount": huge, "subtotal": nearly, "servicesAmount": 1, "currency": "EUR"}),
            119_040,
        ),
        (
            json!({"totalAmount": huge, "subtotal": 1190.4, "servicesAmount": 33.5, "currency": "EUR"}),
            122_390,
        ),
    ] {
        let document = ask::changed("booking.json", |response| {
            response["data"][0]["booking"]["pricing"] = bill.clone();
        });
        let booked = ask::book(&ask::responding(&[(201, &document)])).unwrap();
        assert_eq!(booked.status, BookingStatus::Confirmed, "{bill}");
        let stated = (booked.total, booked.currency.as_str());
        assert_eq!(stated, (total, "EUR"), "{bill}");
    }
}

#[test]
fn booking_is_found_by_id_or_client_reference() {
    let gateway = ask::fixtures(&["booking.json"]);
    let state = found(ask::find(&gateway, Some(ask::BOOKING_ID)));
    // Without the prebook there are no journeys.
    assert!(state.journeys.is_empty());
    let by_id = format!("GET /flights/bookings/{}", ask::BOOKING_ID);
    assert_eq!(ask::sent(&gateway), [by_id]);

    let request = FindRequest {
        supplier_prebook: Some(ask::supplier_prebook()),
        ..ask::find_request(None)
    };
    let gateway = ask::fixtures(&["bookings.json"]);
    let state = found(ask::find_with(&gateway, request));
    // The list also has a booking whose reference differs in case, and a cancelled one.
    assert_eq!(state.supplier_reference, ask::BOOKING_ID);
    assert_eq!(state.journeys.len(), 2);
    let by_label = "GET /flights/bookings?customTags=GW_REF%3Abkg_own_1";
    assert_eq!(ask::sent(&gateway), [by_label]);
}

#[test]
fn booking_with_unknown_id_is_searched_by_client_reference() {
    let unknown = ask::error(47002);
    let id = Some("019d0000-ffff-7000-8000-0000000000ff");
    let listed = ask::fixture("bookings.json");
    let read = ask::find(&ask::responding(&[(404, &unknown), (200, &listed)]), id);
    assert!(matches!(read, Ok(BookingLookup::Found(_))), "{read:?}");

    for nothing in [
        (200, r#"{"data": [{"bookings": []}]}"#),
        (404, unknown.as_str()),
    ] {
        let read = ask::find(&ask::responding(&[(404, &unknown), nothing]), id);
        assert_eq!(read, Ok(BookingLookup::NotFound), "{nothing:?}");
    }
    for no_statement in [
        (204, ""),
        (200, ""),
        (200, "{}"),
        (200, r#"{"data": null}"#),
        (200, "<html>"),
    ] {
        let by_id = ask::find(&ask::responding(&[no_statement]), id);
        assert_eq!(outcome(&by_id), InvalidResponse, "{no_statement:?}");
        let by_label = ask::find(&ask::responding(&[no_statement]), None);
        assert_eq!(outcome(&by_label), InvalidResponse, "{no_statement:?}");
    }
    for other in [
        r#"{"data": []}"#,
        r#"{"data": [{}]}"#,
        r#"{"data": [null]}"#,
    ] {
        let read = ask::find(&ask::responding(&[(200, other)]), id);
        assert_eq!(outcome(&read), InvalidResponse, "{other}");
    }
    // Nuitee documents one item with a list, which may be empty.
    for no_list in [
        "[]",
        "[{}]",
        "[null]",
        "\"\"",
        r#"[{"bookings": null}]"#,
        r#"[{"bookings": ""}]"#,
    ] {
        let document = format!(r#"{{"data": {no_list}}}"#);
        let read = ask::find(&ask::responding(&[(200, &document)]), None);
        assert_eq!(outcome(&read), InvalidResponse, "{no_list}");
    }
    let read = ask::find(&ask::fixtures(&["booking.json"]), id);
    assert_eq!(outcome(&read), InvalidResponse, "{read:?}");
}

#[test]
fn failed_find_returns_error_instead_of_not_found() {
    let error = |status, code| Ok(Response::new(status, ask::error(code)));
    let mut failures = read_failures();
    failures.push((error(500, 57099), Failed));
    failures.push((error(401, 47001), Misconfigured));
    for (failure, expected) in failures {
        for id in [Some(ask::BOOKING_ID), None] {
            let found = ask::find(&ask::gateway().exchange(failure.clone()), id);
            assert_eq!(outcome(&found), expected, "{found:?}");
        }
    }
}

#[test]
fn booking_is_unknown_after_sending_and_not_sent_before() {
    let responses = ["{\"data\": [{\"booki", r#"{"data": []}"#];
    let responses = responses.map(|body| Response::new(201, body));
    check_failed_change(responses, |failure| {
        ask::book(&ask::gateway().exchange(failure))
    });
}

/// Only Nuitee can refuse a booking. An earlier call with the same prebook may have booked.
#[test]
fn booking_with_foreign_prebook_or_other_payment_method_is_not_sent() {
    let mut without_payment: Value = serde_json::from_str(&ask::supplier_prebook()).unwrap();
    without_payment["transaction_id"] = Value::Null;
    for supplier_prebook in ["PB-1".to_owned(), without_payment.to_string()] {
        let request = BookRequest {
            supplier_prebook,
            ..ask::book_request()
        };
        let gateway = ask::gateway();
        let result = ask::book_with(&gateway, request);
        assert_eq!(outcome(&result), NotSent, "{result:?}");
        assert!(gateway.requests().is_empty());
    }
}
