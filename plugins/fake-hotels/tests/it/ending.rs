//! Outcomes of failed calls: every documented code at every call, and every failure of an exchange.

use fake_hotels::FakeHotels;
use stopover_sdk::http::{Error, Header, Response};
use stopover_sdk::testing::Outcome::{NotSent, Unknown};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::{ChangeError, HotelBooking, HotelCancellation, HotelPricing, ReadError};

use crate::lodge::{
    CODES, book_request, cancel_request, edited, error, fixture, gateway, prebook_request,
    price_request,
};

type Call = fn() -> Result<(), ChangeError>;

const CHANGES: [(&str, Call); 3] = [
    ("prebook", || {
        FakeHotels::prebook(prebook_request()).map(|_| ())
    }),
    ("book", || FakeHotels::book(book_request()).map(|_| ())),
    ("cancel", || {
        FakeHotels::cancel(cancel_request(&[])).map(|_| ())
    }),
];

/// Change, code and reason of each refusal. All other combinations are unknown.
const REFUSED: [(&str, &str, &str); 18] = [
    ("prebook", "UNAUTHORIZED", "Account"),
    ("prebook", "INVALID_REQUEST", "Invalid"),
    ("prebook", "RATE_UNKNOWN", "Expired"),
    ("prebook", "RATE_EXPIRED", "Expired"),
    ("prebook", "SOLD_OUT", "Unavailable"),
    ("book", "UNAUTHORIZED", "Account"),
    ("book", "INVALID_REQUEST", "Invalid"),
    ("book", "PREBOOK_UNKNOWN", "Expired"),
    ("book", "PREBOOK_EXPIRED", "Expired"),
    ("book", "PREBOOK_USED", "Duplicate"),
    ("book", "PRICE_MISMATCH", "Other(\"price-mismatch\")"),
    ("book", "INVALID_GUESTS", "Invalid"),
    ("book", "BOOKING_REFUSED", "Other(\"booking-refused\")"),
    ("cancel", "UNAUTHORIZED", "Account"),
    ("cancel", "INVALID_REQUEST", "Invalid"),
    ("cancel", "NOT_FOUND", "Other(\"not-found\")"),
    ("cancel", "NOT_CANCELLABLE", "NotCancellable"),
    ("cancel", "ROOMS_NOT_SEPARABLE", "NotCancellable"),
];

#[test]
fn change_is_refused_by_listed_code_and_otherwise_unknown() {
    for (name, change) in CHANGES {
        for (code, status) in CODES {
            let case = format!("{name}: {status} {code}");
            let gateway = gateway().respond_with(status, error(code));
            let ending = gateway.run(change).unwrap_err();
            assert_eq!(gateway.requests().len(), 1, "{case}");
            let expected = REFUSED
                .iter()
                .find(|(of, refused, _)| *of == name && *refused == code);
            match (ending, expected) {
                (ChangeError::Refused(refusal), Some((_, _, reason))) => {
                    let found = format!("{:?}", refusal.reason);
                    assert_eq!(found, format!("RefusalReason::{reason}"), "{case}");
                    assert_eq!(refusal.supplier_code.as_deref(), Some(code), "{case}");
                    assert!(!refusal.message.contains("Ann"), "{case}");
                }
                (ChangeError::Unknown(text), None) => {
                    assert!(!text.is_empty() && !text.contains("Ann"), "{case}");
                }
                (ending, expected) => panic!("{case}: {ending:?}, expected {expected:?}"),
            }
        }
    }
}

#[test]
fn code_with_undocumented_status_is_unknown() {
    for (name, change) in CHANGES {
        for (_, code, _) in REFUSED.iter().filter(|(of, ..)| *of == name) {
            for status in [302, 418, 500, 503] {
                let gateway = gateway().respond_with(status, error(code));
                let ending = gateway.run(change);
                assert_eq!(
                    outcome(&ending),
                    Unknown,
                    "{name}: {status} {code}: {ending:?}"
                );
            }
        }
    }
}

