//! Every error code at each kind of call.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::testing::Outcome::{
    Done, Failed, InvalidResponse, Misconfigured, NotFound, RateLimited, Refused, Rejected,
    TimedOut, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, Outcome, outcome, refusal};
use stopover_sdk::{HotelBooking, HotelCancellation, HotelContent};

use crate::ask;

/// Code, description and HTTP status of an error.
type Error = (u32, &'static str, u16);

/// Errors with the same outcomes: of a read, and of a prebook, a booking and a cancellation.
const ERRORS: [(Outcome, Outcome, &[Error]); 16] = [
    (
        Rejected("unavailable"),
        Refused("unavailable"),
        &[(2001, "", 200)],
    ),
    (
        Rejected("invalid"),
        Refused("invalid"),
        &[
            (4000, "missing or not supported payment method", 400),
            (4002, "empty request body", 400),
            (4002, "empty request body", 200),
            (4003, "", 400),
        ],
    ),
    (
        Rejected("invalid"),
        Refused("expired"),
        &[
            (4002, "invalid prebookId, rate not found", 400),
            (4002, "invalid offerId", 400),
            (4010, "prebookId data validation failed", 400),
        ],
    ),
    (Rejected("expired"), Refused("expired"), &[(4040, "", 408)]),
    // The provider did not confirm.
    (Rejected("invalid"), Refused("other"), &[(2010, "", 400)]),
    (Failed, Refused("other"), &[(2013, "", 500)]),
    // The checkout is not finished.
    (
        Rejected("invalid"),
        Refused("payment required"),
        &[
            (2014, "Payment not completed", 400),
            (
                2014,
                "prebookId is not associated with the transaction",
                400,
            ),
        ],
    ),
    (
        Failed,
        Refused("payment declined"),
        &[(5000, "payment failed: declined", 400)],
    ),
    // Wrong API key.
    (
        Misconfigured,
        Refused("account"),
        &[(401, "", 401), (40301, "", 403), (40302, "", 200)],
    ),
    // Nuitee's rate limit: nothing was done.
    (
        RateLimited,
        Refused("other"),
        &[(429, "", 429), (4290, "", 429), (4291, "", 200)],
    ),
    // The booking may exist or not. Code 4999 is not documented.
    (TimedOut, Unknown, &[(4016, "", 408), (4999, "", 504)]),
    (
        Rejected("invalid"),
        Unknown,
        &[
            (2014, "booking data was not updated", 400),
            (2014, "payment retrieval failed", 400),
            (4999, "", 400),
        ],
    ),
    (
        InvalidResponse,
        Unknown,
        &[(2014, "payment status save failed", 200), (4999, "", 200)],
    ),
    (
        Failed,
        Unknown,
        &[
            (5000, "booking initial save failed, please try again", 400),
            (
                5000,
                "please check if you have provided a payment method for your account",
                400,
            ),
            (5000, "", 500),
            (4999, "", 500),
            (4999, "", 502),
        ],
    ),
    (Unavailable, Unknown, &[(4999, "", 503)]),
    (NotFound, Unknown, &[(4999, "", 404)]),
];

/// Returns the outcomes of a read, a prebook, a booking and a cancellation.
fn outcomes((code, description, status): Error) -> [Outcome; 4] {
    let body = format!(
        r#"{{"error": {{"code": {code}, "message": "a message", "description": "{description}"}}}}"#
    );
    let gateway = || {
        MockGateway::new()
            .respond_with(status, &body)
            .respond_with(200, ask::fixture("bookings.json"))
    };
    [
        outcome(&gateway().run(|| NuiteeHotels::read_details("lpown1".to_owned()))),
        outcome(&gateway().run(|| NuiteeHotels::prebook(ask::prebook_request()))),
        outcome(&gateway().run(|| NuiteeHotels::book(ask::book_request()))),
        outcome(&gateway().run(|| NuiteeHotels::cancel(ask::cancel_request()))),
    ]
}

#[test]
fn every_error_code_has_expected_outcome() {
    for (read, change, errors) in ERRORS {
        for error in errors {
            assert_eq!(
                outcomes(*error),
                [read, change, change, change],
                "{error:?}"
            );
        }
    }
    // The client reference exists, and the booking is read back and found.
    let expected = [Rejected("invalid"), Unknown, Done, Unknown];
    assert_eq!(outcomes((4005, "", 400)), expected);
}

#[test]
fn error_code_as_string_is_read() {
    let gateway = MockGateway::new().respond_with(200, r#"{"error": {"code": "4040"}}"#);
    let book = gateway.run(|| NuiteeHotels::book(ask::book_request()));
    assert_eq!(outcome(&book), Refused("expired"));
}

#[test]
fn refusal_message_has_code_without_supplier_description() {
    let body = r#"{"error": {"code": 4002, "message": "wrong input", "description": "email canary@guest.example is wrong"}}"#;
    let gateway = MockGateway::new().respond_with(400, body);
    let book = gateway.run(|| NuiteeHotels::book(ask::book_request()));
    let refusal = refusal(book);
    assert_eq!(refusal.supplier_code.as_deref(), Some("4002"));
    assert_eq!(refusal.message, "Nuitee returned 4002: wrong input");
}
