//! Quotes and cancellations.

use fake_flights::{Jetbridge, Skylane};
use serde_json::json;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::{MockGateway, Outcome::InvalidResponse, Outcome::Rejected, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{FlightCancellation, ReadError};

use crate::ask::{asked, cancel_request, edited, gateway, quote_request};
use crate::{jetbridge, skylane};

/// Scripts a response of Skylane and then one of Jetbridge.
fn responding(status: u16, skylane: String, jetbridge: String) -> MockGateway {
    let gateway = gateway().respond_with(status, skylane);
    gateway.respond_with(status, jetbridge)
}

/// Requests a quote of Skylane and then one of Jetbridge.
fn quotes(gateway: &MockGateway) -> [Result<Quote, ReadError>; 2] {
    [
        gateway.run(|| Skylane::quote_cancellation(quote_request())),
        gateway.run(|| Jetbridge::quote_cancellation(quote_request())),
    ]
}

/// Cancels at Skylane and then at Jetbridge.
fn cancel(gateway: &MockGateway) -> [SupplierBooking; 2] {
    [
        gateway.run(|| Skylane::cancel(cancel_request())).unwrap(),
        gateway.run(|| Jetbridge::cancel(cancel_request())).unwrap(),
    ]
}

#[test]
fn quote_returns_amounts_of_airline() {
    let [skylane, jetbridge] = [skylane::fixture("quote"), jetbridge::fixture("quote")];
    let gateway = responding(200, skylane.to_string(), jetbridge.to_string());
    let quotes = quotes(&gateway);
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
    let skylane = skylane::error("quote_unavailable");
    let gateway = responding(422, skylane, jetbridge::error("49001"));
    let expected = "The airline cannot quote the cancellation.".to_owned();
    for quote in quotes(&gateway) {
        assert_eq!(quote, Ok(Quote::Unavailable(expected.clone())));
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
        for quote in quotes(&responding(status, body.clone(), body.clone())) {
            assert!(quote.is_err(), "{status} {body}: {quote:?}");
        }
    }
}

#[test]
fn quote_for_canceled_ticket_is_rejected() {
    let skylane = skylane::error("already_cancelled");
    let gateway = responding(409, skylane, jetbridge::error("46004"));
    for quote in quotes(&gateway) {
        assert_eq!(outcome(&quote), Rejected("not cancellable"));
    }
}

#[test]
fn quote_in_two_currencies_is_unreadable() {
    let edits = [("/data/refund/currency", json!("USD"))];
    let skylane = edited(skylane::fixture("quote"), &edits);
    let edits = [("/result/refund/ccy", json!("USD"))];
    let jetbridge = edited(jetbridge::fixture("quote"), &edits);
    for quote in quotes(&responding(200, skylane, jetbridge)) {
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
    let edits = [
        ("/data/state", json!("cancelled")),
        ("/data/cancellation", at_skylane),
    ];
    let skylane = edited(skylane::fixture("order"), &edits);
    let edits = [
        ("/result/status", json!("CANCELLED")),
        ("/result/cancellation", at_jetbridge),
    ];
    let jetbridge = edited(jetbridge::fixture("booking"), &edits);
    let gateway = responding(200, skylane, jetbridge);
    for booking in cancel(&gateway) {
        assert_eq!(booking.status, BookingStatus::Canceled);
        let amounts = booking.cancellation.unwrap();
        assert_eq!((amounts.fee, amounts.refund), (11_000, 64_930));
        assert_eq!(amounts.currency, "EUR");
        assert_eq!(amounts.supplier_reference.as_deref(), Some("FCX-100005"));
    }
    let expected = [
        "POST /skylane/orders/FLT-100001/cancel",
        "POST /jetbridge/v3/bookings/FLT-100001/cancellation",
    ];
    assert_eq!(asked(&gateway), expected);
    let expected = "bkg_DXB-cancel-1";
    assert_eq!(gateway.request_json(0), json!({"client_ref": expected}));
    assert_eq!(gateway.request_json(1), json!({"clientRef": expected}));
}

#[test]
fn undecided_cancellation_is_pending() {
    let edits = [("/data/state", json!("cancelling"))];
    let skylane = edited(skylane::fixture("order"), &edits);
    let edits = [("/result/status", json!("CANCEL_REQUESTED"))];
    let jetbridge = edited(jetbridge::fixture("booking"), &edits);
    for booking in cancel(&responding(202, skylane, jetbridge)) {
        assert_eq!(booking.status, BookingStatus::CancelPending);
        assert_eq!(booking.cancellation, None);
    }
}
