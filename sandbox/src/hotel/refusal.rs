//! All error responses of Lodge and their format.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::journal::JournalClosed;

/// Value of `retry-after` for a rate-limited calendar, in seconds.
const RETRY_AFTER_S: HeaderValue = HeaderValue::from_static("30");

pub(super) type LodgeResult<T = Response> = Result<T, LodgeError>;

#[derive(Debug, thiserror::Error)]
pub(super) enum LodgeError {
    #[error("The key in x-lodge-key is not known.")]
    Unauthorized,
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    NotFound(&'static str),
    #[error("There is no such rate.")]
    RateUnknown,
    #[error("There is no such prebook.")]
    PrebookUnknown,
    #[error("The rate is too old.")]
    RateExpired,
    #[error("The prebook is too old.")]
    PrebookExpired,
    #[error("The last room was just sold.")]
    SoldOut,
    #[error("The prebook was booked under another client_ref.")]
    PrebookUsed,
    #[error("This client_ref was used before; read the booking.")]
    DuplicateClientRef,
    #[error("expected_total is not the total.")]
    PriceMismatch,
    #[error("{0}")]
    InvalidGuests(String),
    #[error("The hotel does not accept this.")]
    BookingRefused,
    #[error("This cannot be cancelled now.")]
    NotCancellable,
    #[error("Nothing is left to cancel.")]
    AlreadyCancelled,
    #[error("This hotel cancels whole bookings only.")]
    RoomsNotSeparable,
    #[error("This hotel has no preview: see the booking's terms.")]
    PreviewNotOffered,
    #[error("The limit is reached.")]
    TooManyRequests,
    #[error("Something broke.")]
    Failure,
}

impl LodgeError {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "UNAUTHORIZED"),
            Self::Invalid(_) => (StatusCode::BAD_REQUEST, "INVALID_REQUEST"),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "NOT_FOUND"),
            Self::RateUnknown => (StatusCode::NOT_FOUND, "RATE_UNKNOWN"),
            Self::PrebookUnknown => (StatusCode::NOT_FOUND, "PREBOOK_UNKNOWN"),
            Self::RateExpired => (StatusCode::GONE, "RATE_EXPIRED"),
            Self::PrebookExpired => (StatusCode::GONE, "PREBOOK_EXPIRED"),
            Self::SoldOut => (StatusCode::CONFLICT, "SOLD_OUT"),
            Self::PrebookUsed => (StatusCode::CONFLICT, "PREBOOK_USED"),
            Self::DuplicateClientRef => (StatusCode::CONFLICT, "DUPLICATE_CLIENT_REF"),
            Self::PriceMismatch => (StatusCode::CONFLICT, "PRICE_MISMATCH"),
            Self::InvalidGuests(_) => (StatusCode::UNPROCESSABLE_ENTITY, "INVALID_GUESTS"),
            Self::BookingRefused => (StatusCode::UNPROCESSABLE_ENTITY, "BOOKING_REFUSED"),
            Self::NotCancellable => (StatusCode::CONFLICT, "NOT_CANCELLABLE"),
            Self::AlreadyCancelled => (StatusCode::CONFLICT, "ALREADY_CANCELLED"),
            Self::RoomsNotSeparable => (StatusCode::UNPROCESSABLE_ENTITY, "ROOMS_NOT_SEPARABLE"),
            Self::PreviewNotOffered => (StatusCode::NOT_FOUND, "PREVIEW_NOT_OFFERED"),
            Self::TooManyRequests => (StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS"),
            Self::Failure => (StatusCode::INTERNAL_SERVER_ERROR, "SUPPLIER_FAILURE"),
        }
    }
}

impl IntoResponse for LodgeError {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        let body = json!({ "error": { "code": code, "message": self.to_string() } });
        let mut response = (status, Json(body)).into_response();
        if status == StatusCode::TOO_MANY_REQUESTS {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, RETRY_AFTER_S);
        }
        response
    }
}

/// Converts the description of an invalid request into a refusal.
impl From<String> for LodgeError {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}

impl From<JournalClosed> for LodgeError {
    fn from(_: JournalClosed) -> Self {
        Self::Failure
    }
}