/// Returns responses and failures that leave the outcome of a sent request unknown.
fn broken() -> Vec<(&'static str, MockGateway)> {
    let text = || "closed".to_owned();
    vec![
        ("cut", gateway().fail_with(Error::ConnectionLost(text()))),
        ("timed out", gateway().fail_with(Error::TimedOut(text()))),
        ("too large", gateway().fail_with(Error::TooLarge(8 << 20))),
        ("empty 200", gateway().respond_with(200, "")),
        ("no content", gateway().respond_with(204, "")),
        ("not JSON", gateway().respond_with(200, "<html>ok</html>")),
        ("another shape", gateway().respond_with(201, r#"{"id": 7}"#)),
        (
            "a proxy's 502",
            gateway().respond_with(502, "<html>bad</html>"),
        ),
        ("a bare 400", gateway().respond_with(400, "")),
        ("a bare 404", gateway().respond_with(404, "")),
        (
            "a bare 409",
            gateway().respond_with(409, r#"{"error": "SOLD_OUT"}"#),
        ),
        (
            "a new code",
            gateway().respond_with(422, error("HOTEL_ON_FIRE")),
        ),
        ("a redirect", gateway().respond_with(307, "")),
    ]
}

#[test]
fn failure_after_sending_is_unknown() {
    for (name, change) in CHANGES {
        for (case, gateway) in broken() {
            let ending = gateway.run(change);
            assert_eq!(outcome(&ending), Unknown, "{name}: {case}: {ending:?}");
            assert_eq!(gateway.requests().len(), 1, "{name}: {case}");
        }
        for fixture_name in ["prebook", "booking"] {
            let whole = fixture(fixture_name).to_string();
            let half = gateway().respond_with(200, &whole[..whole.len() / 2]);
            let ending = half.run(change);
            assert_eq!(
                outcome(&ending),
                Unknown,
                "{name}: half of {fixture_name}: {ending:?}"
            );
        }
    }
}

#[test]
fn failure_before_sending_is_not_sent() {
    for (name, change) in CHANGES {
        for error in [
            Error::NotSent("no route".into()),
            Error::Denied("no".into()),
        ] {
            let gateway = gateway().fail_with(error);
            let ending = gateway.run(change);
            assert_eq!(outcome(&ending), NotSent, "{name}: {ending:?}");
        }
        for settings in [
            "{}",
            r#"{"base_url": 7}"#,
            r#"{"base_url": "x", "key": "y"}"#,
        ] {
            let gateway = MockGateway::new().settings(settings);
            let ending = gateway.run(change);
            assert_eq!(outcome(&ending), NotSent, "{name}: {settings}: {ending:?}");
            assert!(gateway.requests().is_empty());
        }
    }
}

#[test]
fn response_about_other_booking_or_currency_is_unknown() {
    let elsewhere = [
        (1, "/client_ref", "bkg_other"),
        (2, "/client_ref", "bkg_other"),
        (1, "/currency", "USD"),
    ];
    for (change, pointer, value) in elsewhere {
        let (name, change) = CHANGES[change];
        let gateway = gateway().respond_with(201, edited("booking", &[(pointer, value.into())]));
        let ending = gateway.run(change);
        assert_eq!(outcome(&ending), Unknown, "{name} {pointer}: {ending:?}");
    }
    let gateway = gateway().respond_with(201, edited("prebook", &[("/currency", "USD".into())]));
    let ending = gateway.run(CHANGES[0].1);
    assert_eq!(outcome(&ending), Unknown, "{ending:?}");
}

#[test]
fn every_code_is_converted_for_reads() {
    for (code, status) in CODES {
        let gateway = gateway().respond(Response {
            status,
            headers: vec![Header {
                name: "Retry-After".to_owned(),
                value: "30".to_owned(),
            }],
            body: error(code).into_bytes(),
        });
        let ending = gateway.run(|| FakeHotels::price(price_request(&["OK"], 1)));
        let found = match ending.unwrap_err() {
            ReadError::NotFound(_) => "not found".to_owned(),
            ReadError::Misconfigured(_) => "misconfigured".to_owned(),
            ReadError::Failed(_) => "failed".to_owned(),
            ReadError::RateLimited(wait) => format!("limited {wait:?}"),
            ReadError::Rejected(refusal) => {
                assert!(!refusal.message.contains("Ann"), "{code}");
                format!("rejected {}", refusal.supplier_code.unwrap())
            }
            other => panic!("{code}: {other:?}"),
        };
        let expected = match code {
            "UNAUTHORIZED" => "misconfigured".to_owned(),
            "NOT_FOUND" => "not found".to_owned(),
            "TOO_MANY_REQUESTS" => "limited Some(30)".to_owned(),
            "SUPPLIER_FAILURE" => "failed".to_owned(),
            other => format!("rejected {other}"),
        };
        assert_eq!(found, expected, "{status} {code}");
    }
}

#[test]
fn failed_read_returns_specific_error() {
    let text = || "closed".to_owned();
    type Expected = fn(&ReadError) -> bool;
    let cases: [(&str, MockGateway, Expected); 11] = [
        (
            "cut",
            gateway().fail_with(Error::ConnectionLost(text())),
            |e| matches!(e, ReadError::Unavailable(_)),
        ),
        (
            "not sent",
            gateway().fail_with(Error::NotSent(text())),
            |e| matches!(e, ReadError::Unavailable(_)),
        ),
        (
            "timed out",
            gateway().fail_with(Error::TimedOut(text())),
            |e| matches!(e, ReadError::TimedOut(_)),
        ),
        ("denied", gateway().fail_with(Error::Denied(text())), |e| {
            matches!(e, ReadError::Misconfigured(_))
        }),
        ("too large", gateway().fail_with(Error::TooLarge(1)), |e| {
            matches!(e, ReadError::InvalidResponse(_))
        }),
        ("502", gateway().respond_with(502, "<html>"), |e| {
            matches!(e, ReadError::Failed(_))
        }),
        ("503", gateway().respond_with(503, "<html>"), |e| {
            matches!(e, ReadError::Unavailable(_))
        }),
        // A 404 in another form is not from Lodge.
        ("bare 404", gateway().respond_with(404, ""), |e| {
            matches!(e, ReadError::InvalidResponse(_))
        }),
        ("garbage", gateway().respond_with(200, "{"), |e| {
            matches!(e, ReadError::InvalidResponse(_))
        }),
        ("bare 401", gateway().respond_with(401, ""), |e| {
            matches!(e, ReadError::Misconfigured(_))
        }),
        ("settings", MockGateway::new(), |e| {
            matches!(e, ReadError::Misconfigured(_))
        }),
    ];
    for (case, gateway, expected) in cases {
        let ending = gateway.run(|| FakeHotels::price(price_request(&["OK"], 1)));
        let error = ending.unwrap_err();
        assert!(expected(&error), "{case}: {error:?}");
    }
}
