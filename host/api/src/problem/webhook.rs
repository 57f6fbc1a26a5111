//! Conversion of webhook errors to HTTP errors.

use crate::error_code::ErrorCode;
use crate::problem::{ApiError, Violation};
use host_application::webhook::error::WebhookError;

impl ApiError {
    /// Creates the error for a failed operation on a subscription or delivery.
    pub(crate) fn from_webhook(error: WebhookError) -> Self {
        match error {
            WebhookError::NotFound => ErrorCode::SubscriptionNotFound.into(),
            WebhookError::DeliveryNotFound => ErrorCode::DeliveryNotFound.into(),
            WebhookError::SubscriptionLimitReached { max } => Self::violation(Violation::body(
                "",
                "too_many_subscriptions",
                format!("there are {max} subscriptions to this product already: delete one"),
            )),
            WebhookError::UrlNotAllowed(refusal) => {
                Self::from(ErrorCode::UrlNotAllowed).with_detail(format!("The url: {refusal}."))
            }
            WebhookError::ReplayNotAllowed(refusal) => Self::from(ErrorCode::ReplayNotAllowed)
                .with_detail(format!("{refusal}: it may still arrive")),
            WebhookError::SubscriptionNotActive => ErrorCode::SubscriptionPaused.into(),
            WebhookError::TooManyConflicts => Self::from(ErrorCode::Overloaded).with_cause(error),
            WebhookError::Idempotency(error) => Self::from_idempotency(error),
            WebhookError::Storage(error) => Self::from_storage(error),
            WebhookError::Seal(error) => Self::internal(error),
        }
    }
}
