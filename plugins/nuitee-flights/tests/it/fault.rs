//! Every error code at every call.

use nuitee_flights::NuiteeFlights;
use serde_json::json;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    Done, Failed, InvalidResponse, Misconfigured, NotFound, NotSent, RateLimited, Refused,
    Rejected, TimedOut, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, Outcome, outcome, refusal};
use stopover_sdk::{
    ChangeError, FlightBooking, FlightCancellation, FlightPricing, FlightReference, ReadError,
};

use crate::ask;

/// The call that receives the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Search,
    Verify,
    Prebook,
    Book,
    Find,
    Quote,
    Cancel,
    Airline,
}

use Call::{Airline, Book, Cancel, Find, Prebook, Quote, Search, Verify};

/// Call, status, code, description and expected outcome.
type Row = (Call, u16, u32, &'static str, Outcome);

/// Errors of searching, reading and quoting, which change nothing.
const READS: [Row; 36] = [
    (Search, 400, 41002, "", Rejected("invalid")),
    (Search, 400, 41006, "", Rejected("invalid")),
    (Search, 400, 41009, "", Rejected("invalid")),
    (Search, 400, 41012, "", Rejected("invalid")),
    (Search, 200, 41012, "", Rejected("invalid")),
    (Search, 401, 41004, "", Misconfigured),
    (Search, 401, 41011, "", Misconfigured),
    (Search, 502, 51001, "", Failed),
    (Search, 502, 51005, "", Failed),
    (Search, 502, 51006, "", Failed),
    (Search, 503, 51004, "", Unavailable),
    (Search, 200, 51006, "", Failed),
    (Search, 200, 2001, "", Done),
    (Search, 403, 40302, "", Misconfigured),
    (Search, 429, 4290, "", RateLimited),
    (Search, 200, 4290, "", RateLimited),
    (Search, 500, 4291, "", Unavailable),
    (Search, 504, 51020, "", TimedOut),
    (Search, 302, 99999, "", InvalidResponse),
    (Find, 400, 47002, "", Done),
    (Find, 404, 47002, "", Done),
    (Find, 404, 47003, "", Done),
    (Find, 400, 47005, "", Rejected("invalid")),
    (Find, 400, 47007, "", Rejected("invalid")),
    (Find, 401, 401, "", Misconfigured),
    (Find, 401, 47001, "", Misconfigured),
    (Find, 401, 47006, "", Misconfigured),
    (Find, 500, 57099, "", Failed),
    (Quote, 500, 59099, "", Done),
    (Quote, 409, 49007, "", Done),
    (Quote, 404, 49002, "", NotFound),
    (Quote, 500, 59001, "", Failed),
    (Airline, 404, 4004, "", NotFound),
    (Airline, 400, 4002, "", Rejected("invalid")),
    (Airline, 500, 5000, "", Failed),
    (Airline, 401, 401, "", Misconfigured),
];

/// Errors of verifying, which changes nothing, and of prebooking.
const PREBOOKS: [Row; 36] = [
    (Verify, 400, 42001, "", Refused("invalid")),
    (Verify, 400, 42013, "", Refused("invalid")),
    (Verify, 400, 42015, "", Refused("expired")),
    (Verify, 401, 42003, "", Refused("account")),
    (Verify, 401, 42016, "", Refused("account")),
    (Verify, 404, 42004, "", Refused("expired")),
    (Verify, 404, 42017, "", Refused("expired")),
    (Verify, 404, 42018, "", Refused("expired")),
    (Verify, 404, 42019, "", Refused("expired")),
    (Verify, 502, 52001, "", Refused("terms changed")),
    (Verify, 502, 52016, "", Refused("expired")),
    (Verify, 502, 52019, "", Refused("unavailable")),
    (Verify, 502, 52011, "", NotSent),
    (Verify, 503, 52013, "", NotSent),
    (Verify, 503, 52014, "", NotSent),
    (Verify, 503, 52015, "", NotSent),
    (Verify, 500, 52099, "", NotSent),
    (Verify, 429, 4290, "", RateLimited),
    (Prebook, 400, 43001, "", Refused("invalid")),
    (Prebook, 400, 43007, "", Refused("invalid")),
    (Prebook, 400, 43015, "", Refused("expired")),
    (Prebook, 401, 43003, "", Refused("account")),
    (Prebook, 401, 43016, "", Refused("account")),
    (Prebook, 404, 43004, "", Refused("expired")),
    (Prebook, 404, 43017, "", Refused("expired")),
    (Prebook, 404, 43019, "", Refused("expired")),
    (Prebook, 502, 53001, "", Refused("terms changed")),
    (Prebook, 502, 53016, "", Refused("expired")),
    (Prebook, 502, 53019, "", Refused("unavailable")),
    (Prebook, 502, 53011, "", Unknown),
    (Prebook, 503, 53013, "", Unknown),
    (Prebook, 503, 53014, "", Unknown),
    (Prebook, 503, 53015, "", Unknown),
    // Nuitee responds this way to an invalid telephone number.
    (Prebook, 500, 53099, "", Unknown),
    (Prebook, 429, 429, "", RateLimited),
    (Prebook, 400, 43099, "", Unknown),
];

const UNPAID: Outcome = Refused("payment required");

/// Errors of a booking: definite refusals, and errors after which a booking may exist.
const BOOKS: [Row; 32] = [
    (Book, 400, 45004, "", Refused("invalid")),
    (Book, 400, 45021, "", Refused("invalid")),
    (Book, 400, 45040, "", Refused("payment declined")),
    (Book, 400, 45063, "", Refused("expired")),
    (Book, 400, 45081, "", Refused("account")),
    (Book, 401, 45028, "", Refused("account")),
    (Book, 401, 45082, "", Refused("account")),
    (Book, 403, 45083, "", Refused("account")),
    (Book, 404, 45029, "", Refused("expired")),
    (Book, 404, 45033, "", Refused("expired")),
    (Book, 404, 45084, "", Refused("expired")),
    (Book, 401, 401, "", Refused("account")),
    (Book, 403, 40301, "", Refused("account")),
    (Book, 403, 40302, "", Refused("account")),
    (Book, 400, 45099, "Payment not completed", UNPAID),
    (Book, 402, 45099, "the payment is not completed yet", UNPAID),
    (Book, 400, 2014, "Payment not completed", UNPAID),
    (Book, 500, 45099, "Payment not completed", Unknown),
    (Book, 409, 45099, "Payment not completed", Unknown),
    (Book, 400, 45099, "payment retrieval failed", Unknown),
    (Book, 409, 45035, "", Unknown),
    (Book, 409, 45036, "", Unknown),
    (Book, 409, 45087, "", Unknown),
    (Book, 429, 4290, "", Unknown),
    (Book, 429, 429, "", Unknown),
    (Book, 500, 55015, "", Unknown),
    (Book, 500, 55099, "", Unknown),
    (Book, 502, 55004, "payment failed", Unknown),
    (Book, 502, 55014, "", Unknown),
    (Book, 502, 55029, "", Unknown),
    (Book, 502, 55034, "", Unknown),
    (Book, 503, 55035, "", Unknown),
];

/// Errors of a cancellation. After the two conflicts the booking is read; in this test it is not
/// cancelled.
const CANCELS: [Row; 8] = [
    (Cancel, 404, 46002, "", Refused("not cancellable")),
    (Cancel, 401, 401, "", Refused("account")),
    (Cancel, 409, 46004, "", Unknown),
    (Cancel, 409, 46006, "", Unknown),
    (Cancel, 409, 46005, "", Unknown),
    (Cancel, 429, 4290, "", RateLimited),
    (Cancel, 500, 56099, "", Unknown),
    (Cancel, 502, 56002, "", Unknown),
];

#[test]
fn every_error_code_has_expected_outcome() {
    let rows = [&READS[..], &PREBOOKS, &BOOKS, &CANCELS].concat();
    for (call, status, code, description, expected) in rows {
        for body in bodies(code, description) {
            let end = end(call, status, body.as_bytes());
            assert_eq!(end, expected, "{call:?} {status} {body}");
        }
    }
}

/// Returns error bodies in four forms: at the top level, wrapped, beside data, and with the code as
/// a string.
fn bodies(code: u32, description: &str) -> [String; 4] {
    let error = json!({"code": code, "message": "m", "description": description, "key": "k"});
    let text = json!({"code": code.to_string(), "message": null, "description": description});
    [
        json!({ "error": error }).to_string(),
        json!({"value": {"error": error}}).to_string(),
        json!({"data": {"other": [1]}, "error": error}).to_string(),
        json!({ "error": text }).to_string(),
    ]
}

#[test]
fn listed_code_is_refusal_only_with_its_status_or_2xx() {
    let rows = [&PREBOOKS[18..], &BOOKS, &CANCELS].concat();
    let refused = rows
        .into_iter()
        .filter(|(_, _, _, words, end)| words.is_empty() && matches!(end, Refused(_)));
    for (call, own_status, code, _, expected) in refused {
        let [body, ..] = bodies(code, "");
        assert_eq!(end(call, 200, body.as_bytes()), expected, "{code}");
        for status in [409, 429, 500, 503, 504] {
            assert_ne!(status, own_status);
            assert_eq!(
                end(call, status, body.as_bytes()),
                Unknown,
                "{code} {status}"
            );
        }
    }
}

#[test]
fn status_without_code_is_never_refusal() {
    for body in [
        "",
        "<html>Bad Gateway</html>",
        "{}",
        r#"{"error": null}"#,
        r#"{"error": "x"}"#,
    ] {
        for status in [400, 401, 403, 404, 409, 422, 500, 502, 503, 504] {
            for call in [Prebook, Book, Cancel] {
                assert_eq!(
                    end(call, status, body.as_bytes()),
                    Unknown,
                    "{call:?} {status} {body}"
                );
            }
            assert_eq!(
                end(Verify, status, body.as_bytes()),
                NotSent,
                "{status} {body}"
            );
        }
        assert_eq!(end(Prebook, 429, body.as_bytes()), RateLimited, "{body}");
        assert_eq!(end(Cancel, 429, body.as_bytes()), RateLimited, "{body}");
        assert_eq!(end(Book, 429, body.as_bytes()), Unknown, "{body}");
    }
    let reads = [
        (401, Misconfigured),
        (404, NotFound),
        (408, TimedOut),
        (422, Rejected("invalid")),
        (429, RateLimited),
        (500, Failed),
        (502, Failed),
        (503, Unavailable),
        (504, TimedOut),
    ];
    for (status, expected) in reads {
        assert_eq!(end(Search, status, b"<html>"), expected, "{status}");
    }
}

#[test]
fn rate_limit_has_wait_time_and_refusal_has_code() {
    let body = r#"{"error": {"code": 4290}}"#;
    let limited = Response::new(429, body).with_header("Retry-After", "7");
    let gateway = ask::gateway().respond(limited.clone());
    let search = gateway.run(|| NuiteeFlights::price(ask::price_request()));
    assert_eq!(search, Err(ReadError::RateLimited(Some(7))));
    let gateway = ask::gateway().respond(limited);
    let prebook = gateway.run(|| NuiteeFlights::prebook(ask::prebook_request()));
    assert_eq!(prebook, Err(ChangeError::RateLimited(Some(7))));

    let refused =
        r#"{"error": {"code": 45029, "message": "offer expired", "description": "of Ana"}}"#;
    let gateway = ask::gateway().respond_with(404, refused);
    let refusal = refusal(gateway.run(|| NuiteeFlights::book(ask::book_request())));
    assert_eq!(refusal.supplier_code.as_deref(), Some("45029"));
    assert_eq!(refusal.message, "Nuitee returned 45029: offer expired");
}

/// Returns the outcome of a call that receives this response.
fn end(call: Call, status: u16, body: &[u8]) -> Outcome {
    let gateway = match call {
        Prebook => ask::responding_with("verify.json"),
        _ => ask::gateway(),
    };
    let gateway = gateway.respond_with(status, body);
    match call {
        Search => outcome(&gateway.run(|| NuiteeFlights::price(ask::price_request()))),
        Verify | Prebook => {
            outcome(&gateway.run(|| NuiteeFlights::prebook(ask::prebook_request())))
        }
        Book => outcome(&gateway.run(|| NuiteeFlights::book(ask::book_request()))),
        Find => found(gateway),
        Quote => outcome(&gateway.run(|| NuiteeFlights::quote_cancellation(ask::quote_request()))),
        Cancel => {
            let gateway = gateway.respond_with(200, ask::fixture("booking.json"));
            outcome(&gateway.run(|| NuiteeFlights::cancel(ask::cancel_request())))
        }
        Airline => outcome(&gateway.run(|| NuiteeFlights::read_airline("XO".to_owned()))),
    }
}

/// Returns the outcome of a find. A booking that is not found by its id is searched by its client
/// reference.
fn found(gateway: MockGateway) -> Outcome {
    let gateway = gateway.respond_with(200, r#"{"data": []}"#);
    let request = ask::find_request(Some(ask::BOOKING_ID));
    outcome(&gateway.run(|| NuiteeFlights::find(request)))
}
