//! Errors of operations on subscriptions and deliveries.

use crate::conflict_backoff::DeadlinePassed;
use crate::idempotency::IdempotencyError;
use crate::sealer::SealError;
use crate::webhook::url_policy::UrlRejection;
use host_domain::webhook::ReplayNotAllowed;
use host_storage::{CommitError, DatabaseError};

/// Reasons why an operation on a subscription failed.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The subscription does not exist, was deleted, or belongs to another tenant or product.
    #[error("the subscription does not exist")]
    NotFound,
    /// The subscription has no such delivery.
    #[error("the delivery does not exist")]
    DeliveryNotFound,
    /// The tenant has the maximum number of subscriptions to this product.
    #[error("the limit of {max} subscriptions is reached")]
    SubscriptionLimitReached {
        /// The maximum.
        max: u64,
    },
    /// The URL may not receive events.
    #[error("the url is not allowed: {0}")]
    UrlNotAllowed(#[source] UrlRejection),
    /// The delivery may still arrive without a replay.
    #[error("the delivery cannot be replayed")]
    ReplayNotAllowed(#[source] ReplayNotAllowed),
    /// The subscription is not ACTIVE, so nothing is sent to it.
    #[error("the subscription is not ACTIVE")]
    SubscriptionNotActive,
    /// Concurrent calls kept changing the subscription.
    #[error("the subscription was changed by too many concurrent requests; try again")]
    TooManyConflicts,
    /// The idempotency key could not be used.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// The database failed.
    #[error("webhooks could not be read or stored")]
    Storage(#[from] CommitError),
    /// A secret cannot be encrypted or decrypted.
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
