//! Errors of cancellations and cancellation quotes.

use crate::booking::execution::WorkflowError;
use crate::idempotency::IdempotencyError;
use host_domain::id::RoomId;
use host_domain::supplier::{ReadError, SupplierId};

#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the booking has no such room")]
    UnknownRoom(RoomId),
    #[error("the supplier does not support this cancellation")]
    Unsupported,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

#[derive(Debug, thiserror::Error)]
pub enum CancellationQuoteError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the booking changed while the quote was being fetched; request another quote")]
    BookingChanged,
    #[error("a restriction forbids cancelling")]
    CancellationRestricted,
    #[error("the supplier returned no quote")]
    Supplier(SupplierId, ReadError),
}

impl<E: Into<WorkflowError>> From<E> for CancelError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

impl<E: Into<WorkflowError>> From<E> for CancellationQuoteError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}
