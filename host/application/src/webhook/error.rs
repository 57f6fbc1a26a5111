//! Errors of operations on subscriptions and deliveries.

use crate::conflict_backoff::DeadlinePassed;
use crate::idempotency::IdempotencyError;
use crate::sealer::SealError;
use crate::webhook::url_policy::UrlRejection;
use host_domain::webhook::ReplayNotAllowed;
use host_storage::{CommitError, DatabaseError};

#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The subscription does not exist, was deleted, or belongs to another tenant or product.
    #[error("the subscription does not exist")]
    NotFound,
    #[error("the delivery does not exist")]
    DeliveryNotFound,
    #[error("the limit of {max} subscriptions is reached")]
    SubscriptionLimitReached { max: u64 },
    #[error("the url is not allowed: {0}")]
    UrlNotAllowed(#[source] UrlRejection),
    /// The delivery may still arrive without a replay.
    #[error("the delivery cannot be replayed")]
    ReplayNotAllowed(#[source] ReplayNotAllowed),
    #[error("the subscription is not ACTIVE")]
    SubscriptionNotActive,
    #[error("the subscription was changed by too many concurrent requests; try again")]
    TooManyConflicts,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error("webhooks could not be read or stored")]
    Storage(#[from] CommitError),
    #[error("the signing secret cannot be encrypted or decrypted")]
    Seal(#[from] SealError),
}

impl From<DatabaseError> for WebhookError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<DeadlinePassed> for WebhookError {
    fn from(_: DeadlinePassed) -> Self {
        Self::TooManyConflicts
    }
}
