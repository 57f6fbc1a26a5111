//! Meaning of Lodge's error codes: the closed lists by which a change may be refused. Any other
//! error leaves the outcome of a change unknown.

use serde::Deserialize;
use stopover_sdk::RefusalReason;
use stopover_sdk::fault::DocumentedErrors;
use stopover_sdk::http::Response;

pub(crate) const ERRORS: DocumentedErrors = DocumentedErrors {
    code,
    describe,
    reason,
    is_not_found: |code| code == NOT_FOUND,
};

pub(crate) const NOT_FOUND: &str = "NOT_FOUND";
pub(crate) const PREVIEW_NOT_OFFERED: &str = "PREVIEW_NOT_OFFERED";

fn describe(code: &str) -> Option<(u16, &'static str)> {
    Some(match code {
        "UNAUTHORIZED" => (401, "Lodge does not accept the key."),
        "INVALID_REQUEST" => (400, "Lodge does not understand the request."),
        NOT_FOUND => (404, "No such object or path."),
        "RATE_UNKNOWN" => (404, "Lodge does not know the rate."),
        "PREBOOK_UNKNOWN" => (404, "Lodge does not know the prebook."),
        "RATE_EXPIRED" => (410, "The rate is too old."),
        "PREBOOK_EXPIRED" => (410, "The prebook is too old."),
        "SOLD_OUT" => (409, "The last room is sold."),
        "PREBOOK_USED" => (409, "The prebook was booked under another reference."),
        "DUPLICATE_CLIENT_REF" => (409, "A booking with this reference exists."),
        "PRICE_MISMATCH" => (409, "The total differs from the prebook's."),
        "INVALID_GUESTS" => (422, "The guests do not fit the rooms."),
        "BOOKING_REFUSED" => (422, "The hotel does not accept the booking."),
        "NOT_CANCELLABLE" => (409, "The booking cannot be cancelled now."),
        "ALREADY_CANCELLED" => (409, "Nothing is left to cancel."),
        "ROOMS_NOT_SEPARABLE" => (422, "The hotel cancels whole bookings only."),
        PREVIEW_NOT_OFFERED => (404, "The hotel does not preview cancellations."),
        "TOO_MANY_REQUESTS" => (429, "Lodge's rate limit is reached."),
        "SUPPLIER_FAILURE" => (500, "Lodge had an internal failure."),
        _ => return None,
    })
}

fn reason(code: &str) -> RefusalReason {
    match code {
        "UNAUTHORIZED" => RefusalReason::Account,
        "INVALID_REQUEST" | "INVALID_GUESTS" => RefusalReason::Invalid,
        "SOLD_OUT" => RefusalReason::Unavailable,
        "RATE_UNKNOWN" | "PREBOOK_UNKNOWN" | "RATE_EXPIRED" | "PREBOOK_EXPIRED" => {
            RefusalReason::Expired
        }
        "PREBOOK_USED" => RefusalReason::Duplicate,
        "NOT_CANCELLABLE" | "ALREADY_CANCELLED" | "ROOMS_NOT_SEPARABLE" => {
            RefusalReason::NotCancellable
        }
        other => RefusalReason::Other(other.to_lowercase().replace('_', "-")),
    }
}

/// Refusals of a prebook.
pub(crate) const PREBOOK: &[&str] = &[
    "UNAUTHORIZED",
    "INVALID_REQUEST",
    "RATE_UNKNOWN",
    "RATE_EXPIRED",
    "SOLD_OUT",
];

/// Refusals of a booking. `DUPLICATE_CLIENT_REF` is not listed: something was booked under this
/// reference, and only a read shows what.
pub(crate) const BOOK: &[&str] = &[
    "UNAUTHORIZED",
    "INVALID_REQUEST",
    "PREBOOK_UNKNOWN",
    "PREBOOK_EXPIRED",
    "PREBOOK_USED",
    "PRICE_MISMATCH",
    "INVALID_GUESTS",
    "BOOKING_REFUSED",
];

/// Refusals of a cancellation. `ALREADY_CANCELLED` is not listed: only a read shows what was
/// cancelled.
pub(crate) const CANCEL: &[&str] = &[
    "UNAUTHORIZED",
    "INVALID_REQUEST",
    NOT_FOUND,
    "NOT_CANCELLABLE",
    "ROOMS_NOT_SEPARABLE",
];

#[derive(Deserialize)]
struct Document {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
}

fn code(response: &Response) -> Option<String> {
    let Document { error } = response.json().ok()?;
    Some(error.code)
}
