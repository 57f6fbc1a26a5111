//! Outcomes of failed calls: every documented code at every call, and every failure of an exchange.

use fake_hotels::FakeHotels;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{InvalidResponse, Misconfigured, NotSent, Unknown};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome, read_failures,
};
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

#[test]
fn failure_after_sending_is_unknown() {
    let half = |name: &str| {
        let whole = fixture(name).to_string();
        Response::new(200, &whole[..whole.len() / 2])
    };
    let mut failures = failures_after_sending();
    failures.extend([
        Ok(Response::new(409, r#"{"error": "SOLD_OUT"}"#)),
        Ok(Response::new(422, error("HOTEL_ON_FIRE"))),
        Ok(half("prebook")),
        Ok(half("booking")),
    ]);
    for (name, change) in CHANGES {
        for failure in &failures {
            let gateway = gateway().exchange(failure.clone());
            assert_eq!(
                outcome(&gateway.run(change)),
                Unknown,
                "{name}: {failure:?}"
            );
            assert_eq!(gateway.requests().len(), 1, "{name}: {failure:?}");
        }
    }
}

#[test]
fn failure_before_sending_is_not_sent() {
    for (name, change) in CHANGES {
        for failure in failures_before_sending() {
            let gateway = gateway().exchange(failure);
            assert_eq!(outcome(&gateway.run(change)), NotSent, "{name}");
        }
        for settings in [
            "{}",
            r#"{"base_url": 7}"#,
            r#"{"base_url": "x", "key": "y"}"#,
        ] {
            let gateway = MockGateway::new().settings(settings);
            assert_eq!(outcome(&gateway.run(change)), NotSent, "{name}: {settings}");
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
        let response = Response::new(status, error(code)).with_header("Retry-After", "30");
        let gateway = gateway().respond(response);
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
    let price = || FakeHotels::price(price_request(&["OK"], 1));
    let mut failures = read_failures();
    // A 404 in another form is not from Lodge.
    failures.push((Ok(Response::new(404, "")), InvalidResponse));
    for (failure, expected) in failures {
        let ending = gateway().exchange(failure).run(price);
        assert_eq!(outcome(&ending), expected, "{ending:?}");
    }
    assert_eq!(outcome(&MockGateway::new().run(price)), Misconfigured);
}
