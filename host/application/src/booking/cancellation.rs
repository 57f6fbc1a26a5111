//! Errors and idempotency that the cancellations and cancellation quotes of hotels and flights
//! share.

use crate::application::Application;
use crate::booking::execution::WorkflowError;
use crate::idempotency::{IdempotencyError, IdempotentRequest};
use host_domain::id::{BookingId, RoomId};
use host_domain::supplier::{ReadError, SupplierId};

/// Reasons why a cancellation was not started.
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
    Idempotency(IdempotencyError),
}

/// Reasons why there is no cancellation quote.
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

impl Application {
    /// Returns whether the same request was made before, so that it must not start anything again.
    pub async fn is_repeat(&self, key: Option<&IdempotentRequest>) -> Result<bool, CancelError> {
        let made = self
            .idempotency
            .find_result(key)
            .await
            .map_err(CancelError::Idempotency)?;
        Ok(made.is_some())
    }

    /// Claims the key of a request that has nothing left to start.
    pub async fn claim_key(
        &self,
        key: Option<&IdempotentRequest>,
        booking: &BookingId,
    ) -> Result<(), CancelError> {
        if let Some(key) = key {
            let used = self.idempotency.claim(key, booking.as_str()).await;
            used.map_err(CancelError::Idempotency)?;
        }
        Ok(())
    }
}
