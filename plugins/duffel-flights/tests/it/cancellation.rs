//! Cancellation quotes and cancellations.

use serde_json::{Value, json};
use stopover_sdk::dropped::DropReason;
use stopover_sdk::flight_cancellation::{AirlineQuote, Quote};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{
    InvalidResponse, NotSent, Refused, Rejected, Unavailable, Unknown,
};
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

/// Returns amounts that do not add up to the price, so that an operator decides the refund.
fn not_stated() -> Option<CancellationAmounts> {
    Some(CancellationAmounts {
        currency: "EUR".to_owned(),
        fee: 0,
        refund: 0,
        supplier_reference: None,
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
    let other = [("/metadata/gateway_booking_id", json!("bkg_other"))];
    let unusable = [
        ask::changed("order.json", &other),
        ask::changed("order.json", &[("/cancelled_at", json!("soon"))]),
        // It is not known whether Duffel allows the cancellation.
        ask::changed("order.json", &[("/available_actions", json!(7))]),
        ask::fixture("offer.json"),
    ];
    let unusable = unusable.map(|body| Ok(Response::new(200, body)));
    let failures = [timed_out, Ok(Response::new(502, ""))];
    for failure in failures.into_iter().chain(unusable) {
        let result = ask::cancel(&MockGateway::new().exchange(failure));
        assert_eq!(outcome(&result), NotSent);
    }
}

/// Without the order's total, the amounts of its cancellation would not be known, so that a completed
/// cancellation would count as unknown. The total is therefore read before.
#[test]
fn order_without_readable_total_is_not_canceled() {
    for (pointer, value) in [
        ("/total_amount", json!(null)),
        ("/total_amount", json!("-1.00")),
        ("/total_amount", json!("10000000000000")),
        ("/total_currency", json!(null)),
    ] {
        let order = ask::changed("order.json", &[(pointer, value.clone())]);
        let gateway = MockGateway::new().respond_with(200, &order);
        let gateway = gateway.respond_with(201, ask::fixture("quote.json"));
        let gateway = gateway.respond_with(200, ask::confirmed());
        let result = ask::cancel(&gateway);
        assert_eq!(outcome(&result), NotSent, "{pointer} {value}: {result:?}");
        assert_eq!(ask::sent(&gateway), ["GET /air/orders/ord_own"]);
    }
}

/// An odd action beside the one that counts changes nothing.
#[test]
fn odd_available_action_costs_only_itself() {
    for actions in [json!([null, "cancel"]), json!(["cancel", {}, 7])] {
        let order = ask::changed("order.json", &[("/available_actions", actions.clone())]);
        let gateway = MockGateway::new().respond_with(200, order);
        let gateway = gateway.respond_with(201, ask::fixture("quote.json"));
        let gateway = gateway.respond_with(200, ask::confirmed());
        let state = ask::cancel(&gateway).unwrap();
        assert_eq!(state.status, BookingStatus::Canceled, "{actions}");
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
        (200, ask::confirmed_with("/confirmed_at", "")),
        (200, ask::confirmed_with("/confirmed_at", "soon")),
        (200, ask::confirmed()[..100].to_owned()),
    ]);
    let with = |pointer, value| ask::changed("quote.json", &[(pointer, value)]);
    let quotes = responses(&[
        (422, already()),
        (201, ask::confirmed_with("/order_id", "ord_other")),
        (201, with("/order_id", json!(null))),
        (201, with("/id", json!("ord_own"))),
        (201, ask::fixture("order.json")),
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
fn quote_of_another_order_is_unreadable() {
    for (pointer, value) in [
        ("/order_id", json!("ord_other")),
        ("/order_id", json!(null)),
        ("/order_id", json!("")),
        ("/id", json!("off_flex")),
        ("/id", json!(null)),
    ] {
        let quote = ask::changed("quote.json", &[(pointer, value.clone())]);
        let gateway = ask::fixtures(&["order.json"]).respond_with(201, quote);
        let result = ask::quote(&gateway);
        assert_eq!(outcome(&result), InvalidResponse, "{pointer} {value}");
    }
}

/// The cancellation took effect, so that odd amounts do not make its outcome unknown. Those that are not
/// known do not add up to the price, so that an operator decides the refund.
#[test]
fn confirmed_cancellation_with_unknown_amounts_is_undecided() {
    let stated_in_dollars = kept_and_given(0, 36_540).map(|amounts| CancellationAmounts {
        currency: "USD".to_owned(),
        ..amounts
    });
    let undecided = || kept_and_given(0, 0);
    for (pointer, value, expected) in [
        ("/refund_amount", json!(null), undecided()),
        ("/refund_amount", json!("-1.00"), undecided()),
        ("/refund_to", json!(["balance"]), undecided()),
        ("/refund_to", json!("the_moon"), undecided()),
        ("/refund_currency", json!(978), undecided()),
        ("/refund_currency", json!("USD"), stated_in_dollars),
        ("/expires_at", json!({}), kept_and_given(5_000, 36_540)),
    ] {
        let confirmed_at = ("/confirmed_at", json!("2027-05-02T10:00:05Z"));
        let done = ask::changed("quote.json", &[confirmed_at, (pointer, value.clone())]);
        let gateway = ask::fixtures(&["order.json", "quote.json"]).respond_with(200, done);
        let state = ask::cancel(&gateway).unwrap();
        assert_eq!(state.status, BookingStatus::Canceled, "{pointer} {value}");
        assert_eq!(state.cancellation, expected, "{pointer} {value}");
        let is_counted = gateway.dropped_items() == [(DropReason::InvalidValue, 1)];
        let is_missing = gateway.dropped_items() == [(DropReason::MissingValue, 1)];
        let is_known = pointer == "/expires_at";
        assert_eq!(is_counted || is_missing, !is_known, "{pointer} {value}");
    }
}

#[test]
fn cancellation_of_another_order_in_list_or_order_is_not_used() {
    let canceled = ask::canceled_order();
    let other = ask::confirmed_with("/order_id", "ord_other");
    let nameless = ask::confirmed_with("/order_id", "");
    let odd = r#"{"data": {"id": ["ore_own"]}}"#.to_owned();
    let find = |order: &str, list: &str| {
        ask::found(&MockGateway::with_responses(&[(200, order), (200, list)]))
    };
    let state = find(&canceled, &ask::list(&[&other], None))
        .unwrap()
        .unwrap();
    assert_eq!(state.cancellation, not_stated());
    let state = find(&canceled, &ask::list(&[&other, &ask::confirmed()], None));
    assert_eq!(
        state.unwrap().unwrap().cancellation,
        kept_and_given(5_000, 36_540)
    );
    // The cancellation of the order itself may be the one that cannot be read.
    for unreadable in [&nameless, &odd] {
        let list = ask::list(&[unreadable], None);
        assert_eq!(outcome(&find(&canceled, &list)), InvalidResponse, "{list}");
        let list = ask::list(&[unreadable, &ask::confirmed()], None);
        let state = find(&canceled, &list).unwrap().unwrap();
        assert_eq!(state.cancellation, kept_and_given(5_000, 36_540), "{list}");
    }
    // The order contains another order's cancellation, so the list is read.
    let mut order: Value = serde_json::from_str(&canceled).unwrap();
    order["data"]["cancellation"] = serde_json::from_str::<Value>(&other).unwrap()["data"].take();
    let state = find(&order.to_string(), &ask::list(&[&ask::confirmed()], None));
    assert_eq!(
        state.unwrap().unwrap().cancellation,
        kept_and_given(5_000, 36_540)
    );
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

    // The airline cancelled the order, or the list is outdated: no response states the refund.
    let gateway =
        MockGateway::with_responses(&[(200, &canceled), (200, &ask::list(&[&quote], None))]);
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, not_stated());

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

    // The airline cancelled it, so that the terms for a customer who cancels do not apply.
    let none = ask::list(&[], None);
    let gateway = MockGateway::with_responses(&[(200, &canceled), (200, &none)]);
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.cancellation, not_stated());
}
