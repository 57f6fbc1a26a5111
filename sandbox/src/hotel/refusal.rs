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

#[derive(Debug)]
pub(super) enum LodgeError {
    Unauthorized,
    Invalid(String),
    NotFound(&'static str),
    RateUnknown,
    PrebookUnknown,
    RateExpired,
    PrebookExpired,
    SoldOut,
    PrebookUsed,
    DuplicateClientRef,
    PriceMismatch,
    InvalidGuests(String),
    BookingRefused,
    NotCancellable,
    AlreadyCancelled,
    RoomsNotSeparable,
    PreviewNotOffered,
    TooManyRequests,
    Failure,
}

impl LodgeError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_)
            | Self::RateUnknown
            | Self::PrebookUnknown
            | Self::PreviewNotOffered => StatusCode::NOT_FOUND,
            Self::RateExpired | Self::PrebookExpired => StatusCode::GONE,
            Self::SoldOut
            | Self::PrebookUsed
            | Self::DuplicateClientRef
            | Self::PriceMismatch
            | Self::NotCancellable
            | Self::AlreadyCancelled => StatusCode::CONFLICT,
            Self::InvalidGuests(_) | Self::BookingRefused | Self::RoomsNotSeparable => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Failure => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the code and the message of an error.
    fn words(&self) -> (&'static str, &str) {
        match self {
            Self::Unauthorized => ("UNAUTHORIZED", "The key in x-lodge-key is not known."),
            Self::Invalid(what) => ("INVALID_REQUEST", what),
            Self::NotFound(what) => ("NOT_FOUND", what),
            Self::RateUnknown => ("RATE_UNKNOWN", "There is no such rate."),
            Self::PrebookUnknown => ("PREBOOK_UNKNOWN", "There is no such prebook."),
            Self::RateExpired => ("RATE_EXPIRED", "The rate is too old."),
            Self::PrebookExpired => ("PREBOOK_EXPIRED", "The prebook is too old."),
            Self::SoldOut => ("SOLD_OUT", "The last room was just sold."),
            Self::PrebookUsed => (
                "PREBOOK_USED",
                "The prebook was booked under another client_ref.",
            ),
            Self::DuplicateClientRef => (
                "DUPLICATE_CLIENT_REF",
                "This client_ref was used before; read the booking.",
            ),
            Self::PriceMismatch => ("PRICE_MISMATCH", "expected_total is not the total."),
            Self::InvalidGuests(what) => ("INVALID_GUESTS", what),
            Self::BookingRefused => ("BOOKING_REFUSED", "The hotel does not accept this."),
            Self::NotCancellable => ("NOT_CANCELLABLE", "This cannot be cancelled now."),
            Self::AlreadyCancelled => ("ALREADY_CANCELLED", "Nothing is left to cancel."),
            Self::RoomsNotSeparable => (
                "ROOMS_NOT_SEPARABLE",
                "This hotel cancels whole bookings only.",
            ),
            Self::PreviewNotOffered => (
                "PREVIEW_NOT_OFFERED",
                "This hotel has no preview: see the booking's terms.",
            ),
            Self::TooManyRequests => ("TOO_MANY_REQUESTS", "The limit is reached."),
            Self::Failure => ("SUPPLIER_FAILURE", "Something broke."),
        }
    }
}

impl IntoResponse for LodgeError {
    fn into_response(self) -> Response {
        let (code, message) = self.words();
        let body = Json(json!({ "error": { "code": code, "message": message } }));
        let mut response = (self.status(), body).into_response();
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
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
