//! How calls about mandates end in HTTP when they do not succeed.

use crate::api::code::Code;
use crate::api::problem::ApiError;
use crate::mandate::MandateError;
use crate::mandate::key::SigningKeyError;

impl ApiError {
    /// Something about a mandate that was not done.
    pub(crate) fn mandate(error: MandateError) -> Self {
        match error {
            MandateError::NotFound => Code::MandateNotFound.into(),
            MandateError::Invalid(refusal) => {
                Self::from(Code::MandateInvalid).detail(refusal.to_string())
            }
            MandateError::Instrument => Code::PaymentInstrumentInvalid.into(),
            MandateError::Contended => Self::from(Code::Overloaded).because(error),
            MandateError::Key(error) => Self::key(error),
            MandateError::Storage(error) => Self::commit(error),
            MandateError::SigningKey(error) => Self::signing_key(error),
            MandateError::Claims(error) => Self::internal(error),
        }
    }

    /// The keys that sign mandates could not be read or used.
    pub(crate) fn signing_key(error: SigningKeyError) -> Self {
        match error {
            SigningKeyError::Storage(error) => Self::commit(error),
            SigningKeyError::Sealed(_)
            | SigningKeyError::Absent
            | SigningKeyError::Unusable(_)
            | SigningKeyError::Json(_) => Self::internal(error),
        }
    }
}
