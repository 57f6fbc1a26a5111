//! What the beginnings of cancellations share, and how they and their quotes do not
//! succeed, hotels and flights alike.

use crate::app::Application;
use crate::flow::step::WorkflowError;
use crate::idempotency::{IdempotencyError, IdempotentRequest};
use host_domain::id::{BookingId, RoomId};
use host_domain::supplier::{ReadError, SupplierId};

/// Why it was not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancelError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the booking has no such room")]
    UnknownRoom(RoomId),
    #[error("the supplier does not cancel this")]
    Unsupported,
    #[error(transparent)]
    Idempotency(IdempotencyError),
}

/// Why there is no quote.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancellationQuoteError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the booking changed meanwhile")]
    BookingChanged,
    #[error("a restriction forbids cancelling")]
    CancellationRestricted,
    #[error("the supplier gave no quote")]
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

impl Application {
    /// Whether the same request was answered before: it begins nothing again.
    pub(super) async fn is_repeat(&self, key: Option<&IdempotentRequest>) -> Result<bool, CancelError> {
        let made = self.find_result(key).await.map_err(CancelError::Idempotency)?;
        Ok(made.is_some())
    }

    /// Takes the key of a request that found nothing left to begin.
    pub(super) async fn claim_key(
        &self,
        key: Option<&IdempotentRequest>,
        booking: &BookingId,
    ) -> Result<(), CancelError> {
        if let Some(key) = key {
            let used = self.claim(key, booking.as_str()).await;
            used.map_err(CancelError::Idempotency)?;
        }
        Ok(())
    }
}
