//! Conversion of watch errors to HTTP errors.

use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use host_application::watch::service::WatchError;

impl ApiError {
    /// Creates the error for a failed operation on watches.
    pub(crate) fn from_watch(error: WatchError) -> Self {
        match error {
            WatchError::NotFound => ErrorCode::WatchNotFound.into(),
            WatchError::EventNotFound => ErrorCode::EventNotFound.into(),
            WatchError::NoAutoBook => {
                Self::from(ErrorCode::WatchStateConflict).with_detail("the watch has no auto_book")
            }
            WatchError::InvalidTransition(conflict) => Self::from(ErrorCode::WatchStateConflict)
                .with_detail(format!("the watch is {}", conflict.status)),
            WatchError::Query(error) => Self::from_query(error),
            WatchError::InstrumentNotFound => ErrorCode::PaymentInstrumentInvalid.into(),
            WatchError::Mandate(error) => Self::internal(error),
            WatchError::TooManyConflicts => Self::from(ErrorCode::Overloaded).with_cause(error),
            WatchError::Idempotency(error) => Self::from_idempotency(error),
            WatchError::Storage(error) => Self::from_storage(error),
        }
    }
}
