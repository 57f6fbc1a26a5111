//! Outcomes of failed calls: every listed code at every call, and every failure of an exchange.

use serde_json::{Value, json};
use stopover_sdk::PaymentProcessor;
use stopover_sdk::http::Response;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};
use stopover_sdk::testing::Outcome::Unknown;
use stopover_sdk::testing::{MockGateway, check_change_failures, outcome};
use stripe_payments::StripePayments;

use crate::script::{
    authorize_request, capture_request, edited, error, fixture, intent_request, refund_request,
    returning, void_request,
};

type Change = fn() -> Result<(), PaymentError>;

/// Every change with the fixture of its response.
pub(crate) const CHANGES: [(&str, &str, Change); 5] = [
    ("intent", "intent", || {
        StripePayments::create_intent(intent_request()).map(drop)
    }),
    ("authorize", "payment", || {
        StripePayments::authorize(authorize_request()).map(drop)
    }),
    ("capture", "payment", || {
        StripePayments::capture(capture_request()).map(drop)
    }),
    ("void", "payment", || {
        StripePayments::void(void_request()).map(drop)
    }),
    ("refund", "refund", || {
        StripePayments::refund(refund_request()).map(drop)
    }),
];

/// A code, its status, and the outcome of each call in the order of `CHANGES`: `R` refused, `D`
/// declined, `?` unknown.
const ENDINGS: [(&str, u16, &str); 59] = [
    ("parameter_invalid_empty", 400, "RRRRR"),
    ("parameter_invalid_integer", 400, "RRRRR"),
    ("parameter_invalid_string_blank", 400, "RRRRR"),
    ("parameter_invalid_string_empty", 400, "RRRRR"),
    ("parameter_missing", 400, "RRRRR"),
    ("parameter_unknown", 400, "RRRRR"),
    ("parameters_exclusive", 400, "RRRRR"),
    ("amount_too_large", 400, "RRR?R"),
    ("amount_too_small", 400, "RR???"),
    ("invalid_charge_amount", 400, "RR???"),
    ("payment_intent_incompatible_payment_method", 400, "RR???"),
    ("payment_intent_invalid_parameter", 400, "RR???"),
    ("payment_method_currency_mismatch", 400, "RR???"),
    ("payment_method_not_available", 400, "RR???"),
    ("payment_method_unactivated", 400, "RR???"),
    ("payment_method_unexpected_state", 400, "RR???"),
    ("payment_method_unsupported_type", 400, "RR???"),
    ("resource_missing", 400, "?RRRR"),
    ("resource_missing", 404, "?RRRR"),
    ("capture_charge_authorization_expired", 400, "??R??"),
    ("capture_charge_authorization_expired", 402, "??R??"),
    ("capture_unauthorized_payment", 400, "??R??"),
    ("charge_expired_for_capture", 400, "??R??"),
    ("charge_expired_for_capture", 402, "??R??"),
    ("charge_disputed", 400, "????R"),
    ("charge_not_refundable", 400, "????R"),
    ("refund_disputed_payment", 400, "????R"),
    // The change may be done already: only a read shows it.
    ("payment_intent_unexpected_state", 400, "?????"),
    ("charge_already_captured", 400, "?????"),
    ("charge_already_refunded", 400, "?????"),
    ("intent_invalid_state", 400, "?????"),
    // The first request with this key may have done the change or may be executing it.
    ("idempotency_key_in_use", 409, "?????"),
    ("lock_timeout", 409, "?????"),
    ("authentication_required", 402, "?D???"),
    ("card_decline_rate_limit_exceeded", 402, "?D???"),
    ("card_declined", 402, "?DD??"),
    ("expired_card", 402, "?D???"),
    ("incorrect_address", 402, "?D???"),
    ("incorrect_cvc", 402, "?D???"),
    ("incorrect_number", 402, "?D???"),
    ("incorrect_zip", 402, "?D???"),
    ("insufficient_funds", 402, "?D???"),
    ("invalid_cvc", 402, "?D???"),
    ("invalid_expiry_month", 402, "?D???"),
    ("invalid_expiry_year", 402, "?D???"),
    ("invalid_number", 402, "?D???"),
    ("payment_intent_authentication_failure", 402, "?D???"),
    ("processing_error", 402, "?D???"),
    ("payment_intent_action_required", 402, "?D???"),
    ("payment_intent_action_required", 400, "?D???"),
    // A key that is rejected starts nothing.
    ("api_key_expired", 401, "RRRRR"),
    ("secret_key_required", 401, "RRRRR"),
    ("not_allowed_on_standard_account", 403, "RRRRR"),
    // The request was sent, and an error of a payment has no rate limit.
    ("rate_limit", 429, "?????"),
    ("lock_timeout", 429, "?????"),
    // Codes that are not listed and must not be interpreted.
    ("card_on_fire", 402, "?????"),
    ("card_on_fire", 400, "?????"),
    ("Ann Example", 400, "?????"),
    ("resource_missing", 410, "?????"),
];

