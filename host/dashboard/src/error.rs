//! Reasons why a request has no page of its own.

use axum::response::{IntoResponse, Response};
use host_application::console::access::AccessError;
use host_application::console::bulk_replay::ConsoleBulkReplayError;
use host_application::console::deliveries::ConsoleDeliveryError;
use host_application::console::failure::ConsoleError;
use host_application::console::keys::ConsoleKeyError;
use host_application::console::live::TooManyStreams;
use host_application::console::webhooks::ConsoleWebhookError;
use host_application::error_chain::describe_error_chain;
use host_application::storage_failure::StorageFailure;
use host_application::webhook::bulk_replay::BulkReplayError;
use host_application::webhook::error::WebhookError;
use host_domain::owner::Mode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use std::error::Error;

/// Seconds after which a client may repeat a request that failed for lack of capacity.
const RETRY_AFTER_S: u16 = 5;

/// Reason why a request has no page of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PageError {
    /// No page has this path, or no object of the viewer's scope has this id.
    NotFound,
    /// The object exists in this mode, to which the session is not set.
    OtherMode(Mode),
    /// The viewer's roles do not permit this.
    Forbidden,
    /// A page of another site, or no page, caused the request.
    CrossSite,
    /// The request addresses a host that is not the dashboard's.
    ForeignHost,
    MethodNotAllowed,
    BodyTooLarge,
    /// The body is not a form.
    UnsupportedMediaType,
    /// A field of the form has a character that no text has.
    NulCharacter,
    /// The database or the process is busy.
    Unavailable,
    /// A defect. The cause is logged and not shown.
    Internal,
}

/// Text of the page of an error.
pub(crate) struct ErrorText {
    pub(crate) status: StatusCode,
    pub(crate) heading: &'static str,
    /// The cause and the next step.
    pub(crate) message: &'static str,
}

impl PageError {
    /// Logs a defect.
    pub(crate) fn internal(error: impl Error) -> Self {
        tracing::error!(error = %describe_error_chain(&error), "a page of the dashboard failed; report the error as a defect if the page fails again");
        Self::Internal
    }

    pub(crate) fn status(self) -> StatusCode {
        self.text().status
    }

    pub(crate) fn text(self) -> ErrorText {
        let (status, heading, message) = match self {
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "Page not found",
                "Nothing is here, or your account cannot see it. Check the address.",
            ),
            Self::OtherMode(Mode::Test) => (
                StatusCode::NOT_FOUND,
                "Page not found",
                "This page exists in test mode. Switch the mode to see it.",
            ),
            Self::OtherMode(Mode::Live) => (
                StatusCode::NOT_FOUND,
                "Page not found",
                "This page exists in live mode. Switch the mode to see it.",
            ),
            Self::Forbidden => (
                StatusCode::FORBIDDEN,
                "Not permitted",
                "Your roles do not permit this. Ask an admin of your organization.",
            ),
            Self::CrossSite => (
                StatusCode::FORBIDDEN,
                "Request refused",
                "The form was not sent from a page of this dashboard. Open the page here and repeat.",
            ),
            Self::ForeignHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "Unknown host",
                "The dashboard is not served under this name. Operators set it in dashboard.public_url.",
            ),
            Self::MethodNotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "Method not allowed",
                "This address cannot be used in this way.",
            ),
            Self::BodyTooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "Form too large",
                "The form is larger than 64 KiB. Shorten its texts.",
            ),
            Self::UnsupportedMediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Not a form",
                "The request has no form as its body.",
            ),
            Self::NulCharacter => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "Unreadable text",
                "A field of the form has a NUL character. Remove it, then send the form again.",
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Try again in a moment",
                "The gateway is busy, or its database does not respond.",
            ),
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong",
                "The error was logged. Try again, and ask an operator if it remains.",
            ),
        };
        ErrorText {
            status,
            heading,
            message,
        }
    }
}

