//! Every known error at every call, against the closed list of definite refusals.

use duffel_flights::DuffelFlights;
use stopover_sdk::flight_booking::PrebookRequest;
use stopover_sdk::http::{Header, Response};
use stopover_sdk::testing::MockGateway;
use stopover_sdk::{
    ChangeError, FlightBooking, FlightCancellation, FlightPricing, FlightServices, ReadError,
    RefusalReason,
};

use crate::ask;

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Done,
    NotFound,
    Rejected(&'static str),
    RateLimited,
    TimedOut,
    Unavailable,
    Failed,
    Misconfigured,
    Refused(&'static str),
    Unknown,
}
use End::{
    Done, Failed, Misconfigured, NotFound, RateLimited, Refused, Rejected, TimedOut, Unavailable,
    Unknown,
};

/// Outcomes of a search, of setting a passenger's loyalty programmes, of an order, of the quote and
/// the confirmation of a cancellation, and of buying bags.
type Ends = [End; 6];

const fn changes(read: End, change: End) -> Ends {
    [read, change, change, change, change, change]
}

const UNKNOWN_CODE: &str = "something_new";

/// Status, type and code of an error, and the outcome of each call.
const ROWS: [(u16, &str, &str, Ends); 41] = [
    // Wrong token, headers or permissions of the gateway.
    (
        401,
        "authentication_error",
        "missing_authorization_header",
        changes(Misconfigured, Refused("account")),
    ),
    (
        401,
        "authentication_error",
        "access_token_not_found",
        changes(Misconfigured, Refused("account")),
    ),
    (
        403,
        "authentication_error",
        "insufficient_permissions",
        changes(Misconfigured, Refused("account")),
    ),
    (
        400,
        "invalid_request_error",
        "missing_version_header",
        changes(Misconfigured, Refused("account")),
    ),
    (
        400,
        "invalid_request_error",
        "invalid_version_header",
        changes(Misconfigured, Refused("account")),
    ),
    (
        406,
        "invalid_request_error",
        "invalid_accept_header",
        changes(Misconfigured, Refused("account")),
    ),
    (
        403,
        "invalid_request_error",
        "unavailable_feature",
        changes(Misconfigured, Refused("account")),
    ),
    (
        422,
        "invalid_request_error",
        "unavailable_feature",
        changes(Misconfigured, Refused("account")),
    ),
    // Object not found.
    (
        404,
        "invalid_request_error",
        "not_found",
        [
            NotFound,
            Refused("expired"),
            Refused("expired"),
            Refused("not cancellable"),
            Unknown,
            Refused("other"),
        ],
    ),
    // The offer is no longer available.
    (
        422,
        "invalid_state_error",
        "offer_no_longer_available",
        [
            Rejected("unavailable"),
            Refused("unavailable"),
            Refused("unavailable"),
            Unknown,
            Unknown,
            Unknown,
        ],
    ),
    (
        422,
        "invalid_state_error",
        "offer_expired",
        [
            Rejected("expired"),
            Refused("expired"),
            Refused("expired"),
            Unknown,
            Unknown,
            Unknown,
        ],
    ),
    // The price changed; the offer that is read afterwards costs 360.40.
    (
        422,
        "validation_error",
        "payment_amount_does_not_match_order_amount",
        [
            Rejected("invalid"),
            Unknown,
            Refused("price changed"),
            Unknown,
            Unknown,
            Refused("other"),
        ],
    ),
    // Already booked, probably by this gateway.
    (
        422,
        "validation_error",
        "offer_request_already_booked",
        [
            Rejected("invalid"),
            Unknown,
            Refused("duplicate"),
            Unknown,
            Unknown,
            Unknown,
        ],
    ),
    (
        422,
        "airline_error",
        "duplicate_booking",
        [
            Rejected("invalid"),
            Unknown,
            Refused("duplicate"),
            Unknown,
            Unknown,
            Unknown,
        ],
    ),
    // The gateway's balance is too low.
    (
        422,
        "invalid_state_error",
        "insufficient_balance",
        [
            Rejected("invalid"),
            Unknown,
            Refused("account"),
            Unknown,
            Unknown,
            Refused("account"),
        ],
    ),
    // Already done: only a read shows whether this gateway made the change.
    (
        422,
        "invalid_state_error",
        "already_cancelled",
        [
            Rejected("not cancellable"),
            Unknown,
            Unknown,
            Unknown,
            Unknown,
            Unknown,
        ],
    ),
    // Invalid request data.
    (422, "validation_error", "validation_required", INVALID),
    (422, "validation_error", "validation_format", INVALID),
    (422, "validation_error", "validation_inclusion", INVALID),
    (422, "validation_error", "invalid_phone_number", INVALID),
    (422, "validation_error", "duplicate_passenger_name", INVALID),
    (422, "airline_error", "invalid_loyalty_card", INVALID),
    // The airline does not support the action.
    (
        422,
        "airline_error",
        "ancillary_service_not_available",
        [
            Rejected("invalid"),
            Unknown,
            Refused("unavailable"),
            Unknown,
            Unknown,
            Refused("unavailable"),
        ],
    ),
    (422, "airline_error", "unsupported_action", UNSUPPORTED),
    (400, "invalid_request_error", "400", UNSUPPORTED),
    (
        422,
        "invalid_state_error",
        "pay_later_order_no_payment_for_ancillaries",
        [
            Rejected("invalid"),
            Unknown,
            Unknown,
            Unknown,
            Unknown,
            Refused("other"),
        ],
    ),
    // Rate limit, reported before anything was done.
    (
        429,
        "rate_limit_error",
        "rate_limit_exceeded",
        changes(RateLimited, RateLimited),
    ),
    (429, "", "", changes(RateLimited, Unknown)),
    // The airline did not create the order.
    (
        502,
        "airline_error",
        "order_not_created",
        [Failed, Unknown, Refused("other"), Unknown, Unknown, Unknown],
    ),
    // Errors that leave the outcome unknown.
    (
        502,
        "airline_error",
        "airline_unknown",
        changes(Failed, Unknown),
    ),
    (
        502,
        "airline_error",
        "airline_internal",
        changes(Failed, Unknown),
    ),
    (
        500,
        "api_error",
        "internal_server_error",
        changes(Failed, Unknown),
    ),
    (
        503,
        "api_error",
        "service_unavailable",
        changes(Unavailable, Unknown),
    ),
    (
        504,
        "api_error",
        "gateway_timeout_error",
        changes(TimedOut, Unknown),
    ),
    // A listed code with another status is not on the list.
    (
        500,
        "airline_error",
        "order_not_created",
        changes(Failed, Unknown),
    ),
    (
        502,
        "validation_error",
        "validation_required",
        changes(Failed, Unknown),
    ),
    (
        500,
        "invalid_state_error",
        "insufficient_balance",
        changes(Failed, Unknown),
    ),
    // Undocumented codes.
    (
        422,
        "airline_error",
        UNKNOWN_CODE,
        changes(Rejected("invalid"), Unknown),
    ),
    (
        400,
        "invalid_request_error",
        UNKNOWN_CODE,
        changes(Rejected("invalid"), Unknown),
    ),
    (
        409,
        "invalid_state_error",
        UNKNOWN_CODE,
        changes(Rejected("invalid"), Unknown),
    ),
    (502, "api_error", UNKNOWN_CODE, changes(Failed, Unknown)),
];

const INVALID: Ends = [
    Rejected("invalid"),
    Refused("invalid"),
    Refused("invalid"),
    Refused("not cancellable"),
    Refused("not cancellable"),
    Refused("invalid"),
];
const UNSUPPORTED: Ends = [
    Rejected("invalid"),
    Refused("other"),
    Refused("other"),
    Refused("not cancellable"),
    Refused("not cancellable"),
    Refused("other"),
];

#[test]
fn every_error_code_has_expected_outcome() {
    for (status, kind, code, expected) in ROWS {
        let body = if code.is_empty() {
            "<html>".to_owned()
        } else {
            ask::error(kind, code)
        };
        let body = if code == "400" {
            body.replace("\"400\"", "400")
        } else {
            body
        };
        let ends = [
            of_read(
                MockGateway::new()
                    .respond_with(status, &body)
                    .run(|| DuffelFlights::price(ask::price_request())),
            ),
            of_change(
                offered()
                    .respond_with(status, &body)
                    .run(|| DuffelFlights::prebook(loyal())),
            ),
            of_change(
                MockGateway::new()
                    .respond_with(status, &body)
                    .respond_with(200, ask::fixture("offer.json"))
                    .run(|| DuffelFlights::book(ask::book_request())),
            ),
            of_change(
                ordered()
                    .respond_with(status, &body)
                    .run(|| DuffelFlights::cancel(ask::cancel_request())),
            ),
            of_change(
                ordered()
                    .respond_with(201, ask::fixture("quote.json"))
                    .respond_with(status, &body)
                    .run(|| DuffelFlights::cancel(ask::cancel_request())),
            ),
            of_change(
                MockGateway::new()
                    .respond_with(status, &body)
                    .run(|| DuffelFlights::purchase_services(ask::purchase_request())),
            ),
        ];
        assert_eq!(ends, expected, "{status} {kind} {code}");
    }
}

fn offered() -> MockGateway {
    MockGateway::new().respond_with(200, ask::fixture("offer.json"))
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
            422,
            "invalid_state_error",
            "offer_no_longer_available",
            Refused("unavailable"),
        ),
        (
            422,
            "invalid_state_error",
            "offer_expired",
            Refused("expired"),
        ),
        (
            404,
            "invalid_request_error",
            "not_found",
            Refused("expired"),
        ),
        (
            401,
            "authentication_error",
            "access_token_not_found",
            Refused("account"),
        ),
        (429, "rate_limit_error", "rate_limit_exceeded", RateLimited),
    ];
    for (status, kind, code, expected) in cases {
        let gateway = MockGateway::new().respond_with(status, ask::error(kind, code));
        let result = gateway.run(|| DuffelFlights::prebook(ask::prebook_request()));
        assert_eq!(of_change(result), expected, "{code}");
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
    assert_eq!(
        of_read(quote(422, "invalid_state_error", "already_cancelled")),
        Rejected("not cancellable")
    );
    assert_eq!(
        of_read(quote(500, "api_error", "internal_server_error")),
        Failed
    );
}

