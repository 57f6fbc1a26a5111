//! The airline's quote and the cancellation of a booking.

use serde_json::{Value, json};
use stopover_sdk::ChangeError;
use stopover_sdk::dropped::DropReason;
use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{InvalidResponse, Unknown};
use stopover_sdk::testing::{check_failed_change, outcome};
use stopover_sdk::types::BookingStatus;

use crate::ask;

/// Path of the booking in `fixtures/`.
const BOOKING: &str = "/flights/bookings/019d0000-bbbb-7000-8000-0000000000bb";

fn quote_with(change: impl FnOnce(&mut Value)) -> Quote {
    let document = ask::changed("quote.json", |response| change(&mut response["data"][0]));
    let gateway = ask::responding(&[(200, &document)]);
    let quote = ask::quote(&gateway);
    assert_eq!(
        ask::sent(&gateway),
        [format!("GET {BOOKING}/cancellations")]
    );
    quote.unwrap()
}

#[test]
fn airline_quote_is_returned() {
    let expected = Quote::Quoted(AirlineQuote {
        currency: "EUR".to_owned(),
        fee: 12_000,
        refund: 107_040,
        expires_at: None,
    });
    for confidence in ["confirmed", "estimated"] {
        let quote = quote_with(|item| item["confidence"] = json!(confidence));
        assert_eq!(quote, expected);
    }
}

#[test]
fn unconfirmed_or_incomplete_quote_is_unavailable() {
    type Change = fn(&mut Value);
    let cases: [Change; 8] = [
        |item| item["confidence"] = json!("heuristic"),
        |item| item["confidence"] = json!("unknown"),
        |item| item["refund"] = Value::Null,
        |item| item["penalty"] = Value::Null,
        |item| item["penalty"]["display"]["currency"] = json!("USD"),
        |item| item["refund"]["display"]["amount"] = json!(-1),
        |item| item["destination"] = json!("voucher"),
        |item| item["isRefundable"] = json!(false),
    ];
    for change in cases {
        let quote = quote_with(change);
        assert!(matches!(quote, Quote::Unavailable(_)), "{quote:?}");
    }
    for (status, code) in [(500, 59099), (409, 49007)] {
        let quote = ask::quote(&ask::responding(&[(status, &ask::error(code))]));
        assert!(matches!(quote, Ok(Quote::Unavailable(_))), "{quote:?}");
    }
}

