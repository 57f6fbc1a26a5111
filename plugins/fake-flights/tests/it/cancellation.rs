//! Quotes and cancellations.

use serde_json::json;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::{Outcome::InvalidResponse, outcome};
use stopover_sdk::types::BookingStatus;

use crate::ask::{asked, cancel_request, gateway, quote_request};
use crate::supplier::SUPPLIERS;

#[test]
fn quote_returns_amounts_of_airline() {
    // Bags, which only Skylane sells, are not refunded.
    let expected = [
        ("POST /skylane/orders/FLT-100001/cancel-quote", 11_000),
        ("GET /jetbridge/v3/bookings/FLT-100001/cancellation", 5_000),
    ];
    for (supplier, (request, fee)) in SUPPLIERS.into_iter().zip(expected) {
        let gateway = gateway().respond_with(200, supplier.edited("quote", &[]));
        let quote = gateway.run(|| (supplier.quote)(quote_request()));
        assert_eq!(asked(&gateway), [request]);
        assert_eq!(gateway.requests()[0].body, None);
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
    for supplier in SUPPLIERS {
        let gateway = gateway().respond_with(422, (supplier.error)(supplier.no_quote));
        let quote = gateway.run(|| (supplier.quote)(quote_request()));
        let expected = "The airline cannot quote the cancellation.".to_owned();
        assert_eq!(quote, Ok(Quote::Unavailable(expected)));
    }
}

#[test]
fn quote_in_two_currencies_is_unreadable() {
    let currencies = ["/data/refund/currency", "/result/refund/ccy"];
    for (supplier, currency) in SUPPLIERS.into_iter().zip(currencies) {
        let response = supplier.edited("quote", &[(currency, json!("USD"))]);
        let gateway = gateway().respond_with(200, response);
        let quote = gateway.run(|| (supplier.quote)(quote_request()));
        assert_eq!(outcome(&quote), InvalidResponse, "{quote:?}");
    }
}

#[test]
fn cancellation_returns_fee_and_refund() {
    let order_cancellation = json!({
        "ref": "FCX-100005", "at": "2026-11-21T22:55:47.935Z",
        "fee": {"value": "110.00", "currency": "EUR"}, "refund": {"value": "649.30", "currency": "EUR"},
    });
    let booking_cancellation = json!({
        "ref": "FCX-100005", "at": 1_795_301_747_947_i64,
        "fee": {"units": 11_000, "scale": 2, "ccy": "EUR"}, "refund": {"units": 64_930, "scale": 2, "ccy": "EUR"},
    });
    let order = [
        ("/data/state", json!("cancelled")),
        ("/data/cancellation", order_cancellation),
    ];
    let booking = [
        ("/result/status", json!("CANCELLED")),
        ("/result/cancellation", booking_cancellation),
    ];
    let requests = [
        ("POST /skylane/orders/FLT-100001/cancel", "client_ref"),
        (
            "POST /jetbridge/v3/bookings/FLT-100001/cancellation",
            "clientRef",
        ),
    ];
    let edits = [order, booking].into_iter().zip(requests);
    for (supplier, (edits, (request, reference))) in SUPPLIERS.into_iter().zip(edits) {
        let gateway = gateway().respond_with(200, supplier.edited("booking", &edits));
        let booking = gateway.run(|| (supplier.cancel)(cancel_request())).unwrap();
        assert_eq!(booking.status, BookingStatus::Canceled);
        let amounts = booking.cancellation.unwrap();
        assert_eq!((amounts.fee, amounts.refund), (11_000, 64_930));
        assert_eq!(amounts.currency, "EUR");
        assert_eq!(amounts.supplier_reference.as_deref(), Some("FCX-100005"));
        assert_eq!(asked(&gateway), [request]);
        let expected = json!({reference: "bkg_DXB-cancel-1"});
        assert_eq!(gateway.request_json(0), expected);
    }
}
