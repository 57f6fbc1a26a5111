//! Error responses of Jetbridge.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

use crate::flight::problem::Problem;

pub(super) struct Refusal(pub(super) Problem);

impl<P: Into<Problem>> From<P> for Refusal {
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        const CONFLICT: StatusCode = StatusCode::CONFLICT;
        const UNPROCESSABLE: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
        let (status, number, text) = match &self.0 {
            Problem::Unauthorized => (StatusCode::UNAUTHORIZED, 40_100, "token not known"),
            Problem::Invalid(what) => (StatusCode::BAD_REQUEST, 40_000, what.as_str()),
            Problem::NotFound => (StatusCode::NOT_FOUND, 40_400, "not found"),
            Problem::OfferUnknown => (StatusCode::NOT_FOUND, 40_410, "unknown fareKey"),
            Problem::PrebookUnknown => (StatusCode::NOT_FOUND, 40_420, "unknown prebookId"),
            Problem::OfferExpired | Problem::PrebookExpired => {
                (StatusCode::GONE, 41_000, "validUntil has passed")
            }
            Problem::OfferSoldOut => (CONFLICT, 42_200, "fare is gone"),
            Problem::DocumentsRequired => (UNPROCESSABLE, 43_000, "documents are required"),
            Problem::Unpaid => (
                StatusCode::PAYMENT_REQUIRED,
                45_014,
                "checkout is not completed",
            ),
            Problem::RejectedByAirline => (UNPROCESSABLE, 45_001, "refused by the airline"),
            Problem::DuplicateReference | Problem::OfferAlreadyBooked => {
                (CONFLICT, 45_036, "clientRef was used before")
            }
            Problem::NotCancellable => (CONFLICT, 46_001, "not cancellable"),
            Problem::AlreadyCancelled => (CONFLICT, 46_004, "cancelled already"),
            Problem::WrongState | Problem::AmountMismatch => {
                (CONFLICT, 46_006, "not in this status")
            }
            Problem::QuoteUnavailable => (UNPROCESSABLE, 49_001, "the airline cannot quote"),
            Problem::BagsRefused | Problem::BagUnknown => (UNPROCESSABLE, 44_000, "no bags here"),
            Problem::StorageFailed => {
                (StatusCode::INTERNAL_SERVER_ERROR, 50_000, "something broke")
            }
        };
        let body = json!({ "ok": false, "fault": { "no": number, "text": text } });
        (status, Json(body)).into_response()
    }
}
