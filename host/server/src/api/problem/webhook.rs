//! Conversion of webhook errors to HTTP errors.

use crate::api::code::Code;
use crate::api::problem::{ApiError, Violation};
use crate::webhook::WebhookError;

impl ApiError {
    /// Creates the error for a failed operation on a subscription or delivery.
    pub(crate) fn from_webhook(error: WebhookError) -> Self {
        match error {
            WebhookError::NotFound => Code::SubscriptionNotFound.into(),
            WebhookError::DeliveryNotFound => Code::DeliveryNotFound.into(),
            WebhookError::SubscriptionLimitReached { max } => Self::violation(Violation::body(
                "",
                "too_many_subscriptions",
                format!("there are {max} subscriptions to this product already: delete one"),
            )),
            WebhookError::UrlNotAllowed(refusal) => {
                Self::from(Code::UrlNotAllowed).with_detail(format!("The url: {refusal}."))
            }
            WebhookError::ReplayNotAllowed(refusal) => Self::from(Code::ReplayNotAllowed)
                .with_detail(format!("{refusal}: it may still arrive")),
            WebhookError::SubscriptionNotActive => Code::SubscriptionPaused.into(),
            WebhookError::TooManyConflicts => Self::from(Code::Overloaded).with_cause(error),
            WebhookError::Idempotency(error) => Self::from_idempotency(error),
            WebhookError::Storage(error) => Self::from_commit(error),
            WebhookError::Seal(error) => Self::internal(error),
        }
    }
}
