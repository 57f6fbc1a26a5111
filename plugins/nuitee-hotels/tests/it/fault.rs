//! Every error code at each kind of call.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::{
    ChangeError, HotelBooking, HotelCancellation, HotelContent, ReadError, RefusalReason,
};

use crate::ask;

/// The outcome of a call, in short form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Refused(&'static str),
    NotSent,
    Unknown,
    NotFound,
    Rejected(&'static str),
    RateLimited,
    TimedOut,
    Unavailable,
    DecodeError,
    Misconfigured,
    Failed,
    Done,
}

use End::{
    DecodeError, Done, Failed, Misconfigured, NotFound, NotSent, RateLimited, Refused, Rejected,
    TimedOut, Unavailable, Unknown,
};

/// Code, description, HTTP status, and the outcomes of a read, a prebook, a booking and a
/// cancellation.
type Row = (u32, &'static str, u16, [End; 4]);

const ROWS: [Row; 35] = [
    // No availability.
    (
        2001,
        "",
        200,
        [
            Rejected("unavailable"),
            Refused("unavailable"),
            Refused("unavailable"),
            Refused("unavailable"),
        ],
    ),
    // Invalid input, prebook or rate.
    (
        4000,
        "missing or not supported payment method",
        400,
        [
            Rejected("invalid"),
            Refused("invalid"),
            Refused("invalid"),
            Refused("invalid"),
        ],
    ),
    (
        4002,
        "empty request body",
        400,
        [
            Rejected("invalid"),
            Refused("invalid"),
            Refused("invalid"),
            Refused("invalid"),
        ],
    ),
    (
        4002,
        "empty request body",
        200,
        [
            Rejected("invalid"),
            Refused("invalid"),
            Refused("invalid"),
            Refused("invalid"),
        ],
    ),
    (
        4002,
        "invalid prebookId, rate not found",
        400,
        [
            Rejected("invalid"),
            Refused("expired"),
            Refused("expired"),
            Refused("expired"),
        ],
    ),
    (
        4002,
        "invalid offerId",
        400,
        [
            Rejected("invalid"),
            Refused("expired"),
            Refused("expired"),
            Refused("expired"),
        ],
    ),
    (
        4003,
        "",
        400,
        [
            Rejected("invalid"),
            Refused("invalid"),
            Refused("invalid"),
            Refused("invalid"),
        ],
    ),
    (
        4010,
        "prebookId data validation failed",
        400,
        [
            Rejected("invalid"),
            Refused("expired"),
            Refused("expired"),
            Refused("expired"),
        ],
    ),
    // The offer is no longer valid.
    (
        4040,
        "",
        408,
        [
            Rejected("expired"),
            Refused("expired"),
            Refused("expired"),
            Refused("expired"),
        ],
    ),
    // A prebook timed out.
    (4016, "", 408, [TimedOut, Unknown, Unknown, Unknown]),
    // The client reference exists; the booking is read back and found.
    (4005, "", 400, [Rejected("invalid"), Unknown, Done, Unknown]),
    // The provider failed and did not confirm.
    (
        2010,
        "",
        400,
        [
            Rejected("invalid"),
            Refused("other"),
            Refused("other"),
            Refused("other"),
        ],
    ),
    (
        2013,
        "",
        500,
        [Failed, Refused("other"), Refused("other"), Refused("other")],
    ),
    // The checkout is not finished.
    (
        2014,
        "Payment not completed",
        400,
        [
            Rejected("invalid"),
            Refused("payment required"),
            Refused("payment required"),
            Refused("payment required"),
        ],
    ),
    (
        2014,
        "prebookId is not associated with the transaction",
        400,
        [
            Rejected("invalid"),
            Refused("payment required"),
            Refused("payment required"),
            Refused("payment required"),
        ],
    ),
    // The booking may exist or not.
    (
        2014,
        "booking data was not updated",
        400,
        [Rejected("invalid"), Unknown, Unknown, Unknown],
    ),
    (
        2014,
        "payment retrieval failed",
        400,
        [Rejected("invalid"), Unknown, Unknown, Unknown],
    ),
    (
        2014,
        "payment status save failed",
        200,
        [DecodeError, Unknown, Unknown, Unknown],
    ),
    (
        5000,
        "booking initial save failed, please try again",
        400,
        [Failed, Unknown, Unknown, Unknown],
    ),
    (
        5000,
        "please check if you have provided a payment method for your account",
        400,
        [Failed, Unknown, Unknown, Unknown],
    ),
    (5000, "", 500, [Failed, Unknown, Unknown, Unknown]),
    // The payment failed.
    (
        5000,
        "payment failed: declined",
        400,
        [
            Failed,
            Refused("payment declined"),
            Refused("payment declined"),
            Refused("payment declined"),
        ],
    ),
    // Wrong API key.
    (
        401,
        "",
        401,
        [
            Misconfigured,
            Refused("account"),
            Refused("account"),
            Refused("account"),
        ],
    ),
    (
        40301,
        "",
        403,
        [
            Misconfigured,
            Refused("account"),
            Refused("account"),
            Refused("account"),
        ],
    ),
    (
        40302,
        "",
        200,
        [
            Misconfigured,
            Refused("account"),
            Refused("account"),
            Refused("account"),
        ],
    ),
    // Nuitee's rate limit: nothing was done.
    (
        429,
        "",
        429,
        [
            RateLimited,
            Refused("other"),
            Refused("other"),
            Refused("other"),
        ],
    ),
    (
        4290,
        "",
        429,
        [
            RateLimited,
            Refused("other"),
            Refused("other"),
            Refused("other"),
        ],
    ),
    (
        4291,
        "",
        200,
        [
            RateLimited,
            Refused("other"),
            Refused("other"),
            Refused("other"),
        ],
    ),
    // Undocumented codes.
    (4999, "", 500, [Failed, Unknown, Unknown, Unknown]),
    (4999, "", 502, [Failed, Unknown, Unknown, Unknown]),
    (4999, "", 503, [Unavailable, Unknown, Unknown, Unknown]),
    (4999, "", 504, [TimedOut, Unknown, Unknown, Unknown]),
    (4999, "", 404, [NotFound, Unknown, Unknown, Unknown]),
    (
        4999,
        "",
        400,
        [Rejected("invalid"), Unknown, Unknown, Unknown],
    ),
    (4999, "", 200, [DecodeError, Unknown, Unknown, Unknown]),
];

#[test]
fn every_error_code_has_expected_outcome() {
    for (code, description, status, expected) in ROWS {
        let body = format!(
            r#"{{"error": {{"code": {code}, "message": "a message", "description": "{description}"}}}}"#
        );
        let gateway = || {
            MockGateway::new()
                .respond_with(status, &body)
                .respond_with(200, ask::fixture("bookings.json"))
        };
        let read = gateway().run(|| NuiteeHotels::read_details("lpown1".to_owned()));
        let prebook = gateway().run(|| NuiteeHotels::prebook(ask::prebook_request()));
        let book = gateway().run(|| NuiteeHotels::book(ask::book_request()));
        let cancel = gateway().run(|| NuiteeHotels::cancel(ask::cancel_request()));
        let ends = [
            of_read(&read),
            of_change(&prebook),
            of_change(&book),
            of_change(&cancel),
        ];
        assert_eq!(
            ends, expected,
            "{code} {description:?} with status {status}"
        );
    }
}

#[test]
fn error_code_as_string_is_read() {
    let gateway = MockGateway::new().respond_with(200, r#"{"error": {"code": "4040"}}"#);
    let book = gateway.run(|| NuiteeHotels::book(ask::book_request()));
    assert_eq!(of_change(&book), Refused("expired"));
}

#[test]
fn refusal_message_has_code_without_supplier_description() {
    let body = r#"{"error": {"code": 4002, "message": "wrong input", "description": "email canary@guest.example is wrong"}}"#;
    let gateway = MockGateway::new().respond_with(400, body);
    let book = gateway.run(|| NuiteeHotels::book(ask::book_request()));
    let Err(ChangeError::Refused(refusal)) = book else {
        panic!("{book:?}");
    };
    assert_eq!(refusal.supplier_code.as_deref(), Some("4002"));
    assert_eq!(refusal.message, "Nuitee returned 4002: wrong input");
}

fn of_read<T>(result: &Result<T, ReadError>) -> End {
    match result {
        Ok(_) => Done,
        Err(ReadError::NotFound(_)) => NotFound,
        Err(ReadError::Rejected(refusal)) => Rejected(name(&refusal.reason)),
        Err(ReadError::RateLimited(_)) => RateLimited,
        Err(ReadError::TimedOut(_)) => TimedOut,
        Err(ReadError::Unavailable(_)) => Unavailable,
        Err(ReadError::InvalidResponse(_)) => DecodeError,
        Err(ReadError::Misconfigured(_)) => Misconfigured,
        Err(ReadError::Failed(_)) => Failed,
    }
}

fn of_change<T>(result: &Result<T, ChangeError>) -> End {
    match result {
        Ok(_) => Done,
        Err(ChangeError::Refused(refusal)) => Refused(name(&refusal.reason)),
        Err(ChangeError::NotSent(_)) => NotSent,
        Err(ChangeError::RateLimited(_)) => RateLimited,
        Err(ChangeError::Unknown(_)) => Unknown,
    }
}

fn name(reason: &RefusalReason) -> &'static str {
    match reason {
        RefusalReason::Unavailable => "unavailable",
        RefusalReason::Expired => "expired",
        RefusalReason::PriceChanged(_) => "price changed",
        RefusalReason::TermsChanged => "terms changed",
        RefusalReason::PaymentRequired => "payment required",
        RefusalReason::PaymentDeclined => "payment declined",
        RefusalReason::Invalid => "invalid",
        RefusalReason::Duplicate => "duplicate",
        RefusalReason::NotCancellable => "not cancellable",
        RefusalReason::Account => "account",
        RefusalReason::Other(_) => "other",
    }
}
