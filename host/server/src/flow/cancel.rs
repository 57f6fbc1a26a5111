//! How cancellations and their quotes do not succeed, hotels and flights alike.

use crate::flow::step::FlowError;
use host_domain::id::RoomId;
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
