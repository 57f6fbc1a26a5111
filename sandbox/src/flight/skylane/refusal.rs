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
        let (status, code, title) = status_code_and_title(&self.0);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let detail = match &self.0 {
            FlightError::Invalid(what) => what.as_str(),
            _ => title,
        };
        let error = json!({ "code": code, "title": title, "detail": detail });
        (status, Json(json!({ "errors": [error] }))).into_response()
    }
}

fn status_code_and_title(problem: &FlightError) -> (u16, &'static str, &'static str) {
    use FlightError as Error;
    match problem {
        Error::Unauthorized => (401, "unauthorized", "The token is missing or not known"),
        Error::Invalid(_) => (400, "invalid_request", "The request is not understood"),
        Error::NotFound | Error::PrebookUnknown => (404, "not_found", "The object does not exist"),
        Error::OfferUnknown => (404, "offer_unknown", "There is no such offer"),
        Error::OfferExpired | Error::PrebookExpired => {
            (410, "offer_expired", "The offer is too old")
        }
        Error::OfferSoldOut => (422, "offer_gone", "The last seat was just sold"),
        Error::DocumentsRequired => (
            422,
            "documents_required",
            "Every traveller needs a document",
        ),
        Error::AmountMismatch => (422, "amount_mismatch", "The payment differs from the price"),
        Error::OfferAlreadyBooked => (
            422,
            "offer_already_booked",
            "This offer already has an order",
        ),
        Error::DuplicateReference => (
            409,
            "duplicate_client_ref",
            "This client_ref was used before",
        ),
        Error::Unpaid | Error::WrongState => (409, "order_state", "The order's state forbids this"),
        Error::RejectedByAirline => (
            422,
            "airline_refused",
            "The airline does not accept this order",
        ),
        Error::NotCancellable => (
            409,
            "not_cancellable",
            "The airline does not cancel this ticket",
        ),
        Error::AlreadyCancelled => (409, "already_cancelled", "The order is cancelled already"),
        Error::QuoteUnavailable => (422, "quote_unavailable", "The airline cannot quote this"),
        Error::BagsRefused => (422, "bags_refused", "The airline does not sell these bags"),
        Error::BagUnknown => (422, "bag_unknown", "There is no such bag for sale"),
        Error::StorageFailed => (500, "internal", "Something broke"),
    }
}
