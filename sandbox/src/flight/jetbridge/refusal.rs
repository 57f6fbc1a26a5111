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
        let (status, number, text) = match &self.0 {
            FlightError::Unauthorized => (401, 40_100, "token not known"),
            FlightError::Invalid(what) => (400, 40_000, what.as_str()),
            FlightError::NotFound => (404, 40_400, "not found"),
            FlightError::OfferUnknown => (404, 40_410, "unknown fareKey"),
            FlightError::PrebookUnknown => (404, 40_420, "unknown prebookId"),
            FlightError::OfferExpired | FlightError::PrebookExpired => {
                (410, 41_000, "validUntil has passed")
            }
            FlightError::OfferSoldOut => (409, 42_200, "fare is gone"),
            FlightError::DocumentsRequired => (422, 43_000, "documents are required"),
            FlightError::Unpaid => (402, 45_014, "checkout is not completed"),
            FlightError::RejectedByAirline => (422, 45_001, "refused by the airline"),
            FlightError::DuplicateReference | FlightError::OfferAlreadyBooked => {
                (409, 45_036, "clientRef was used before")
            }
            FlightError::NotCancellable => (409, 46_001, "not cancellable"),
            FlightError::AlreadyCancelled => (409, 46_004, "cancelled already"),
            FlightError::WrongState | FlightError::AmountMismatch => {
                (409, 46_006, "not in this status")
            }
            FlightError::QuoteUnavailable => (422, 49_001, "the airline cannot quote"),
            FlightError::BagsRefused | FlightError::BagUnknown => (422, 44_000, "no bags here"),
            FlightError::StorageFailed => (500, 50_000, "something broke"),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = json!({ "ok": false, "fault": { "no": number, "text": text } });
        (status, Json(body)).into_response()
    }
}
