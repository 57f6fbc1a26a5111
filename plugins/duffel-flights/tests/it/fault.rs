//! Every known error at every call, against the closed list of definite refusals.

use duffel_flights::DuffelFlights;
use stopover_sdk::flight_booking::PrebookRequest;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    Failed, Misconfigured, NotFound, RateLimited, Refused, Rejected, TimedOut, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, Outcome, outcome, refusal};
use stopover_sdk::{FlightBooking, FlightCancellation, FlightPricing, FlightServices, ReadError};

use crate::ask;

/// Status, type and code of an error.
type Error = (u16, &'static str, &'static str);

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

const UNKNOWN_CODE: &str = "something_new";

const ERRORS: [(Outcomes, &[Error]); 20] = [
    // Wrong token, headers or permissions of the gateway.
    (
        changes(Misconfigured, Refused("account")),
        &[
            (401, "authentication_error", "missing_authorization_header"),
            (401, "authentication_error", "access_token_not_found"),
            (403, "authentication_error", "insufficient_permissions"),
            (400, "invalid_request_error", "missing_version_header"),
            (400, "invalid_request_error", "invalid_version_header"),
            (406, "invalid_request_error", "invalid_accept_header"),
            (403, "invalid_request_error", "unavailable_feature"),
            (422, "invalid_request_error", "unavailable_feature"),
        ],
    ),
    (
        [
            NotFound,
            Refused("expired"),
            Refused("expired"),
            Refused("not cancellable"),
            Unknown,
            Refused("other"),
        ],
        &[(404, "invalid_request_error", "not_found")],
    ),
    // The offer is no longer available.
    (
        [
            Rejected("unavailable"),
            Refused("unavailable"),
            Refused("unavailable"),
            Unknown,
            Unknown,
            Unknown,
        ],
        &[(422, "invalid_state_error", "offer_no_longer_available")],
    ),
    (
        [
            Rejected("expired"),
            Refused("expired"),
            Refused("expired"),
            Unknown,
            Unknown,
            Unknown,
        ],
        &[(422, "invalid_state_error", "offer_expired")],
    ),
    // The price changed; the offer that is read afterwards costs 360.40.
    (
        orders(
            Rejected("invalid"),
            Refused("price changed"),
            Refused("other"),
        ),
        &[(
            422,
            "validation_error",
            "payment_amount_does_not_match_order_amount",
        )],
    ),
    // Already booked, probably by this gateway.
    (
        orders(Rejected("invalid"), Refused("duplicate"), Unknown),
        &[
            (422, "validation_error", "offer_request_already_booked"),
            (422, "airline_error", "duplicate_booking"),
        ],
    ),
    // The gateway's balance is too low.
    (
        orders(Rejected("invalid"), Refused("account"), Refused("account")),
        &[(422, "invalid_state_error", "insufficient_balance")],
    ),
    // Already done: only a read shows whether this gateway made the change.
    (
        changes(Rejected("not cancellable"), Unknown),
        &[(422, "invalid_state_error", "already_cancelled")],
    ),
    // Invalid request data.
    (
        [
            Rejected("invalid"),
            Refused("invalid"),
            Refused("invalid"),
            Refused("not cancellable"),
            Refused("not cancellable"),
            Refused("invalid"),
        ],
        &[
            (422, "validation_error", "validation_required"),
            (422, "validation_error", "validation_format"),
            (422, "validation_error", "validation_inclusion"),
            (422, "validation_error", "invalid_phone_number"),
            (422, "validation_error", "duplicate_passenger_name"),
            (422, "airline_error", "invalid_loyalty_card"),
        ],
    ),
    // The airline does not support the action.
    (
        orders(
            Rejected("invalid"),
            Refused("unavailable"),
            Refused("unavailable"),
        ),
        &[(422, "airline_error", "ancillary_service_not_available")],
    ),
    (
        [
            Rejected("invalid"),
            Refused("other"),
            Refused("other"),
            Refused("not cancellable"),
            Refused("not cancellable"),
            Refused("other"),
        ],
        &[
            (422, "airline_error", "unsupported_action"),
            (400, "invalid_request_error", "400"),
        ],
    ),
    (
        orders(Rejected("invalid"), Unknown, Refused("other")),
        &[(
            422,
            "invalid_state_error",
            "pay_later_order_no_payment_for_ancillaries",
        )],
    ),
    // Rate limit, reported before anything was done.
    (
        changes(RateLimited, RateLimited),
        &[(429, "rate_limit_error", "rate_limit_exceeded")],
    ),
    (changes(RateLimited, Unknown), &[(429, "", "")]),
    // The airline did not create the order.
    (
        orders(Failed, Refused("other"), Unknown),
        &[(502, "airline_error", "order_not_created")],
    ),
    // Errors that leave the outcome unknown.
    (
        changes(Failed, Unknown),
        &[
            (502, "airline_error", "airline_unknown"),
            (502, "airline_error", "airline_internal"),
            (500, "api_error", "internal_server_error"),
            (502, "api_error", UNKNOWN_CODE),
        ],
    ),
    (
        changes(Unavailable, Unknown),
        &[(503, "api_error", "service_unavailable")],
    ),
    (
        changes(TimedOut, Unknown),
        &[(504, "api_error", "gateway_timeout_error")],
    ),
    // A listed code with another status is not on the list.
    (
        changes(Failed, Unknown),
        &[
            (500, "airline_error", "order_not_created"),
            (502, "validation_error", "validation_required"),
            (500, "invalid_state_error", "insufficient_balance"),
        ],
    ),
    // Undocumented codes.
    (
        changes(Rejected("invalid"), Unknown),
        &[
            (422, "airline_error", UNKNOWN_CODE),
            (400, "invalid_request_error", UNKNOWN_CODE),
            (409, "invalid_state_error", UNKNOWN_CODE),
        ],
    ),
];

