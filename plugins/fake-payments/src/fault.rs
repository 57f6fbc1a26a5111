//! Meaning of Tillway's error codes: the closed list by which a call that moves money may be
//! declined or refused. Every other error leaves the outcome unknown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use stopover_sdk::RefusalReason;
use stopover_sdk::fault::DocumentedErrors;
use stopover_sdk::http::Response;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};

pub(crate) const ERRORS: DocumentedErrors = DocumentedErrors {
    code: |response| Some(response.json::<Problem>().ok()?.code),
    describe,
    reason: |_| RefusalReason::Invalid,
    is_not_found: |code| matches!(code, NO_SUCH_PAYMENT | "no_such_token"),
};

pub(crate) const NO_SUCH_PAYMENT: &str = "no_such_payment";

fn describe(code: &str) -> Option<(u16, &'static str)> {
    Some(match code {
        "invalid" => (400, "Tillway does not understand the request."),
        "invalid_key" => (401, "Tillway does not accept the key."),
        "card_declined" => (402, "The card was declined."),
        "capture_failed" => (402, "The issuer did not release the money."),
        NO_SUCH_PAYMENT => (404, "Tillway does not know the payment."),
        "no_such_token" => (404, "Tillway does not know the token."),
        "reference_reused" => (409, "The reference was used with other values."),
        "wrong_state" => (409, "The payment's state does not allow the operation."),
        "amount_too_large" => (409, "The amount exceeds the remaining amount."),
        _ => return None,
    })
}

#[derive(Deserialize)]
struct Problem {
    code: String,
    #[serde(default)]
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

impl Change {
    /// Returns whether a code says that no money moved or will move. `reference_reused` never says
    /// so: something was done under this reference, and only a read shows what.
    fn is_refused_by(self, code: &str) -> bool {
        match code {
            "invalid" | "invalid_key" => true,
            "no_such_token" => self == Self::Authorize,
            NO_SUCH_PAYMENT | "wrong_state" => {
                matches!(self, Self::Capture | Self::Void | Self::Refund)
            }
            "amount_too_large" => matches!(self, Self::Capture | Self::Refund),
            _ => false,
        }
    }

    fn decline(self, code: &str, decline_code: Option<&str>) -> Option<DeclineReason> {
        match (self, code) {
            (Self::Authorize, "card_declined") => Some(reason(decline_code)),
            (Self::Capture, "capture_failed") => {
                Some(DeclineReason::Other("capture_failed".to_owned()))
            }
            _ => None,
        }
    }
}

fn reason(decline_code: Option<&str>) -> DeclineReason {
    match decline_code {
        Some("insufficient_funds") => DeclineReason::InsufficientFunds,
        Some("authentication_required") => DeclineReason::RequiresAction,
        other => DeclineReason::Other(other.unwrap_or("card_declined").to_owned()),
    }
}

/// Decodes the response to a call that moves money.
pub(crate) fn decode_change<T: DeserializeOwned>(
    response: &Response,
    change: Change,
) -> Result<T, PaymentError> {
    if response.is_success() {
        return Ok(response.json()?);
    }
    let Some(error) = ERRORS.identify(response) else {
        let text = format!("the processor returned {}", response.status);
        return Err(PaymentError::Unknown(text));
    };
    let problem: Option<Problem> = response.json().ok();
    let decline_code = problem.and_then(|problem| problem.decline_code);
    if let Some(reason) = change.decline(&error.code, decline_code.as_deref()) {
        return Err(PaymentError::Declined(reason));
    }
    let message = error.message.to_owned();
    Err(if change.is_refused_by(&error.code) {
        PaymentError::Refused(message)
    } else {
        PaymentError::Unknown(message)
    })
}
