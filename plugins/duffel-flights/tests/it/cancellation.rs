//! Cancellation quotes and cancellations.

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::http::{Error, Method};
use stopover_sdk::testing::Outcome::{NotSent, Refused, Rejected, Unavailable, Unknown};
use stopover_sdk::testing::{MockGateway, failures_after_sending, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::{CancellationAmounts, SupplierBooking};
use stopover_sdk::{ChangeError, FlightCancellation, ReadError};

use crate::ask;

fn ordered() -> MockGateway {
    MockGateway::new().respond_with(200, ask::fixture("order.json"))
}

fn quote(gateway: &MockGateway) -> Result<Quote, ReadError> {
    gateway.run(|| DuffelFlights::quote_cancellation(ask::quote_request()))
}

fn cancel(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    gateway.run(|| DuffelFlights::cancel(ask::cancel_request()))
}

fn kept_and_given(fee: i64, refund: i64) -> Option<CancellationAmounts> {
    Some(CancellationAmounts {
        currency: "EUR".to_owned(),
        fee,
        refund,
        supplier_reference: Some("ore_own".to_owned()),
    })
}

#[test]
fn quote_creates_cancellation_without_confirming_it() {
    let gateway = ordered().respond_with(201, ask::fixture("quote.json"));
    assert_eq!(
        quote(&gateway),
        Ok(Quote::Quoted(AirlineQuote {
            currency: "EUR".to_owned(),
            fee: 5_000,
            refund: 36_540,
            expires_at: Some(1_809_255_600_123),
        }))
    );
    let requests = gateway.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        requests[1].url,
        "https://api.duffel.com/air/order_cancellations"
    );
    assert_eq!(ask::data(&requests[1]), json!({ "order_id": "ord_own" }));
}

#[test]
fn quote_amounts_depend_on_refund_destination() {
    type Case = (&'static str, Value, &'static str, Option<(i64, i64)>);
    let cases: [Case; 9] = [
        ("balance", json!("365.40"), "EUR", Some((5_000, 36_540))),
        ("arc_bsp_cash", json!("0.00"), "EUR", Some((41_540, 0))),
        ("card", json!("415.4"), "EUR", Some((0, 41_540))),
        (
            "original_form_of_payment",
            json!("1"),
            "EUR",
            Some((41_440, 100)),
        ),
        ("airline_credits", json!("415.40"), "EUR", Some((41_540, 0))),
        ("airline_credits", json!(null), "", Some((41_540, 0))),
        ("voucher", json!("100.00"), "USD", Some((41_540, 0))),
        ("awaiting_payment", json!("0.00"), "EUR", Some((0, 0))),
        ("balance", json!("365.40"), "USD", None),
    ];
    for (to, amount, currency, expected) in cases {
        let document = ask::changed(
            "quote.json",
            &[
                ("/refund_to", json!(to)),
                ("/refund_amount", amount),
                ("/refund_currency", json!(currency)),
                ("/expires_at", json!(null)),
            ],
        );
        match (quote(&ordered().respond_with(201, document)), expected) {
            (Ok(Quote::Quoted(quote)), Some(amounts)) => {
                assert_eq!((quote.fee, quote.refund), amounts, "{to}");
                assert_eq!(quote.expires_at, None);
            }
            (Ok(Quote::Unavailable(_)), None) => {}
            (other, _) => panic!("{to}: {other:?}"),
        }
    }
    let unknown = ask::changed("quote.json", &[("/refund_to", json!("the_moon"))]);
    assert!(matches!(
        quote(&ordered().respond_with(201, unknown)),
        Ok(Quote::Unavailable(_))
    ));
}

#[test]
fn quote_for_order_not_cancellable_through_duffel_is_unavailable() {
    let fixed = ask::changed("order.json", &[("/available_actions", json!(["update"]))]);
    let gateway = MockGateway::new().respond_with(200, fixed);
    assert!(matches!(quote(&gateway), Ok(Quote::Unavailable(_))));
    assert_eq!(gateway.requests().len(), 1);

    let result = quote(&MockGateway::new().respond_with(200, ask::canceled_order()));
    assert_eq!(outcome(&result), Rejected("not cancellable"), "{result:?}");

    // If Duffel does not list the available actions, the quote is attempted.
    let without_actions = ask::changed("order.json", &[("/available_actions", json!(null))]);
    let gateway = MockGateway::new()
        .respond_with(200, without_actions)
        .respond_with(201, ask::fixture("quote.json"));
    assert!(matches!(quote(&gateway), Ok(Quote::Quoted(_))));
}

#[test]
fn cancellation_confirms_new_quote() {
    let gateway = ordered()
        .respond_with(201, ask::fixture("quote.json"))
        .respond_with(200, ask::confirmed());
    let state = cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    assert_eq!(state.journeys.len(), 2);
    let requests = gateway.requests();
    assert_eq!(requests[2].method, Method::Post);
    assert!(
        requests[2]
            .url
            .ends_with("/air/order_cancellations/ore_own/actions/confirm")
    );
    assert_eq!(requests[2].body, None);
}

