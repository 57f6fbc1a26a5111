//! Meaning of Nuitee's error codes. The first digit of a code states whether the caller (4) or a
//! party behind Nuitee (5) caused the error. The second digit states the operation: 1 search, 2
//! verify, 3 prebook, 5 book, 6 cancel, 7 read, 9 quote.
//!
//! For calls that change something, the lists here are closed. Only these codes, with their status
//! or in a 2xx response, are definite refusals. Every other response leaves the outcome unknown.

use stopover_sdk::RefusalReason::{
    Account, Expired, Invalid, NotCancellable, PaymentDeclined, TermsChanged, Unavailable,
};
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

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
    (502, &[52001], TermsChanged),
    (502, &[52016], Expired),
    (502, &[52019], Unavailable),
];

/// Refusals of a prebook. Those with status 502 are refusals by the airline.
pub(crate) const PREBOOK: &[Row] = &[
    (400, &[43001, 43007], Invalid),
    (400, &[43015], Expired),
    (401, &[43003, 43016], Account),
    (404, &[43004, 43017, 43019], Expired),
    (502, &[53001], TermsChanged),
    (502, &[53016], Expired),
    (502, &[53019], Unavailable),
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
const ALREADY_CANCELLED: u32 = 46004;
const CANCELLATION_NOT_FINAL: u32 = 46006;
const QUOTE_WHILE_CANCELLING: u32 = 49007;
const QUOTE_FAILED: u32 = 59099;

impl Fault {
    pub(crate) fn is_no_availability(&self) -> bool {
        self.code == Some(NO_AVAILABILITY) && self.status < 500
    }

    /// Returns whether the airline cannot give a quote: code 59099 or, while a cancellation is in
    /// progress, 49007.
    pub(crate) fn is_no_quote(&self) -> bool {
        matches!(self.code, Some(QUOTE_FAILED | QUOTE_WHILE_CANCELLING))
    }

    /// Returns whether the booking is already cancelled or being cancelled. A read of the booking
    /// shows which.
    pub(crate) fn is_cancelled_before(&self) -> bool {
        matches!(self.code, Some(ALREADY_CANCELLED | CANCELLATION_NOT_FINAL))
    }

    /// Converts the error for a call that changes nothing. The code determines the result; the
    /// status does so if the code has no meaning here or contradicts the status.
    pub(crate) fn into_read_error(self) -> ReadError {
        let of_code = self.code.and_then(|code| self.read_error_of_code(code));
        of_code
            .filter(|error| self.is_proven(error))
            .unwrap_or_else(|| self.read_error_of_status())
    }

    /// Returns whether the status agrees with the error of the code. "Not found" counts as proof that
    /// there is no booking, so it requires a status with which Nuitee sends it.
    fn is_proven(&self, error: &ReadError) -> bool {
        match error {
            ReadError::NotFound(_) => matches!(self.status, 200..=299 | 400 | 404 | 410),
            ReadError::Rejected(_) => self.status < 500,
            ReadError::Misconfigured(_)
            | ReadError::TimedOut(_)
            | ReadError::RateLimited(_)
            | ReadError::Unavailable(_)
            | ReadError::Failed(_)
            | ReadError::InvalidResponse(_) => true,
        }
    }

    /// Converts the error by its status alone. A proxy also returns 400, 404 and 422, so the result
    /// is never "not found", and a rejection only if Nuitee's own code is there.
    fn read_error_of_status(&self) -> ReadError {
        match self.status {
            401 | 403 => ReadError::Misconfigured(self.to_text()),
            408 | 504 => ReadError::TimedOut(self.to_text()),
            429 => ReadError::RateLimited(self.retry_after_s),
            503 => ReadError::Unavailable(self.to_text()),
            500..=599 => ReadError::Failed(self.to_text()),
            400 | 422 if self.code.is_some() => {
                ReadError::Rejected(self.refusal(RefusalReason::Invalid))
            }
            _ => ReadError::InvalidResponse(self.to_text()),
        }
    }

    fn read_error_of_code(&self, code: u32) -> Option<ReadError> {
        Some(match code {
            401 | 403 | 40301 | 40302 | 41004 | 41011 | 47001 | 47006 => {
                ReadError::Misconfigured(self.to_text())
            }
            404 | 410 | 4004 | 47002 | 47003 | 49002 => ReadError::NotFound(self.to_text()),
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
        let code = self.code?;
        let mut rows = closed.iter().chain(REFUSED_KEY);
        let (_, _, reason) = rows.find(|(status, codes, _)| {
            codes.contains(&code) && (*status == self.status || self.status < 300)
        })?;
        Some(reason.clone())
    }

    /// Returns whether a booking was rejected because its checkout is not finished. Nuitee
    /// documents no flight code for this. For hotels it documents these words with several codes.
    fn is_unpaid(&self) -> bool {
        let is_rejected = matches!(self.status, 200..=299 | 400 | 402);
        let is_book = matches!(self.code, Some(2014 | 45000..=45999));
        let words = self.description.to_ascii_lowercase();
        is_rejected
            && is_book
            && ["payment not completed", "payment is not completed"]
                .iter()
                .any(|phrase| words.contains(phrase))
    }

    fn is_limit(&self) -> bool {
        matches!(
            (self.status, self.code),
            (429, None) | (..500, Some(429 | 4290))
        )
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