#[test]
fn every_error_code_has_expected_outcome() {
    for (expected, errors) in ERRORS {
        for error in errors {
            assert_eq!(outcomes(*error), expected, "{error:?}");
        }
    }
}

fn outcomes((status, kind, code): Error) -> Outcomes {
    let body = match code {
        "" => "<html>".to_owned(),
        "400" => ask::error(kind, code).replace("\"400\"", "400"),
        _ => ask::error(kind, code),
    };
    let after = |fixtures: &[&str]| {
        let before = fixtures.iter().fold(MockGateway::new(), |gateway, name| {
            gateway.respond_with(200, ask::fixture(name))
        });
        before.respond_with(status, &body)
    };
    let order = after(&[]).respond_with(200, ask::fixture("offer.json"));
    let cancel = || DuffelFlights::cancel(ask::cancel_request());
    [
        outcome(&after(&[]).run(|| DuffelFlights::price(ask::price_request()))),
        outcome(&after(&["offer.json"]).run(|| DuffelFlights::prebook(loyal()))),
        outcome(&order.run(|| DuffelFlights::book(ask::book_request()))),
        outcome(&after(&["order.json"]).run(cancel)),
        outcome(&after(&["order.json", "quote.json"]).run(cancel)),
        outcome(&after(&[]).run(|| DuffelFlights::purchase_services(ask::purchase_request()))),
    ]
}

fn ordered() -> MockGateway {
    MockGateway::new().respond_with(200, ask::fixture("order.json"))
}

fn loyal() -> PrebookRequest {
    PrebookRequest {
        passengers: ask::loyal_passengers(),
        ..ask::prebook_request()
    }
}

#[test]
fn failed_offer_read_in_prebook_returns_change_error() {
    let cases = [
        (
            (422, "invalid_state_error", "offer_no_longer_available"),
            Refused("unavailable"),
        ),
        (
            (422, "invalid_state_error", "offer_expired"),
            Refused("expired"),
        ),
        (
            (404, "invalid_request_error", "not_found"),
            Refused("expired"),
        ),
        (
            (401, "authentication_error", "access_token_not_found"),
            Refused("account"),
        ),
        (
            (429, "rate_limit_error", "rate_limit_exceeded"),
            RateLimited,
        ),
    ];
    for ((status, kind, code), expected) in cases {
        let gateway = MockGateway::new().respond_with(status, ask::error(kind, code));
        let result = gateway.run(|| DuffelFlights::prebook(ask::prebook_request()));
        assert_eq!(outcome(&result), expected, "{code}");
    }
}

#[test]
fn quote_that_airline_cannot_give_is_unavailable() {
    let quote = |status, kind, code| {
        let gateway = ordered().respond_with(status, ask::error(kind, code));
        gateway.run(|| DuffelFlights::quote_cancellation(ask::quote_request()))
    };
    for (status, kind, code) in [
        (502, "airline_error", "airline_unknown"),
        (422, "airline_error", "unsupported_action"),
        (400, "invalid_request_error", "400"),
    ] {
        let result = quote(status, kind, code);
        let Ok(stopover_sdk::flight_cancellation::Quote::Unavailable(why)) = result else {
            panic!("{code}: {result:?}");
        };
        assert!(why.contains(code));
    }
    let cancelled = quote(422, "invalid_state_error", "already_cancelled");
    assert_eq!(outcome(&cancelled), Rejected("not cancellable"));
    let failed = quote(500, "api_error", "internal_server_error");
    assert_eq!(outcome(&failed), Failed);
}

#[test]
fn response_with_one_unlisted_error_is_unknown() {
    let two = |second: &str| {
        format!(
            r#"{{"errors": [{{"type": "validation_error", "code": "validation_required"}}, {{"code": "{second}"}}]}}"#
        )
    };
    let book = |body: String| {
        let gateway = MockGateway::new().respond_with(422, body);
        outcome(&gateway.run(|| DuffelFlights::book(ask::book_request())))
    };
    assert_eq!(book(two("validation_format")), Refused("invalid"));
    assert_eq!(book(two(UNKNOWN_CODE)), Unknown);
    assert_eq!(book(r#"{"errors": []}"#.to_owned()), Unknown);
}

#[test]
fn rate_limit_response_gives_wait_time() {
    let cases = [
        (
            Some(("Ratelimit-Reset", "Sun, 06 Nov 1994 08:49:37 GMT")),
            Some(7),
        ),
        (
            Some(("ratelimit-reset", "Sun, 06 Nov 1994 08:49:00 GMT")),
            Some(0),
        ),
        (Some(("retry-after", "30")), Some(30)),
        (None, None),
    ];
    for (header, wait_s) in cases {
        let limited = Response::new(429, ask::error("rate_limit_error", "rate_limit_exceeded"));
        let limited = match header {
            Some((name, value)) => limited.with_header(name, value),
            None => limited,
        };
        let gateway = MockGateway::new().now_ms(784_111_770_500).respond(limited);
        let response = gateway.run(|| DuffelFlights::price(ask::price_request()));
        assert_eq!(response, Err(ReadError::RateLimited(wait_s)), "{header:?}");
    }
}

#[test]
fn refusal_message_has_code_and_request_id_without_duffel_message() {
    let gateway =
        MockGateway::new().respond_with(422, ask::error("validation_error", "validation_format"));
    let result = gateway.run(|| DuffelFlights::book(ask::book_request()));
    let refusal = refusal(result);
    assert_eq!(refusal.supplier_code.as_deref(), Some("validation_format"));
    assert_eq!(
        refusal.message,
        "Duffel returned 422 validation_format: A title (request req-own)"
    );
}
