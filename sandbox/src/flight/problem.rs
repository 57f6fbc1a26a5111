//! What both flight suppliers can say no to; each says it in its own words.

use crate::journal::JournalClosed;

#[derive(Debug)]
pub(super) enum Problem {
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

/// Texts come from reading requests, and say what is wrong with them.
impl From<String> for Problem {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}

impl From<JournalClosed> for Problem {
    fn from(_: JournalClosed) -> Self {
        Self::StorageFailed
    }
}
