//! What the beginnings of cancellations share, and how they and their quotes do not
//! succeed, hotels and flights alike.

use crate::app::App;
use crate::flow::step::FlowError;
use crate::idempotency::{KeyError, RequestKey};
use host_domain::id::{BookingId, RoomId};
use host_domain::supplier::{ReadError, SupplierId};

/// Why it was not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancelError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    State(&'static str),
    #[error("the booking has no such room")]
    UnknownRoom(RoomId),
    #[error("the supplier does not cancel this")]
    Unsupported,
    #[error(transparent)]
    Key(KeyError),
}

/// Why there is no quote.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QuoteError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    State(&'static str),
    #[error("the booking changed meanwhile")]
    Changed,
    #[error("a restriction forbids cancelling")]
    Restricted,
    #[error("the supplier gave no quote")]
    Supplier(SupplierId, ReadError),
}

impl<E: Into<FlowError>> From<E> for CancelError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl<E: Into<FlowError>> From<E> for QuoteError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl App {
    /// Whether the same request was answered before: it begins nothing again.
    pub(super) async fn asked_before(&self, key: Option<&RequestKey>) -> Result<bool, CancelError> {
        let made = self.made_before(key).await.map_err(CancelError::Key)?;
        Ok(made.is_some())
    }

    /// Takes the key of a request that found nothing left to begin.
    pub(super) async fn keep_key(
        &self,
        key: Option<&RequestKey>,
        booking: &BookingId,
    ) -> Result<(), CancelError> {
        if let Some(key) = key {
            let used = self.use_key(key, booking.as_str()).await;
            used.map_err(CancelError::Key)?;
        }
        Ok(())
    }
}
