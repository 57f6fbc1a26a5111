//! Outcomes of failed calls: every documented code at every call, and every failure of an exchange.

use fake_payments::FakePayments;
use serde_json::json;
use stopover_sdk::PaymentProcessor;
use stopover_sdk::http::Response;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};
use stopover_sdk::testing::Outcome::{InvalidResponse, Misconfigured, NotFound, Unknown};
use stopover_sdk::testing::{check_change_failures, check_read_failures, outcome, refusal};

use crate::tillway::{
    CODES, PAYMENT_ID, authorize_request, capture_request, edited, error, find_request, fixture,
    gateway, intent_request, refund_request, void_request,
};

type Change = fn() -> Result<(), PaymentError>;

const INVALID_SETTINGS: [&str; 3] = [
    "{}",
    r#"{"base_url": 7}"#,
    r#"{"base_url": "x", "key": "y"}"#,
];

/// The changes, in the order of the outcomes in `CODES`.
const CHANGES: [(&str, Change); 5] = [
    ("intent", || {
        FakePayments::create_intent(intent_request()).map(drop)
    }),
    ("authorize", || {
        FakePayments::authorize(authorize_request()).map(drop)
    }),
    ("capture", || {
        FakePayments::capture(capture_request()).map(drop)
    }),
    ("void", || FakePayments::void(void_request()).map(drop)),
    ("refund", || {
        FakePayments::refund(refund_request()).map(drop)
    }),
];

#[test]
fn listed_code_is_definite_and_other_code_is_unknown() {
    for (code, status, endings) in CODES {
        for ((name, change), expected) in CHANGES.into_iter().zip(endings.chars()) {
            let case = format!("{name}: {status} {code}");
            let gateway = gateway().respond_with(status, error(code));
            let (found, text) = match gateway.run(change).unwrap_err() {
                PaymentError::Refused(text) => ('R', text),
                PaymentError::Declined(reason) => ('D', format!("{reason:?}")),
                PaymentError::Unknown(text) => ('?', text),
                PaymentError::NotSent(text) => ('N', text),
            };
            assert_eq!(found, expected, "{case}");
            assert!(!text.is_empty() && !text.contains("Ann"), "{case}: {text}");
            assert_eq!(gateway.requests().len(), 1, "{case}");
        }
    }
}

#[test]
fn declined_card_has_reason() {
    let other = |text: &str| DeclineReason::Other(text.to_owned());
    for (written, expected) in [
        ("insufficient_funds", DeclineReason::InsufficientFunds),
        ("authentication_required", DeclineReason::RequiresAction),
        ("generic_decline", other("generic_decline")),
        ("new_reason", other("new_reason")),
        ("", other("card_declined")),
    ] {
        let written = (!written.is_empty()).then_some(written);
        let response = edited("declined", &[("/decline_code", json!(written))]);
        let gateway = gateway().respond_with(402, response);
        let ending = gateway.run(|| FakePayments::authorize(authorize_request()));
        assert_eq!(ending, Err(PaymentError::Declined(expected)));
    }
}

#[test]
fn failed_change_is_unknown_or_not_sent() {
    let half = |name: &str| {
        let whole = fixture(name).to_string();
        Response::new(200, &whole[..whole.len() / 2])
    };
    let mut unusable = vec![Response::new(402, error("card_on_fire"))];
    unusable.extend(["payment", "refund", "intent"].map(half));
    for (code, ..) in CODES {
        // These statuses are not documented for the code.
        unusable.extend([302, 418, 500, 503].map(|status| Response::new(status, error(code))));
    }
    for (name, change) in CHANGES {
        check_change_failures(name, gateway, &unusable, &INVALID_SETTINGS, change);
    }
}

#[test]
fn response_about_other_object_is_unknown() {
    for (change, name, pointer, value) in [
        (0, "intent", "/payment/reference", "bkg_other"),
        (1, "payment", "/reference", "bkg_other"),
        (1, "payment", "/currency", "usd"),
        (2, "payment", "/id", "pay-other"),
        (2, "payment", "/currency", "usd"),
        (3, "payment", "/id", "pay-other"),
        (4, "refund", "/reference", "bkg_other"),
        (4, "refund", "/payment", "pay-other"),
        (4, "refund", "/currency", "usd"),
    ] {
        let (change_name, change) = CHANGES[change];
        let sound = gateway().respond_with(200, edited(name, &[]));
        assert_eq!(sound.run(change), Ok(()), "{change_name}");
        let gateway = gateway().respond_with(200, edited(name, &[(pointer, json!(value))]));
        let case = format!("{change_name} {pointer}");
        assert_eq!(outcome(&gateway.run(change)), Unknown, "{case}");
    }
}

#[test]
fn every_code_is_converted_for_reads() {
    for (code, status, _) in CODES {
        let gateway = gateway().respond_with(status, error(code));
        let ending = gateway.run(|| FakePayments::describe_instrument("tok".to_owned()));
        match code {
            "invalid_key" => assert_eq!(outcome(&ending), Misconfigured, "{code}"),
            "no_such_payment" | "no_such_token" => {
                assert_eq!(outcome(&ending), NotFound, "{code}");
            }
            _ => {
                let refusal = refusal(ending);
                assert_eq!(refusal.supplier_code.as_deref(), Some(code));
                assert!(!refusal.message.contains("Ann"), "{code}");
            }
        }
    }
}

#[test]
fn failed_read_returns_specific_error() {
    // A 404 in another form is not from Tillway.
    let responses = [(404, "", InvalidResponse)];
    for id in [None, Some(PAYMENT_ID)] {
        let find = || FakePayments::find(find_request(id));
        check_read_failures("find", gateway, &responses, find);
    }
}
