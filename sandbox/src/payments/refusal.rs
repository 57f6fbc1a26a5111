//! All error responses of Tillway and their format.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

use crate::{
    journal::JournalClosed,
    payments::payment::{Payment, payment_wire},
};

#[derive(Debug)]
pub(super) enum PaymentError {
    InvalidKey,
    Invalid(String),
    NoSuchPayment,
    NoSuchToken,
    Declined(Box<Payment>),
    CaptureFailed,
    ReferenceReused,
    WrongState,
    AmountTooLarge,
    StorageFailed,
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
            Self::StorageFailed => (StatusCode::INTERNAL_SERVER_ERROR, "api_error", "broken"),
        };
        let message = match &self {
            Self::InvalidKey => "The header tillway-key is missing or its key is not known.",
            Self::Invalid(what) => what,
            Self::NoSuchPayment => "There is no such payment.",
            Self::NoSuchToken => "There is no such token.",
            Self::Declined(_) => "The card was declined; nothing is held.",
            Self::CaptureFailed => {
                "The issuer did not release the money; nothing moved. It may be tried again."
            }
            Self::ReferenceReused => "This reference was used with other values.",
            Self::WrongState => "The payment's status does not allow this.",
            Self::AmountTooLarge => "The amount is larger than what is left.",
            Self::StorageFailed => "Something broke.",
        };
        let mut body = json!({ "type": kind, "code": code, "message": message });
        if let (Self::Declined(payment), Some(fields)) = (&self, body.as_object_mut()) {
            fields.insert("decline_code".to_owned(), json!(payment.decline_code()));
            fields.insert("payment".to_owned(), json!(payment_wire(payment)));
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

impl From<JournalClosed> for PaymentError {
    fn from(_: JournalClosed) -> Self {
        Self::StorageFailed
    }
}
