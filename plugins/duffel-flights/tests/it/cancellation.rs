//! Cancellation quotes and cancellations.

use serde_json::{Value, json};
use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{NotSent, Refused, Rejected, Unavailable, Unknown};
use stopover_sdk::testing::{MockGateway, failures_after_sending, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::flight::CancellationAmounts;

use crate::ask;

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
    let gateway = ask::fixtures(&["order.json", "quote.json"]);
    assert_eq!(
        ask::quote(&gateway),
        Ok(Quote::Quoted(AirlineQuote {
            currency: "EUR".to_owned(),
            fee: 5_000,
            refund: 36_540,
            expires_at: Some(1_809_255_600_123),
        }))
    );
    assert_eq!(ask::sent(&gateway)[1..], ["POST /air/order_cancellations"]);
    let order = json!({ "order_id": "ord_own" });
    assert_eq!(gateway.request_json(1)["data"], order);
}

#[test]
fn quote_amounts_depend_on_refund_destination() {
    let cases = [
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
        ("the_moon", json!("365.40"), "EUR", None),
    ];
    for (to, amount, currency, expected) in cases {
        let values = [
            ("/refund_to", json!(to)),
            ("/refund_amount", amount),
            ("/refund_currency", json!(currency)),
            ("/expires_at", json!(null)),
        ];
        let document = ask::changed("quote.json", &values);
        let gateway = ask::fixtures(&["order.json"]).respond_with(201, document);
        match (ask::quote(&gateway), expected) {
            (Ok(Quote::Quoted(quote)), Some(amounts)) => {
                assert_eq!((quote.fee, quote.refund), amounts, "{to}");
                assert_eq!(quote.expires_at, None);
            }
            (Ok(Quote::Unavailable(_)), None) => {}
            (other, _) => panic!("{to}: {other:?}"),
        }
    }
}

#[test]
fn quote_for_order_not_cancellable_through_duffel_is_unavailable() {
    let actions = |actions| ask::changed("order.json", &[("/available_actions", actions)]);
    let gateway = MockGateway::new().respond_with(200, actions(json!(["update"])));
    let quote = ask::quote(&gateway);
    assert!(matches!(quote, Ok(Quote::Unavailable(_))), "{quote:?}");
    assert_eq!(gateway.requests().len(), 1);

    let canceled = MockGateway::new().respond_with(200, ask::canceled_order());
    let quote = ask::quote(&canceled);
    assert_eq!(outcome(&quote), Rejected("not cancellable"), "{quote:?}");

    // If Duffel does not list the available actions, the quote is attempted.
    let gateway = MockGateway::new()
        .respond_with(200, actions(json!(null)))
        .respond_with(201, ask::fixture("quote.json"));
    let quote = ask::quote(&gateway);
    assert!(matches!(quote, Ok(Quote::Quoted(_))), "{quote:?}");
}

#[test]
fn cancellation_confirms_new_quote() {
    let gateway = ask::fixtures(&["order.json", "quote.json"]).respond_with(200, ask::confirmed());
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    assert_eq!(state.journeys.len(), 2);
    let confirm = "POST /air/order_cancellations/ore_own/actions/confirm";
    assert_eq!(ask::sent(&gateway)[2], confirm);
    assert_eq!(gateway.requests()[2].body, None);
}

#[test]
fn cancellation_of_not_cancellable_order_is_refused_without_confirmation() {
    let fixed = ask::changed("order.json", &[("/available_actions", json!(["update"]))]);
    let unknown = ask::error("invalid_request_error", "not_found");
    for response in [(200, fixed.as_str()), (404, unknown.as_str())] {
        let gateway = MockGateway::with_responses(&[response]);
        let result = ask::cancel(&gateway);
        assert_eq!(outcome(&result), Refused("not cancellable"), "{response:?}");
        assert_eq!(gateway.requests().len(), 1);
    }
}

#[test]
fn cancellation_failing_before_quote_is_not_sent() {
    let timed_out = Err(Error::TimedOut(String::new()));
    for failure in [timed_out, Ok(Response::new(502, ""))] {
        let result = ask::cancel(&MockGateway::new().exchange(failure));
        assert_eq!(outcome(&result), NotSent);
    }
}

#[test]
fn cancellation_without_matching_confirmation_is_unknown() {
    let already = || ask::error("invalid_state_error", "already_cancelled");
    let responses = |responses: &[(u16, String)]| {
        let response = |(status, body): &(u16, String)| Ok(Response::new(*status, body));
        responses.iter().map(response).collect::<Vec<_>>()
    };
    let confirmations = responses(&[
        (422, already()),
        (404, ask::error("invalid_request_error", "not_found")),
        // The quote is not confirmed.
        (200, ask::fixture("quote.json")),
        (200, ask::confirmed_with("/order_id", "ord_other")),
        (200, ask::confirmed_with("/id", "ore_other")),
        (200, ask::confirmed()[..100].to_owned()),
    ]);
    let quotes = responses(&[
        (422, already()),
        (201, ask::confirmed_with("/order_id", "ord_other")),
    ]);
    let before: [(&[&str], _); 2] = [
        (&["order.json"], quotes),
        (&["order.json", "quote.json"], confirmations),
    ];
    for (before, failures) in before {
        for failure in failures_after_sending().into_iter().chain(failures) {
            let result = ask::cancel(&ask::fixtures(before).exchange(failure.clone()));
            assert_eq!(outcome(&result), Unknown, "{failure:?}: {result:?}");
        }
    }
}

#[test]
fn canceled_order_state_includes_cancellation_amounts() {
    let (canceled, quote, done) = (
        ask::canceled_order(),
        ask::fixture("quote.json"),
        ask::confirmed(),
    );
    let gateway =
        MockGateway::with_responses(&[(200, &canceled), (200, &ask::list(&[&quote, &done], None))]);
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    let read = "GET /air/order_cancellations?order_id=ord_own";
    assert_eq!(ask::sent(&gateway)[1], read);

    // The order may contain its cancellation.
    let mut order: Value = serde_json::from_str(&canceled).unwrap();
    order["data"]["cancellation"] = serde_json::from_str::<Value>(&done).unwrap()["data"].take();
    let gateway = MockGateway::new().respond_with(200, order.to_string());
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    assert_eq!(gateway.requests().len(), 1);

    // The airline cancelled the order: no response states the refund.
    let gateway =
        MockGateway::with_responses(&[(200, &canceled), (200, &ask::list(&[&quote], None))]);
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, None);

    let gateway = MockGateway::with_responses(&[(200, &canceled), (503, "")]);
    assert_eq!(outcome(&ask::found(&gateway)), Unavailable);
}

#[test]
fn cancellation_of_canceled_order_returns_current_state() {
    let (canceled, done) = (ask::canceled_order(), ask::list(&[&ask::confirmed()], None));
    let gateway = MockGateway::with_responses(&[(200, &canceled), (200, &done)]);
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, kept_and_given(5_000, 36_540));
    let gateway = MockGateway::with_responses(&[(200, &canceled), (500, "")]);
    assert_eq!(outcome(&ask::cancel(&gateway)), Unknown);
}
