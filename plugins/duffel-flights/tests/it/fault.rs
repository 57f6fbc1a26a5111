//! Every known error at every call, against the closed list of definite refusals.

use stopover_sdk::ReadError;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    Failed, Misconfigured, NotFound, NotSent, RateLimited, Refused, Rejected, TimedOut,
    Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, Outcome, outcome, refusal};

use crate::ask;

/// Outcomes of a search, of setting a passenger's loyalty programmes, of an order, of the quote and
/// the confirmation of a cancellation, and of buying bags.
type Outcomes = [Outcome; 6];

const fn changes(read: Outcome, change: Outcome) -> Outcomes {
    [read, change, change, change, change, change]
}

/// Outcomes of an error that only an order and a purchase of bags can be refused for.
const fn orders(read: Outcome, order: Outcome, bags: Outcome) -> Outcomes {
    [read, Unknown, order, Unknown, Unknown, bags]
}

/// Outcomes of an error of the offer.
const fn offers(read: Outcome, change: Outcome) -> Outcomes {
    [read, change, change, Unknown, Unknown, Unknown]
}

/// Outcomes of an error that also refuses a cancellation.
const fn cancellations(change: Outcome) -> Outcomes {
    let cancel = Refused("not cancellable");
    [INVALID, change, change, cancel, cancel, change]
}

const INVALID: Outcome = Rejected("invalid");
const OTHER: Outcome = Refused("other");

/// Wrong token, headers or permissions of the gateway.
const ACCOUNT: Outcomes = changes(Misconfigured, Refused("account"));
const GONE: Outcomes = [
    NotFound,
    Refused("expired"),
    Refused("expired"),
    Refused("not cancellable"),
    Unknown,
    OTHER,
];
const SOLD: Outcomes = offers(Rejected("unavailable"), Refused("unavailable"));
const EXPIRED: Outcomes = offers(Rejected("expired"), Refused("expired"));
/// The price changed; the offer that is read afterwards costs 360.40.
const PRICE: Outcomes = orders(INVALID, Refused("price changed"), OTHER);
/// Already booked, probably by this gateway.
const BOOKED: Outcomes = orders(INVALID, Refused("duplicate"), Unknown);
const BALANCE: Outcomes = orders(INVALID, Refused("account"), Refused("account"));
/// Already done: only a read shows whether this gateway made the change.
const DONE: Outcomes = changes(Rejected("not cancellable"), Unknown);
const DATA: Outcomes = cancellations(Refused("invalid"));
const NO_SERVICE: Outcomes = orders(INVALID, Refused("unavailable"), Refused("unavailable"));
const UNSUPPORTED: Outcomes = cancellations(OTHER);
const UNPAID: Outcomes = orders(INVALID, Unknown, OTHER);
/// The rate limit is reported before anything was done.
const LIMITED: Outcomes = changes(RateLimited, RateLimited);
const NOT_CREATED: Outcomes = orders(Failed, OTHER, Unknown);
const FAILED: Outcomes = changes(Failed, Unknown);
const DOWN: Outcomes = changes(Unavailable, Unknown);
const TIMED_OUT: Outcomes = changes(TimedOut, Unknown);
const NOT_LISTED: Outcomes = changes(INVALID, Unknown);

const AUTHENTICATION: &str = "authentication_error";
const REQUEST: &str = "invalid_request_error";
const STATE: &str = "invalid_state_error";
const VALIDATION: &str = "validation_error";
const AIRLINE: &str = "airline_error";
const API: &str = "api_error";

const PRICE_CODE: &str = "payment_amount_does_not_match_order_amount";
const UNPAID_CODE: &str = "pay_later_order_no_payment_for_ancillaries";
const UNKNOWN_CODE: &str = "something_new";

