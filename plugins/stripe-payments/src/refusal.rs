//! Stripe's errors and what they mean: the closed list out of which a call about
//! money may be declined or refused. Everything else is unknown.
//!
//! Codes are those of <https://docs.stripe.com/error-codes>, reasons those of
//! <https://docs.stripe.com/declines/codes>.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use stopover_sdk::http::Response;
use stopover_sdk::json::Unreadable;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};
use stopover_sdk::{ReadError, Refusal, RefusalReason};

#[derive(Deserialize)]
struct Envelope {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(rename = "type")]
    _kind: Kind,
    code: Option<String>,
    decline_code: Option<String>,
}

/// Who answers with another one is not Stripe, or a Stripe that is not known here.
#[derive(Deserialize)]
enum Kind {
    #[serde(rename = "api_error")]
    Api,
    #[serde(rename = "card_error")]
    Card,
    #[serde(rename = "idempotency_error")]
    Idempotency,
    #[serde(rename = "invalid_request_error")]
    InvalidRequest,
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

/// The request is not one: Stripe began nothing. At every call, with 400.
const INVALID: [&str; 7] = [
    "parameter_invalid_empty",
    "parameter_invalid_integer",
    "parameter_invalid_string_blank",
    "parameter_invalid_string_empty",
    "parameter_missing",
    "parameter_unknown",
    "parameters_exclusive",
];

/// Stripe held nothing for this amount or with this card, with 400.
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

/// The hold is gone or was never one, with 400 or, where the network says so, 402.
const UNCAPTURABLE: [&str; 4] = [
    "amount_too_large",
    "capture_charge_authorization_expired",
    "capture_unauthorized_payment",
    "charge_expired_for_capture",
];

/// The payment cannot be given back this way, with 400.
const UNREFUNDABLE: [&str; 4] = [
    "amount_too_large",
    "charge_disputed",
    "charge_not_refundable",
    "refund_disputed_payment",
];

/// The card was not charged, with 402.
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

/// `error_on_requires_action` was asked for, and met. With 400 or 402.
const ACTION_REQUIRED: &str = "payment_intent_action_required";

impl Change {
    /// Whether a code says that nothing moved and nothing will. Codes that say
    /// "already" or "in another state" are not among them: perhaps it is done, and
    /// reading tells.
    fn refuses(self, status: u16, code: &str) -> bool {
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

    fn declines(self, status: u16, code: &str) -> bool {
        match self {
            Self::Authorize => {
                status == 402 && DECLINED.contains(&code)
                    || matches!(status, 400 | 402) && code == ACTION_REQUIRED
            }
            // The network takes back what it authorized.
            Self::Capture => status == 402 && code == "card_declined",
            Self::Intent | Self::Void | Self::Refund => false,
        }
    }
}

const MISSING: &str = "resource_missing";
/// Longer than any of Stripe's.
const CODE_BYTES_MAX: usize = 100;

/// Nothing was begun: the key is not good (401), not good for this (403), or asks
/// too much at a time (429, also `lock_timeout`: the thing is in use). Stripe's
/// documentation promises it of 401 and 429; of 403 it is inferred.
const fn is_before_anything(status: u16) -> bool {
    matches!(status, 401 | 403 | 429)
}

/// Why a card was declined, by the issuer's reason where there is one.
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

/// Stripe's error, where the answer is one.
fn problem(response: &Response) -> Option<Problem> {
    if response.is_success() {
        return None;
    }
    let Envelope { mut error } = response.json().ok()?;
    error.code = error.code.filter(|code| is_code(code));
    Some(error)
}

/// What is shown to operators as a code may be nothing else.
fn is_code(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.len() <= CODE_BYTES_MAX && text.bytes().all(is_allowed)
}

/// For operators. Stripe's own messages may quote what was sent.
fn sentence(status: u16, code: Option<&str>) -> String {
    match code {
        Some(code) => format!("Stripe answered {status} {code}."),
        None => format!("Stripe answered {status}."),
    }
}

/// What a call about money answered that was carried out.
pub(crate) fn done<T: DeserializeOwned>(
    response: &Response,
    change: Change,
) -> Result<T, PaymentError> {
    if response.is_success() {
        return response.json().map_err(unreadable);
    }
    let status = response.status;
    let Some(problem) = problem(response) else {
        return Err(PaymentError::Unknown(sentence(status, None)));
    };
    let code = problem.code.as_deref();
    let text = sentence(status, code);
    Err(match code {
        _ if is_before_anything(status) => PaymentError::Refused(text),
        Some(code) if change.declines(status, code) => {
            PaymentError::Declined(reason(code, problem.decline_code.as_deref()))
        }
        Some(code) if change.refuses(status, code) => PaymentError::Refused(text),
        _ => PaymentError::Unknown(text),
    })
}

/// Of an answer to something that was sent.
pub(crate) fn unreadable(error: Unreadable) -> PaymentError {
    PaymentError::Unknown(error.to_string())
}

/// Whether Stripe says that it has no such thing. A wrong address is a 404, too,
/// but without the code.
pub(crate) fn is_missing(response: &Response) -> bool {
    matches!(response.status, 400 | 404)
        && problem(response).is_some_and(|problem| problem.code.as_deref() == Some(MISSING))
}

/// The answer of a read that gave something.
pub(crate) fn read(response: Response) -> Result<Response, ReadError> {
    if response.is_success() {
        return Ok(response);
    }
    let Some(problem) = problem(&response) else {
        return Err(match response.read_error() {
            // Whoever says "not found" in another form than Stripe's is not Stripe.
            ReadError::NotFound(text) => ReadError::Unreadable(text),
            error => error,
        });
    };
    let code = problem.code.as_deref();
    let text = sentence(response.status, code);
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
        // The same is being asked at this moment.
        409 => ReadError::Unavailable(text),
        400 => rejected(RefusalReason::Invalid),
        _ => response.read_error(),
    })
}
