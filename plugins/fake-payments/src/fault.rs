//! Meaning of Tillway's error codes: the closed list by which a call that moves money may be
//! declined or refused. Every other error leaves the outcome unknown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use stopover_sdk::http::Response;
use stopover_sdk::json::DecodeError;
use stopover_sdk::payment_processor::{DeclineReason, PaymentError};
use stopover_sdk::{ReadError, Refusal, RefusalReason};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Invalid,
    InvalidKey,
    CardDeclined,
    CaptureFailed,
    NoSuchPayment,
    NoSuchToken,
    ReferenceReused,
    WrongState,
    AmountTooLarge,
}

/// The documented codes: text, status, and a message for operators. Tillway's own messages may
/// quote the request.
const DOCUMENTED_CODES: [(Code, &str, u16, &str); 9] = [
    (
        Code::Invalid,
        "invalid",
        400,
        "Tillway does not understand the request.",
    ),
    (
        Code::InvalidKey,
        "invalid_key",
        401,
        "Tillway does not accept the key.",
    ),
    (
        Code::CardDeclined,
        "card_declined",
        402,
        "The card was declined.",
    ),
    (
        Code::CaptureFailed,
        "capture_failed",
        402,
        "The issuer did not release the money.",
    ),
    (
        Code::NoSuchPayment,
        "no_such_payment",
        404,
        "Tillway does not know the payment.",
    ),
    (
        Code::NoSuchToken,
        "no_such_token",
        404,
        "Tillway does not know the token.",
    ),
    (
        Code::ReferenceReused,
        "reference_reused",
        409,
        "The reference was used with other values.",
    ),
    (
        Code::WrongState,
        "wrong_state",
        409,
        "The payment's state does not allow the operation.",
    ),
    (
        Code::AmountTooLarge,
        "amount_too_large",
        409,
        "The amount exceeds the remaining amount.",
    ),
];

#[derive(Deserialize)]
struct Problem {
    code: String,
    #[serde(default)]
    decline_code: Option<String>,
}

impl Code {
    /// Returns the documented code of a response, if its status is the documented one.
    pub(crate) fn from_response(response: &Response) -> Option<Self> {
        problem(response).map(|(code, _)| code)
    }

    fn text_and_message(self) -> (&'static str, &'static str) {
        DOCUMENTED_CODES
            .iter()
            .find(|(code, ..)| *code == self)
            .map_or(("", ""), |(_, text, _, message)| (text, message))
    }

    fn message(self) -> String {
        self.text_and_message().1.to_owned()
    }
}

/// Returns the documented code, with Tillway's reason for declining.
fn problem(response: &Response) -> Option<(Code, Option<String>)> {
    if response.is_success() {
        return None;
    }
    let problem: Problem = response.json().ok()?;
    DOCUMENTED_CODES
        .iter()
        .find(|(_, text, status, _)| *text == problem.code && *status == response.status)
        .map(|(code, ..)| (*code, problem.decline_code))
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
    /// Returns the codes that say that no money moved or will move. `reference_reused` is not among
    /// them: something was done under this reference, and only a read shows what.
    const fn definite_refusals(self) -> &'static [Code] {
        match self {
            Self::Intent => &[Code::Invalid, Code::InvalidKey],
            Self::Authorize => &[Code::Invalid, Code::InvalidKey, Code::NoSuchToken],
            Self::Capture | Self::Refund => &[
                Code::Invalid,
                Code::InvalidKey,
                Code::NoSuchPayment,
                Code::WrongState,
                Code::AmountTooLarge,
            ],
            Self::Void => &[
                Code::Invalid,
                Code::InvalidKey,
                Code::NoSuchPayment,
                Code::WrongState,
            ],
        }
    }

    fn decline(self, code: Code, decline_code: Option<&str>) -> Option<DeclineReason> {
        match (self, code) {
            (Self::Authorize, Code::CardDeclined) => Some(reason(decline_code)),
            (Self::Capture, Code::CaptureFailed) => {
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
        return response.json().map_err(to_payment_error);
    }
    let Some((code, decline_code)) = problem(response) else {
        let status = response.status;
        return Err(PaymentError::Unknown(format!(
            "the processor returned {status}"
        )));
    };
    if let Some(reason) = change.decline(code, decline_code.as_deref()) {
        return Err(PaymentError::Declined(reason));
    }
    Err(if change.definite_refusals().contains(&code) {
        PaymentError::Refused(code.message())
    } else {
        PaymentError::Unknown(code.message())
    })
}

/// Converts the error of an unreadable response to a request that was sent.
pub(crate) fn to_payment_error(error: DecodeError) -> PaymentError {
    PaymentError::Unknown(error.to_string())
}

/// Returns the response of a successful read.
pub(crate) fn check_read(response: Response) -> Result<Response, ReadError> {
    if response.is_success() {
        return Ok(response);
    }
    Err(match Code::from_response(&response) {
        Some(code @ Code::InvalidKey) => ReadError::Misconfigured(code.message()),
        Some(code @ (Code::NoSuchPayment | Code::NoSuchToken)) => {
            ReadError::NotFound(code.message())
        }
        Some(code) => {
            let (text, message) = code.text_and_message();
            Refusal::new(RefusalReason::Invalid, message)
                .with_code(text)
                .into()
        }
        // A "not found" in another form is not from Tillway.
        None => match response.to_read_error() {
            ReadError::NotFound(text) => ReadError::InvalidResponse(text),
            error => error,
        },
    })
}
