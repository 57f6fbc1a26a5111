//! All error responses of Tillway and their format.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

use crate::{
    journal::JournalClosed,
    payments::{tables::Payment, wire::payment_wire},
};

pub(super) type TillwayResult<T = Response> = Result<T, PaymentError>;

#[derive(Debug, thiserror::Error)]
pub(super) enum PaymentError {
    #[error("The header tillway-key is missing or its key is not known.")]
    InvalidKey,
    #[error("{0}")]
    Invalid(String),
    #[error("There is no such payment.")]
    NoSuchPayment,
    #[error("There is no such token.")]
    NoSuchToken,
    #[error("The card was declined; nothing is held.")]
    Declined(Box<Payment>),
    #[error("The issuer did not release the money; nothing moved. It may be tried again.")]
    CaptureFailed,
    #[error("This reference was used with other values.")]
    ReferenceReused,
    #[error("The payment's status does not allow this.")]
    WrongState,
    #[error("The amount is larger than what is left.")]
    AmountTooLarge,
    #[error("Something broke.")]
    StorageFailed(#[from] JournalClosed),
}

impl IntoResponse for PaymentError {
    fn into_response(self) -> Response {
        let (status, kind, code) = match &self {
            Self::InvalidKey => (StatusCode::UNAUTHORIZED, "authentication", "invalid_key"),
            Self::Invalid(_) => (StatusCode::BAD_REQUEST, "invalid_request", "invalid"),
            Self::NoSuchPayment => (StatusCode::NOT_FOUND, "invalid_request", "no_such_payment"),
            Self::NoSuchToken => (StatusCode::NOT_FOUND, "invalid_request", "no_such_token"),
            Self::Declined(_) => (StatusCode::PAYMENT_REQUIRED, "card_error", "card_declined"),
            Self::CaptureFailed => (StatusCode::PAYMENT_REQUIRED, "card_error", "capture_failed"),
            Self::ReferenceReused => (StatusCode::CONFLICT, "invalid_request", "reference_reused"),
            Self::WrongState => (StatusCode::CONFLICT, "state_error", "wrong_state"),
            Self::AmountTooLarge => (StatusCode::CONFLICT, "state_error", "amount_too_large"),
            Self::StorageFailed(_) => (StatusCode::INTERNAL_SERVER_ERROR, "api_error", "broken"),
        };
        let message = self.to_string();
        let mut body = json!({ "type": kind, "code": code, "message": message });
        if let (Self::Declined(payment), Some(fields)) = (&self, body.as_object_mut()) {
            fields.insert("decline_code".to_owned(), json!(payment.decline_code()));
            fields.insert("payment".to_owned(), payment_wire(payment));
        }
        (status, Json(body)).into_response()
    }
}

/// Converts the description of an invalid request into a refusal.
impl From<String> for PaymentError {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}