#[test]
fn response_with_one_unlisted_error_is_unknown() {
    let two = |second: &str| {
        format!(
            r#"{{"errors": [{{"type": "validation_error", "code": "validation_required"}}, {{"code": "{second}"}}]}}"#
        )
    };
    let book = |body: String| {
        of_change(
            MockGateway::new()
                .respond_with(422, body)
                .run(|| DuffelFlights::book(ask::book_request())),
        )
    };
    assert_eq!(book(two("validation_format")), Refused("invalid"));
    assert_eq!(book(two(UNKNOWN_CODE)), Unknown);
    assert_eq!(book(r#"{"errors": []}"#.to_owned()), Unknown);
}

#[test]
fn rate_limit_response_gives_wait_time() {
    let response = |headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| Header {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        });
        let gateway = MockGateway::new()
            .now_ms(784_111_770_500)
            .respond(Response {
                status: 429,
                headers: headers.collect(),
                body: ask::error("rate_limit_error", "rate_limit_exceeded").into_bytes(),
            });
        gateway.run(|| DuffelFlights::price(ask::price_request()))
    };
    type Case<'a> = (&'a [(&'a str, &'a str)], Option<u32>);
    let cases: [Case<'_>; 4] = [
        (
            &[("Ratelimit-Reset", "Sun, 06 Nov 1994 08:49:37 GMT")],
            Some(7),
        ),
        (
            &[("ratelimit-reset", "Sun, 06 Nov 1994 08:49:00 GMT")],
            Some(0),
        ),
        (&[("retry-after", "30")], Some(30)),
        (&[], None),
    ];
    for (headers, wait_s) in cases {
        assert_eq!(
            response(headers),
            Err(ReadError::RateLimited(wait_s)),
            "{headers:?}"
        );
    }
}

