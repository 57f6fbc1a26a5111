//! Error responses of Skylane.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

use crate::flight::problem::FlightError;

pub(super) type SkylaneResult<T = Response> = Result<T, SkylaneError>;

pub(super) struct SkylaneError(pub(super) FlightError);

impl<P: Into<FlightError>> From<P> for SkylaneError {
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for SkylaneError {
    fn into_response(self) -> Response {
        let (status, code) = status_and_code(&self.0);
        let title = title(&self.0);
        let detail = match &self.0 {
            FlightError::Invalid(what) => what.as_str(),
            _ => title,
        };
        let error = json!({ "code": code, "title": title, "detail": detail });
        (status, Json(json!({ "errors": [error] }))).into_response()
    }
}

fn status_and_code(problem: &FlightError) -> (StatusCode, &'static str) {
    const UNPROCESSABLE: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
    match problem {
        FlightError::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
        FlightError::Invalid(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
        FlightError::NotFound | FlightError::PrebookUnknown => (StatusCode::NOT_FOUND, "not_found"),
        FlightError::OfferUnknown => (StatusCode::NOT_FOUND, "offer_unknown"),
        FlightError::OfferExpired | FlightError::PrebookExpired => {
            (StatusCode::GONE, "offer_expired")
        }
        FlightError::OfferSoldOut => (UNPROCESSABLE, "offer_gone"),
        FlightError::DocumentsRequired => (UNPROCESSABLE, "documents_required"),
        FlightError::AmountMismatch => (UNPROCESSABLE, "amount_mismatch"),
        FlightError::OfferAlreadyBooked => (UNPROCESSABLE, "offer_already_booked"),
        FlightError::DuplicateReference => (StatusCode::CONFLICT, "duplicate_client_ref"),
        FlightError::Unpaid | FlightError::WrongState => (StatusCode::CONFLICT, "order_state"),
        FlightError::RejectedByAirline => (UNPROCESSABLE, "airline_refused"),
        FlightError::NotCancellable => (StatusCode::CONFLICT, "not_cancellable"),
        FlightError::AlreadyCancelled => (StatusCode::CONFLICT, "already_cancelled"),
        FlightError::QuoteUnavailable => (UNPROCESSABLE, "quote_unavailable"),
        FlightError::BagsRefused => (UNPROCESSABLE, "bags_refused"),
        FlightError::BagUnknown => (UNPROCESSABLE, "bag_unknown"),
        FlightError::StorageFailed => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

fn title(problem: &FlightError) -> &'static str {
    match problem {
        FlightError::Unauthorized => "The token is missing or not known",
        FlightError::Invalid(_) => "The request is not understood",
        FlightError::NotFound | FlightError::PrebookUnknown => "The object does not exist",
        FlightError::OfferUnknown => "There is no such offer",
        FlightError::OfferExpired | FlightError::PrebookExpired => "The offer is too old",
        FlightError::OfferSoldOut => "The last seat was just sold",
        FlightError::DocumentsRequired => "Every traveller needs a document",
        FlightError::AmountMismatch => "The payment differs from the price",
        FlightError::OfferAlreadyBooked => "This offer already has an order",
        FlightError::DuplicateReference => "This client_ref was used before",
        FlightError::Unpaid | FlightError::WrongState => "The order's state forbids this",
        FlightError::RejectedByAirline => "The airline does not accept this order",
        FlightError::NotCancellable => "The airline does not cancel this ticket",
        FlightError::AlreadyCancelled => "The order is cancelled already",
        FlightError::QuoteUnavailable => "The airline cannot quote this",
        FlightError::BagsRefused => "The airline does not sell these bags",
        FlightError::BagUnknown => "There is no such bag for sale",
        FlightError::StorageFailed => "Something broke",
    }
}
