//! Outcomes of failed calls: every documented code at every call, and every failure of an exchange.

use fake_hotels::FakeHotels;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, Misconfigured, NotFound, Unknown};
use stopover_sdk::testing::{
    MockGateway, check_change_failures, check_read_failures, outcome, refusal,
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

const INVALID_SETTINGS: [&str; 3] = [
    "{}",
    r#"{"base_url": 7}"#,
    r#"{"base_url": "x", "key": "y"}"#,
];

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
fn failed_change_is_unknown_or_not_sent() {
    let half = |name: &str| {
        let whole = fixture(name).to_string();
        Response::new(200, &whole[..whole.len() / 2])
    };
    let mut unusable = vec![
        Response::new(409, r#"{"error": "SOLD_OUT"}"#),
        Response::new(422, error("HOTEL_ON_FIRE")),
        half("prebook"),
        half("booking"),
    ];
    for (code, ..) in CODES {
        // These statuses are not documented for the code.
        unusable.extend([302, 418, 500, 503].map(|status| Response::new(status, error(code))));
    }
    for (name, change) in CHANGES {
        check_change_failures(name, gateway, &unusable, &INVALID_SETTINGS, change);
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
    // A 404 in another form is not from Lodge.
    let responses = [(404, "", InvalidResponse)];
    let by_id: Read = || FakeHotels::find(find_request(Some(BOOKING_ID))).map(drop);
    for (name, read) in READS.into_iter().chain([("find by id", by_id)]) {
        check_read_failures(name, gateway, &responses, read);
        assert_eq!(outcome(&MockGateway::new().run(read)), Misconfigured);
    }
}
