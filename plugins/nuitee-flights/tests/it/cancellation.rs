//! The airline's quote and the cancellation of a booking.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::http::{Method, Response};
use stopover_sdk::testing::Outcome::{NotSent, Unknown};
use stopover_sdk::testing::{failures_after_sending, failures_before_sending, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::{ChangeError, FlightCancellation};

use crate::ask;

const BOOKING: &str =
    "https://api.liteapi.travel/v3.0/flights/bookings/019d0000-bbbb-7000-8000-0000000000bb";

fn quote_with(change: impl FnOnce(&mut Value)) -> Quote {
    let document = ask::changed("quote.json", |response| change(&mut response["data"][0]));
    let gateway = ask::gateway().respond_with(200, document);
    let quote = gateway.run(|| NuiteeFlights::quote_cancellation(ask::quote_request()));
    let requests = gateway.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].method, Method::Get);
    assert_eq!(requests[0].url, format!("{BOOKING}/cancellations"));
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
    let cases: [Change; 10] = [
        |item| item["confidence"] = json!("heuristic"),
        |item| item["confidence"] = json!("unknown"),
        |item| item["confidence"] = Value::Null,
        |item| item["refund"] = Value::Null,
        |item| item["penalty"] = Value::Null,
        |item| item["penalty"]["display"]["currency"] = json!("USD"),
        |item| item["refund"]["display"]["amount"] = json!(-1),
        |item| item["destination"] = json!("voucher"),
        |item| item["isRefundable"] = json!(false),
        |item| *item = Value::Null,
    ];
    for change in cases {
        let quote = quote_with(change);
        assert!(matches!(quote, Quote::Unavailable(_)), "{quote:?}");
    }
    for (status, code) in [(500, 59099), (409, 49007)] {
        let document = json!({"error": {"code": code, "message": "m"}}).to_string();
        let gateway = ask::gateway().respond_with(status, document);
        let quote = gateway.run(|| NuiteeFlights::quote_cancellation(ask::quote_request()));
        assert!(matches!(quote, Ok(Quote::Unavailable(_))), "{quote:?}");
    }
}

#[test]
fn cancellation_returns_amounts_and_booking_read_afterwards() {
    let gateway = ask::responding_with("cancel.json").respond_with(
        200,
        ask::changed("booking.json", |response| {
            response["data"][0]["booking"]["status"] = json!("CANCELLED");
        }),
    );
    let state = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
    let state = state.unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.total, 122_390);
    let cancellation = state.cancellation.unwrap();
    assert_eq!((cancellation.fee, cancellation.refund), (12_000, 110_390));
    let destination = (
        "refund_destination".to_owned(),
        "original_payment".to_owned(),
    );
    assert!(state.extensions.contains(&destination));
    let requests = gateway.requests();
    assert_eq!(requests[0].method, Method::Post);
    assert_eq!(requests[0].url, format!("{BOOKING}/cancellations"));
    assert_eq!(requests[0].body, None);
    assert_eq!(requests[1].url, BOOKING);
}

#[test]
fn final_cancellation_response_suffices_without_booking() {
    let gateway = ask::responding_with("cancel.json").respond_with(500, "");
    let state = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
    let state = state.unwrap();
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
    let gateway = ask::gateway()
        .respond_with(200, document)
        .respond_with(500, "");
    let state = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
    let cancellation = state.unwrap().cancellation.unwrap();
    assert_eq!((cancellation.fee, cancellation.refund), (12_000, 0));
}

#[test]
fn cancellation_not_confirmed_by_airline_is_pending() {
    for status in ["CONFIRMED", "CREATED"] {
        let accepted = ask::changed("cancel.json", |response| {
            response["data"]["status"] = json!(status)
        });
        let gateway = ask::gateway()
            .respond_with(202, &accepted)
            .respond_with(200, ask::fixture("booking.json"));
        let state = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
        let state = state.unwrap();
        assert_eq!(state.status, BookingStatus::CancelPending);
        assert_eq!(state.cancellation, None);

        // A final response with a status other than cancelled is contradictory.
        let gateway = ask::gateway()
            .respond_with(200, &accepted)
            .respond_with(200, ask::fixture("booking.json"));
        let result = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
        assert_eq!(outcome(&result), Unknown, "{result:?}");
    }
}

#[test]
fn cancellation_of_canceled_booking_returns_its_state() {
    use BookingStatus::{CancelPending, Canceled};
    let booking = |status: &str, intent: Value| {
        ask::changed("booking.json", |response| {
            let booking = &mut response["data"][0]["booking"];
            booking["status"] = json!(status);
            booking["cancelIntentAt"] = intent;
        })
    };
    let since = || json!("2027-05-02T08:00:00Z");
    let cases = [
        (46004, booking("CANCELLED", Value::Null), Some(Canceled)),
        (46006, booking("CONFIRMED", since()), Some(CancelPending)),
        (46006, booking("CANCELLED", since()), Some(Canceled)),
        (46004, booking("CONFIRMED", Value::Null), None),
        (46006, "{}".to_owned(), None),
        (46006, "<".to_owned(), None),
    ];
    for (code, read, expected) in cases {
        let conflict = json!({"error": {"code": code, "message": "m"}}).to_string();
        let gateway = ask::gateway()
            .respond_with(409, conflict)
            .respond_with(200, read);
        let result = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
        match (expected, result) {
            (Some(expected), Ok(state)) => assert_eq!(state.status, expected),
            (None, Err(ChangeError::Unknown(_))) => {}
            other => panic!("{code}: {other:?}"),
        }
    }
}

#[test]
fn cancellation_with_lost_or_foreign_response_is_unknown() {
    let with = |field: &str, value: &str| {
        let document = ask::changed("cancel.json", |response| {
            response["data"][field] = json!(value)
        });
        Ok(Response::new(200, document))
    };
    let mut failures = failures_after_sending();
    failures.push(with("bookingId", "other"));
    failures.push(with("status", "LOST"));
    // The amounts cannot be read.
    failures.push(with("refund_amount", "soon"));
    for failure in failures {
        let gateway = ask::gateway()
            .exchange(failure.clone())
            .respond_with(500, "");
        let result = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
        assert_eq!(outcome(&result), Unknown, "{failure:?}");
    }
    for failure in failures_before_sending() {
        let gateway = ask::gateway().exchange(failure);
        let result = gateway.run(|| NuiteeFlights::cancel(ask::cancel_request()));
        assert_eq!(outcome(&result), NotSent);
    }
}
