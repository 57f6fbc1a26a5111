//! Meaning of Stripe's errors: the closed list by which a call that moves money may be declined or
//! refused. Every other error leaves the outcome unknown.
//!
//! The codes are those of <https://docs.stripe.com/error-codes>, the reasons those of
//! <https://docs.stripe.com/declines/codes>.

use serde::de::{DeserializeOwned, IgnoredAny};
use stopover_sdk::http::Response;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, Part};
use stopover_sdk::lenient_struct;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};
use stopover_sdk::{ReadError, Refusal, RefusalReason};

use crate::wire::ErrorMember;

lenient_struct! {
    struct Envelope {
        error: Essential<WireProblem>,
        /// The kind of a returned object, which contradicts an error.
        object: Part<IgnoredAny>,
    }

    #[derive(PartialEq)]
    struct WireProblem {
        kind: Essential<String> = "type",
        code: Essential<String>,
        decline_code: Part<String>,
    }
}

/// An error of Stripe.
struct Problem {
    code: Option<String>,
    decline_code: Option<String>,
}

/// A call that may move money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Intent,
    Authorize,
    Capture,
    Void,
    Refund,
}

/// Codes of invalid requests, with status 400, for every call. Stripe started nothing.
const INVALID: [&str; 7] = [
    "parameter_invalid_empty",
    "parameter_invalid_integer",
    "parameter_invalid_string_blank",
    "parameter_invalid_string_empty",
    "parameter_missing",
    "parameter_unknown",
    "parameters_exclusive",
];

/// Codes of amounts or cards for which Stripe authorized nothing, with status 400.
const UNPAYABLE: [&str; 10] = [
    "amount_too_large",
    "amount_too_small",
    "invalid_charge_amount",
    "payment_intent_incompatible_payment_method",
    "payment_intent_invalid_parameter",
    "payment_method_currency_mismatch",
    "payment_method_not_available",
    "payment_method_unactivated",
    "payment_method_unexpected_state",
    "payment_method_unsupported_type",
];

/// Codes of captures whose authorization expired or never existed, with status 400 or, if the
/// network reports it, 402.
const UNCAPTURABLE: [&str; 4] = [
    "amount_too_large",
    "capture_charge_authorization_expired",
    "capture_unauthorized_payment",
    "charge_expired_for_capture",
];

/// Codes of payments that cannot be refunded this way, with status 400.
const UNREFUNDABLE: [&str; 4] = [
    "amount_too_large",
    "charge_disputed",
    "charge_not_refundable",
    "refund_disputed_payment",
];

/// Codes of cards that were not charged, with status 402.
const DECLINED: [&str; 15] = [
    "authentication_required",
    "card_decline_rate_limit_exceeded",
    "card_declined",
    "expired_card",
    "incorrect_address",
    "incorrect_cvc",
    "incorrect_number",
    "incorrect_zip",
    "insufficient_funds",
    "invalid_cvc",
    "invalid_expiry_month",
    "invalid_expiry_year",
    "invalid_number",
    "payment_intent_authentication_failure",
    "processing_error",
];

/// Code of a payment that requires an action although `error_on_requires_action` was set, with
/// status 400 or 402.
const ACTION_REQUIRED: &str = "payment_intent_action_required";

impl Change {
    /// Returns whether the code says that no money moved or will move. Codes that say "already" or
    /// "in another state" are not listed: the change may be done, and only a read shows it.
    fn is_refusal(self, status: u16, code: &str) -> bool {
        let says = |status_of: u16, codes: &[&str]| status == status_of && codes.contains(&code);
        let is_missing = matches!(status, 400 | 404) && code == MISSING;
        says(400, &INVALID)
            || match self {
                Self::Intent => says(400, &UNPAYABLE),
                Self::Authorize => says(400, &UNPAYABLE) || is_missing,
                Self::Capture => says(400, &UNCAPTURABLE) || says(402, &UNCAPTURABLE) || is_missing,
                Self::Void => is_missing,
                Self::Refund => says(400, &UNREFUNDABLE) || is_missing,
            }
    }

    fn is_decline(self, status: u16, code: &str) -> bool {
        match self {
            Self::Authorize => {
                status == 402 && DECLINED.contains(&code)
                    || matches!(status, 400 | 402) && code == ACTION_REQUIRED
            }
            // The network may revoke what it authorized.
            Self::Capture => status == 402 && code == "card_declined",
            Self::Intent | Self::Void | Self::Refund => false,
        }
    }
}

const MISSING: &str = "resource_missing";
/// Maximum length of a code, which is above that of any Stripe code.
const CODE_BYTES_MAX: usize = 100;

