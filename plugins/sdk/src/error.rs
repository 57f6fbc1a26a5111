//! Conversion of errors to the errors that the gateway receives. One rule governs it: once a
//! request that changes data may have been sent, every failure is unknown.

use crate::http;
use crate::json::{DecodeError, EncodeError};
use crate::money::MoneyError;
use crate::payment_processor::PaymentError;
use crate::secret;
use crate::settings::SettingsError;
use crate::types::{ChangeError, ReadError, Refusal, RefusalReason};

impl Refusal {
    /// Creates a definite refusal. The message is one sentence for operators, without personal
    /// data.
    pub fn new(reason: RefusalReason, message: impl Into<String>) -> Self {
        Self {
            reason,
            supplier_code: None,
            message: message.into(),
        }
    }

    /// Adds the supplier's own code.
    #[must_use]
    pub fn with_code(mut self, code: impl ToString) -> Self {
        self.supplier_code = Some(code.to_string());
        self
    }
}

impl From<http::Error> for ReadError {
    fn from(error: http::Error) -> Self {
        match error {
            http::Error::Denied(text) => Self::Misconfigured(text),
            http::Error::NotSent(text) | http::Error::ConnectionLost(text) => {
                Self::Unavailable(text)
            }
            http::Error::TimedOut(text) => Self::TimedOut(text),
            http::Error::TooLarge(cap) => {
                Self::InvalidResponse(format!("a response of over {cap} bytes"))
            }
        }
    }
}

impl From<http::Error> for ChangeError {
    fn from(error: http::Error) -> Self {
        match error {
            http::Error::Denied(text) | http::Error::NotSent(text) => Self::NotSent(text),
            http::Error::TimedOut(text) | http::Error::ConnectionLost(text) => Self::Unknown(text),
            http::Error::TooLarge(cap) => Self::Unknown(format!("a response of over {cap} bytes")),
        }
    }
}

/// Converts the error of a response to a request that was sent.
impl From<DecodeError> for ReadError {
    fn from(error: DecodeError) -> Self {
        Self::InvalidResponse(error.to_string())
    }
}

/// Converts the error of a response to a request that was sent.
impl From<DecodeError> for ChangeError {
    fn from(error: DecodeError) -> Self {
        Self::Unknown(error.to_string())
    }
}

/// Converts the error of an amount in a response.
impl From<MoneyError> for DecodeError {
    fn from(error: MoneyError) -> Self {
        Self::new(format!("an amount is invalid: {error}"))
    }
}

/// Converts the error of an amount in a response.
impl From<MoneyError> for ReadError {
    fn from(error: MoneyError) -> Self {
        Self::InvalidResponse(format!("an amount in the response: {error}"))
    }
}

/// Converts the error of an amount in a response.
impl From<MoneyError> for ChangeError {
    fn from(error: MoneyError) -> Self {
        Self::Unknown(format!("an amount in the response: {error}"))
    }
}

impl From<EncodeError> for ReadError {
    fn from(error: EncodeError) -> Self {
        Self::Rejected(Refusal::new(RefusalReason::Invalid, error.to_string()))
    }
}

/// A request is encoded before it is sent, so an encoding error means that nothing was sent.
impl From<EncodeError> for ChangeError {
    fn from(error: EncodeError) -> Self {
        Self::NotSent(error.to_string())
    }
}

impl From<SettingsError> for ReadError {
    fn from(error: SettingsError) -> Self {
        Self::Misconfigured(error.to_string())
    }
}

/// Settings are read before anything is sent, so a settings error means that nothing was sent.
impl From<SettingsError> for ChangeError {
    fn from(error: SettingsError) -> Self {
        Self::NotSent(error.to_string())
    }
}

impl From<secret::Error> for ReadError {
    fn from(error: secret::Error) -> Self {
        let secret::Error::Unknown(name) = error;
        Self::Misconfigured(format!("the secret {name} is not granted"))
    }
}

/// Signatures are computed before anything is sent, so a missing secret means that nothing was
/// sent.
impl From<secret::Error> for ChangeError {
    fn from(error: secret::Error) -> Self {
        let secret::Error::Unknown(name) = error;
        Self::NotSent(format!("the secret {name} is not granted"))
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        Self::Rejected(refusal)
    }
}

impl From<Refusal> for ChangeError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<ChangeError> for PaymentError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused(refusal) => Self::Refused(refusal.message),
            ChangeError::NotSent(text) => Self::NotSent(text),
            ChangeError::RateLimited(_) => Self::Unknown("the rate limit is reached".to_owned()),
            ChangeError::Unknown(text) => Self::Unknown(text),
        }
    }
}

/// Converts the errors of a call that may move money like those of any other change.
macro_rules! payment_error_from {
    ($($error:ty),+) => {$(
        impl From<$error> for PaymentError {
            fn from(error: $error) -> Self {
                ChangeError::from(error).into()
            }
        }
    )+};
}

payment_error_from!(http::Error, DecodeError, EncodeError, SettingsError);
