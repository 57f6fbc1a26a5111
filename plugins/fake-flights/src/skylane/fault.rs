//! Meaning of Skylane's errors: the closed lists by which a change may be refused. An error that is
//! not in a change's list leaves its outcome unknown.

use serde::Deserialize;
use stopover_sdk::RefusalReason;
use stopover_sdk::http::Response;

use crate::fault::{DocumentedFaults, Fault, other};

const UNAUTHORIZED: Fault = Fault {
    code: "unauthorized",
    status: 401,
    reason: || RefusalReason::Account,
    message: "Skylane does not accept the key.",
};
const INVALID_REQUEST: Fault = Fault {
    code: "invalid_request",
    status: 400,
    reason: || RefusalReason::Invalid,
    message: "Skylane does not understand the request.",
};
const NOT_FOUND: Fault = Fault {
    code: "not_found",
    status: 404,
    reason: || other("not-found"),
    message: "Skylane does not know the object or the path.",
};
const OFFER_UNKNOWN: Fault = Fault {
    code: "offer_unknown",
    status: 404,
    reason: || RefusalReason::Expired,
    message: "Skylane does not know the offer.",
};
const OFFER_EXPIRED: Fault = Fault {
    code: "offer_expired",
    status: 410,
    reason: || RefusalReason::Expired,
    message: "The offer is too old.",
};
const OFFER_GONE: Fault = Fault {
    code: "offer_gone",
    status: 422,
    reason: || RefusalReason::Unavailable,
    message: "The last seat is sold.",
};
const DOCUMENTS_REQUIRED: Fault = Fault {
    code: "documents_required",
    status: 422,
    reason: || RefusalReason::Invalid,
    message: "Every passenger needs a document.",
};
const AMOUNT_MISMATCH: Fault = Fault {
    code: "amount_mismatch",
    status: 422,
    reason: || other("amount-mismatch"),
    message: "The payment differs from the price.",
};
const OFFER_ALREADY_BOOKED: Fault = Fault {
    code: "offer_already_booked",
    status: 422,
    reason: || RefusalReason::Duplicate,
    message: "The offer was ordered under another reference.",
};
const DUPLICATE_CLIENT_REF: Fault = Fault {
    code: "duplicate_client_ref",
    status: 409,
    reason: || RefusalReason::Duplicate,
    message: "Something was done under this reference before.",
};
const AIRLINE_REFUSED: Fault = Fault {
    code: "airline_refused",
    status: 422,
    reason: || other("airline-refused"),
    message: "The airline does not accept the order.",
};
const NOT_CANCELLABLE: Fault = Fault {
    code: "not_cancellable",
    status: 409,
    reason: || RefusalReason::NotCancellable,
    message: "The airline does not cancel the ticket.",
};
const ALREADY_CANCELLED: Fault = Fault {
    code: "already_cancelled",
    status: 409,
    reason: || RefusalReason::NotCancellable,
    message: "The order was cancelled before.",
};
const QUOTE_UNAVAILABLE: Fault = Fault {
    code: "quote_unavailable",
    status: 422,
    reason: || other("quote-unavailable"),
    message: "The airline cannot quote the cancellation.",
};
const ORDER_STATE: Fault = Fault {
    code: "order_state",
    status: 409,
    reason: || other("order-state"),
    message: "The order is not ticketed.",
};
const BAGS_REFUSED: Fault = Fault {
    code: "bags_refused",
    status: 422,
    reason: || other("bags-refused"),
    message: "The airline does not sell these bags.",
};
const BAG_UNKNOWN: Fault = Fault {
    code: "bag_unknown",
    status: 422,
    reason: || RefusalReason::Unavailable,
    message: "There is no such bag for sale.",
};

/// The documented errors of Skylane.
pub(super) const DOCUMENTED_FAULTS: DocumentedFaults = DocumentedFaults {
    documented: &[
        &UNAUTHORIZED,
        &INVALID_REQUEST,
        &NOT_FOUND,
        &OFFER_UNKNOWN,
        &OFFER_EXPIRED,
        &OFFER_GONE,
        &DOCUMENTS_REQUIRED,
        &AMOUNT_MISMATCH,
        &OFFER_ALREADY_BOOKED,
        &DUPLICATE_CLIENT_REF,
        &AIRLINE_REFUSED,
        &NOT_CANCELLABLE,
        &ALREADY_CANCELLED,
        &QUOTE_UNAVAILABLE,
        &ORDER_STATE,
        &BAGS_REFUSED,
        &BAG_UNKNOWN,
    ],
    code,
    not_found: &NOT_FOUND,
    no_quote: &QUOTE_UNAVAILABLE,
};

pub(super) const PREBOOK: &[&Fault] = &[
    &UNAUTHORIZED,
    &INVALID_REQUEST,
    &OFFER_UNKNOWN,
    &OFFER_EXPIRED,
    &OFFER_GONE,
];

/// Refusals of an order. `duplicate_client_ref` is not listed: something was ordered under this
/// reference, and only a read shows what.
pub(super) const BOOK: &[&Fault] = &[
    &UNAUTHORIZED,
    &INVALID_REQUEST,
    &OFFER_UNKNOWN,
    &OFFER_EXPIRED,
    &OFFER_GONE,
    &DOCUMENTS_REQUIRED,
    &AMOUNT_MISMATCH,
    &OFFER_ALREADY_BOOKED,
    &AIRLINE_REFUSED,
];

/// Refusals of a cancellation. `already_cancelled` and `order_state` are not listed: the order may
/// be cancelled or being cancelled, and only a read shows which.
pub(super) const CANCEL: &[&Fault] = &[
    &UNAUTHORIZED,
    &INVALID_REQUEST,
    &NOT_FOUND,
    &NOT_CANCELLABLE,
];

/// Refusals of a purchase of bags. `duplicate_client_ref` is not listed, for the same reason as in
/// [`BOOK`].
pub(super) const BUY: &[&Fault] = &[
    &UNAUTHORIZED,
    &INVALID_REQUEST,
    &NOT_FOUND,
    &AMOUNT_MISMATCH,
    &ORDER_STATE,
    &BAGS_REFUSED,
    &BAG_UNKNOWN,
];

#[derive(Deserialize)]
struct Document {
    errors: [Problem; 1],
}

#[derive(Deserialize)]
struct Problem {
    code: String,
}

fn code(response: &Response) -> Option<String> {
    let Document { errors: [problem] } = response.json().ok()?;
    Some(problem.code)
}
