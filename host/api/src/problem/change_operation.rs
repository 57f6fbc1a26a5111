//! Next step for a client whose request has an unknown outcome: the response to a commit of the
//! database or to a call of the supplier was lost, or the operation did not end in time. The route
//! table says which operations change something, and the middleware adds their next steps.

use crate::error_code::ErrorCode;
use crate::problem::ApiError;

/// An operation that changes something, of which the outcome may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeOperation {
    Prebook,
    BookOrCancel,
    PurchaseServices,
    CreateInstrument,
    DeleteInstrument,
    IssueMandate,
    RevokeMandate,
    CreateWatch,
    DeleteWatch,
    ConfirmWatchPurchase,
    CreateSubscription,
    ChangeSubscription,
    DeleteSubscription,
    RotateSecret,
    SendTestEvent,
    ReplayDelivery,
    RecoverDeliveries,
    RegisterWatcherWebhook,
    DeleteWatcherWebhook,
    /// A supplier reports events.
    ReceiveEvents,
    /// Makes a test event for the programs that listen.
    MakePing,
    /// A program begins to listen to events, or ends that.
    ListenSession,
    /// A query that stores what it found.
    StoringQuery,
}

impl ChangeOperation {
    /// Returns whether the same request may be sent again and then succeeds, also under a new key.
    const fn is_repeat_safe(self) -> bool {
        match self {
            Self::Prebook | Self::ReceiveEvents | Self::ListenSession | Self::StoringQuery => true,
            Self::BookOrCancel
            | Self::PurchaseServices
            | Self::CreateInstrument
            | Self::DeleteInstrument
            | Self::IssueMandate
            | Self::RevokeMandate
            | Self::CreateWatch
            | Self::DeleteWatch
            | Self::ConfirmWatchPurchase
            | Self::CreateSubscription
            | Self::ChangeSubscription
            | Self::DeleteSubscription
            | Self::RotateSecret
            | Self::SendTestEvent
            | Self::ReplayDelivery
            | Self::RecoverDeliveries
            | Self::RegisterWatcherWebhook
            | Self::DeleteWatcherWebhook
            | Self::MakePing => false,
        }
    }

    /// Returns the detail of the response: what may have happened, and what to do next.
    const fn next_step(self) -> &'static str {
        match self {
            Self::Prebook => {
                "Nothing is charged, whether the offer is bound or not. Send the same request again with the same \
                 idempotency key: it returns the booking, or binds the offer again. A new key is safe, too."
            }
            Self::BookOrCancel => {
                "It may have happened. Do not send it again under a new key: read the booking until its \
                 status does not end in `IN_PROGRESS`."
            }
            Self::PurchaseServices => PURCHASE_STEP,
            Self::CreateInstrument => {
                "The payment instrument may be stored. Send the same request again with the same idempotency key: it \
                 returns the instrument. Without a key, list the instruments before you add it again."
            }
            Self::DeleteInstrument | Self::DeleteSubscription | Self::DeleteWatcherWebhook => {
                "It may be deleted. Send the same request again: 404 means that it is."
            }
            Self::IssueMandate => {
                "The mandate may be issued. Send the same request again with the same idempotency key: it returns the \
                 mandate. Without a key, a repeat may issue a second one."
            }
            Self::RevokeMandate => {
                "The mandate may be revoked. Send the same request again: revoking it twice changes nothing more."
            }
            Self::CreateWatch => {
                "The watch may exist. Send the same request again with the same idempotency key: it returns the watch. \
                 Without a key, list the watches before you create it again."
            }
            Self::DeleteWatch => {
                "The watch may be canceled. Read it, and delete it again if it is not."
            }
            Self::ConfirmWatchPurchase => {
                "The watch may be armed. Send the same request again: a watch that is armed stays as it is."
            }
            Self::CreateSubscription => SUBSCRIPTION_STEP,
            Self::ChangeSubscription => {
                "The subscription may be changed. Read it, or send the same request again."
            }
            Self::RotateSecret => SECRET_STEP,
            Self::SendTestEvent => {
                "The test event may be sent. Send the same request again with the same idempotency key: it returns the \
                 delivery. Without a key, a repeat may send a second test event."
            }
            Self::ReplayDelivery => {
                "The delivery may be replayed. Read it: `replay_count` counts the replays."
            }
            Self::RecoverDeliveries => {
                "The failed deliveries may be queued. Send the same request again: those that are queued are no longer \
                 failed."
            }
            Self::RegisterWatcherWebhook => {
                "The webhook may be registered. Send the same request again with the same idempotency key: it returns \
                 the webhook, and its signing secret once. Without a key, register again, which makes a new secret."
            }
            Self::ReceiveEvents => {
                "The events may be stored. Send the same request again: those that are stored are recognized."
            }
            Self::MakePing => "The event may be made. A repeat makes another one.",
            Self::ListenSession => {
                "Send the same request again. A session to which no program listens ends after a minute."
            }
            Self::StoringQuery => {
                "Send the same request again: it finds the same and changes nothing else."
            }
        }
    }
}

