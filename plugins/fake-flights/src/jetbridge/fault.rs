//! Meaning of Jetbridge's errors: the closed lists by which a change may be refused. An error that
//! is not in a change's list leaves its outcome unknown.

use serde::Deserialize;
use stopover_sdk::RefusalReason;
use stopover_sdk::fault::DocumentedErrors;
use stopover_sdk::http::Response;

use crate::fault::{NO_QUOTE_MESSAGE, other_refusal};
use crate::jetbridge::wire;

pub(super) const ERRORS: DocumentedErrors = DocumentedErrors {
    code,
    describe,
    reason,
    is_not_found: |code| matches!(code, NOT_FOUND | FARE_UNKNOWN | PREBOOK_UNKNOWN),
};

const KEY: &str = "40100";
const REQUEST: &str = "40000";
pub(super) const NOT_FOUND: &str = "40400";
const FARE_UNKNOWN: &str = "40410";
const PREBOOK_UNKNOWN: &str = "40420";
const EXPIRED: &str = "41000";
const FARE_GONE: &str = "42200";
const DOCUMENTS_REQUIRED: &str = "43000";
const NOT_PAID: &str = "45014";
const AIRLINE_REFUSED: &str = "45001";
const REFERENCE_USED: &str = "45036";
const NOT_CANCELLABLE: &str = "46001";
const ALREADY_CANCELLED: &str = "46004";
const STATUS: &str = "46006";
/// The airline cannot quote a cancellation.
pub(super) const NO_QUOTE: &str = "49001";

fn describe(code: &str) -> Option<(u16, &'static str)> {
    Some(match code {
        KEY => (401, "Jetbridge does not accept the key."),
        REQUEST => (400, "Jetbridge does not understand the request."),
        NOT_FOUND => (404, "Jetbridge does not know the object or the path."),
        FARE_UNKNOWN => (404, "Jetbridge does not know the fare."),
        PREBOOK_UNKNOWN => (404, "Jetbridge does not know the prebook."),
        EXPIRED => (410, "The fare or the prebook is too old."),
        FARE_GONE => (409, "The fare is gone."),
        DOCUMENTS_REQUIRED => (422, "Every passenger needs a document."),
        NOT_PAID => (402, "The checkout is not completed."),
        AIRLINE_REFUSED => (422, "The airline does not accept the booking."),
        REFERENCE_USED => (409, "The reference was used for another prebook."),
        NOT_CANCELLABLE => (409, "The airline does not cancel the ticket."),
        ALREADY_CANCELLED => (409, "The booking was cancelled before."),
        STATUS => (409, "The booking is not ticketed."),
        NO_QUOTE => (422, NO_QUOTE_MESSAGE),
        _ => return None,
    })
}

fn reason(code: &str) -> RefusalReason {
    match code {
        KEY => RefusalReason::Account,
        REQUEST | DOCUMENTS_REQUIRED => RefusalReason::Invalid,
        FARE_UNKNOWN | PREBOOK_UNKNOWN | EXPIRED => RefusalReason::Expired,
        FARE_GONE => RefusalReason::Unavailable,
        NOT_PAID => RefusalReason::PaymentRequired,
        REFERENCE_USED => RefusalReason::Duplicate,
        NOT_CANCELLABLE | ALREADY_CANCELLED => RefusalReason::NotCancellable,
        AIRLINE_REFUSED => other_refusal("airline-refused"),
        STATUS => other_refusal("status"),
        NO_QUOTE => other_refusal("quote-unavailable"),
        _ => other_refusal("not-found"),
    }
}

pub(super) const PREBOOK: &[&str] = &[
    KEY,
    REQUEST,
    FARE_UNKNOWN,
    EXPIRED,
    FARE_GONE,
    DOCUMENTS_REQUIRED,
];

/// Refusals of a booking. 45036 is not listed: something was booked under this reference, and only
/// a read shows what.
pub(super) const BOOK: &[&str] = &[
    KEY,
    REQUEST,
    PREBOOK_UNKNOWN,
    EXPIRED,
    FARE_GONE,
    NOT_PAID,
    AIRLINE_REFUSED,
];

/// Refusals of a cancellation. 46004 and 46006 are not listed: the booking may be cancelled or
/// being cancelled, and only a read shows which.
pub(super) const CANCEL: &[&str] = &[KEY, REQUEST, NOT_FOUND, NOT_CANCELLABLE];

#[derive(Deserialize)]
struct Document {
    ok: bool,
    fault: wire::Fault,
}

fn code(response: &Response) -> Option<String> {
    let Document { ok, fault } = response.json().ok()?;
    (!ok).then(|| fault.no.to_string())
}
