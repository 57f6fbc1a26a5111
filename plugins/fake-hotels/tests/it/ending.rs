//! Outcomes of failed calls: every documented code at every call, and every failure of an exchange.

use fake_hotels::FakeHotels;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    Failed, InvalidResponse, Misconfigured, NotFound, NotSent, Unknown,
};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome, read_failures, refusal,
};
use stopover_sdk::{
    ChangeError, HotelBooking, HotelCancellation, HotelPricing, ReadError, Refusal, RefusalReason,
};

use crate::lodge::{
    BOOKING_ID, CODES, book_request, cancel_request, edited, error, find_request, fixture, gateway,
    prebook_request, price_request, quote_request,
};

type Change = fn() -> Result<(), ChangeError>;
type Read = fn() -> Result<(), ReadError>;

const CHANGES: [(&str, Change); 3] = [
    ("prebook", || {
        FakeHotels::prebook(prebook_request()).map(drop)
    }),
    ("book", || FakeHotels::book(book_request()).map(drop)),
    ("cancel", || {
        FakeHotels::cancel(cancel_request(&[])).map(drop)
    }),
];

const READS: [(&str, Read); 3] = [
    ("price", || {
        FakeHotels::price(price_request(&["OK"], 1)).map(drop)
    }),
    ("find", || FakeHotels::find(find_request(None)).map(drop)),
    ("quote", || {
        FakeHotels::quote_cancellation(quote_request()).map(drop)
    }),
];

fn check_refusal(refusal: &Refusal, reason: &str, code: &str, case: &str) {
    match &refusal.reason {
        RefusalReason::Other(text) => {
            assert_eq!("Other", reason, "{case}");
            assert_eq!(*text, code.to_lowercase().replace('_', "-"), "{case}");
        }
        known => {
            let found = format!("{known:?}");
            assert_eq!(found, format!("RefusalReason::{reason}"), "{case}");
        }
    }
    assert_eq!(refusal.supplier_code.as_deref(), Some(code), "{case}");
    assert!(!refusal.message.contains("Ann"), "{case}");
}

#[test]
fn change_is_refused_by_listed_code_and_otherwise_unknown() {
    for (code, status, reason, outcomes) in CODES {
        for ((name, change), outcome) in CHANGES.into_iter().zip(outcomes.chars()) {
            let case = format!("{name}: {status} {code}");
            let gateway = gateway().respond_with(status, error(code));
            match (gateway.run(change).unwrap_err(), outcome) {
                (ChangeError::Refused(refusal), 'R') => {
                    check_refusal(&refusal, reason, code, &case);
                }
                (ChangeError::Unknown(text), '?') => {
                    assert!(!text.is_empty() && !text.contains("Ann"), "{case}");
                }
                (ending, _) => panic!("{case}: {ending:?}, expected {outcome}"),
            }
            assert_eq!(gateway.requests().len(), 1, "{case}");
        }
    }
}

#[test]
fn code_with_undocumented_status_is_unknown() {
    for (name, change) in CHANGES {
        for (code, ..) in CODES {
            for status in [302, 418, 500, 503] {
                let ending = gateway().respond_with(status, error(code)).run(change);
                let case = format!("{name}: {status} {code}: {ending:?}");
                assert_eq!(outcome(&ending), Unknown, "{case}");
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
            let ending = gateway.run(change);
            assert_eq!(outcome(&ending), Unknown, "{name}: {failure:?}");
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
    for (change, fixture, pointer, value) in [
        (0, "prebook", "/currency", "USD"),
        (1, "booking", "/client_ref", "bkg_other"),
        (1, "booking", "/currency", "USD"),
        (2, "booking", "/client_ref", "bkg_other"),
    ] {
        let (name, change) = CHANGES[change];
        let gateway = gateway().respond_with(201, edited(fixture, &[(pointer, value.into())]));
        let ending = gateway.run(change);
        assert_eq!(outcome(&ending), Unknown, "{name} {pointer}: {ending:?}");
    }
}

#[test]
fn every_code_is_converted_for_reads() {
    for (name, read) in READS {
        for (code, status, reason, _) in CODES {
            let case = format!("{name}: {status} {code}");
            let response = Response::new(status, error(code)).with_header("Retry-After", "30");
            let ending = gateway().respond(response).run(read);
            match code {
                "UNAUTHORIZED" => assert_eq!(outcome(&ending), Misconfigured, "{case}"),
                "NOT_FOUND" => assert_eq!(outcome(&ending), NotFound, "{case}"),
                "SUPPLIER_FAILURE" => assert_eq!(outcome(&ending), Failed, "{case}"),
                "TOO_MANY_REQUESTS" => {
                    assert_eq!(ending, Err(ReadError::RateLimited(Some(30))), "{case}");
                }
                // The terms of the booking are read instead.
                "PREVIEW_NOT_OFFERED" if name == "quote" => {}
                _ => check_refusal(&refusal(ending), reason, code, &case),
            }
        }
    }
}

#[test]
fn failed_read_returns_specific_error() {
    let mut failures = read_failures();
    // A 404 in another form is not from Lodge.
    failures.push((Ok(Response::new(404, "")), InvalidResponse));
    let by_id: Read = || FakeHotels::find(find_request(Some(BOOKING_ID))).map(drop);
    for (name, read) in READS.into_iter().chain([("find by id", by_id)]) {
        for (failure, expected) in &failures {
            let gateway = gateway().exchange(failure.clone());
            let ending = gateway.run(read);
            assert_eq!(outcome(&ending), *expected, "{name}: {ending:?}");
            assert_eq!(gateway.requests().len(), 1, "{name}: {ending:?}");
        }
        assert_eq!(outcome(&MockGateway::new().run(read)), Misconfigured);
    }
}
