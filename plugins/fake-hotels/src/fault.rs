//! Meaning of Lodge's error codes: the closed list by which a change may be refused. Any other
//! error leaves the outcome of a change unknown.

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

/// The documented codes: text, status, and a message for operators. Lodge's own messages may quote
/// the request.
const DOCUMENTED_CODES: [(Code, &str, u16, &str); 19] = [
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
    (Code::NotFound, "NOT_FOUND", 404, "No such object or path."),
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
        "The total differs from the prebook's.",
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
        "Lodge's rate limit is reached.",
    ),
    (
        Code::SupplierFailure,
        "SUPPLIER_FAILURE",
        500,
        "Lodge had an internal failure.",
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
    /// Returns the documented code of a response, if its status is the documented one.
    pub(crate) fn from_response(response: &Response) -> Option<Self> {
        if response.is_success() {
            return None;
        }
        let Document { error } = response.json().ok()?;
        DOCUMENTED_CODES
            .iter()
            .find(|(_, text, status, _)| *text == error.code && *status == response.status)
            .map(|(code, ..)| *code)
    }

    /// Returns the code of a booking's `reject_reason`, which comes without a status.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        DOCUMENTED_CODES
            .iter()
            .find(|(_, documented, ..)| *documented == text)
            .map(|(code, ..)| *code)
    }

    fn text_and_message(self) -> (&'static str, &'static str) {
        DOCUMENTED_CODES
            .iter()
            .find(|(code, ..)| *code == self)
            .map_or(("", ""), |(_, text, _, message)| (text, message))
    }

    fn message(self) -> String {
        self.text_and_message().1.to_owned()
    }

    /// Converts Lodge's code to a refusal.
    pub(crate) fn refusal(self) -> Refusal {
        let (text, message) = self.text_and_message();
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
        Refusal::new(reason, message).with_code(text)
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
    /// Returns the codes after which this call did nothing and will do nothing.
    /// `DUPLICATE_CLIENT_REF` and `ALREADY_CANCELLED` are not among them: they say that the change
    /// was done before, and only a read shows what was done.
    const fn definite_refusals(self) -> &'static [Code] {
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

/// Returns the response of a change that was carried out.
pub(crate) fn check_change(response: Response, change: Change) -> Result<Response, ChangeError> {
    if response.is_success() {
        return Ok(response);
    }
    Err(match Code::from_response(&response) {
        Some(code) if change.definite_refusals().contains(&code) => code.refusal().into(),
        Some(code) => ChangeError::Unknown(code.message()),
        None => response.to_change_error(),
    })
}

/// Returns the response of a successful read.
pub(crate) fn check_read(response: Response) -> Result<Response, ReadError> {
    if response.is_success() {
        return Ok(response);
    }
    Err(match Code::from_response(&response) {
        Some(Code::Unauthorized) => ReadError::Misconfigured(Code::Unauthorized.message()),
        Some(Code::NotFound) => ReadError::NotFound(Code::NotFound.message()),
        Some(Code::TooManyRequests) => ReadError::RateLimited(response.retry_after_s()),
        Some(Code::SupplierFailure) => ReadError::Failed(Code::SupplierFailure.message()),
        Some(code) => code.refusal().into(),
        // A "not found" in another form is not from Lodge.
        None => match response.to_read_error() {
            ReadError::NotFound(text) => ReadError::InvalidResponse(text),
            error => error,
        },
    })
}