const PURCHASE_STEP: &str = "The bags may be bought and charged. Do not use a new key: read the booking, or send the same request \
     again with the same key, until the purchase is confirmed or refused.";

const SUBSCRIPTION_STEP: &str = "The subscription may exist. Send the same request again with the same idempotency key: it returns the \
     subscription, and its signing secret once. Without a key, list the subscriptions, and rotate the secret \
     of the new one or delete it.";

const SECRET_STEP: &str = "The signing secret may be replaced. Send the same request again with the same idempotency key: it \
     returns the new secret once. Without a key, rotate again; then the secret of this request is the \
     previous one.";

impl ApiError {
    /// Adds the next step after an operation to an error that says that the outcome is unknown, unless the
    /// error has a detail, and whether the request may be sent again.
    pub(crate) fn with_next_step(self, operation: ChangeOperation) -> Self {
        if self.code() != ErrorCode::ResultUnknown {
            return self;
        }
        let mut error = self;
        error.1.is_repeat_safe = operation.is_repeat_safe();
        match error.1.detail {
            Some(_) => error,
            None => error.with_detail(operation.next_step()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Violation;
    use host_application::webhook::error::WebhookError;
    use host_storage::DatabaseError;
    use std::io;
    use std::sync::Arc;

    fn detail(error: ApiError) -> String {
        error.to_problem("", "").detail
    }

    fn lost_commit() -> WebhookError {
        let cause = io::Error::from(io::ErrorKind::ConnectionReset);
        DatabaseError::CommitUnknown(Arc::new(cause)).into()
    }

    #[test]
    fn unknown_outcome_of_a_subscription_explains_how_to_get_its_secret() {
        let error = ApiError::from(lost_commit());
        let error = error.with_next_step(ChangeOperation::CreateSubscription);
        assert_eq!(error.code(), ErrorCode::ResultUnknown);
        let detail = detail(error);
        assert!(detail.contains("subscription") && detail.contains("secret once"));
        assert!(!detail.contains("booking"), "{detail}");
    }

    #[test]
    fn request_that_may_be_sent_again_is_retryable() {
        let step = |operation: ChangeOperation| {
            let error = ApiError::from(ErrorCode::ResultUnknown).with_next_step(operation);
            (error.1.is_repeat_safe, detail(error))
        };
        for operation in [
            ChangeOperation::Prebook,
            ChangeOperation::ReceiveEvents,
            ChangeOperation::ListenSession,
            ChangeOperation::StoringQuery,
        ] {
            let (is_repeat_safe, detail) = step(operation);
            assert!(is_repeat_safe, "{operation:?}");
            assert!(detail.contains("Send the same request again"), "{detail}");
        }
        let (is_repeat_safe, detail) = step(ChangeOperation::MakePing);
        assert!(!is_repeat_safe && !detail.contains("key"), "{detail}");
    }

    #[test]
    fn next_step_replaces_no_other_detail_and_adds_to_no_other_error() {
        let step = ChangeOperation::CreateInstrument;
        let described = ApiError::from(ErrorCode::ResultUnknown).with_detail("described");
        assert_eq!(detail(described.with_next_step(step)), "described");
        let invalid = ApiError::violations(vec![Violation::body("/a", "type", "")]);
        assert_eq!(detail(invalid.with_next_step(step)), "1 field is not valid");
    }
}
