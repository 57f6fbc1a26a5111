//! Lodge's error codes and what they mean: the closed list out of which a change
//! may be refused. Everything that is not in it is unknown to a change.

use serde::Deserialize;
use stopover_sdk::http::Response;
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Unauthorized,
    InvalidRequest,
    NotFound,
    RateUnknown,
    PrebookUnknown,
    RateExpired,
    PrebookExpired,
    SoldOut,
    PrebookUsed,
    DuplicateClientRef,
    PriceMismatch,
    InvalidGuests,
    BookingRefused,
    NotCancellable,
    AlreadyCancelled,
    RoomsNotSeparable,
    PreviewNotOffered,
    TooManyRequests,
    SupplierFailure,
}

/// A code as Lodge documents it: its text, the status that it comes with, and
/// one sentence for operators. Lodge's own messages may quote what was sent.
const DOCUMENTED: [(Code, &str, u16, &str); 19] = [
    (
        Code::Unauthorized,
        "UNAUTHORIZED",
        401,
        "Lodge does not accept the key.",
    ),
    (
        Code::InvalidRequest,
        "INVALID_REQUEST",
        400,
        "Lodge does not understand the request.",
    ),
    (Code::NotFound, "NOT_FOUND", 404, "Lodge does not know it."),
    (
        Code::RateUnknown,
        "RATE_UNKNOWN",
        404,
        "Lodge does not know the rate.",
    ),
    (
        Code::PrebookUnknown,
        "PREBOOK_UNKNOWN",
        404,
        "Lodge does not know the prebook.",
    ),
    (
        Code::RateExpired,
        "RATE_EXPIRED",
        410,
        "The rate is too old.",
    ),
    (
        Code::PrebookExpired,
        "PREBOOK_EXPIRED",
        410,
        "The prebook is too old.",
    ),
    (Code::SoldOut, "SOLD_OUT", 409, "The last room is sold."),
    (
        Code::PrebookUsed,
        "PREBOOK_USED",
        409,
        "The prebook was booked under another reference.",
    ),
    (
        Code::DuplicateClientRef,
        "DUPLICATE_CLIENT_REF",
        409,
        "A booking with this reference exists.",
    ),
    (
        Code::PriceMismatch,
        "PRICE_MISMATCH",
        409,
        "The total is not that of the prebook.",
    ),
    (
        Code::InvalidGuests,
        "INVALID_GUESTS",
        422,
        "The guests do not fit the rooms.",
    ),
    (
        Code::BookingRefused,
        "BOOKING_REFUSED",
        422,
        "The hotel does not accept the booking.",
    ),
    (
        Code::NotCancellable,
        "NOT_CANCELLABLE",
        409,
        "The booking cannot be cancelled now.",
    ),
    (
        Code::AlreadyCancelled,
        "ALREADY_CANCELLED",
        409,
        "Nothing is left to cancel.",
    ),
    (
        Code::RoomsNotSeparable,
        "ROOMS_NOT_SEPARABLE",
        422,
        "The hotel cancels whole bookings only.",
    ),
    (
        Code::PreviewNotOffered,
        "PREVIEW_NOT_OFFERED",
        404,
        "The hotel does not preview cancellations.",
    ),
    (
        Code::TooManyRequests,
        "TOO_MANY_REQUESTS",
        429,
        "Lodge's limit is reached.",
    ),
    (
        Code::SupplierFailure,
        "SUPPLIER_FAILURE",
        500,
        "Something broke at Lodge.",
    ),
];

#[derive(Deserialize)]
struct Document {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
}

impl Code {
    /// The documented code of an answer, where it has one with its own status.
    pub(crate) fn of(response: &Response) -> Option<Self> {
        if response.is_success() {
            return None;
        }
        let Document { error } = response.json().ok()?;
        DOCUMENTED
            .iter()
            .find(|(_, text, status, _)| *text == error.code && *status == response.status)
            .map(|(code, ..)| *code)
    }

