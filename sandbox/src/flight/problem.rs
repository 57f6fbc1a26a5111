//! What both flight suppliers can say no to; each says it in its own words.

use crate::journal::Broken;

#[derive(Debug)]
pub(super) enum Problem {
    Unauthorized,
    Invalid(String),
    NotFound,
    OfferUnknown,
    OfferExpired,
    OfferGone,
    PrebookUnknown,
    PrebookExpired,
    DocumentsRequired,
    AmountMismatch,
    OfferAlreadyBooked,
    DuplicateReference,
    Unpaid,
    AirlineRefused,
    WrongState,
    NotCancellable,
    AlreadyCancelled,
    QuoteUnavailable,
    BagsRefused,
    BagUnknown,
    Broken,
}

/// Texts come from reading requests, and say what is wrong with them.
impl From<String> for Problem {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}

impl From<Broken> for Problem {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}