#[test]
fn quote_without_confidence_or_of_another_booking_is_an_error() {
    type Change = fn(&mut Value);
    let cases: [Change; 5] = [
        |item| item["confidence"] = Value::Null,
        |item| item["confidence"] = json!("certain"),
        |item| item["bookingId"] = json!("019d0000-eeee-7000-8000-0000000000ee"),
        |item| *item = json!({}),
        |item| *item = Value::Null,
    ];
    for change in cases {
        let document = ask::changed("quote.json", |response| change(&mut response["data"][0]));
        let quote = ask::quote(&ask::responding(&[(200, &document)]));
        assert_eq!(outcome(&quote), InvalidResponse, "{document}: {quote:?}");
    }
    let empty = ask::quote(&ask::responding(&[(200, r#"{"data": []}"#)]));
    assert_eq!(outcome(&empty), InvalidResponse);
}

fn booking_with(status: &str, intent: Value) -> String {
    ask::changed("booking.json", |response| {
        let booking = &mut response["data"][0]["booking"];
        booking["status"] = json!(status);
        booking["cancelIntentAt"] = intent;
    })
}

fn cancellation_with(field: &str, value: &str) -> String {
    ask::changed("cancel.json", |response| {
        response["data"][field] = json!(value);
    })
}

#[test]
fn cancellation_returns_amounts_and_booking_read_afterwards() {
    let gateway =
        ask::fixtures(&["cancel.json"]).respond_with(200, booking_with("CANCELLED", Value::Null));
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.total, 122_390);
    let cancellation = state.cancellation.unwrap();
    assert_eq!((cancellation.fee, cancellation.refund), (12_000, 110_390));
    let destination = (
        "refund_destination".to_owned(),
        "original_payment".to_owned(),
    );
    assert!(state.extensions.contains(&destination));
    let sent = [
        format!("POST {BOOKING}/cancellations"),
        format!("GET {BOOKING}"),
    ];
    assert_eq!(ask::sent(&gateway), sent);
    assert_eq!(gateway.requests()[0].body, None);
}

#[test]
fn odd_tags_of_the_booking_read_after_a_cancellation_change_nothing() {
    for reference in [json!(7), Value::Null] {
        let gateway = ask::fixtures(&["cancel.json"]).respond_with(200, tagged(&reference));
        let state = ask::cancel(&gateway).unwrap();
        assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
        assert_eq!(state.services.len(), 1, "{reference}");
        assert_eq!(gateway.dropped_items(), [], "{reference}");
    }
}

/// The cancellation's own response proves the change. The booking that was read is another one.
#[test]
fn booking_of_another_reference_read_after_a_cancellation_is_left_out() {
    let gateway = ask::fixtures(&["cancel.json"]).respond_with(200, tagged(&json!("bkg_other")));
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!(state.total, 122_390);
    assert!(state.services.is_empty());
    assert_eq!(gateway.dropped_items(), [(DropReason::InvalidValue, 1)]);
}

/// Returns the cancelled booking with this client reference.
fn tagged(reference: &Value) -> String {
    ask::changed("booking.json", |response| {
        let booking = &mut response["data"][0]["booking"];
        booking["status"] = json!("CANCELLED");
        booking["customTags"]["GW_REF"] = reference.clone();
    })
}

/// Unusable amounts do not add up to the price, so that an operator decides, as for charges without
/// amounts. Only if nothing is stated, the terms of the fare count.
#[test]
fn stated_amounts_that_cannot_be_used_are_undecided() {
    let undecided = || Some((0, 0, "EUR".to_owned()));
    let none = json!(null);
    for (fields, expected) in [
        (vec![("refund_amount", json!("soon"))], undecided()),
        (vec![("refund_amount", json!(-1))], undecided()),
        (vec![("cancellation_fee", json!({}))], undecided()),
        (vec![("currency", none.clone())], undecided()),
        (vec![("destination", json!(7))], undecided()),
        (
            vec![
                ("cancellation_fee", none.clone()),
                ("refund_amount", none.clone()),
            ],
            undecided(),
        ),
        (
            vec![
                ("cancellation_fee", none.clone()),
                ("refund_amount", none),
                ("status", json!("CANCELLED")),
            ],
            None,
        ),
    ] {
        let document = ask::changed("cancel.json", |response| {
            for (field, value) in &fields {
                response["data"][field] = value.clone();
            }
        });
        let booking = booking_with("CANCELLED", Value::Null);
        let gateway = ask::responding(&[(200, &document), (200, &booking)]);
        let state = ask::cancel(&gateway).unwrap();
        assert_eq!(state.status, BookingStatus::Canceled, "{fields:?}");
        let amounts = state.cancellation;
        let amounts = amounts.map(|amounts| (amounts.fee, amounts.refund, amounts.currency));
        assert_eq!(amounts, expected, "{fields:?}");
        let is_counted = gateway.dropped_items() == [(DropReason::InvalidValue, 1)];
        assert_eq!(is_counted, expected.is_some(), "{fields:?}");
    }
}

#[test]
fn amount_that_is_not_stated_is_the_rest_of_the_total() {
    for (left_out, destination, expected) in [
        ("cancellation_fee", "original_payment", (12_000, 110_390)),
        ("refund_amount", "original_payment", (12_000, 110_390)),
        ("cancellation_fee", "voucher", (122_390, 0)),
    ] {
        let document = ask::changed("cancel.json", |response| {
            response["data"][left_out] = Value::Null;
            response["data"]["destination"] = json!(destination);
        });
        let booking = booking_with("CANCELLED", Value::Null);
        let gateway = ask::responding(&[(200, &document), (200, &booking)]);
        let amounts = ask::cancel(&gateway).unwrap().cancellation.unwrap();
        assert_eq!((amounts.fee, amounts.refund), expected, "{left_out}");
        // Without the booking, its total is not known.
        let gateway = ask::responding(&[(200, &document), (500, "")]);
        let amounts = ask::cancel(&gateway).unwrap().cancellation.unwrap();
        assert_eq!((amounts.fee, amounts.refund), (0, 0), "{left_out}");
    }
}

/// The charges are not known, so the terms of the fare do not decide.
#[test]
fn booking_read_as_canceled_with_charges_has_undecided_amounts() {
    let document = booking_with("CANCELLED_WITH_CHARGES", Value::Null);
    let gateway = ask::responding(&[(200, &document)]);
    let Ok(BookingLookup::Found(state)) = ask::find(&gateway, Some(ask::BOOKING_ID)) else {
        panic!("the booking is not found");
    };
    let amounts = state.cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (0, 0));
    let canceled = cancellation_with("status", "CANCELLED");
    let gateway = ask::responding(&[(200, &canceled), (200, &document)]);
    let amounts = ask::cancel(&gateway).unwrap().cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (12_000, 110_390));
}

#[test]
fn final_cancellation_response_suffices_without_booking() {
    let gateway = ask::fixtures(&["cancel.json"]).respond_with(500, "");
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.supplier_reference, ask::BOOKING_ID);
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!(state.total, 122_390);
}

