//! Conversion of mandate errors to HTTP errors.

use crate::error_code::ErrorCode;
use crate::problem::{ApiError, Violation};
use host_application::mandate::service::MandateError;
use host_application::mandate::signing_key::SigningKeyError;

impl ApiError {
    /// Creates the error for a failed operation on mandates.
    pub(crate) fn from_mandate(error: MandateError) -> Self {
        match error {
            MandateError::NotFound => ErrorCode::MandateNotFound.into(),
            MandateError::Invalid(refusal) => {
                Self::from(ErrorCode::MandateInvalid).with_detail(refusal.to_string())
            }
            MandateError::OtherUser => Self::violation(Violation::body(
                "/user_id",
                "other_user",
                "must be the user in x-user-id",
            )),
            MandateError::InstrumentNotFound => ErrorCode::PaymentInstrumentInvalid.into(),
            MandateError::TooManyConflicts => Self::from(ErrorCode::Overloaded).with_cause(error),
            MandateError::Idempotency(error) => Self::from_idempotency(error),
            MandateError::Storage(error) => Self::from_storage(error),
            MandateError::SigningKey(error) => Self::from_signing_key(error),
            MandateError::Claims(error) => Self::internal(error),
        }
    }

    /// Creates the error for keys that cannot sign or verify mandates.
    pub(crate) fn from_signing_key(error: SigningKeyError) -> Self {
        match error {
            SigningKeyError::Storage(error) => Self::from_storage(error),
            SigningKeyError::Seal(_)
            | SigningKeyError::Missing
            | SigningKeyError::Unusable(_)
            | SigningKeyError::Json(_) => Self::internal(error),
        }
    }
}
