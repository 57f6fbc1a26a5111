//! Error responses of Jetbridge.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

use crate::flight::problem::FlightError;

pub(super) type JetbridgeResult<T = Response> = Result<T, JetbridgeError>;

pub(super) struct JetbridgeError(pub(super) FlightError);

impl<P: Into<FlightError>> From<P> for JetbridgeError {
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for JetbridgeError {
    fn into_response(self) -> Response {
        const CONFLICT: StatusCode = StatusCode::CONFLICT;
        const UNPROCESSABLE: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
        let (status, number, text) = match &self.0 {
            FlightError::Unauthorized => (StatusCode::UNAUTHORIZED, 40_100, "token not known"),
            FlightError::Invalid(what) => (StatusCode::BAD_REQUEST, 40_000, what.as_str()),
            FlightError::NotFound => (StatusCode::NOT_FOUND, 40_400, "not found"),
            FlightError::OfferUnknown => (StatusCode::NOT_FOUND, 40_410, "unknown fareKey"),
            FlightError::PrebookUnknown => (StatusCode::NOT_FOUND, 40_420, "unknown prebookId"),
            FlightError::OfferExpired | FlightError::PrebookExpired => {
                (StatusCode::GONE, 41_000, "validUntil has passed")
            }
            FlightError::OfferSoldOut => (CONFLICT, 42_200, "fare is gone"),
            FlightError::DocumentsRequired => (UNPROCESSABLE, 43_000, "documents are required"),
            FlightError::Unpaid => (
                StatusCode::PAYMENT_REQUIRED,
                45_014,
                "checkout is not completed",
            ),
            FlightError::RejectedByAirline => (UNPROCESSABLE, 45_001, "refused by the airline"),
            FlightError::DuplicateReference | FlightError::OfferAlreadyBooked => {
                (CONFLICT, 45_036, "clientRef was used before")
            }
            FlightError::NotCancellable => (CONFLICT, 46_001, "not cancellable"),
            FlightError::AlreadyCancelled => (CONFLICT, 46_004, "cancelled already"),
            FlightError::WrongState | FlightError::AmountMismatch => {
                (CONFLICT, 46_006, "not in this status")
            }
            FlightError::QuoteUnavailable => (UNPROCESSABLE, 49_001, "the airline cannot quote"),
            FlightError::BagsRefused | FlightError::BagUnknown => {
                (UNPROCESSABLE, 44_000, "no bags here")
            }
            FlightError::StorageFailed => {
                (StatusCode::INTERNAL_SERVER_ERROR, 50_000, "something broke")
            }
        };
        let body = json!({ "ok": false, "fault": { "no": number, "text": text } });
        (status, Json(body)).into_response()
    }
}
