//! Every error code at each kind of call.

use nuitee_hotels::NuiteeHotels;
use serde_json::{Value, json};
use stopover_sdk::testing::Outcome::{
    Done, Failed, InvalidResponse, Misconfigured, NotFound, RateLimited, Refused, Rejected,
    TimedOut, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, Outcome, outcome, refusal};
use stopover_sdk::{HotelPriceCalendar, ReadError};

use crate::ask;

/// Outcomes of a read, and of a prebook or a booking.
type Outcomes = (Outcome, Outcome);

const SOLD: Outcomes = (Rejected("unavailable"), Refused("unavailable"));
const INVALID: Outcomes = (Rejected("invalid"), Refused("invalid"));
const NO_RATE: Outcomes = (Rejected("invalid"), Refused("expired"));
const EXPIRED: Outcomes = (Rejected("expired"), Refused("expired"));
/// The checkout is not finished.
const UNPAID: Outcomes = (Rejected("invalid"), Refused("payment required"));
/// Wrong API key.
const ACCOUNT: Outcomes = (Misconfigured, Refused("account"));
/// Nuitee's rate limit: nothing was done.
const LIMITED: Outcomes = (RateLimited, RateLimited);
/// The booking may exist or not.
const OPEN: Outcomes = (Rejected("invalid"), Unknown);
const UNREADABLE: Outcomes = (InvalidResponse, Unknown);
const FAILED: Outcomes = (Failed, Unknown);

const WRONG_PAYMENT: &str = "missing or not supported payment method";
const NO_PAYMENT: &str = "please check if you have provided a payment method for your account";
const NOT_ASSOCIATED: &str = "prebookId is not associated with the transaction";
const DECLINED: &str = "payment failed: declined";
const NOT_SAVED: &str = "booking initial save failed, please try again";

/// Outcomes, code, description and HTTP status of an error. Code 4999 is not documented.
const ERRORS: [(Outcomes, u32, &str, u16); 45] = [
    (SOLD, 2001, "", 200),
    (INVALID, 4000, WRONG_PAYMENT, 400),
    (INVALID, 4002, "empty request body", 400),
    (INVALID, 4002, "empty request body", 200),
    (INVALID, 4003, "", 400),
    (NO_RATE, 4002, "invalid prebookId, rate not found", 400),
    (NO_RATE, 4002, "invalid offerId", 400),
    (NO_RATE, 4010, "prebookId data validation failed", 400),
    (EXPIRED, 4040, "", 408),
    // The provider did not confirm.
    ((Rejected("invalid"), Refused("other")), 2010, "", 400),
    ((Rejected("invalid"), Refused("other")), 2013, "", 400),
    // A failure of Nuitee proves nothing, whatever its code says.
    ((Failed, Unknown), 2013, "", 500),
    ((Unavailable, Unknown), 2001, "", 503),
    ((RateLimited, Unknown), 4290, "", 500),
    (UNPAID, 2014, "Payment not completed", 400),
    (UNPAID, 2014, NOT_ASSOCIATED, 400),
    ((Failed, Refused("payment declined")), 5000, DECLINED, 400),
    (ACCOUNT, 401, "", 401),
    (ACCOUNT, 40301, "", 403),
    (ACCOUNT, 40302, "", 200),
    (LIMITED, 429, "", 429),
    (LIMITED, 4290, "", 429),
    (LIMITED, 4291, "", 200),
    ((TimedOut, Unknown), 4016, "", 408),
    ((TimedOut, Unknown), 4999, "", 504),
    (OPEN, 2014, "booking data was not updated", 400),
    (OPEN, 2014, "payment retrieval failed", 400),
    (OPEN, 4999, "", 400),
    (UNREADABLE, 2014, "payment status save failed", 200),
    (UNREADABLE, 4999, "", 200),
    (FAILED, 5000, NOT_SAVED, 400),
    (FAILED, 5000, NO_PAYMENT, 400),
    (FAILED, 5000, "", 500),
    (FAILED, 4999, "", 500),
    (FAILED, 4999, "", 502),
    ((Unavailable, Unknown), 4999, "", 503),
    (UNREADABLE, 4999, "", 404),
    // Another 2xx may be of a request that is still processed.
    (OPEN, 4002, "empty request body", 201),
    ((Rejected("expired"), Unknown), 4040, "", 202),
    ((RateLimited, Unknown), 4290, "", 202),
    // Nuitee does not document these codes, and they may be those of a proxy.
    (UNREADABLE, 404, "", 404),
    (UNREADABLE, 410, "", 410),
    (OPEN, 404, "", 400),
    ((NotFound, Unknown), 4004, "", 404),
    (FAILED, 4004, "", 502),
];

/// Returns the outcomes of a read, a prebook, a booking and a cancellation.
fn outcomes(code: u32, description: &str, status: u16) -> [Outcome; 4] {
    let body = format!(
        r#"{{"error": {{"code": {code}, "message": "a message", "description": "{description}"}}}}"#
    );
    let bookings = ask::fixture("bookings.json");
    let gateway = || MockGateway::with_responses(&[(status, &body), (200, &bookings)]);
    [
        outcome(&ask::details(&gateway())),
        outcome(&ask::prebook(&gateway())),
        outcome(&ask::book(&gateway())),
        outcome(&ask::cancel(&gateway())),
    ]
}

/// Returns the outcome of a cancellation, for which Nuitee documents few refusals. One with a success
/// status contradicts itself.
fn canceled(sale: Outcome, code: u32, status: u16) -> Outcome {
    match (code, status) {
        (4000 | 4002 | 4003, 400..=499) => Refused("invalid"),
        (401 | 40301 | 40302, 400..=499) => Refused("account"),
        _ if sale == RateLimited => RateLimited,
        _ => Unknown,
    }
}

