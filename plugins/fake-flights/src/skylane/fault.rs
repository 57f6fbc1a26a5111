//! Meaning of Skylane's errors: the closed lists by which a change may be refused. An error that is
//! not in a change's list leaves its outcome unknown.

use serde::Deserialize;
use stopover_sdk::RefusalReason;
use stopover_sdk::fault::DocumentedErrors;
use stopover_sdk::http::Response;

use crate::fault::{NO_QUOTE_MESSAGE, other_refusal};

pub(super) const ERRORS: DocumentedErrors = DocumentedErrors {
    code,
    describe,
    reason,
    is_not_found: |code| matches!(code, NOT_FOUND | "offer_unknown"),
};

pub(super) const NOT_FOUND: &str = "not_found";
/// The airline cannot quote a cancellation.
pub(super) const NO_QUOTE: &str = "quote_unavailable";

fn describe(code: &str) -> Option<(u16, &'static str)> {
    Some(match code {
        "unauthorized" => (401, "Skylane does not accept the key."),
        "invalid_request" => (400, "Skylane does not understand the request."),
        NOT_FOUND => (404, "Skylane does not know the object or the path."),
        "offer_unknown" => (404, "Skylane does not know the offer."),
        "offer_expired" => (410, "The offer is too old."),
        "offer_gone" => (422, "The last seat is sold."),
        "documents_required" => (422, "Every passenger needs a document."),
        "amount_mismatch" => (422, "The payment differs from the price."),
        "offer_already_booked" => (422, "The offer was ordered under another reference."),
        "duplicate_client_ref" => (409, "Something was done under this reference before."),
        "airline_refused" => (422, "The airline does not accept the order."),
        "not_cancellable" => (409, "The airline does not cancel the ticket."),
        "already_cancelled" => (409, "The order was cancelled before."),
        NO_QUOTE => (422, NO_QUOTE_MESSAGE),
        "order_state" => (409, "The order is not ticketed."),
        "bags_refused" => (422, "The airline does not sell these bags."),
        "bag_unknown" => (422, "There is no such bag for sale."),
        _ => return None,
    })
}

fn reason(code: &str) -> RefusalReason {
    match code {
        "unauthorized" => RefusalReason::Account,
        "invalid_request" | "documents_required" => RefusalReason::Invalid,
        "offer_unknown" | "offer_expired" => RefusalReason::Expired,
        "offer_gone" | "bag_unknown" => RefusalReason::Unavailable,
        "offer_already_booked" | "duplicate_client_ref" => RefusalReason::Duplicate,
        "not_cancellable" | "already_cancelled" => RefusalReason::NotCancellable,
        code => other_refusal(&code.replace('_', "-")),
    }
}

pub(super) const PREBOOK: &[&str] = &[
    "unauthorized",
    "invalid_request",
    "offer_unknown",
    "offer_expired",
    "offer_gone",
];

/// Refusals of an order. `duplicate_client_ref` is not listed: something was ordered under this
/// reference, and only a read shows what.
pub(super) const BOOK: &[&str] = &[
    "unauthorized",
    "invalid_request",
    "offer_unknown",
    "offer_expired",
    "offer_gone",
    "documents_required",
    "amount_mismatch",
    "offer_already_booked",
    "airline_refused",
];

/// Refusals of a cancellation. `already_cancelled` and `order_state` are not listed: the order may
/// be cancelled or being cancelled, and only a read shows which.
pub(super) const CANCEL: &[&str] = &[
    "unauthorized",
    "invalid_request",
    NOT_FOUND,
    "not_cancellable",
];

/// Refusals of a purchase of bags. `duplicate_client_ref` is not listed, for the same reason as in
/// [`BOOK`].
pub(super) const BUY: &[&str] = &[
    "unauthorized",
    "invalid_request",
    NOT_FOUND,
    "amount_mismatch",
    "order_state",
    "bags_refused",
    "bag_unknown",
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