#[test]
fn listed_code_is_definite_and_other_code_is_unknown() {
    for (code, status, endings) in ENDINGS {
        for ((name, _, change), expected) in CHANGES.into_iter().zip(endings.chars()) {
            let case = format!("{name}: {status} {code}");
            let gateway = MockGateway::new().respond_with(status, error(code));
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
    use DeclineReason::{
        ExpiredCard, IncorrectDetails, InsufficientFunds, RequiresAction, SuspectedFraud,
    };
    let other = |text: &str| DeclineReason::Other(text.to_owned());
    let failure = "payment_intent_authentication_failure";
    let required = "authentication_required";
    let code = |code| (code, None);
    // The issuer's reason takes precedence over the code.
    let issuer = |decline_code| ("card_declined", Some(decline_code));
    for ((code, decline_code), expected) in [
        (code("insufficient_funds"), InsufficientFunds),
        (code("expired_card"), ExpiredCard),
        (code("incorrect_zip"), IncorrectDetails),
        (code("incorrect_address"), IncorrectDetails),
        (code(failure), RequiresAction),
        (code("payment_intent_action_required"), RequiresAction),
        (code("processing_error"), other("processing_error")),
        (code("card_declined"), other("card_declined")),
        (("incorrect_cvc", Some("incorrect_cvc")), IncorrectDetails),
        ((required, Some(required)), RequiresAction),
        (issuer("insufficient_funds"), InsufficientFunds),
        (issuer("expired_card"), ExpiredCard),
        (issuer("incorrect_number"), IncorrectDetails),
        (issuer("incorrect_zip"), IncorrectDetails),
        (issuer("invalid_cvc"), IncorrectDetails),
        (issuer("invalid_expiry_month"), IncorrectDetails),
        (issuer("invalid_expiry_year"), IncorrectDetails),
        (issuer("invalid_number"), IncorrectDetails),
        (issuer("fraudulent"), SuspectedFraud),
        (issuer("lost_card"), SuspectedFraud),
        (issuer("merchant_blacklist"), SuspectedFraud),
        (issuer("pickup_card"), SuspectedFraud),
        (issuer("stolen_card"), SuspectedFraud),
        (issuer(required), RequiresAction),
        (issuer("do_not_honor"), other("do_not_honor")),
        (issuer("new_reason"), other("new_reason")),
    ] {
        let edits = [
            ("/error/code", json!(code)),
            ("/error/decline_code", json!(decline_code)),
        ];
        let response = edited("declined", &edits).to_string();
        let gateway = MockGateway::new().respond_with(402, response);
        let ending = gateway.run(|| StripePayments::authorize(authorize_request()));
        let case = format!("{code} {decline_code:?}");
        assert_eq!(ending, Err(PaymentError::Declined(expected)), "{case}");
    }
}

#[test]
fn failed_change_is_unknown_or_not_sent() {
    let half = |name: &str| {
        let whole = fixture(name).to_string();
        Response::new(200, &whole[..whole.len() / 2])
    };
    let mut unusable = vec![Response::new(429, "")];
    for (status, kind) in [
        (500, "api_error"),
        (429, "quota"),
        (400, "invalid_request_error"),
        (400, "idempotency_error"),
    ] {
        let error = json!({"error": {"type": kind}});
        unusable.push(Response::new(status, error.to_string()));
    }
    unusable.extend(["payment", "refund", "intent"].map(half));
    for name in ["payment", "refund", "intent"] {
        // An object beside an error contradicts it.
        let mut both = fixture(name);
        both["error"] = json!({"type": "card_error", "code": "card_declined"});
        unusable.extend([200, 402].map(|status| Response::new(status, both.to_string())));
    }
    for (code, ..) in ENDINGS {
        // These statuses are not documented for the code.
        let undocumented = [302, 409, 418, 424, 500, 502, 503];
        unusable.extend(undocumented.map(|status| Response::new(status, error(code))));
    }
    let invalid_settings = [r#"{"base_url": 7}"#, r#"{"key": "sk_test_1"}"#];
    for (name, _, change) in CHANGES {
        check_change_failures(name, MockGateway::new, &unusable, &invalid_settings, change);
    }
}

#[test]
fn response_about_other_object_is_unknown() {
    let reference = "/metadata/client_reference";
    let nothing = Value::Null;
    for (change, pointer, value) in [
        (0, reference, json!("bkg_other")),
        (0, "/metadata", nothing.clone()),
        (0, "/amount", json!(5)),
        (0, "/currency", json!("usd")),
        (0, "/client_secret", nothing.clone()),
        (1, reference, json!("bkg_other")),
        (1, "/amount", json!(999)),
        (1, "/currency", json!("usd")),
        (2, "/id", json!("pi_other")),
        (2, "/currency", json!("usd")),
        (3, "/id", json!("pi_other")),
        (4, reference, json!("bkg_other")),
        (4, "/metadata", nothing.clone()),
        (4, "/payment_intent", json!("pi_other")),
        (4, "/payment_intent", nothing),
        (4, "/currency", json!("usd")),
        (4, "/status", json!("lost")),
    ] {
        let (name, fixture, change) = CHANGES[change];
        assert_eq!(returning(fixture, &[]).run(change), Ok(()), "{name}");
        let case = format!("{name} {pointer} {value}");
        let ending = returning(fixture, &[(pointer, value)]).run(change);
        assert_eq!(outcome(&ending), Unknown, "{case}");
    }
}