/// Returns whether Stripe started nothing, because the key is invalid (401) or lacks a permission
/// (403). Stripe's documentation guarantees this for 401; for 403 it is inferred.
const fn is_key_rejected(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Returns the reason why a card was declined. The issuer's reason takes precedence over the code.
fn reason(code: &str, decline_code: Option<&str>) -> DeclineReason {
    match decline_code.unwrap_or(code) {
        "insufficient_funds" => DeclineReason::InsufficientFunds,
        "expired_card" => DeclineReason::ExpiredCard,
        "incorrect_address"
        | "incorrect_cvc"
        | "incorrect_number"
        | "incorrect_zip"
        | "invalid_cvc"
        | "invalid_expiry_month"
        | "invalid_expiry_year"
        | "invalid_number" => DeclineReason::IncorrectDetails,
        "fraudulent" | "lost_card" | "merchant_blacklist" | "pickup_card" | "stolen_card" => {
            DeclineReason::SuspectedFraud
        }
        "authentication_required" | "payment_intent_authentication_failure" | ACTION_REQUIRED => {
            DeclineReason::RequiresAction
        }
        other => DeclineReason::Other(other.to_owned()),
    }
}

/// Returns Stripe's error, if the response is one. A response with another type of error is not from
/// Stripe, or from an unknown version of Stripe.
fn problem(response: &Response) -> Option<Problem> {
    if response.is_success() {
        return None;
    }
    let envelope: Envelope = response.json().ok()?;
    if !matches!(envelope.object, Part::Missing) {
        return None;
    }
    let error = envelope.error.required("error").ok()?;
    let code = error.code.optional("code").ok()?;
    let is_known = matches!(
        error.kind.required("type").ok()?.as_str(),
        "api_error" | "card_error" | "idempotency_error" | "invalid_request_error"
    );
    is_known.then(|| Problem {
        code: code.filter(|code| is_code(code)).cloned(),
        decline_code: error.decline_code.as_decoded().cloned(),
    })
}

/// Returns whether the text has the form of a code. Codes are shown to operators, so no other text
/// may pass.
fn is_code(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=CODE_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Returns the text for operators. Stripe's own messages may quote the request.
fn message(status: u16, code: Option<&str>) -> String {
    match code {
        Some(code) => format!("Stripe returned {status} {code}."),
        None => format!("Stripe returned {status}."),
    }
}

/// Checks that a response with a success status has no error.
fn check_success(response: &Response) -> Result<(), DecodeError> {
    let member: ErrorMember = response.json()?;
    let has_error = !matches!(member.error, Part::Missing);
    ensure(!has_error, "a response with a success status has an error")
}

/// Decodes the response to a call that moves money. A rate limit (429) is unknown like any error that is
/// not listed: the interface has no such error for payments, and "not sent" is only for a request that
/// did not leave the gateway.
pub(crate) fn decode_change<T: DeserializeOwned>(
    response: &Response,
    change: Change,
) -> Result<T, PaymentError> {
    if response.is_success() {
        check_success(response)?;
        return Ok(response.json()?);
    }
    let status = response.status;
    let Some(problem) = problem(response) else {
        return Err(PaymentError::Unknown(message(status, None)));
    };
    let code = problem.code.as_deref();
    let text = message(status, code);
    Err(match code {
        _ if is_key_rejected(status) => PaymentError::Refused(text),
        Some(code) if change.is_decline(status, code) => {
            PaymentError::Declined(reason(code, problem.decline_code.as_deref()))
        }
        Some(code) if change.is_refusal(status, code) => PaymentError::Refused(text),
        _ => PaymentError::Unknown(text),
    })
}

/// Returns whether Stripe reports that the object does not exist. A wrong URL also returns 404, but
/// without the code.
pub(crate) fn is_missing(response: &Response) -> bool {
    matches!(response.status, 400 | 404)
        && problem(response).is_some_and(|problem| problem.code.as_deref() == Some(MISSING))
}

/// Returns the response of a successful read.
pub(crate) fn check_read(response: Response) -> Result<Response, ReadError> {
    if response.is_success() {
        check_success(&response)?;
        return Ok(response);
    }
    let Some(problem) = problem(&response) else {
        return Err(response.to_read_error());
    };
    let code = problem.code.as_deref();
    let text = message(response.status, code);
    let rejected = |reason| {
        let refusal = Refusal::new(reason, text.clone());
        match code {
            Some(code) => refusal.with_code(code).into(),
            None => refusal.into(),
        }
    };
    Err(match response.status {
        400 | 404 if code == Some(MISSING) => ReadError::NotFound(text),
        401 | 403 | 404 => ReadError::Misconfigured(text),
        402 => rejected(RefusalReason::PaymentDeclined),
        // The same request is being executed at this moment.
        409 => ReadError::Unavailable(text),
        400 => rejected(RefusalReason::Invalid),
        _ => response.to_read_error(),
    })
}