#[test]
fn cancellation_of_not_cancellable_order_is_refused_without_confirmation() {
    let fixed = ask::changed("order.json", &[("/available_actions", json!(["update"]))]);
    for (status, document) in [
        (200, fixed),
        (404, ask::error("invalid_request_error", "not_found")),
    ] {
        let gateway = MockGateway::new().respond_with(status, document);
        let result = cancel(&gateway);
        assert_eq!(outcome(&result), Refused("not cancellable"), "{status}");
        assert_eq!(gateway.requests().len(), 1);
    }
}

#[test]
fn cancellation_failing_before_quote_is_not_sent() {
    let cases = [
        MockGateway::new().fail_with(Error::TimedOut(String::new())),
        MockGateway::new().respond_with(502, ""),
    ];
    for gateway in cases {
        assert_eq!(outcome(&cancel(&gateway)), NotSent);
    }
}

#[test]
fn cancellation_without_matching_confirmation_is_unknown() {
    let quoted = || ordered().respond_with(201, ask::fixture("quote.json"));
    let already = || ask::error("invalid_state_error", "already_cancelled");
    let confirmed_with = |pointer, value: &str| {
        let confirmed_at = ("/confirmed_at", json!("2027-05-02T10:00:05Z"));
        ask::changed("quote.json", &[confirmed_at, (pointer, json!(value))])
    };
    let confirmations = [
        (422, already()),
        (404, ask::error("invalid_request_error", "not_found")),
        // The quote is not confirmed.
        (200, ask::fixture("quote.json")),
        (200, confirmed_with("/order_id", "ord_other")),
        (200, confirmed_with("/id", "ore_other")),
        (200, ask::confirmed()[..100].to_owned()),
    ];
    for (status, body) in confirmations {
        let result = cancel(&quoted().respond_with(status, &body));
        assert_eq!(outcome(&result), Unknown, "{body}: {result:?}");
    }
    let quotes = [
        (422, already()),
        (201, confirmed_with("/order_id", "ord_other")),
    ];
    for (status, body) in quotes {
        let result = cancel(&ordered().respond_with(status, &body));
        assert_eq!(outcome(&result), Unknown, "{body}: {result:?}");
    }
    for failure in failures_after_sending() {
        for gateway in [ordered(), quoted()] {
            let result = cancel(&gateway.exchange(failure.clone()));
            assert_eq!(outcome(&result), Unknown, "{failure:?}: {result:?}");
        }
    }
}

#[test]
fn canceled_order_state_includes_cancellation_amounts() {
    let elsewhere = |confirmed_at: Value| {
        let mut one: Value = serde_json::from_str(&ask::fixture("quote.json")).unwrap();
        one["data"]["confirmed_at"] = confirmed_at;
        one["data"].take()
    };
    let quote_only = elsewhere(json!(null));
    let done = elsewhere(json!("2027-05-02T10:00:05Z"));
    let list = |items: Vec<Value>| json!({ "data": items, "meta": null }).to_string();

    let gateway = MockGateway::new()
        .respond_with(200, ask::canceled_order())
        .respond_with(200, list(vec![quote_only.clone(), done.clone()]));
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    let url = "https://api.duffel.com/air/order_cancellations?order_id=ord_own";
    assert_eq!(gateway.requests()[1].url, url);

    // The order may contain its cancellation.
    let mut order: Value = serde_json::from_str(&ask::canceled_order()).unwrap();
    order["data"]["cancellation"] = done.clone();
    let gateway = MockGateway::new().respond_with(200, order.to_string());
    assert_eq!(
        ask::found(&gateway).unwrap().unwrap().cancellation,
        kept_and_given(5_000, 36_540)
    );
    assert_eq!(gateway.requests().len(), 1);

    // The airline cancelled the order: no response states the refund.
    let gateway = MockGateway::new()
        .respond_with(200, ask::canceled_order())
        .respond_with(200, list(vec![quote_only]));
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, None);

    let gateway = MockGateway::new()
        .respond_with(200, ask::canceled_order())
        .respond_with(503, "");
    assert_eq!(outcome(&ask::found(&gateway)), Unavailable);
}

#[test]
fn cancellation_of_canceled_order_returns_current_state() {
    let list =
        json!({ "data": [serde_json::from_str::<Value>(&ask::confirmed()).unwrap()["data"]] });
    let gateway = MockGateway::new()
        .respond_with(200, ask::canceled_order())
        .respond_with(200, list.to_string());
    let state = cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    let gateway = MockGateway::new()
        .respond_with(200, ask::canceled_order())
        .respond_with(500, "");
    assert_eq!(outcome(&cancel(&gateway)), Unknown);
}
