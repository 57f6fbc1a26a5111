//! Error responses of Skylane.

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
        let (code, title) = words(&self.0);
        let detail = match &self.0 {
            Problem::Invalid(what) => what.as_str(),
            _ => title,
        };
        let error = json!({ "code": code, "title": title, "detail": detail });
        (status(&self.0), Json(json!({ "errors": [error] }))).into_response()
    }
}

fn status(problem: &Problem) -> StatusCode {
    match problem {
        Problem::Unauthorized => StatusCode::UNAUTHORIZED,
        Problem::Invalid(_) => StatusCode::BAD_REQUEST,
        Problem::NotFound | Problem::PrebookUnknown | Problem::OfferUnknown => {
            StatusCode::NOT_FOUND
        }
        Problem::OfferExpired | Problem::PrebookExpired => StatusCode::GONE,
        Problem::DuplicateReference
        | Problem::Unpaid
        | Problem::WrongState
        | Problem::NotCancellable
        | Problem::AlreadyCancelled => StatusCode::CONFLICT,
        Problem::OfferSoldOut
        | Problem::DocumentsRequired
        | Problem::AmountMismatch
        | Problem::OfferAlreadyBooked
        | Problem::RejectedByAirline
        | Problem::QuoteUnavailable
        | Problem::BagsRefused
        | Problem::BagUnknown => StatusCode::UNPROCESSABLE_ENTITY,
        Problem::StorageFailed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Returns the code and the title of an error.
fn words(problem: &Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::Unauthorized => ("unauthorized", "The token is missing or not known"),
        Problem::Invalid(_) => ("invalid_request", "The request is not understood"),
        Problem::NotFound | Problem::PrebookUnknown => ("not_found", "The object does not exist"),
        Problem::OfferUnknown => ("offer_unknown", "There is no such offer"),
        Problem::OfferExpired | Problem::PrebookExpired => {
            ("offer_expired", "The offer is too old")
        }
        Problem::OfferSoldOut => ("offer_gone", "The last seat was just sold"),
        Problem::DocumentsRequired => ("documents_required", "Every traveller needs a document"),
        Problem::AmountMismatch => ("amount_mismatch", "The payment differs from the price"),
        Problem::OfferAlreadyBooked => ("offer_already_booked", "This offer already has an order"),
        Problem::DuplicateReference => ("duplicate_client_ref", "This client_ref was used before"),
        Problem::Unpaid | Problem::WrongState => ("order_state", "The order's state forbids this"),
        Problem::RejectedByAirline => ("airline_refused", "The airline does not accept this order"),
        Problem::NotCancellable => ("not_cancellable", "The airline does not cancel this ticket"),
        Problem::AlreadyCancelled => ("already_cancelled", "The order is cancelled already"),
        Problem::QuoteUnavailable => ("quote_unavailable", "The airline cannot quote this"),
        Problem::BagsRefused => ("bags_refused", "The airline does not sell these bags"),
        Problem::BagUnknown => ("bag_unknown", "There is no such bag for sale"),
        Problem::StorageFailed => ("internal", "Something broke"),
    }
}
