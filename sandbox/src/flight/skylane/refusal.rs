//! Error responses of Skylane.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde_json::json;

use crate::flight::problem::FlightError;

pub(super) struct SkylaneError(pub(super) FlightError);

impl<P: Into<FlightError>> From<P> for SkylaneError {
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for SkylaneError {
    fn into_response(self) -> Response {
        let (code, title) = words(&self.0);
        let detail = match &self.0 {
            FlightError::Invalid(what) => what.as_str(),
            _ => title,
        };
        let error = json!({ "code": code, "title": title, "detail": detail });
        (status(&self.0), Json(json!({ "errors": [error] }))).into_response()
    }
}

fn status(problem: &FlightError) -> StatusCode {
    match problem {
        FlightError::Unauthorized => StatusCode::UNAUTHORIZED,
        FlightError::Invalid(_) => StatusCode::BAD_REQUEST,
        FlightError::NotFound | FlightError::PrebookUnknown | FlightError::OfferUnknown => {
            StatusCode::NOT_FOUND
        }
        FlightError::OfferExpired | FlightError::PrebookExpired => StatusCode::GONE,
        FlightError::DuplicateReference
        | FlightError::Unpaid
        | FlightError::WrongState
        | FlightError::NotCancellable
        | FlightError::AlreadyCancelled => StatusCode::CONFLICT,
        FlightError::OfferSoldOut
        | FlightError::DocumentsRequired
        | FlightError::AmountMismatch
        | FlightError::OfferAlreadyBooked
        | FlightError::RejectedByAirline
        | FlightError::QuoteUnavailable
        | FlightError::BagsRefused
        | FlightError::BagUnknown => StatusCode::UNPROCESSABLE_ENTITY,
        FlightError::StorageFailed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the code and the title of an error.
fn words(problem: &FlightError) -> (&'static str, &'static str) {
    match problem {
        FlightError::Unauthorized => ("unauthorized", "The token is missing or not known"),
        FlightError::Invalid(_) => ("invalid_request", "The request is not understood"),
        FlightError::NotFound | FlightError::PrebookUnknown => {
            ("not_found", "The object does not exist")
        }
        FlightError::OfferUnknown => ("offer_unknown", "There is no such offer"),
        FlightError::OfferExpired | FlightError::PrebookExpired => {
            ("offer_expired", "The offer is too old")
        }
        FlightError::OfferSoldOut => ("offer_gone", "The last seat was just sold"),
        FlightError::DocumentsRequired => {
            ("documents_required", "Every traveller needs a document")
        }
        FlightError::AmountMismatch => ("amount_mismatch", "The payment differs from the price"),
        FlightError::OfferAlreadyBooked => {
            ("offer_already_booked", "This offer already has an order")
        }
        FlightError::DuplicateReference => {
            ("duplicate_client_ref", "This client_ref was used before")
        }
        FlightError::Unpaid | FlightError::WrongState => {
            ("order_state", "The order's state forbids this")
        }
        FlightError::RejectedByAirline => {
            ("airline_refused", "The airline does not accept this order")
        }
        FlightError::NotCancellable => {
            ("not_cancellable", "The airline does not cancel this ticket")
        }
        FlightError::AlreadyCancelled => ("already_cancelled", "The order is cancelled already"),
        FlightError::QuoteUnavailable => ("quote_unavailable", "The airline cannot quote this"),
        FlightError::BagsRefused => ("bags_refused", "The airline does not sell these bags"),
        FlightError::BagUnknown => ("bag_unknown", "There is no such bag for sale"),
        FlightError::StorageFailed => ("internal", "Something broke"),
    }
}