#[test]
fn every_error_code_has_expected_outcome() {
    for ((read, sale), code, description, status) in ERRORS {
        let outcomes = outcomes(code, description, status);
        let expected = [read, sale, sale, canceled(sale, code, status)];
        assert_eq!(outcomes, expected, "{code} {description} {status}");
    }
    // The client reference exists, and the booking is read back and found.
    let expected = [Rejected("invalid"), Unknown, Done, Unknown];
    assert_eq!(outcomes(4005, "", 400), expected);
}

#[test]
fn error_code_as_string_is_read() {
    let error = r#"{"error": {"code": "4040"}}"#;
    let book = ask::book(&MockGateway::new().respond_with(200, error));
    assert_eq!(outcome(&book), Refused("expired"));
}

#[test]
fn refusal_message_has_code_without_supplier_description() {
    let body = r#"{"error": {"code": 4002, "message": "wrong input", "description": "email canary@guest.example is wrong"}}"#;
    let refusal = refusal(ask::book(&MockGateway::new().respond_with(400, body)));
    assert_eq!(refusal.supplier_code.as_deref(), Some("4002"));
    assert_eq!(refusal.message, "Nuitee returned 4002: wrong input");
}

/// Nuitee documents errors without an envelope for its price index only.
#[test]
fn error_of_the_price_index_needs_no_envelope() {
    let read = |status: u16, body: &str| {
        let gateway = MockGateway::with_responses(&[(status, body)]);
        let (start, end) = ("2027-06-01".to_owned(), "2027-06-03".to_owned());
        gateway.run(|| NuiteeHotels::read_prices(vec!["lpown1".to_owned()], start, end))
    };
    for (status, code, expected) in [
        (400, json!(400), Rejected("invalid")),
        (400, json!("400"), Rejected("invalid")),
        (401, json!(401), Misconfigured),
        (429, json!(429), RateLimited),
        (500, json!(500), Failed),
        (500, json!(400), Failed),
        (400, json!(null), InvalidResponse),
        (404, json!(404), InvalidResponse),
        (200, json!(400), InvalidResponse),
        (302, json!(400), InvalidResponse),
    ] {
        let body = json!({"code": code, "message": "a message"}).to_string();
        assert_eq!(outcome(&read(status, &body)), expected, "{status} {body}");
    }
    let beside_data = r#"{"code": 400, "message": "a message", "data": [7]}"#;
    assert_eq!(outcome(&read(400, beside_data)), InvalidResponse);
    let rejected = read(400, r#"{"code": 400, "message": "a message"}"#);
    let Err(ReadError::Rejected(refusal)) = rejected else {
        panic!("{rejected:?}");
    };
    assert_eq!(refusal.supplier_code.as_deref(), Some("400"));
    assert_eq!(refusal.message, "Nuitee returned 400: a message");
    // It refuses no other call, and proves no absence.
    for code in [400, 2001, 4002, 4004] {
        let body = json!({"code": code, "message": "a message"}).to_string();
        let gateway = || MockGateway::with_responses(&[(400, &body)]);
        assert_eq!(outcome(&ask::find(&gateway(), None)), InvalidResponse);
        assert_eq!(outcome(&ask::book(&gateway())), Unknown, "{code}");
    }
}

/// A response that says "done" and "failed" at once says neither.
#[test]
fn error_beside_data_proves_nothing() {
    let booking: Value = serde_json::from_str(&ask::fixture("booking.json")).unwrap();
    let booking = &booking["data"];
    for data in [booking.clone(), json!([booking]), json!(7), json!("x")] {
        for code in [204, 401, 2001, 4002, 4004, 4040, 4290, 40301] {
            for status in [200, 400, 404, 429] {
                let body = json!({"data": data, "error": {"code": code}}).to_string();
                let gateway = || MockGateway::with_responses(&[(status, &body), (status, &body)]);
                let changes = [
                    outcome(&ask::book(&gateway())),
                    outcome(&ask::prebook(&gateway())),
                    outcome(&ask::cancel(&gateway())),
                ];
                assert_eq!(changes, [Unknown; 3], "{status} {body}");
                let expected = if status == 429 {
                    RateLimited
                } else {
                    InvalidResponse
                };
                let reads = [
                    outcome(&ask::find(&gateway(), None)),
                    outcome(&ask::find(&gateway(), Some("BK-OWN-1"))),
                    outcome(&ask::quote(&gateway())),
                    outcome(&ask::price(&gateway())),
                ];
                assert_eq!(reads, [expected; 4], "{status} {body}");
            }
        }
    }
}

#[test]
fn empty_data_beside_error_and_empty_error_beside_data_state_nothing() {
    for data in ["null", "\"\"", "[]", "{}"] {
        let body = format!(r#"{{"data": {data}, "error": {{"code": 4002}}}}"#);
        let book = ask::book(&MockGateway::with_responses(&[(400, &body)]));
        assert_eq!(outcome(&book), Refused("invalid"), "{body}");
    }
    let confirmed = ask::fixture("booking.json");
    for error in ["null", "\"\"", "{}", r#"{"code": null}"#] {
        let body = confirmed.replacen('{', &format!(r#"{{"error": {error}, "#), 1);
        let book = ask::book(&MockGateway::with_responses(&[(200, &body)]));
        assert_eq!(outcome(&book), Done, "{error}");
    }
    for error in ["true", "\"failed\"", r#"{"message": "failed"}"#] {
        let body = confirmed.replacen('{', &format!(r#"{{"error": {error}, "#), 1);
        let book = ask::book(&MockGateway::with_responses(&[(200, &body)]));
        assert_eq!(outcome(&book), Unknown, "{error}");
    }
}
