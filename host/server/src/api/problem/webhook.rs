//! How calls about webhooks end in HTTP when they do not succeed.

use crate::api::code::Code;
use crate::api::problem::{ApiError, Violation};
use crate::webhook::WebhookError;

impl ApiError {
    /// Something about a subscription or a delivery that was not done.
    pub(crate) fn webhook(error: WebhookError) -> Self {
        match error {
            WebhookError::NotFound => Code::SubscriptionNotFound.into(),
            WebhookError::DeliveryNotFound => Code::DeliveryNotFound.into(),
            WebhookError::TooMany { max } => Self::violation(Violation::body(
                "",
                "too_many_subscriptions",
                format!("there are {max} subscriptions to this product already: delete one"),
            )),
            WebhookError::UrlNotAllowed(refusal) => {
                Self::from(Code::UrlNotAllowed).detail(format!("The url: {refusal}."))
            }
            WebhookError::ReplayNotAllowed(refusal) => {
                Self::from(Code::ReplayNotAllowed).detail(format!("{refusal}: it may still arrive"))
            }
            WebhookError::Paused => Code::SubscriptionPaused.into(),
            WebhookError::Contended => Self::from(Code::Overloaded).because(error),
            WebhookError::Key(error) => Self::key(error),
            WebhookError::Storage(error) => Self::commit(error),
            WebhookError::Sealed(error) => Self::internal(error),
        }
    }
}
