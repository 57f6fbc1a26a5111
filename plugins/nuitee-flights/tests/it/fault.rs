//! Every error code at every call.

use serde_json::json;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    Done, Failed, InvalidResponse, Misconfigured, NotFound, NotSent, RateLimited, Refused,
    Rejected, TimedOut, Unavailable, Unknown,
};
use stopover_sdk::testing::{Outcome, outcome, refusal};
use stopover_sdk::{ChangeError, ReadError};

use crate::ask;

/// The call that receives the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Search,
    Verify,
    Prebook,
    Book,
    Find,
    Quote,
    Cancel,
    /// Both calls for reference data.
    Airline,
}

use Call::{Airline, Book, Cancel, Find, Prebook, Quote, Search, Verify};

/// Call, status, codes and expected outcome.
type Row = (Call, u16, &'static [u32], Outcome);

/// Errors of searching, reading and quoting, which change nothing.
const READS: [Row; 37] = [
    (Search, 400, &[41002, 41006], Rejected("invalid")),
    (Search, 400, &[41009, 41012], Rejected("invalid")),
    (Search, 200, &[41012], Rejected("invalid")),
    (Search, 401, &[41004, 41011], Misconfigured),
    (Search, 502, &[51001, 51005, 51006], Failed),
    (Search, 503, &[51004], Unavailable),
    (Search, 200, &[51006], Failed),
    (Search, 200, &[2001], Done),
    (Search, 403, &[40302], Misconfigured),
    (Search, 429, &[4290], RateLimited),
    (Search, 200, &[4290], RateLimited),
    (Search, 500, &[4291], Unavailable),
    (Search, 504, &[51020], TimedOut),
    (Search, 302, &[99999], InvalidResponse),
    (Find, 404, &[47002, 47003, 49002], Done),
    // An id that Nuitee does not understand is not one that it does not have.
    (Find, 400, &[47002, 47003, 49002], Rejected("invalid")),
    (Find, 400, &[4004], InvalidResponse),
    (Find, 200, &[47002, 47003, 49002, 4004], InvalidResponse),
    (Find, 410, &[47002, 47003, 49002, 4004], InvalidResponse),
    (Find, 404, &[4004], Done),
    (Find, 400, &[47005, 47007, 47008], Rejected("invalid")),
    (Find, 401, &[401, 47001, 47006], Misconfigured),
    (Find, 500, &[57099], Failed),
    // A gateway in front of Nuitee may send these codes, which Nuitee does not document.
    (Find, 404, &[404, 410], InvalidResponse),
    (Find, 410, &[404, 410], InvalidResponse),
    (Airline, 404, &[404, 410], InvalidResponse),
    // A failure and a wrong key are not statements about a booking.
    (Find, 503, &[47002, 4004], Unavailable),
    (Find, 403, &[47003], Misconfigured),
    (Quote, 500, &[59099], Done),
    (Quote, 409, &[49007], Done),
    (Quote, 404, &[49002], NotFound),
    (Quote, 400, &[49002], Rejected("invalid")),
    (Quote, 500, &[59001], Failed),
    (Airline, 404, &[4004], NotFound),
    (Airline, 400, &[4002], Rejected("invalid")),
    (Airline, 500, &[5000], Failed),
    (Airline, 401, &[401], Misconfigured),
];

/// Errors of verifying, which changes nothing, and of prebooking.
const PREBOOKS: [Row; 20] = [
    (Verify, 400, &[42001, 42013], Refused("invalid")),
    (Verify, 400, &[42015], Refused("expired")),
    (Verify, 401, &[42003, 42016], Refused("account")),
    (Verify, 404, &[42004, 42017], Refused("expired")),
    (Verify, 404, &[42018, 42019], Refused("expired")),
    // A failed party is no proof of a refusal.
    (Verify, 502, &[52001, 52016, 52019], NotSent),
    (Verify, 502, &[52011], NotSent),
    (Verify, 503, &[52013, 52014, 52015], NotSent),
    (Verify, 500, &[52099], NotSent),
    (Verify, 429, &[4290], RateLimited),
    (Prebook, 400, &[43001, 43007], Refused("invalid")),
    (Prebook, 400, &[43015], Refused("expired")),
    (Prebook, 401, &[43003, 43016], Refused("account")),
    (Prebook, 404, &[43004, 43017, 43019], Refused("expired")),
    (Prebook, 502, &[53001, 53016, 53019, 53011], Unknown),
    (Prebook, 503, &[53013, 53014, 53015], Unknown),
    // Nuitee responds this way to an invalid telephone number.
    (Prebook, 500, &[53099], Unknown),
    (Prebook, 429, &[429], RateLimited),
    (Prebook, 503, &[4290], Unknown),
    (Prebook, 400, &[43099], Unknown),
];

/// Errors of a booking: definite refusals, and errors after which a booking may exist.
const BOOKS: [Row; 12] = [
    (Book, 400, &[45004, 45021], Refused("invalid")),
    (Book, 400, &[45040], Refused("payment declined")),
    (Book, 400, &[45063], Refused("expired")),
    (Book, 400, &[45081], Refused("account")),
    (Book, 401, &[45028, 45082, 401], Refused("account")),
    (Book, 403, &[45083, 40301, 40302], Refused("account")),
    (Book, 404, &[45029, 45033, 45084], Refused("expired")),
    (Book, 409, &[45035, 45036, 45087], Unknown),
    (Book, 429, &[4290, 429], Unknown),
    (Book, 500, &[55015, 55099], Unknown),
    (Book, 502, &[55014, 55029, 55034], Unknown),
    (Book, 503, &[55035], Unknown),
];

const UNPAID: Outcome = Refused("payment required");

/// Status, code, description and outcome of errors of a booking that no list of Nuitee's flight codes has.
/// The words prove nothing without the code with which Nuitee documents them.
const UNLISTED_BOOKS: [(u16, u32, &str, Outcome); 10] = [
    (400, 2014, "Payment not completed", UNPAID),
    (402, 2014, "the payment is not completed yet", UNPAID),
    (500, 2014, "Payment not completed", Unknown),
    (409, 2014, "Payment not completed", Unknown),
    (400, 2014, "payment retrieval failed", Unknown),
    (400, 45099, "Payment not completed", Unknown),
    (402, 45000, "the payment is not completed yet", Unknown),
    (400, 5000, "payment failed", Unknown),
    (400, 45099, "payment retrieval failed", Unknown),
    (502, 55004, "payment failed", Unknown),
];

/// Errors of a cancellation. After the two conflicts the booking is read; in this test it is not
/// cancelled.
const CANCELS: [Row; 9] = [
    (Cancel, 404, &[46002], Refused("not cancellable")),
    (Cancel, 401, &[401], Refused("account")),
    (Cancel, 409, &[46004, 46006, 46005], Unknown),
    (Cancel, 429, &[4290], RateLimited),
    (Cancel, 200, &[4290], RateLimited),
    (Cancel, 202, &[4290], Unknown),
    (Cancel, 500, &[4290], Unknown),
    (Cancel, 500, &[56099], Unknown),
    (Cancel, 502, &[56002], Unknown),
];

#[test]
fn every_error_code_has_expected_outcome() {
    let check = |call, status, code, description, expected| {
        for body in bodies(code, description) {
            let end = end(call, status, &body);
            assert_eq!(end, expected, "{call:?} {status} {body}");
        }
    };
    for (call, status, codes, expected) in rows() {
        for code in codes {
            check(call, status, *code, "", expected);
        }
    }
    for (status, code, description, expected) in UNLISTED_BOOKS {
        check(Book, status, code, description, expected);
    }
}

fn rows() -> Vec<Row> {
    [&READS[..], &PREBOOKS, &BOOKS, &CANCELS].concat()
}

/// Checks that a document of Nuitee is a listed error and has its outcome.
pub(crate) fn check_listed(call: Call, status: u16, document: &str) {
    let error: serde_json::Value = serde_json::from_str(document).unwrap();
    let code = error["error"]["code"].as_u64().unwrap();
    let mut rows = rows().into_iter();
    let row = rows.find(|(listed, listed_status, codes, _)| {
        (*listed, *listed_status) == (call, status)
            && codes.iter().any(|one| code == u64::from(*one))
    });
    let expected = row.map(|(.., expected)| expected);
    assert_eq!(Some(end(call, status, document)), expected, "{document}");
}

/// Returns error bodies in four forms: at the top level, wrapped, beside empty data, and with the code
/// as a string.
fn bodies(code: u32, description: &str) -> [String; 4] {
    let error = json!({"code": code, "message": "m", "description": description, "key": "k"});
    let text = json!({"code": code.to_string(), "message": null, "description": description});
    [
        json!({ "error": error }).to_string(),
        json!({"value": {"error": error}}).to_string(),
        json!({"data": [{}], "error": error}).to_string(),
        json!({ "error": text }).to_string(),
    ]
}

#[test]
fn listed_code_is_refusal_only_with_its_status_and_without_data() {
    let rows = [&PREBOOKS[..], &BOOKS, &CANCELS].concat();
    let changes = rows.into_iter().filter(|(call, ..)| *call != Verify);
    for (call, own_status, codes, expected) in changes {
        if !matches!(expected, Refused(_)) {
            continue;
        }
        for code in codes {
            let [body, ..] = bodies(*code, "");
            let beside_data = json!({"data": {"id": "1"}, "error": {"code": code}}).to_string();
            assert_eq!(end(call, own_status, &body), expected, "{code}");
            let contradiction = end(call, own_status, &beside_data);
            assert_eq!(contradiction, Unknown, "{code}");
            for status in [200, 201, 202, 409, 429, 500, 502, 503, 504] {
                assert_ne!(status, own_status);
                assert_eq!(end(call, status, &body), Unknown, "{code} {status}");
            }
        }
    }
}

#[test]
fn error_beside_data_proves_nothing() {
    let error = |code: u32| json!({"data": [{"id": "1"}], "error": {"code": code}}).to_string();
    for (call, status, code, expected) in [
        (Prebook, 429, 4290, Unknown),
        (Cancel, 200, 4290, Unknown),
        (Book, 400, 45004, Unknown),
        (Verify, 404, 42004, NotSent),
        (Find, 404, 47002, InvalidResponse),
        (Find, 200, 47002, InvalidResponse),
        (Airline, 404, 4004, InvalidResponse),
        (Search, 200, 2001, InvalidResponse),
        (Quote, 409, 49007, InvalidResponse),
        (Quote, 500, 59099, Failed),
    ] {
        assert_eq!(end(call, status, &error(code)), expected, "{call:?} {code}");
    }
}

#[test]
fn repeated_error_or_data_proves_nothing() {
    for body in [
        r#"{"error": {"code": 45004}, "error": {"code": 55015}}"#,
        r#"{"error": {"code": 55015}, "error": {"code": 45004}}"#,
        r#"{"error": {"code": 45004, "code": 45021}}"#,
    ] {
        assert_eq!(end(Book, 400, body), Unknown, "{body}");
    }
    let booking = ask::fixture("booking.json");
    assert_eq!(end(Book, 201, &booking), Done);
    let rest = booking.trim_start().strip_prefix('{').unwrap();
    for first in [
        r#""data": []"#,
        r#""data": {"booking": {"status": "CANCELLED"}}"#,
    ] {
        assert_eq!(
            end(Book, 201, &format!("{{{first}, {rest}")),
            Unknown,
            "{first}"
        );
    }
}

#[test]
fn status_without_code_is_never_refusal() {
    let (null, text) = (r#"{"error": null}"#, r#"{"error": "x"}"#);
    for body in ["", "<html>Bad Gateway</html>", "{}", null, text] {
        let check = |call, status, expected| {
            assert_eq!(
                end(call, status, body),
                expected,
                "{call:?} {status} {body}"
            );
        };
        for status in [400, 401, 403, 404, 409, 422, 500, 502, 503, 504] {
            for call in [Prebook, Book, Cancel] {
                check(call, status, Unknown);
            }
            check(Verify, status, NotSent);
        }
        check(Prebook, 429, RateLimited);
        check(Cancel, 429, RateLimited);
        check(Book, 429, Unknown);
    }
    let reads = [
        (401, Misconfigured),
        (404, InvalidResponse),
        (408, TimedOut),
        (410, InvalidResponse),
        (422, InvalidResponse),
        (429, RateLimited),
        (500, Failed),
        (502, Failed),
        (503, Unavailable),
        (504, TimedOut),
    ];
    for (status, expected) in reads {
        for call in [Search, Find, Quote, Airline] {
            assert_eq!(end(call, status, "<html>"), expected, "{call:?} {status}");
        }
    }
}

#[test]
fn rate_limit_has_wait_time_and_refusal_has_code() {
    let limited = Response::new(429, ask::error(4290)).with_header("Retry-After", "7");
    let search = ask::price(&ask::gateway().respond(limited.clone()));
    assert_eq!(search, Err(ReadError::RateLimited(Some(7))));
    let prebook = ask::prebook(&ask::gateway().respond(limited));
    assert_eq!(prebook, Err(ChangeError::RateLimited(Some(7))));

    let refused =
        r#"{"error": {"code": 45029, "message": "offer expired", "description": "of Ana"}}"#;
    let refusal = refusal(ask::book(&ask::responding(&[(404, refused)])));
    assert_eq!(refusal.supplier_code.as_deref(), Some("45029"));
    assert_eq!(refusal.message, "Nuitee returned 45029: offer expired");
}

/// Returns the outcome of a call that receives this response. A booking that is not found by its id
/// is searched by its client reference, and a booking is read after a cancellation.
fn end(call: Call, status: u16, body: &str) -> Outcome {
    let response = (status, body);
    let gateway = ask::responding(&[response]);
    match call {
        Search => outcome(&ask::price(&gateway)),
        Verify => outcome(&ask::prebook(&gateway)),
        Prebook => {
            let verified = ask::fixtures(&["verify.json"]);
            outcome(&ask::prebook(&verified.respond_with(status, body)))
        }
        Book => outcome(&ask::book(&gateway)),
        Find => {
            let gateway = ask::responding(&[response, (200, r#"{"data": [{"bookings": []}]}"#)]);
            outcome(&ask::find(&gateway, Some(ask::BOOKING_ID)))
        }
        Quote => outcome(&ask::quote(&gateway)),
        Cancel => {
            let booking = ask::fixture("booking.json");
            outcome(&ask::cancel(&ask::responding(&[response, (200, &booking)])))
        }
        Airline => {
            let airports = outcome(&ask::airports(&ask::responding(&[response]), 20));
            let airline = outcome(&ask::airline(&gateway, "XO"));
            assert_eq!(airline, airports, "{status} {body}");
            airline
        }
    }
}
