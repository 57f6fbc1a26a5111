//! Quotes and cancellations.

use fake_flights::{Jetbridge, Skylane};
use serde_json::json;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::outcome;
use stopover_sdk::types::BookingStatus;
use stopover_sdk::{FlightCancellation, ReadError, RefusalReason};

use crate::ask::{asked, cancel_request, edited, gateway, quote_request};
use crate::{jetbridge, skylane};

#[test]
fn quote_returns_amounts_of_airline() {
    let gateway = gateway()
        .respond_with(200, skylane::fixture("quote").to_string())
        .respond_with(200, jetbridge::fixture("quote").to_string());
    let quotes = [
        gateway.run(|| Skylane::quote_cancellation(quote_request())),
        gateway.run(|| Jetbridge::quote_cancellation(quote_request())),
    ];
    let expected = [
        "POST /skylane/orders/FLT-100001/cancel-quote",
        "GET /jetbridge/v3/bookings/FLT-100001/cancellation",
    ];
    assert_eq!(asked(&gateway), expected);
    assert!((gateway.requests().iter()).all(|request| request.body.is_none()));
    // Bags, which only Skylane sells, are not refunded.
    for (quote, fee) in quotes.into_iter().zip([11_000, 5_000]) {
        let Ok(Quote::Quoted(quote)) = quote else {
            panic!("{quote:?}");
        };
        assert_eq!((quote.fee, quote.refund), (fee, 64_930));
        assert_eq!(quote.currency, "EUR");
        assert!(quote.expires_at.is_some_and(|at| at > 1_795_301_747_000));
    }
}

#[test]
fn quote_that_airline_cannot_give_is_unavailable() {
    let gateway = gateway()
        .respond_with(422, skylane::error("quote_unavailable"))
        .respond_with(422, jetbridge::error("49001"));
    for quote in [
        gateway.run(|| Skylane::quote_cancellation(quote_request())),
        gateway.run(|| Jetbridge::quote_cancellation(quote_request())),
    ] {
        let expected = "The airline cannot quote the cancellation.".to_owned();
        assert_eq!(quote, Ok(Quote::Unavailable(expected)));
    }
}

#[test]
fn failed_quote_is_error_instead_of_unavailable() {
    for (status, body) in [
        (500, skylane::error("quote_unavailable")),
        (503, String::new()),
        (422, String::new()),
        (200, "{".to_owned()),
        (409, skylane::error("already_cancelled")),
        (409, jetbridge::error("46004")),
    ] {
        let gateway = gateway()
            .respond_with(status, &body)
            .respond_with(status, &body);
        for quote in [
            gateway.run(|| Skylane::quote_cancellation(quote_request())),
            gateway.run(|| Jetbridge::quote_cancellation(quote_request())),
        ] {
            assert!(quote.is_err(), "{status} {body}: {quote:?}");
        }
    }
}

#[test]
fn quote_for_canceled_ticket_is_rejected() {
    let gateway = gateway()
        .respond_with(409, skylane::error("already_cancelled"))
        .respond_with(409, jetbridge::error("46004"));
    for quote in [
        gateway.run(|| Skylane::quote_cancellation(quote_request())),
        gateway.run(|| Jetbridge::quote_cancellation(quote_request())),
    ] {
        let Err(ReadError::Rejected(refusal)) = quote else {
            panic!("{quote:?}");
        };
        assert_eq!(refusal.reason, RefusalReason::NotCancellable);
    }
}

#[test]
fn quote_in_two_currencies_is_unreadable() {
    let gateway = gateway()
        .respond_with(
            200,
            edited(
                skylane::fixture("quote"),
                &[("/data/refund/currency", json!("USD"))],
            ),
        )
        .respond_with(
            200,
            edited(
                jetbridge::fixture("quote"),
                &[("/result/refund/ccy", json!("USD"))],
            ),
        );
    for quote in [
        gateway.run(|| Skylane::quote_cancellation(quote_request())),
        gateway.run(|| Jetbridge::quote_cancellation(quote_request())),
    ] {
        assert_eq!(outcome(&quote), InvalidResponse, "{quote:?}");
    }
}

#[test]
fn cancellation_returns_fee_and_refund() {
    let at_skylane = json!({
        "ref": "FCX-100005", "at": "2026-11-21T22:55:47.935Z",
        "fee": {"value": "110.00", "currency": "EUR"}, "refund": {"value": "649.30", "currency": "EUR"},
    });
    let at_jetbridge = json!({
        "ref": "FCX-100005", "at": 1_795_301_747_947_i64,
        "fee": {"units": 11_000, "scale": 2, "ccy": "EUR"}, "refund": {"units": 64_930, "scale": 2, "ccy": "EUR"},
    });
    let gateway = gateway()
        .respond_with(
            200,
            edited(
                skylane::fixture("order"),
                &[
                    ("/data/state", json!("cancelled")),
                    ("/data/cancellation", at_skylane),
                ],
            ),
        )
        .respond_with(
            200,
            edited(
                jetbridge::fixture("booking"),
                &[
                    ("/result/status", json!("CANCELLED")),
                    ("/result/cancellation", at_jetbridge),
                ],
            ),
        );
    for state in [
        gateway.run(|| Skylane::cancel(cancel_request())),
        gateway.run(|| Jetbridge::cancel(cancel_request())),
    ] {
        let state = state.unwrap();
        assert_eq!(state.status, BookingStatus::Canceled);
        let done = state.cancellation.unwrap();
        assert_eq!((done.fee, done.refund), (11_000, 64_930));
        assert_eq!(done.currency, "EUR");
        assert_eq!(done.supplier_reference.as_deref(), Some("FCX-100005"));
    }
    let expected = [
        "POST /skylane/orders/FLT-100001/cancel",
        "POST /jetbridge/v3/bookings/FLT-100001/cancellation",
    ];
    assert_eq!(asked(&gateway), expected);
    assert_eq!(
        gateway.request_json(0),
        json!({"client_ref": "bkg_DXB-cancel-1"})
    );
    assert_eq!(
        gateway.request_json(1),
        json!({"clientRef": "bkg_DXB-cancel-1"})
    );
}

#[test]
fn undecided_cancellation_is_pending() {
    let gateway = gateway()
        .respond_with(
            202,
            edited(
                skylane::fixture("order"),
                &[("/data/state", json!("cancelling"))],
            ),
        )
        .respond_with(
            202,
            edited(
                jetbridge::fixture("booking"),
                &[("/result/status", json!("CANCEL_REQUESTED"))],
            ),
        );
    for state in [
        gateway.run(|| Skylane::cancel(cancel_request())),
        gateway.run(|| Jetbridge::cancel(cancel_request())),
    ] {
        let state = state.unwrap();
        assert_eq!(state.status, BookingStatus::CancelPending);
        assert_eq!(state.cancellation, None);
    }
}
