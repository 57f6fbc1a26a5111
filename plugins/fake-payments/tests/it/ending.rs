//! Outcomes of failed calls: every documented code at every call, and every failure of an exchange.

use fake_payments::FakePayments;
use serde_json::json;
use stopover_sdk::http::Response;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};
use stopover_sdk::testing::Outcome::{InvalidResponse, NotSent, Unknown};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome, read_failures,
};
use stopover_sdk::{PaymentProcessor, ReadError};

use crate::tillway::{
    CODES, authorize_request, capture_request, edited, error, find_request, fixture, gateway,
    intent_request, refund_request, void_request,
};

type Call = fn() -> Result<(), PaymentError>;

const CHANGES: [(&str, Call); 5] = [
    ("intent", || {
        FakePayments::create_intent(intent_request()).map(|_| ())
    }),
    ("authorize", || {
        FakePayments::authorize(authorize_request()).map(|_| ())
    }),
    ("capture", || {
        FakePayments::capture(capture_request()).map(|_| ())
    }),
    ("void", || FakePayments::void(void_request()).map(|_| ())),
    ("refund", || {
        FakePayments::refund(refund_request()).map(|_| ())
    }),
];

/// The outcome of each call per code, in the order of `CODES`: invalid, key, declined, capture
/// failed, payment, token, reused, state, amount. `R` means refused, `D` declined, `?` unknown.
const ENDINGS: [(&str, &str); 5] = [
    ("intent", "RR???????"),
    ("authorize", "RRD??R???"),
    ("capture", "RR?DR??RR"),
    ("void", "RR??R??R?"),
    ("refund", "RR??R??RR"),
];

#[test]
fn listed_code_is_definite_and_other_code_is_unknown() {
    for ((name, call), (of, endings)) in CHANGES.into_iter().zip(ENDINGS) {
        assert_eq!(name, of);
        for ((code, status), expected) in CODES.into_iter().zip(endings.chars()) {
            let case = format!("{name}: {status} {code}");
            let gateway = gateway().respond_with(status, error(code));
            let (found, text) = match gateway.run(call).unwrap_err() {
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
        (
            json!("insufficient_funds"),
            DeclineReason::InsufficientFunds,
        ),
        (
            json!("authentication_required"),
            DeclineReason::RequiresAction,
        ),
        (json!("generic_decline"), other("generic_decline")),
        (json!("new_reason"), other("new_reason")),
        (json!(null), other("card_declined")),
    ] {
        let gateway =
            gateway().respond_with(402, edited("declined", &[("/decline_code", written)]));
        let ending = gateway.run(|| FakePayments::authorize(authorize_request()));
        assert_eq!(ending, Err(PaymentError::Declined(expected)));
    }
}

#[test]
fn code_with_undocumented_status_is_unknown() {
    for (name, call) in CHANGES {
        for (code, _) in CODES {
            for status in [302, 418, 500, 503] {
                let ending = gateway().respond_with(status, error(code)).run(call);
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
        Ok(Response::new(200, &whole[..whole.len() / 2]))
    };
    let mut failures = failures_after_sending();
    failures.push(Ok(Response::new(402, error("card_on_fire"))));
    failures.extend(["payment", "refund", "intent"].map(half));
    for (name, call) in CHANGES {
        for failure in &failures {
            let gateway = gateway().exchange(failure.clone());
            assert_eq!(outcome(&gateway.run(call)), Unknown, "{name}: {failure:?}");
            assert_eq!(gateway.requests().len(), 1, "{name}: {failure:?}");
        }
    }
}

#[test]
fn failure_before_sending_is_not_sent() {
    for (name, call) in CHANGES {
        for failure in failures_before_sending() {
            let ending = gateway().exchange(failure).run(call);
            assert_eq!(outcome(&ending), NotSent, "{name}");
        }
        for settings in [
            "{}",
            r#"{"base_url": 7}"#,
            r#"{"base_url": "x", "key": "y"}"#,
        ] {
            let gateway = MockGateway::new().settings(settings);
            assert_eq!(outcome(&gateway.run(call)), NotSent, "{name}: {settings}");
            assert!(gateway.requests().is_empty());
        }
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
        let (call_name, call) = CHANGES[change];
        let sound = gateway().respond_with(200, fixture(name).to_string());
        assert_eq!(sound.run(call), Ok(()), "{call_name}");
        let ending = gateway()
            .respond_with(200, edited(name, &[(pointer, json!(value))]))
            .run(call);
        assert_eq!(
            outcome(&ending),
            Unknown,
            "{call_name} {pointer}: {ending:?}"
        );
    }
}

#[test]
fn every_code_is_converted_for_reads() {
    for (code, status) in CODES {
        let gateway = gateway().respond_with(status, error(code));
        let ending = gateway.run(|| FakePayments::describe_instrument("tok".to_owned()));
        let found = match ending.unwrap_err() {
            ReadError::NotFound(_) => "not found",
            ReadError::Misconfigured(_) => "misconfigured",
            ReadError::Rejected(refusal) => {
                assert_eq!(refusal.supplier_code.as_deref(), Some(code));
                assert!(!refusal.message.contains("Ann"), "{code}");
                "rejected"
            }
            other => panic!("{code}: {other:?}"),
        };
        let expected = match code {
            "invalid_key" => "misconfigured",
            "no_such_payment" | "no_such_token" => "not found",
            _ => "rejected",
        };
        assert_eq!(found, expected, "{status} {code}");
    }
}

#[test]
fn failed_read_returns_specific_error() {
    let mut failures = read_failures();
    // A 404 in another form is not from Tillway.
    failures.push((Ok(Response::new(404, "")), InvalidResponse));
    for (failure, expected) in failures {
        let gateway = gateway().exchange(failure);
        let ending = gateway.run(|| FakePayments::find(find_request(None)));
        assert_eq!(outcome(&ending), expected, "{ending:?}");
    }
}