/// Outcomes, status, type and code of an error.
const ERRORS: [(Outcomes, u16, &str, &str); 45] = [
    (ACCOUNT, 401, AUTHENTICATION, "missing_authorization_header"),
    (ACCOUNT, 401, AUTHENTICATION, "access_token_not_found"),
    (ACCOUNT, 403, AUTHENTICATION, "insufficient_permissions"),
    (ACCOUNT, 400, REQUEST, "missing_version_header"),
    (ACCOUNT, 400, REQUEST, "invalid_version_header"),
    (ACCOUNT, 406, REQUEST, "invalid_accept_header"),
    (ACCOUNT, 403, REQUEST, "unavailable_feature"),
    (ACCOUNT, 422, REQUEST, "unavailable_feature"),
    (GONE, 404, REQUEST, "not_found"),
    (SOLD, 422, STATE, "offer_no_longer_available"),
    (EXPIRED, 422, STATE, "offer_expired"),
    (PRICE, 422, VALIDATION, PRICE_CODE),
    (BOOKED, 422, VALIDATION, "offer_request_already_booked"),
    (BOOKED, 422, AIRLINE, "duplicate_booking"),
    (BALANCE, 422, STATE, "insufficient_balance"),
    (DONE, 422, STATE, "already_cancelled"),
    (DATA, 422, VALIDATION, "validation_required"),
    (DATA, 422, VALIDATION, "validation_format"),
    (DATA, 422, VALIDATION, "validation_inclusion"),
    (DATA, 422, VALIDATION, "invalid_phone_number"),
    (DATA, 422, VALIDATION, "duplicate_passenger_name"),
    (DATA, 422, AIRLINE, "invalid_loyalty_card"),
    (NO_SERVICE, 422, AIRLINE, "ancillary_service_not_available"),
    (UNSUPPORTED, 422, AIRLINE, "unsupported_action"),
    (UNSUPPORTED, 400, REQUEST, "400"),
    (UNPAID, 422, STATE, UNPAID_CODE),
    (LIMITED, 429, "rate_limit_error", "rate_limit_exceeded"),
    (changes(RateLimited, Unknown), 429, "", ""),
    (NOT_CREATED, 502, AIRLINE, "order_not_created"),
    (FAILED, 502, AIRLINE, "airline_unknown"),
    (FAILED, 502, AIRLINE, "airline_internal"),
    (FAILED, 500, API, "internal_server_error"),
    (FAILED, 502, API, UNKNOWN_CODE),
    (DOWN, 503, API, "service_unavailable"),
    (TIMED_OUT, 504, API, "gateway_timeout_error"),
    // A listed code with another status is not on the list.
    (FAILED, 500, AIRLINE, "order_not_created"),
    (FAILED, 502, VALIDATION, "validation_required"),
    (FAILED, 500, STATE, "insufficient_balance"),
    (FAILED, 500, REQUEST, "not_found"),
    (FAILED, 502, STATE, "offer_expired"),
    (NOT_LISTED, 404, REQUEST, UNKNOWN_CODE),
    (NOT_LISTED, 422, REQUEST, "not_found"),
    (NOT_LISTED, 422, AIRLINE, UNKNOWN_CODE),
    (NOT_LISTED, 400, REQUEST, UNKNOWN_CODE),
    (NOT_LISTED, 409, STATE, UNKNOWN_CODE),
];

#[test]
fn every_error_code_has_expected_outcome() {
    for (expected, status, kind, code) in ERRORS {
        assert_eq!(
            outcomes(status, kind, code),
            expected,
            "{status} {kind} {code}"
        );
    }
}

fn body(kind: &str, code: &str) -> String {
    match code {
        "" => "<html>".to_owned(),
        "400" => ask::error(kind, code).replace("\"400\"", "400"),
        _ => ask::error(kind, code),
    }
}

fn outcomes(status: u16, kind: &str, code: &str) -> Outcomes {
    let after = |fixtures: &[&str]| ask::fixtures(fixtures).respond_with(status, body(kind, code));
    let order = after(&[]).respond_with(200, ask::fixture("offer.json"));
    [
        outcome(&ask::price(&after(&[]))),
        outcome(&ask::loyal_prebook(&after(&["offer.json"]))),
        outcome(&ask::book(&order)),
        outcome(&ask::cancel(&after(&["order.json"]))),
        outcome(&ask::cancel(&after(&["order.json", "quote.json"]))),
        outcome(&ask::buy_bags(&after(&[]))),
    ]
}

