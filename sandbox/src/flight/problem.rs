//! Errors of both flight suppliers. Each supplier returns them in its own format.

use crate::journal::JournalClosed;

#[derive(Debug)]
pub(super) enum FlightError {
    Unauthorized,
    Invalid(String),
    NotFound,
    OfferUnknown,
    OfferExpired,
    OfferSoldOut,
    PrebookUnknown,
    PrebookExpired,
    DocumentsRequired,
    AmountMismatch,
    OfferAlreadyBooked,
    DuplicateReference,
    Unpaid,
    RejectedByAirline,
    WrongState,
    NotCancellable,
    AlreadyCancelled,
    QuoteUnavailable,
    BagsRefused,
    BagUnknown,
    StorageFailed,
}

/// Converts the description of an invalid request into an error.
impl From<String> for FlightError {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}

impl From<JournalClosed> for FlightError {
    fn from(_: JournalClosed) -> Self {
        Self::StorageFailed
    }
}