#[test]
fn refusal_message_has_code_and_request_id_without_duffel_message() {
    let gateway =
        MockGateway::new().respond_with(422, ask::error("validation_error", "validation_format"));
    let result = gateway.run(|| DuffelFlights::book(ask::book_request()));
    let Err(ChangeError::Refused(refusal)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(refusal.supplier_code.as_deref(), Some("validation_format"));
    assert_eq!(
        refusal.message,
        "Duffel returned 422 validation_format: A title (request req-own)"
    );
}

fn of_read<T: std::fmt::Debug>(result: Result<T, ReadError>) -> End {
    match result {
        Ok(_) => Done,
        Err(ReadError::NotFound(_)) => NotFound,
        Err(ReadError::Rejected(refusal)) => Rejected(name(&refusal.reason)),
        Err(ReadError::RateLimited(_)) => RateLimited,
        Err(ReadError::TimedOut(_)) => TimedOut,
        Err(ReadError::Unavailable(_)) => Unavailable,
        Err(ReadError::Misconfigured(_)) => Misconfigured,
        Err(ReadError::Failed(_)) => Failed,
        Err(error @ ReadError::InvalidResponse(_)) => panic!("{error:?}"),
    }
}

fn of_change<T: std::fmt::Debug>(result: Result<T, ChangeError>) -> End {
    match result {
        Ok(_) => Done,
        Err(ChangeError::Refused(refusal)) => Refused(name(&refusal.reason)),
        Err(ChangeError::RateLimited(_)) => RateLimited,
        Err(ChangeError::Unknown(_)) => Unknown,
        Err(error @ ChangeError::NotSent(_)) => panic!("{error:?}"),
    }
}

fn name(reason: &RefusalReason) -> &'static str {
    match reason {
        RefusalReason::Unavailable => "unavailable",
        RefusalReason::Expired => "expired",
        RefusalReason::PriceChanged(_) => "price changed",
        RefusalReason::Invalid => "invalid",
        RefusalReason::Duplicate => "duplicate",
        RefusalReason::NotCancellable => "not cancellable",
        RefusalReason::Account => "account",
        RefusalReason::Other(_) => "other",
        RefusalReason::TermsChanged
        | RefusalReason::PaymentRequired
        | RefusalReason::PaymentDeclined => panic!("{reason:?}"),
    }
}
