//! Meaning of Jetbridge's errors: the closed lists by which a change may be refused. An error that
//! is not in a change's list leaves its outcome unknown.

use serde::Deserialize;
use stopover_sdk::RefusalReason;
use stopover_sdk::http::Response;

use crate::fault::{DocumentedFaults, Fault, other};
use crate::jetbridge::wire;

const KEY: Fault = Fault {
    code: "40100",
    status: 401,
    reason: || RefusalReason::Account,
    message: "Jetbridge does not accept the key.",
};
const REQUEST: Fault = Fault {
    code: "40000",
    status: 400,
    reason: || RefusalReason::Invalid,
    message: "Jetbridge does not understand the request.",
};
const NOT_FOUND: Fault = Fault {
    code: "40400",
    status: 404,
    reason: || other("not-found"),
    message: "Jetbridge does not know the object or the path.",
};
const FARE_UNKNOWN: Fault = Fault {
    code: "40410",
    status: 404,
    reason: || RefusalReason::Expired,
    message: "Jetbridge does not know the fare.",
};
const PREBOOK_UNKNOWN: Fault = Fault {
    code: "40420",
    status: 404,
    reason: || RefusalReason::Expired,
    message: "Jetbridge does not know the prebook.",
};
const EXPIRED: Fault = Fault {
    code: "41000",
    status: 410,
    reason: || RefusalReason::Expired,
    message: "The fare or the prebook is too old.",
};
const FARE_GONE: Fault = Fault {
    code: "42200",
    status: 409,
    reason: || RefusalReason::Unavailable,
    message: "The fare is gone.",
};
const DOCUMENTS_REQUIRED: Fault = Fault {
    code: "43000",
    status: 422,
    reason: || RefusalReason::Invalid,
    message: "Every passenger needs a document.",
};
const NOT_PAID: Fault = Fault {
    code: "45014",
    status: 402,
    reason: || RefusalReason::PaymentRequired,
    message: "The checkout is not completed.",
};
const AIRLINE_REFUSED: Fault = Fault {
    code: "45001",
    status: 422,
    reason: || other("airline-refused"),
    message: "The airline does not accept the booking.",
};
const REFERENCE_USED: Fault = Fault {
    code: "45036",
    status: 409,
    reason: || RefusalReason::Duplicate,
    message: "The reference was used for another prebook.",
};
const NOT_CANCELLABLE: Fault = Fault {
    code: "46001",
    status: 409,
    reason: || RefusalReason::NotCancellable,
    message: "The airline does not cancel the ticket.",
};
const ALREADY_CANCELLED: Fault = Fault {
    code: "46004",
    status: 409,
    reason: || RefusalReason::NotCancellable,
    message: "The booking was cancelled before.",
};
const STATUS: Fault = Fault {
    code: "46006",
    status: 409,
    reason: || other("status"),
    message: "The booking is not ticketed.",
};
const NO_QUOTE: Fault = Fault {
    code: "49001",
    status: 422,
    reason: || other("quote-unavailable"),
    message: "The airline cannot quote the cancellation.",
};

/// The documented errors of Jetbridge.
pub(super) const DOCUMENTED_FAULTS: DocumentedFaults = DocumentedFaults {
    documented: &[
        &KEY,
        &REQUEST,
        &NOT_FOUND,
        &FARE_UNKNOWN,
        &PREBOOK_UNKNOWN,
        &EXPIRED,
        &FARE_GONE,
        &DOCUMENTS_REQUIRED,
        &NOT_PAID,
        &AIRLINE_REFUSED,
        &REFERENCE_USED,
        &NOT_CANCELLABLE,
        &ALREADY_CANCELLED,
        &STATUS,
        &NO_QUOTE,
    ],
    code,
    not_found: &NOT_FOUND,
    no_quote: &NO_QUOTE,
};

pub(super) const PREBOOK: &[&Fault] = &[
    &KEY,
    &REQUEST,
    &FARE_UNKNOWN,
    &EXPIRED,
    &FARE_GONE,
    &DOCUMENTS_REQUIRED,
];

/// Refusals of a booking. 45036 is not listed: something was booked under this reference, and only
/// a read shows what.
pub(super) const BOOK: &[&Fault] = &[
    &KEY,
    &REQUEST,
    &PREBOOK_UNKNOWN,
    &EXPIRED,
    &FARE_GONE,
    &NOT_PAID,
    &AIRLINE_REFUSED,
];

/// Refusals of a cancellation. 46004 and 46006 are not listed: the booking may be cancelled or
/// being cancelled, and only a read shows which.
pub(super) const CANCEL: &[&Fault] = &[&KEY, &REQUEST, &NOT_FOUND, &NOT_CANCELLABLE];

#[derive(Deserialize)]
struct Document {
    ok: bool,
    fault: wire::Fault,
}

fn code(response: &Response) -> Option<String> {
    let Document { ok, fault } = response.json().ok()?;
    (!ok).then(|| fault.no.to_string())
}