#[test]
fn voucher_counts_as_no_refund() {
    let document = ask::changed("cancel.json", |response| {
        response["data"] = json!([response["data"]]);
        response["data"][0]["destination"] = json!("voucher");
    });
    let state = ask::cancel(&ask::responding(&[(200, &document), (500, "")]));
    let cancellation = state.unwrap().cancellation.unwrap();
    assert_eq!((cancellation.fee, cancellation.refund), (122_390, 0));
}

#[test]
fn cancellation_not_confirmed_by_airline_is_pending() {
    for status in ["CONFIRMED", "CREATED"] {
        let (accepted, booking) = (
            cancellation_with("status", status),
            ask::fixture("booking.json"),
        );
        let cancel =
            |status| ask::cancel(&ask::responding(&[(status, &accepted), (200, &booking)]));
        let state = cancel(202).unwrap();
        assert_eq!(state.status, BookingStatus::CancelPending);
        assert_eq!(state.cancellation, None);
        // A final response with a status other than cancelled is contradictory.
        assert_eq!(outcome(&cancel(200)), Unknown);
    }
}

#[test]
fn cancellation_of_canceled_booking_returns_its_state() {
    use BookingStatus::{CancelPending, Canceled};
    let since = || json!("2027-05-02T08:00:00Z");
    let cases = [
        (
            46004,
            booking_with("CANCELLED", Value::Null),
            Some(Canceled),
        ),
        (
            46006,
            booking_with("CONFIRMED", since()),
            Some(CancelPending),
        ),
        (46006, booking_with("CANCELLED", since()), Some(Canceled)),
        (46004, booking_with("CONFIRMED", Value::Null), None),
        (46006, "{}".to_owned(), None),
        (46006, "<".to_owned(), None),
    ];
    for (code, read, expected) in cases {
        let result = ask::cancel(&ask::responding(&[(409, &ask::error(code)), (200, &read)]));
        match (expected, result) {
            (Some(expected), Ok(state)) => {
                assert_eq!(state.status, expected);
                // The airline may have cancelled it, so that an operator decides the refund.
                let amounts = state
                    .cancellation
                    .map(|amounts| (amounts.fee, amounts.refund));
                let undecided = (expected == Canceled).then_some((0, 0));
                assert_eq!(amounts, undecided, "{code}");
            }
            (None, Err(ChangeError::Unknown(_))) => {}
            other => panic!("{code}: {other:?}"),
        }
    }
}

#[test]
fn cancellation_with_lost_or_foreign_response_is_unknown() {
    let responses = [
        cancellation_with("bookingId", "other"),
        cancellation_with("status", "LOST"),
        // Neither the amounts nor their currency can be read.
        cancellation_with("currency", ""),
    ];
    let responses = responses.map(|body| Response::new(200, body));
    check_failed_change(responses, |failure| {
        ask::cancel(&ask::gateway().exchange(failure).respond_with(500, ""))
    });
}

/// Only money that goes back to the payer or to the account is a refund, whatever its case is.
#[test]
fn refund_counts_as_money_only_with_a_documented_destination() {
    let canceled = |destination: Value, refund: f64| {
        let document = ask::changed("cancel.json", |response| {
            response["data"]["destination"] = destination;
            response["data"]["refund_amount"] = json!(refund);
        });
        let booking = booking_with("CANCELLED", Value::Null);
        let gateway = ask::responding(&[(200, &document), (200, &booking)]);
        let amounts = ask::cancel(&gateway).unwrap().cancellation.unwrap();
        (amounts.fee, amounts.refund)
    };
    for money in ["original_payment", "Agency_Deposit"] {
        assert_eq!(canceled(json!(money), 1103.9), (12_000, 110_390), "{money}");
    }
    assert_eq!(canceled(json!("VOUCHER"), 1103.9), (122_390, 0));
    for unknown in [
        json!("airline_credit"),
        json!("cash"),
        json!(""),
        Value::Null,
    ] {
        assert_eq!(canceled(unknown.clone(), 1103.9), (0, 0), "{unknown}");
        // Without a refund, it does not matter where it would go.
        assert_eq!(canceled(unknown.clone(), 0.0), (12_000, 0), "{unknown}");
        let quote = quote_with(|item| item["destination"] = unknown.clone());
        assert!(matches!(quote, Quote::Unavailable(_)), "{unknown}");
    }
    for (written, is_quoted) in [("AGENCY_DEPOSIT", true), ("Voucher", false)] {
        let quote = quote_with(|item| item["destination"] = json!(written));
        assert_eq!(matches!(quote, Quote::Quoted(_)), is_quoted, "{written}");
    }
}