/// A read before the first change refuses the change for the same errors as the change itself. For
/// all others nothing was sent.
#[test]
fn failed_read_before_change_is_refusal_or_not_sent() {
    for (expected, status, kind, code) in ERRORS {
        let gateway = || MockGateway::new().respond_with(status, body(kind, code));
        // Before a change, the status alone shows a rate limit.
        let unsent = |change| match change {
            Unknown if status == 429 => RateLimited,
            Unknown => NotSent,
            change => change,
        };
        let results = [
            (outcome(&ask::prebook(&gateway())), unsent(expected[1])),
            (outcome(&ask::cancel(&gateway())), unsent(expected[3])),
        ];
        for (result, expected) in results {
            assert_eq!(result, expected, "{status} {kind} {code}");
        }
    }
}

#[test]
fn failed_read_after_change_is_refusal_or_unknown() {
    let patched = r#"{"data": {"id": "pas_adult"}}"#;
    for (expected, status, kind, code) in ERRORS {
        let gateway = ask::fixtures(&["offer.json"])
            .respond_with(200, patched)
            .respond_with(status, body(kind, code));
        let expected = match expected[1] {
            refused @ Refused(_) => refused,
            _ => Unknown,
        };
        let result = ask::loyal_prebook(&gateway);
        assert_eq!(outcome(&result), expected, "{status} {kind} {code}");
    }
}

#[test]
fn quote_that_airline_cannot_give_is_unavailable() {
    let quote = |status, kind, code| {
        let error = ask::error(kind, code);
        ask::quote(&ask::fixtures(&["order.json"]).respond_with(status, error))
    };
    for (status, kind, code) in [
        (502, AIRLINE, "airline_unknown"),
        (422, AIRLINE, "unsupported_action"),
        (400, REQUEST, "400"),
    ] {
        let result = quote(status, kind, code);
        let Ok(Quote::Unavailable(why)) = result else {
            panic!("{code}: {result:?}");
        };
        assert!(why.contains(code));
    }
    let cancelled = quote(422, STATE, "already_cancelled");
    assert_eq!(outcome(&cancelled), Rejected("not cancellable"));
    let failed = quote(500, API, "internal_server_error");
    assert_eq!(outcome(&failed), Failed);
}

#[test]
fn response_with_one_unlisted_error_is_unknown() {
    let two = |second: &str| {
        let first = r#"{"type": "validation_error", "code": "validation_required"}"#;
        format!(r#"{{"errors": [{first}, {{"code": "{second}"}}]}}"#)
    };
    let book = |body: &str| outcome(&ask::book(&MockGateway::with_responses(&[(422, body)])));
    assert_eq!(book(&two("validation_format")), Refused("invalid"));
    assert_eq!(book(&two(UNKNOWN_CODE)), Unknown);
    assert_eq!(book(r#"{"errors": []}"#), Unknown);
}

#[test]
fn repeated_error_or_code_refuses_nothing() {
    let listed = r#"{"type": "validation_error", "code": "validation_required"}"#;
    let other = r#"{"type": "api_error", "code": "internal_server_error"}"#;
    let twice = r#"{"code": "validation_required", "code": "internal_server_error"}"#;
    for body in [
        format!(r#"{{"errors": [{listed}], "errors": [{other}]}}"#),
        format!(r#"{{"errors": [{other}], "errors": [{listed}]}}"#),
        format!(r#"{{"errors": [{twice}]}}"#),
    ] {
        let book = ask::book(&MockGateway::with_responses(&[(422, &body)]));
        assert_eq!(outcome(&book), Unknown, "{body}");
    }
}

#[test]
fn rate_limit_response_gives_wait_time() {
    let cases = [
        ("Ratelimit-Reset", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
        ("ratelimit-reset", "Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
        ("retry-after", "30", Some(30)),
        ("other", "30", None),
    ];
    for (name, value, wait_s) in cases {
        let limited = Response::new(429, ask::error("rate_limit_error", "rate_limit_exceeded"));
        let gateway = MockGateway::new().now_ms(784_111_770_500);
        let response = ask::price(&gateway.respond(limited.with_header(name, value)));
        assert_eq!(response, Err(ReadError::RateLimited(wait_s)), "{name}");
    }
}

#[test]
fn refusal_message_has_code_and_request_id_without_duffel_message() {
    let error = ask::error("validation_error", "validation_format");
    let refusal = refusal(ask::book(&MockGateway::new().respond_with(422, error)));
    assert_eq!(refusal.supplier_code.as_deref(), Some("validation_format"));
    assert_eq!(
        refusal.message,
        "Duffel returned 422 validation_format: A title (request req-own)"
    );
}