impl From<StorageFailure> for PageError {
    fn from(failure: StorageFailure) -> Self {
        match failure {
            StorageFailure::Unavailable(_) | StorageFailure::CommitUnknown(_) => {
                tracing::warn!(error = %describe_error_chain(&failure), "the database did not serve a page of the dashboard; check that it is reachable and accepts writes");
                Self::Unavailable
            }
            StorageFailure::Internal(_) => Self::internal(failure),
        }
    }
}

impl From<AccessError> for PageError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Forbidden => Self::Forbidden,
            AccessError::NotFound => Self::NotFound,
            AccessError::OtherMode(mode) => Self::OtherMode(mode),
        }
    }
}

impl From<TooManyStreams> for PageError {
    fn from(_: TooManyStreams) -> Self {
        Self::Unavailable
    }
}

impl From<ConsoleError> for PageError {
    fn from(error: ConsoleError) -> Self {
        match error {
            ConsoleError::Access(error) => error.into(),
            ConsoleError::Storage(failure) => failure.into(),
        }
    }
}

impl From<ConsoleKeyError> for PageError {
    fn from(error: ConsoleKeyError) -> Self {
        match error {
            ConsoleKeyError::Access(error) => error.into(),
            ConsoleKeyError::Storage(failure) => failure.into(),
            // The page shows what is wrong with a key beside the fields.
            ConsoleKeyError::Invalid(_) | ConsoleKeyError::Random => Self::internal(error),
        }
    }
}

impl From<WebhookError> for PageError {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::NotFound | WebhookError::DeliveryNotFound => Self::NotFound,
            WebhookError::TooManyConflicts => Self::Unavailable,
            WebhookError::Storage(error) => StorageFailure::from(error).into(),
            // The pages show why a change was refused.
            WebhookError::SubscriptionLimitReached { .. }
            | WebhookError::UrlNotAllowed(_)
            | WebhookError::ReplayNotAllowed(_)
            | WebhookError::SubscriptionNotActive
            | WebhookError::Idempotency(_)
            | WebhookError::Seal(_) => Self::internal(error),
        }
    }
}

impl From<ConsoleWebhookError> for PageError {
    fn from(error: ConsoleWebhookError) -> Self {
        match error {
            ConsoleWebhookError::Access(error) => error.into(),
            ConsoleWebhookError::Webhook(error) => error.into(),
            ConsoleWebhookError::Storage(failure) => failure.into(),
            // The page shows what is wrong beside the fields.
            ConsoleWebhookError::Invalid(_) => Self::internal(error),
        }
    }
}

impl From<ConsoleDeliveryError> for PageError {
    fn from(error: ConsoleDeliveryError) -> Self {
        match error {
            ConsoleDeliveryError::Access(error) => error.into(),
            ConsoleDeliveryError::Webhook(error) => error.into(),
            ConsoleDeliveryError::Storage(failure) => failure.into(),
        }
    }
}

impl From<ConsoleBulkReplayError> for PageError {
    fn from(error: ConsoleBulkReplayError) -> Self {
        match error {
            ConsoleBulkReplayError::Access(error) => error.into(),
            ConsoleBulkReplayError::BulkReplay(error) => error.into(),
        }
    }
}

impl From<BulkReplayError> for PageError {
    fn from(error: BulkReplayError) -> Self {
        match error {
            BulkReplayError::NotFound => Self::NotFound,
            BulkReplayError::Storage(failure) => failure.into(),
            // The page shows why nothing was begun.
            BulkReplayError::TooMany
            | BulkReplayError::NothingMatches
            | BulkReplayError::Running => Self::internal(error),
        }
    }
}

/// Makes a response without a body. `error_page.rs` adds the page in the layout of the request.
impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if matches!(self, Self::Unavailable) {
            let seconds = HeaderValue::from(RETRY_AFTER_S);
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns the response to a request that is no valid HTTP.
pub fn refused_request(status: StatusCode) -> Response<Vec<u8>> {
    let reason = status.canonical_reason().unwrap_or("Refused");
    let mut response = Response::new(reason.as_bytes().to_vec());
    *response.status_mut() = status;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}
