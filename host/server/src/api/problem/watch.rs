//! How calls about watches end in HTTP when they do not succeed.

use crate::api::code::Code;
use crate::api::problem::ApiError;
use crate::watch::WatchError;

impl ApiError {
    /// Something about a watch that was not done.
    pub(crate) fn watch(error: WatchError) -> Self {
        match error {
            WatchError::NotFound => Code::WatchNotFound.into(),
            WatchError::NoAutoBook => {
                Self::from(Code::WatchStateConflict).detail("the watch has no auto_book")
            }
            WatchError::State(conflict) => Self::from(Code::WatchStateConflict)
                .detail(format!("the watch is {}", conflict.status)),
            WatchError::Query(error) => Self::query(error),
            WatchError::Instrument => Code::PaymentInstrumentInvalid.into(),
            WatchError::Mandate(error) => Self::internal(error),
            WatchError::Contended => Self::from(Code::Overloaded).because(error),
            WatchError::Key(error) => Self::key(error),
            WatchError::Storage(error) => Self::commit(error),
        }
    }
}