    /// The code of a booking's `reject_reason`, which comes without a status.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        DOCUMENTED
            .iter()
            .find(|(_, documented, ..)| *documented == text)
            .map(|(code, ..)| *code)
    }

    fn text_and_sentence(self) -> (&'static str, &'static str) {
        DOCUMENTED
            .iter()
            .find(|(code, ..)| *code == self)
            .map_or(("", ""), |(_, text, _, sentence)| (text, sentence))
    }

    fn sentence(self) -> String {
        self.text_and_sentence().1.to_owned()
    }

    /// Lodge's no in the interface's words.
    pub(crate) fn refusal(self) -> Refusal {
        let (text, sentence) = self.text_and_sentence();
        let other = || RefusalReason::Other(text.to_lowercase().replace('_', "-"));
        let reason = match self {
            Self::Unauthorized => RefusalReason::Account,
            Self::InvalidRequest | Self::InvalidGuests => RefusalReason::Invalid,
            Self::SoldOut => RefusalReason::Unavailable,
            Self::RateUnknown | Self::PrebookUnknown | Self::RateExpired | Self::PrebookExpired => {
                RefusalReason::Expired
            }
            Self::PrebookUsed => RefusalReason::Duplicate,
            Self::NotCancellable | Self::AlreadyCancelled | Self::RoomsNotSeparable => {
                RefusalReason::NotCancellable
            }
            Self::NotFound
            | Self::DuplicateClientRef
            | Self::PriceMismatch
            | Self::BookingRefused
            | Self::PreviewNotOffered
            | Self::TooManyRequests
            | Self::SupplierFailure => other(),
        };
        Refusal::new(reason, sentence).with_code(text)
    }
}

/// A call that may change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Prebook,
    Book,
    Cancel,
}

impl Change {
    /// The codes that say that this call did nothing and will do nothing. Two
    /// that sound like it are missing: `DUPLICATE_CLIENT_REF` and
    /// `ALREADY_CANCELLED` say that it was done before, and reading tells what.
    const fn definite(self) -> &'static [Code] {
        match self {
            Self::Prebook => &[
                Code::Unauthorized,
                Code::InvalidRequest,
                Code::RateUnknown,
                Code::RateExpired,
                Code::SoldOut,
            ],
            Self::Book => &[
                Code::Unauthorized,
                Code::InvalidRequest,
                Code::PrebookUnknown,
                Code::PrebookExpired,
                Code::PrebookUsed,
                Code::PriceMismatch,
                Code::InvalidGuests,
                Code::BookingRefused,
            ],
            Self::Cancel => &[
                Code::Unauthorized,
                Code::InvalidRequest,
                Code::NotFound,
                Code::NotCancellable,
                Code::RoomsNotSeparable,
            ],
        }
    }
}

/// The answer of a change that was carried out.
pub(crate) fn change(response: Response, change: Change) -> Result<Response, ChangeError> {
    if response.is_success() {
        return Ok(response);
    }
    Err(match Code::of(&response) {
        Some(code) if change.definite().contains(&code) => code.refusal().into(),
        Some(code) => ChangeError::Unknown(code.sentence()),
        None => response.change_error(),
    })
}

/// The answer of a read that gave something.
pub(crate) fn read(response: Response) -> Result<Response, ReadError> {
    if response.is_success() {
        return Ok(response);
    }
    Err(match Code::of(&response) {
        Some(Code::Unauthorized) => ReadError::Misconfigured(Code::Unauthorized.sentence()),
        Some(Code::NotFound) => ReadError::NotFound(Code::NotFound.sentence()),
        Some(Code::TooManyRequests) => ReadError::RateLimited(response.retry_after_s()),
        Some(Code::SupplierFailure) => ReadError::Failed(Code::SupplierFailure.sentence()),
        Some(code) => code.refusal().into(),
        // Whoever says "not found" in another form than Lodge's is not Lodge.
        None => match response.read_error() {
            ReadError::NotFound(text) => ReadError::Unreadable(text),
            error => error,
        },
    })
}
