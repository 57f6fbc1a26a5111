//! Meaning of Nuitee's error codes. The first digit of a code states whether the caller (4) or a
//! party behind Nuitee (5) caused the error. The second digit states the operation: 1 search, 2
//! verify, 3 prebook, 5 book, 6 cancel, 7 read, 9 quote.
//!
//! For calls that change something, the lists here are closed. Only these codes, each with its status
//! and without data beside it, are definite refusals. Every other response leaves the outcome unknown:
//! a 5xx status says that a party failed, and a 2xx status that Nuitee did something.

use stopover_sdk::RefusalReason::{Account, Expired, Invalid, NotCancellable, PaymentDeclined};
use stopover_sdk::fault::CodedError;
use stopover_sdk::http::Response;
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

use crate::wire::WireError;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    pub(crate) code: Option<u32>,
    /// General meaning of the code. It is safe to show to operators.
    pub(crate) message: Option<String>,
    /// Details of this error. It may quote the request, so it is only compared.
    pub(crate) description: String,
    pub(crate) retry_after_s: Option<u32>,
    /// Whether the response has data beside the error. Then the error proves nothing.
    pub(crate) has_data: bool,
}

/// Definite refusals: status, codes and reason.
type Row = (u16, &'static [u32], RefusalReason);

/// Refusals of the API key, for every call.
const REFUSED_KEY: &[Row] = &[(401, &[401], Account), (403, &[40301, 40302], Account)];

/// Refusals of `verify`, which changes nothing.
pub(crate) const VERIFY: &[Row] = &[
    (400, &[42001, 42013], Invalid),
    (400, &[42015], Expired),
    (401, &[42003, 42016], Account),
    (404, &[42004, 42017, 42018, 42019], Expired),
];

/// Refusals of a prebook.
pub(crate) const PREBOOK: &[Row] = &[
    (400, &[43001, 43007], Invalid),
    (400, &[43015], Expired),
    (401, &[43003, 43016], Account),
    (404, &[43004, 43017, 43019], Expired),
];

/// Refusals of a booking. The list has no conflict (409), rate limit (429) or failure (5xx),
/// because a booking may exist after each of them.
pub(crate) const BOOK: &[Row] = &[
    (400, &[45004, 45021], Invalid),
    (400, &[45040], PaymentDeclined),
    (400, &[45063], Expired),
    (400, &[45081], Account),
    (401, &[45028, 45082], Account),
    (403, &[45083], Account),
    (404, &[45029, 45033, 45084], Expired),
];

/// Refusals of a cancellation.
pub(crate) const CANCEL: &[Row] = &[(404, &[46002], NotCancellable)];

const NO_AVAILABILITY: u32 = 2001;
const CHECKOUT_NOT_FINISHED: u32 = 2014;
const ALREADY_CANCELLED: u32 = 46004;
const CANCELLATION_NOT_FINAL: u32 = 46006;
const QUOTE_WHILE_CANCELLING: u32 = 49007;
const QUOTE_FAILED: u32 = 59099;

impl Fault {
    pub(crate) fn new(response: &Response, error: WireError, has_data: bool) -> Self {
        let code = error.code.to_part().decoded();
        let message = error.message.decoded();
        let description = error.description.decoded();
        Self {
            status: response.status,
            code: code.and_then(|code| code.as_str().parse().ok()),
            message: message.map(|text| text.as_str().to_owned()),
            description: description.map_or_else(String::new, |text| text.as_str().to_lowercase()),
            retry_after_s: response.retry_after_s(),
            has_data,
        }
    }

    pub(crate) fn is_no_availability(&self) -> bool {
        self.code == Some(NO_AVAILABILITY) && self.is_statement()
    }

    /// Returns whether the airline cannot give a quote: code 59099 or, while a cancellation is in
    /// progress, 49007.
    pub(crate) fn is_no_quote(&self) -> bool {
        let is_no_quote = matches!(
            (self.status, self.code),
            (500, Some(QUOTE_FAILED)) | (409, Some(QUOTE_WHILE_CANCELLING))
        );
        is_no_quote && !self.has_data
    }

    /// Returns whether the booking is already cancelled or being cancelled. A read of the booking
    /// shows which.
    pub(crate) fn is_canceled_before(&self) -> bool {
        matches!(self.code, Some(ALREADY_CANCELLED | CANCELLATION_NOT_FINAL))
    }

    /// Converts the error for a call that changes nothing. The code determines the result; the
    /// status does so if the code has no meaning here or contradicts the status or the data.
    pub(crate) fn into_read_error(self) -> ReadError {
        let code = self.code.filter(|_| !self.has_data);
        let of_code = code.and_then(|code| self.read_error_of_code(code));
        let error = CodedError {
            status: self.status,
            retry_after_s: self.retry_after_s,
            text: self.to_text(),
            rejection: code.map(|_| self.refusal(RefusalReason::Invalid)),
        };
        error.into_read_error(of_code)
    }

    fn read_error_of_code(&self, code: u32) -> Option<ReadError> {
        Some(match code {
            401 | 403 | 40301 | 40302 | 41004 | 41011 | 47001 | 47006 => {
                ReadError::Misconfigured(self.to_text())
            }
            4004 => ReadError::NotFound(self.to_text()),
            47002 | 47003 | 49002 if self.status == 404 => ReadError::NotFound(self.to_text()),
            // With 400, Nuitee sends them for an id that it does not understand, which proves no absence.
            47002 | 47003 | 49002 => return None,
            // Nuitee documents neither code. A gateway in front of it may send them.
            404 | 410 => return None,
            408 | 504 => ReadError::TimedOut(self.to_text()),
            429 | 4290 => ReadError::RateLimited(self.retry_after_s),
            // Code 4291: the rate limiter itself is unavailable.
            503 | 4291 => ReadError::Unavailable(self.to_text()),
            400..=499 | 4000 | 4002 | 41000..=41999 | 47000..=47999 => {
                ReadError::Rejected(self.refusal(RefusalReason::Invalid))
            }
            500 | 502 | 505..=599 | 5000..=5999 => ReadError::Failed(self.to_text()),
            // The providers failed or are down. An error status decides which; in a 2xx response
            // they count as failed.
            51000..=59999 if self.status < 300 => ReadError::Failed(self.to_text()),
            _ => return None,
        })
    }

    /// Converts the error for a call that changes nothing but precedes a change: a listed refusal,
    /// or an error after which the call may be repeated.
    pub(crate) fn into_unsent_change_error(self, closed: &[Row]) -> ChangeError {
        match self.into_change_error(closed) {
            ChangeError::Unknown(text) => ChangeError::NotSent(text),
            error => error,
        }
    }

    /// Converts the error for a change whose rate limit Nuitee applies before the change: a listed
    /// refusal, a rate limit, or an unknown outcome. The result is never "not sent", because Nuitee
    /// has responded.
    pub(crate) fn into_change_error(self, closed: &[Row]) -> ChangeError {
        if self.is_limit() {
            return ChangeError::RateLimited(self.retry_after_s);
        }
        self.into_refused_or_unknown(closed)
    }

    /// Converts the error for a booking, for which a rate limit is an unknown outcome, too:
    /// according to Nuitee's documents a booking may exist after a 429 until a read shows otherwise.
    pub(crate) fn into_book_error(self) -> ChangeError {
        if self.is_unpaid() {
            return self.refusal(RefusalReason::PaymentRequired).into();
        }
        self.into_refused_or_unknown(BOOK)
    }

    fn into_refused_or_unknown(self, closed: &[Row]) -> ChangeError {
        match self.reason(closed) {
            Some(reason) => self.refusal(reason).into(),
            None => ChangeError::Unknown(self.to_text()),
        }
    }

    fn reason(&self, closed: &[Row]) -> Option<RefusalReason> {
        let code = self.code.filter(|_| !self.has_data)?;
        let mut rows = closed.iter().chain(REFUSED_KEY);
        let (_, _, reason) =
            rows.find(|(status, codes, _)| *status == self.status && codes.contains(&code))?;
        Some(reason.clone())
    }

    /// Returns whether a booking was rejected because its checkout is not finished. Nuitee documents
    /// this code and these words for hotels, and no code of its own for flights.
    fn is_unpaid(&self) -> bool {
        let words = ["payment not completed", "payment is not completed"];
        matches!(self.status, 400 | 402)
            && self.code == Some(CHECKOUT_NOT_FINISHED)
            && !self.has_data
            && words.iter().any(|words| self.description.contains(words))
    }

    fn is_limit(&self) -> bool {
        match self.code {
            // With another 2xx status, Nuitee may have done what it was asked for.
            Some(429 | 4290) => self.is_statement() && !matches!(self.status, 201..=299),
            Some(_) => false,
            None => self.status == 429 && !self.has_data,
        }
    }

    /// Returns whether a code that comes with several statuses counts: Nuitee responded, and sent no
    /// data beside it.
    const fn is_statement(&self) -> bool {
        matches!(self.status, 200..=299 | 400..=499) && !self.has_data
    }

    fn refusal(&self, reason: RefusalReason) -> Refusal {
        let refusal = Refusal::new(reason, self.to_text());
        match self.code {
            Some(code) => refusal.with_code(code),
            None => refusal,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let meaning = self.message.as_deref().unwrap_or("no explanation");
        match self.code {
            Some(code) => format!("Nuitee returned {code}: {meaning}"),
            None => format!("Nuitee returned the status {}", self.status),
        }
    }
}
